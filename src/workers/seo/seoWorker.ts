import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { type SeoEvent } from '../../events/seo/seo.events.js';
import type { SiteAddress } from '../../integrations/hosting/port.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { leaseOf, type Token } from '../attempts.js';
import type { CreateReactor, Turn } from '../reactor.js';
import { attemptUntilDone, faultOf, LeaseLost, runAttempt } from '../runAttempt.js';
import type { Worker } from '../worker.js';
import type { Scan } from './scan.js';
import { seoScanFold, seoScanProcess, type OpenScan, type ScanOutcome, type SeoScanState } from './seo.process.js';
import type { Reader } from '../../projections/reader.js';

type Requested = Recorded<Extract<SeoEvent, { type: 'SeoScanRequested' }>>;

const actor: Actor = { subject: 'seoScan', role: 'system', via: 'worker' };
/** More than the pages and a slow model may take. */
const TIMEOUT_MS = 300_000;

/** Makes every scan that is asked for. Any number of these may run on the same stores: whoever appends the start of an attempt makes it. */
export const createSeoScanWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  reader: Reader;
  scan: Scan;
  siteAddress: SiteAddress;
}): Worker => {
  const { engine, createReactor, reader, scan, siteAddress } = parts;
  const { clock, ids, random } = engine;
  const logger = engine.logger.child({ worker: 'seoScan' });
  const worker = ids.commandId();

  const scanFor = ({ id: eventId, data, metadata: { requestId, correlationId } }: Requested) => {
    const { websiteId, scanId } = data;
    const log = logger.child({ websiteId, scanId });
    const openOf = (state: SeoScanState): OpenScan | null => (state.stage === 'open' && state.scanId === scanId ? state : null);

    const tell = async (attempt: number, outcome: ScanOutcome): Promise<OpenScan | null> => {
      const context: CommandContext = { commandId: ids.commandId(), actor, requestId, correlationId, causationId: eventId };
      const command = { websiteId, scanId, attempt, ...outcome };
      return openOf((await engine.handle(seoScanProcess, command, context)).state);
    };
    const leaseIn = (open: OpenScan | null): Token | null => (open === null ? null : leaseOf(open.attempts, worker));

    /** What comes of an attempt under `lease`; null when the lease was lost. */
    const outcomeOf = async ({ url }: OpenScan, attempt: number, lease: Token): Promise<ScanOutcome | null> => {
      const renew = async (held: Token): Promise<Token | null> =>
        leaseIn(await tell(attempt, { type: 'RenewLease', lease: held }));
      const onFault = (error: unknown): void => {
        log.warn({ err: error, attempt }, 'the lease could not be renewed');
      };
      try {
        const { document: website } = await reader.read(websiteProjection, websiteId);
        // The service may have another address by now than when the scan was asked for.
        const start = (website === null ? undefined : siteAddress(website)) ?? url;
        const act = () => scan({ url: start, name: website?.name ?? new URL(url).hostname });
        return { type: 'RecordResult', result: await runAttempt({ clock, timeoutMs: TIMEOUT_MS, lease, renew, onFault, act }) };
      } catch (error) {
        if (error instanceof LeaseLost) return null;
        const fault = faultOf(error);
        log.warn({ err: error, attempt }, 'a website could not be scanned');
        return { type: 'RecordFailure', fault, jitter: random.fraction() };
      }
    };

    return {
      look: async (): Promise<OpenScan | null> => openOf((await engine.state(seoScanFold, { websiteId })).state),
      attempt: async ({ attempts }: OpenScan, waitedOut: Token | undefined): Promise<void> => {
        const attempt = attempts.attempt + 1;
        const begun = await tell(attempt, { type: 'StartScan', worker, waitedOut });
        const lease = leaseIn(begun);
        const outcome = begun === null || lease === null ? null : await outcomeOf(begun, attempt, lease);
        if (outcome !== null) await tell(attempt, outcome);
      },
    };
  };

  return createReactor({
    name: 'seoScan',
    filter: { streamPrefixes: ['seo-'], types: ['SeoScanRequested'] },
    keyOf: ({ data }) => data.websiteId,
    react: (event, turn: Turn) => attemptUntilDone({ clock, worker, turn, ...scanFor(event as Requested) }),
  });
};
