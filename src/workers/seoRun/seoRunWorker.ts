import type { CommandContext } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import type { Recorded } from '../../events/envelope.js';
import type { SeoRunEvent } from '../../events/seoRun/seoRun.events.js';
import { seoRunStream } from '../../events/seoRun/seoRun.stream.js';
import type { SiteAddress } from '../../integrations/hosting/port.js';
import { isoTime } from '../../platform/clock.js';
import { entityId } from '../../platform/ids.js';
import type { Reader } from '../../projections/reader.js';
import type { WebsiteDocument } from '../../projections/website/website.projection.js';
import { listWebsites } from '../../projections/website/website.queries.js';
import { processActor } from '../contextOf.js';
import type { CronJob } from '../cron/cronWorker.js';
import type { HeldLease } from '../heldLease.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import { faultOf } from '../taskFault.js';
import type { CreateReactor } from '../reactions.js';
import { seoScanProcess } from '../seo/seo.process.js';
import type { Worker } from '../worker.js';
import { seoRunFold, seoRunProcess, type OpenRun, type RunOutcome, type SeoRunState } from './seoRun.process.js';

type Due = Recorded<Extract<SeoRunEvent, { type: 'SeoRunDue' }>>;

const actor = processActor('seoScan');

/** Requests a run durably. `createSeoRunWorker` carries it out, even if this process dies. */
export const scheduledSeoScans = (engine: Engine, schedule: string): CronJob => ({
  name: 'seoScans',
  schedule,
  run: async (dueTime) => {
    const dueAt = isoTime(dueTime);
    const context: CommandContext = { commandId: engine.ids.commandId(), actor, requestId: 'seoScans' };
    await engine.handle(seoRunProcess, { type: 'RequestRun', dueAt }, context);
  },
});

const PAGE = 200;
/**
 * An attempt ends after this time, and the next continues after its last website; no list of
 * websites takes that long.
 */
const TIMEOUT_MS = 24 * 60 * 60_000;

interface RunWithPage extends OpenRun {
  /** The first websites that are not done. */
  readonly websites: readonly WebsiteDocument[];
}

/**
 * Requests a scan of each active website that has the feature, one after the other, whenever a run
 * is due. Any number of these may run on the same stores: one requests at a time, under a lease,
 * and when it dies another goes on. A website whose scan cannot be requested waits for the next
 * run.
 */
export const createSeoRunWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  reader: Reader;
  siteAddress: SiteAddress;
}): Worker => {
  const { engine, createReactor, reader, siteAddress } = parts;
  const worker = engine.ids.commandId();

  const loadPage = (after: string | undefined): Promise<readonly WebsiteDocument[]> =>
    listWebsites(reader, { status: 'active', limit: PAGE, ...(after !== undefined && { after }) });

  const runTask = ({ id, data, metadata }: Due, signal: AbortSignal): LeasedTask<RunWithPage, RunOutcome> => {
    const { dueAt } = data;
    const { requestId, correlationId } = metadata;
    const because = { actor, requestId, correlationId, causationId: id };
    const logger = engine.logger.child({ worker: 'seoRun', dueAt });
    /** The last website that is known to be done; each renewal of the lease records it. */
    let after: string | undefined;

    const requestScan = async (website: WebsiteDocument): Promise<void> => {
      const { id: websiteId, features } = website;
      const url = siteAddress(website);
      if (url === undefined || !features.includes('seo')) return;
      // The same command id in every attempt, so that a worker that takes over requests nothing
      // twice.
      const context: CommandContext = { commandId: id, ...because };
      const scanId = entityId(id, `seo-scan-${websiteId}`);
      try {
        await engine.handle(seoScanProcess, { type: 'RequestScan', websiteId, scanId, url, trigger: 'schedule' }, context);
      } catch (error) {
        const { error: reason } = faultOf(error);
        logger.error({ err: error, websiteId, reason }, 'the scheduled scan of a website could not be requested');
      }
    };

    /** Resolves with true when all websites are done, with false when the worker stops. */
    const requestAll = async (first: readonly WebsiteDocument[], lease: HeldLease): Promise<boolean> => {
      for (let websites = first; ;) {
        for (const website of websites) {
          if (signal.aborted) return false;
          lease.assertHeld();
          await requestScan(website);
          after = website.id;
        }
        if (websites.length < PAGE) return true;
        websites = await loadPage(websites.at(-1)?.id);
      }
    };

    const openIn = (state: SeoRunState): OpenRun | null => (state.stage === 'open' ? state : null);
    return {
      worker,
      logger: () => logger,
      load: async () => {
        const open = openIn((await engine.state(seoRunFold, { dueAt })).state);
        if (open === null) return null;
        ({ after } = open);
        // Read before the lease is taken, so that the stream does not grow while the list cannot be
        // read.
        return { ...open, websites: await loadPage(after) };
      },
      handle: async (command, { websites }) => {
        const context: CommandContext = { commandId: engine.ids.commandId(), ...because };
        const progress = command.type === 'RenewLease' ? { after } : {};
        const { state } = await engine.handle(seoRunProcess, { dueAt, ...command, ...progress }, context);
        const open = openIn(state);
        return open === null ? null : { ...open, websites };
      },
      timeoutMs: () => TIMEOUT_MS,
      recordsProgress: true,
      execute: async ({ websites }, lease) => ((await requestAll(websites, lease)) ? { type: 'CompleteRun' } : null),
    };
  };

  return createReactor({
    name: 'seoRun',
    streams: [seoRunStream],
    on: { SeoRunDue: (event, context) => runLeasedTask(engine, context, runTask(event, context.signal)) },
    // One run at a time: runs that have accumulated find the scans of the first under way, and
    // request few more.
    key: () => 'seoRun',
  });
};
