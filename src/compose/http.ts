import { pathToFileURL } from 'node:url';
import { createApp, type HttpAppParts } from '../http/app.js';
import { createKeyUse } from '../http/auth/keyUse.js';
import { createGitHandler } from '../http/git/gitHandler.js';
import { createFileAddresses } from '../http/fileAddress.js';
import type { McpProgram } from '../http/mcp/port.js';
import { createStorageLimit } from '../http/storageLimit.js';
import { noWork, type Metrics, type WorkStatus } from '../http/metrics.js';
import type { Route } from '../http/route.js';
import { createRoutes, type RouteParts } from '../http/routes/index.js';
import { createPages } from '../http/pages/pages.js';
import { createServer, type HttpServer, type Timeouts } from '../http/server.js';
import type { Brand } from '../platform/brand.js';
import type { Clock } from '../platform/clock.js';
import { createSharedTask } from '../platform/sharedTask.js';
import { projections } from '../projections/catalogue.js';
import { projectionStatus } from '../projections/runner/status.js';
import type { Address } from './address.js';
import type { Core } from './core.js';
import type { Integrations } from './integrations.js';
import { readinessChecks, stopCheck } from './readiness.js';

export interface HttpOptions {
  readonly corsOrigins: readonly string[];
  readonly metrics: Metrics;
  /** Whether `/metrics` is served on the health port alone. Default: no. */
  readonly metricsOnHealthPort?: boolean;
  /** Of the service, as in `1.2.3`. */
  readonly version: string;
  /** Where the built portal is. */
  readonly portalFolder: string;
  /** The file of the MCP server: `@doorstep/mcp`. Absent: there is none at `/mcp`. */
  readonly mcpProgram?: string;
  readonly brand: Brand;
  /** Bytes of documents and media that a website may have. */
  readonly storageLimit: number;
  /** Whether it is kept who saw which revision of a delivery block. */
  readonly readReceipts: boolean;
  /** Default: no workers are measured. */
  readonly workStatus?: () => Promise<WorkStatus>;
  /** Default: every route of the service. */
  readonly routes?: (parts: RouteParts) => readonly Route[];
  readonly limits?: HttpAppParts['limits'];
  readonly trustsProxy?: HttpAppParts['trustsProxy'];
  readonly rateLimit?: HttpAppParts['rateLimit'];
  readonly timeouts?: Timeouts;
  /** Whether this process ends: it is not ready then, while it finishes its work. Default: no. */
  readonly isStopping?: () => boolean;
  /** Of the servers' timeouts. Default: the engine's. */
  readonly clock?: Clock;
}

/** The servers of one process; they listen to nothing yet. */
export interface HttpServers {
  /** Answers everything. */
  readonly api: HttpServer;
  /** Answers `/healthz`, `/readyz` and `/metrics` alone. */
  readonly health: HttpServer;
}

export const composeHttp = (
  { engine, reader, changeFeed, stores: { eventStore, readModels } }: Core,
  integrations: Integrations,
  { baseUrl, isOwnHostname }: Address,
  {
    corsOrigins,
    metrics,
    metricsOnHealthPort = false,
    storageLimit,
    version,
    portalFolder,
    mcpProgram,
    brand,
    readReceipts,
    limits,
    timeouts,
    isStopping = () => false,
    ...options
  }: HttpOptions,
): HttpServers => {
  const { logger } = engine;
  const clock = options.clock ?? engine.clock;
  const { records, durableRecords } = readModels;
  const { identityProvider, mounts, gitServer } = integrations;
  const keyUse = createKeyUse({ records, logger });
  const statusParts = { eventStore, readModels, clock: engine.clock };
  const status = createSharedTask((signal) => projectionStatus(projections, statusParts, signal));
  const routes = (options.routes ?? createRoutes)({
    ...integrations,
    engine,
    reader,
    changeFeed,
    records,
    keyUse,
    storageLimit: createStorageLimit(reader, storageLimit),
    fileAddresses: createFileAddresses({ engine, files: integrations.files, baseUrl }),
    readReceipts,
    projectionStatus: status,
    workStatus: options.workStatus ?? (() => Promise.resolve(noWork)),
    checks: [stopCheck(isStopping), ...readinessChecks(statusParts, projections, status)],
    metrics,
    metricsOnHealthPort,
    baseUrl,
    version,
  });
  const parts: HttpAppParts = {
    engine,
    reader,
    records: durableRecords,
    routes,
    identityProvider,
    keyUse,
    baseUrl,
    corsOrigins,
    ...(limits !== undefined && { limits }),
    metrics,
    clock,
    rateLimit: options.rateLimit,
    ...(options.trustsProxy !== undefined && { trustsProxy: options.trustsProxy }),
    observe: (answered) => {
      metrics.observe(answered);
    },
  };
  const pages = createPages({
    engine,
    erasure: integrations.erasure,
    brand,
    baseUrl,
    identityProvider,
    reader,
    ledger: integrations.ledger,
    hasOutbox: integrations.outbox !== undefined,
    portalFolder,
    filesOrigin: integrations.files.origin,
  });
  const git = gitServer === undefined ? undefined : createGitHandler({ engine, reader, identityProvider, keyUse, gitServer });
  const mcp: HttpAppParts['mcp'] =
    mcpProgram === undefined
      ? undefined
      : { isOwnHostname, loadProgram: async () => (await import(pathToFileURL(mcpProgram).href)) as McpProgram };
  const vital = routes.filter((route) => route.vital === true);
  const onApi = routes.filter((route) => !(metricsOnHealthPort && route.path === '/metrics'));
  return {
    api: createServer(
      createApp({
        ...parts,
        routes: onApi,
        mounts,
        pages,
        ...(git !== undefined && { git }),
        ...(mcp !== undefined && { mcp }),
      }),
      clock,
      timeouts,
    ),
    health: createServer(createApp({ ...parts, routes: vital }), clock, timeouts),
  };
};
