import type { Engine } from '../../engine.js';
import type { Recorded } from '../../events/envelope.js';
import type { SeoEvent } from '../../events/seo/seo.events.js';
import { seoStream } from '../../events/seo/seo.stream.js';
import type { SiteAddress } from '../../integrations/hosting/port.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { createContextOf } from '../contextOf.js';
import { runLeasedTask, type LeasedTask } from '../leasedTask.js';
import { recordFailure } from '../taskFault.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import type { Scan } from './scan.js';
import { seoScanFold, seoScanProcess, type OpenScan, type ScanOutcome, type SeoScanState } from './seo.process.js';

type Requested = Recorded<Extract<SeoEvent, { type: 'SeoScanRequested' }>>;

/** More than the pages (`scan.ts`) and a slow model (`probes.ts`) may take. */
const TIMEOUT_MS = 300_000;

/**
 * Makes every scan that is requested. Any number of these may run on the same stores: the one that
 * appends the start of an attempt makes it.
 */
export const createSeoScanWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  reader: Reader;
  scan: Scan;
  siteAddress: SiteAddress;
}): Worker => {
  const { engine, createReactor, reader, scan, siteAddress } = parts;
  const worker = engine.ids.commandId();
  const contextOf = createContextOf(engine, 'seoScan');

  const scanTask = (event: Requested): LeasedTask<OpenScan, ScanOutcome> => {
    const { websiteId, scanId } = event.data;
    const logger = engine.logger.child({ worker: 'seoScan', websiteId, scanId });
    const openIn = (state: SeoScanState): OpenScan | null => (state.stage === 'open' && state.scanId === scanId ? state : null);
    return {
      worker,
      logger: () => logger,
      load: async () => openIn((await engine.state(seoScanFold, { websiteId })).state),
      handle: async (command) =>
        openIn((await engine.handle(seoScanProcess, { websiteId, scanId, ...command }, contextOf(event))).state),
      timeoutMs: () => TIMEOUT_MS,
      execute: async ({ url }) => {
        const { document: website } = await reader.read(websiteProjection, websiteId);
        // The service's address may have changed since the scan was requested.
        const start = (website === null ? undefined : siteAddress(website)) ?? url;
        const result = await scan({ url: start, name: website?.name ?? new URL(url).hostname });
        return { type: 'RecordResult', result };
      },
      failure: { message: 'a website could not be scanned', outcome: recordFailure },
    };
  };

  return createReactor({
    name: 'seoScan',
    streams: [seoStream],
    on: { SeoScanRequested: (event, context) => runLeasedTask(engine, context, scanTask(event)) },
  });
};
