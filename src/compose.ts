import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAddress } from './compose/address.js';
import { asSetting } from './compose/asSetting.js';
import { countAppends } from './compose/countAppends.js';
import { composeHttp } from './compose/http.js';
import { composeIntegrations } from './compose/integrations.js';
import { composeProjector } from './compose/projector.js';
import { createProjectorThread, type ThreadOptions } from './compose/projectorThread.js';
import { openCore } from './compose/stores.js';
import { composeWorkers, composeWorkStatus } from './compose/workers.js';
import { createMetrics } from './http/metrics.js';
import { sleep, systemClock, type Clock } from './platform/clock.js';
import type { Logger } from './platform/logger.js';
import { createTrustsProxy } from './platform/publicAddress.js';
import type { Settings } from './platform/settings/settings.js';
import { readVersion } from './platform/version.js';
import { buildProgram, projectorProgram } from './programs.js';

/** The service, running. */
export interface Doorstep {
  /** Public base address, without a trailing slash. */
  readonly baseUrl: string;
  /** Where `/healthz`, `/readyz` and `/metrics` alone are answered (`HEALTH_PORT`). */
  readonly healthUrl: string | undefined;
  /** Takes no new work, finishes what is under way within 10 s, closes the stores. */
  stop(): Promise<void>;
}

/** Where the files are that are shipped with the service. */
export const shippedFiles = {
  templatesFolder: fileURLToPath(new URL('../templates', import.meta.url)),
  portalFolder: fileURLToPath(new URL('../portal/dist', import.meta.url)),
  // Made by the build, also when the sources run.
  mailsFolder: fileURLToPath(new URL('../dist/mails', import.meta.url)),
  // Built after the service, whose API it calls.
  mcpProgram: fileURLToPath(new URL('../mcp/dist/index.js', import.meta.url)),
  buildProgram,
};

export interface StartOptions {
  /** How many lines of the log were given up so far, for the metrics. Default: none. */
  readonly droppedLogLines?: () => number;
  /** Default: the system's. The demo lets months pass in a minute. */
  readonly clock?: Clock;
  /**
   * For a projector on a thread of its own, which it gets beside other roles when both stores are embedded.
   * Absent: it runs on this one.
   */
  readonly projectorThread?: ThreadOptions;
}

const listening = <Server>(portName: string, listen: () => Promise<Server>): Promise<Server> =>
  asSetting(`HOST, ${portName}`, async () => {
    try {
      return await listen();
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      throw isTaken
        ? new Error(`${error.message}. End what listens there, or set another ${portName}; 0 picks a free one`)
        : error;
    }
  });

/** Starts the parts named in `PROCESS_ROLES`. */
export const startDoorstep = async (
  settings: Settings,
  logger: Logger,
  { droppedLogLines = () => 0, clock = systemClock, projectorThread }: StartOptions = {},
): Promise<Doorstep> => {
  const {
    roles,
    http: { host, port, healthPort, corsOrigins, metrics: metricsAt, rateLimit, senderLimit, trustedProxies },
  } = settings;
  const metrics = createMetrics(droppedLogLines);
  const { eventStoreUrl, readModelUrl } = settings.stores;
  const isEmbedded = eventStoreUrl === undefined && readModelUrl === undefined;
  const isBesideOthers = roles.has('projector') && roles.size > 1;
  const thread =
    projectorThread !== undefined && isEmbedded && isBesideOthers
      ? createProjectorThread(projectorProgram, projectorThread)
      : undefined;
  const core = await openCore(settings, logger, {
    clock,
    instrument: (eventStore) => countAppends(eventStore, metrics),
    ...(thread && { firstVersions: thread.started }),
    // Every other role leaves it alone, and may run without the folder.
    ...(settings.stripe === undefined &&
      (roles.has('api') || roles.has('worker')) && { ledgerFile: join(settings.dataDir, 'ledger.db') }),
  });
  const projector = thread ?? composeProjector(core);
  // It comes up while the rest is put together.
  const threadStarted = thread?.start();
  const address = createAddress(settings);
  const version = readVersion(new URL('../package.json', import.meta.url));
  const integrations = composeIntegrations(settings, core, address, { ...shippedFiles, version, noteLedger: core.noteLedger });
  const { workers, cron } = composeWorkers(settings, core, integrations, address, shippedFiles);
  let isStopping = false;
  const { api, health } = composeHttp(core, integrations, address, {
    corsOrigins,
    metrics,
    metricsOnHealthPort: metricsAt === 'health',
    version,
    portalFolder: shippedFiles.portalFolder,
    mcpProgram: shippedFiles.mcpProgram,
    brand: settings.brand,
    storageLimit: settings.files.storageLimit,
    readReceipts: settings.readReceipts,
    workStatus: composeWorkStatus(core, workers),
    limits: { maxOfSender: senderLimit },
    rateLimit,
    trustsProxy: createTrustsProxy(trustedProxies),
    isStopping: () => isStopping,
  });

  const stayed = stay(core.engine.clock);
  const healthUrl =
    healthPort === undefined ? undefined : (await listening('HEALTH_PORT', () => health.listen(host, healthPort))).url;
  if (roles.has('api')) address.listensAt((await listening('PORT', () => api.listen(host, port))).url);
  if (roles.has('projector')) await (threadStarted ?? projector.start());
  if (roles.has('worker')) await Promise.all(workers.map((worker) => worker.start()));
  if (roles.has('cron')) await cron.start();

  return {
    baseUrl: address.baseUrl(),
    healthUrl,
    stop: async () => {
      // First, so that nobody is sent to a port that is closed.
      isStopping = true;
      // At the same time: each takes up to 10 s, and that is what there is in all.
      await Promise.all([
        roles.has('api') && api.stop(),
        ...(roles.has('worker') ? workers.map((worker) => worker.stop()) : []),
        roles.has('cron') && cron.stop(),
      ]);
      if (roles.has('projector')) await projector.stop();
      if (healthUrl !== undefined) await health.stop();
      integrations.close();
      await core.close();
      stayed.end();
    },
  };
};

/**
 * Node ends when nothing is left that it waits for, and nothing in a process without the api has to
 * be waited for.
 */
const stay = (clock: Clock): { end(): void } => {
  const ended = new AbortController();
  const wait = async (): Promise<void> => {
    while (!ended.signal.aborted) await sleep(clock, 86_400_000, ended.signal);
  };
  void wait();
  return {
    end: () => {
      ended.abort();
    },
  };
};
