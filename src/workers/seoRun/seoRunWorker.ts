import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { type SeoRunEvent } from '../../events/seoRun/seoRun.events.js';
import type { SiteAddress } from '../../integrations/hosting/port.js';
import { isoTime } from '../../platform/clock.js';
import { entityId } from '../../platform/ids.js';
import type { WebsiteDocument } from '../../projections/website/website.projection.js';
import { listWebsites } from '../../projections/website/website.queries.js';
import { leaseOf, type Token } from '../attempts.js';
import type { CronJob } from '../cron/cronWorker.js';
import type { CreateReactor, Turn } from '../reactor.js';
import { attemptUntilDone, faultOf, LeaseLost, runAttempt, type Held } from '../runAttempt.js';
import type { Worker } from '../worker.js';
import { seoRunFold, seoRunProcess, type OpenRun, type RunOutcome, type SeoRunState } from './seoRun.process.js';
import { seoScanProcess } from '../seo/seo.process.js';
import type { Reader } from '../../projections/reader.js';

type Due = Recorded<Extract<SeoRunEvent, { type: 'SeoRunDue' }>>;

const actor: Actor = { subject: 'seoScan', role: 'system', via: 'worker' };

/** Asks for the scans of every website, durably: the rest is `createSeoRunWorker`'s, whatever becomes of this process. */
export const scheduledSeoScans = (engine: Engine, schedule: string): CronJob => ({
  name: 'seoScans',
  schedule,
  run: async (dueTime) => {
    const dueAt = isoTime(dueTime);
    const context: CommandContext = { commandId: engine.ids.commandId(), actor, requestId: 'seoScans' };
    await engine.handle(seoRunProcess, { type: 'AskForRun', dueAt }, context);
  },
});

const PAGE = 200;
/** After which an attempt ends, and the next goes on behind it; no list of websites takes that long. */
const TIMEOUT_MS = 24 * 60 * 60_000;

/**
 * Asks for a scan of each active website that has the feature, one after the other, whenever the calendar asks for all of them. Any
 * number of these may run on the same stores: one asks at a time, under a lease, and when it dies another goes on. A website that
 * cannot be asked for is left to the next time.
 */
export const createSeoRunWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  reader: Reader;
  siteAddress: SiteAddress;
}): Worker => {
  const { engine, createReactor, reader, siteAddress } = parts;
  const { clock, ids } = engine;
  const logger = engine.logger.child({ worker: 'seoRun' });
  const worker = ids.commandId();

  const page = (after: string | undefined): Promise<readonly WebsiteDocument[]> =>
    listWebsites(reader, { status: 'active', limit: PAGE, ...(after !== undefined && { after }) });

  const runFor = ({ id: eventId, data: { dueAt }, metadata: { requestId, correlationId } }: Due, { signal }: Turn) => {
    const log = logger.child({ dueAt });
    const openOf = (state: SeoRunState): OpenRun | null => (state.stage === 'open' ? state : null);
    const because = { actor, requestId, correlationId, causationId: eventId };

    const tell = async (attempt: number, outcome: RunOutcome): Promise<OpenRun | null> => {
      const context: CommandContext = { commandId: ids.commandId(), ...because };
      return openOf((await engine.handle(seoRunProcess, { dueAt, attempt, ...outcome }, context)).state);
    };
    const leaseIn = (open: OpenRun | null): Token | null => (open === null ? null : leaseOf(open.attempts, worker));

    const request = async (website: WebsiteDocument): Promise<void> => {
      const { id: websiteId, features } = website;
      const url = siteAddress(website);
      if (url === undefined || !features.includes('seo')) return;
      // The same command in every attempt: whoever takes over asks for nothing twice.
      const context: CommandContext = { commandId: eventId, ...because };
      const scanId = entityId(eventId, `seo-scan-${websiteId}`);
      const command = { type: 'RequestScan', websiteId, scanId, url, trigger: 'schedule' } as const;
      try {
        await engine.handle(seoScanProcess, command, context);
      } catch (error) {
        const { error: reason } = faultOf(error);
        log.error({ err: error, websiteId, reason }, 'the scheduled scan of a website could not be asked for');
      }
    };

    /** Whether all websites are dealt with: not when it was told to stop. */
    const requestAll = async (first: readonly WebsiteDocument[], held: Held, onProgress: (id: string) => void) => {
      for (let websites = first; ;) {
        for (const website of websites) {
          if (signal.aborted) return false;
          held.confirm();
          await request(website);
          onProgress(website.id);
        }
        if (websites.length < PAGE) return true;
        websites = await page(websites.at(-1)?.id);
      }
    };

    return {
      look: async (): Promise<OpenRun | null> => openOf((await engine.state(seoRunFold, { dueAt })).state),
      attempt: async (open: OpenRun, waitedOut: Token | undefined): Promise<void> => {
        const attempt = open.attempts.attempt + 1;
        let { after } = open;
        // Before the lease is taken: while nobody keeps the list, the stream does not grow.
        const first = await page(after);
        const lease = leaseIn(await tell(attempt, { type: 'StartRun', worker, waitedOut }));
        if (lease === null) return;
        try {
          const isDone = await runAttempt({
            clock,
            timeoutMs: TIMEOUT_MS,
            lease,
            renew: async (held) => leaseIn(await tell(attempt, { type: 'RenewLease', lease: held, after })),
            onFault: (error) => {
              log.warn({ err: error, attempt }, 'the lease could not be renewed');
            },
            act: (held) => requestAll(first, held, (id) => (after = id)),
          });
          if (isDone) await tell(attempt, { type: 'CompleteRun' });
        } catch (error) {
          if (!(error instanceof LeaseLost)) throw error;
        }
      },
    };
  };

  return createReactor({
    name: 'seoRun',
    filter: { streamPrefixes: ['seo-run-'], types: ['SeoRunDue'] },
    // One run at a time: those that have piled up find the scans of the first under way, and ask for few of their own.
    keyOf: () => 'seoRun',
    react: (event, turn) => attemptUntilDone({ clock, worker, turn, ...runFor(event as Due, turn) }),
  });
};
