import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import { mintApiKey } from '../../src/commands/apiKey/apiKey.handlers.js';
import type { PersonalDataHolder } from '../../src/commands/erasure/erasure.handlers.js';
import { createCore } from '../../src/core.js';
import { erasureTargets } from '../../src/projections/erasure/erasureTargets.queries.js';
import { projectionStatus } from '../../src/projections/runner/status.js';
import type { TestProcess } from './process.js';
import { catalogue } from '../../src/events/catalogue.js';
import { createCodec } from '../../src/events/codec.js';
import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import { createApp, type HttpAppParts } from '../../src/http/app.js';
import { createKeyUse } from '../../src/http/auth/keyUse.js';
import { createMetrics } from '../../src/http/metrics.js';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { readinessChecks } from '../../src/http/routes/system/readiness.js';
import type { Route } from '../../src/http/route.js';
import { createServer, type HttpServer, type Patience } from '../../src/http/server.js';
import { createPageCounter } from '../../src/integrations/analytics/embedded.js';
import type { Commerce } from '../../src/integrations/commerce/port.js';
import { createShopify } from '../../src/integrations/commerce/shopify.js';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import type { EmbeddedIdentity } from '../../src/integrations/identity/embedded.js';
import { createEmbeddedLedger } from '../../src/integrations/payments/embedded.js';
import type { Payments } from '../../src/integrations/payments/port.js';
import { createEmbeddedCalendar } from '../../src/integrations/scheduling/embedded.js';
import type { Scheduling } from '../../src/integrations/scheduling/port.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { createLogger, type Logger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { readVersion } from '../../src/platform/version.js';
import { listBookings } from '../../src/projections/booking/booking.queries.js';
import { projections } from '../../src/projections/catalogue.js';
import { createProjector } from '../../src/projections/runner/projector.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import { temporaryFolder } from './temporary.js';
import { openVaultIn } from './vaults.js';

/** The API of one process, listening on a free port, on embedded stores in real files. */
export interface RunningApi {
  /** Without a trailing slash. */
  readonly url: string;
  readonly folder: string;
  readonly engine: TestProcess;
  /** Every line that was logged, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  readonly server: HttpServer;
  /** Calls under `/v1` when given a token, else the path as it is. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>;
  mintToken(wish?: TokenWish): Promise<string>;
  stop(): Promise<void>;
}

export interface CallOptions {
  /** A personal access token. */
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** As parsed, when it is JSON; tests say what they expect it to be. */
  readonly body: unknown;
}

export interface TokenWish {
  readonly role?: 'admin' | 'client';
  readonly subject?: string;
  readonly scope?: 'read' | 'write';
  readonly verifiedEmail?: string;
  readonly expiresAt?: string;
}

export interface ApiOptions extends Partial<Pick<HttpAppParts, 'identityProvider' | 'corsOrigins' | 'limits' | 'mounts'>> {
  /** Default: the embedded ledger. */
  readonly payments?: Payments;
  /** Where the files are; given the folder of another one, both are processes of one installation. */
  readonly folder?: string;
  readonly clock?: Clock;
  readonly patience?: Patience;
  /** Instead of the embedded calendar. */
  readonly scheduling?: Scheduling;
  /** Instead of shops that sell nothing, with the webhook secrets `secret` and `previous`. */
  readonly commerce?: Commerce;
  /** Instead of accounts without bookings. */
  readonly ownScheduling?: Scheduling;
  /** Instead of the service's. */
  readonly routes?: (parts: RouteParts) => readonly Route[];
  /** Instead of `identityProvider`, with what it answers. */
  readonly signIn?: (engine: TestProcess, baseUrl: () => string) => EmbeddedIdentity;
  readonly holders?: readonly PersonalDataHolder[];
  /** Whether read models are kept up to date here. Default: yes. */
  readonly projector?: boolean;
}

const templatesFolder = fileURLToPath(new URL('../../templates', import.meta.url));

const emptyShops = (clock: Clock, logger: Logger): Commerce => ({
  ...createShopify({ webhookSecrets: ['secret', 'previous'], apiVersion: '2026-01', clock, random: systemRandom, logger }),
  products: () => Promise.resolve([]),
});

const emptyAccounts: Scheduling = { provider: 'Cal.com', bookings: () => Promise.resolve([]) };

const running = new Set<RunningApi>();

afterAll(async () => {
  for (const api of [...running]) await api.stop();
});

/** Starts it; it is stopped after the test file at the latest. */
export const startApi = async (options: ApiOptions = {}): Promise<RunningApi> => {
  const { clock = systemClock, folder = temporaryFolder() } = options;
  const log: Record<string, unknown>[] = [];
  const logger: Logger = createLogger({
    level: 'info',
    destination: { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const metrics = createMetrics();
  const eventStore = metrics.counting(await createEmbeddedEventStore({ file: join(folder, 'events.db'), clock, logger }));
  const readModels = await createEmbeddedReadModelStore({ file: join(folder, 'read-models.db'), clock });
  const codec = createCodec(catalogue);
  const { vault, personal, close: closeVault } = await openVaultIn(folder, clock);
  const {
    engine: own,
    reader,
    createReactor,
  } = createCore({
    clock,
    random: systemRandom,
    logger,
    codec,
    eventStore,
    readModels,
    vault,
    personal,
  });
  const { records } = readModels;
  const engine: TestProcess = { ...own, ...reader, eventStore, readModels, codec, createReactor, records };
  const projector = createProjector({
    projections,
    eventStore,
    readModels,
    decode: (stored) => codec.decode(stored),
    clock,
    random: systemRandom,
    logger,
  });
  if (options.projector !== false) await projector.start();

  let url = '';
  const keyUse = createKeyUse({ records, logger });
  const ledger = createEmbeddedLedger({ file: join(folder, 'ledger.db'), clock });
  const payments = options.payments ?? ledger;
  const sourceHost = createEmbeddedSourceHost({ folder: join(folder, 'repositories'), templatesFolder, clock });
  const analytics = createPageCounter({ file: join(folder, 'analytics.db'), clock, random: systemRandom, logger });
  const hosting = createEmbeddedHosting({
    folder: join(folder, 'sites'),
    publicUrl: () => url,
    clock,
    countPage: analytics.count,
  });
  const signIn = options.signIn?.(engine, () => url);
  const mounts = options.mounts ?? signIn?.mounts;
  const status = { eventStore, readModels, clock };
  const app = createApp({
    engine,
    reader,
    records,
    routes: (options.routes ?? createRoutes)({
      engine,
      reader,
      keyUse,
      sourceHost,
      hosting,
      siteAddress: hosting.siteAddress,
      erasure: {
        findTargets: (clientId, person) => erasureTargets(reader, clientId, person),
        holders: options.holders ?? [],
      },
      analytics,
      commerce: options.commerce ?? emptyShops(clock, logger),
      scheduling: options.scheduling ?? createEmbeddedCalendar((websiteId, query) => listBookings(reader, websiteId, query)),
      ownsCalendar: options.scheduling === undefined,
      ownScheduling: options.ownScheduling ?? emptyAccounts,
      payments,
      ...(payments === ledger && { ledger }),
      projectionStatus: () => projectionStatus(projections, status),
      checks: readinessChecks(status, projections),
      metrics,
      baseUrl: () => url,
      version: readVersion(new URL('../../package.json', import.meta.url)),
    }),
    identityProvider: signIn?.identityProvider ?? options.identityProvider ?? null,
    keyUse,
    baseUrl: () => url,
    corsOrigins: options.corsOrigins ?? [],
    ...(mounts !== undefined && { mounts }),
    ...(options.limits !== undefined && { limits: options.limits }),
    observe: (answered) => {
      metrics.observe(answered);
    },
  });
  const server = createServer(app, systemClock, options.patience);
  ({ url } = await server.listen('127.0.0.1', 0));

  const api: RunningApi = {
    url,
    folder,
    engine,
    log,
    server,
    call: (method, path, { token, body, raw, headers = {} } = {}) =>
      call(`${url}${token === undefined ? '' : '/v1'}${path}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...((body !== undefined || raw !== undefined) && { body: raw ?? JSON.stringify(body) }),
      }),
    mintToken: async ({ role = 'admin', subject = 'ops@example.com', scope = 'write', verifiedEmail, expiresAt } = {}) => {
      const { token } = await mintApiKey(
        engine,
        { name: 'test', subject, callerRole: 'admin', role, scope, verifiedEmail, expiresAt },
        engine.random.bytes(64),
        {
          commandId: engine.ids.commandId(),
          actor: { subject: 'test', role: 'system', via: 'worker' },
          requestId: 'test',
        },
      );
      return token;
    },
    stop: async () => {
      if (!running.delete(api)) return;
      await server.stop();
      if (options.projector !== false) await projector.stop();
      analytics.close();
      await eventStore.close();
      ledger.close();
      await readModels.close();
      await closeVault();
    },
  };
  running.add(api);
  return api;
};

const call = async (url: string, init: RequestInit): Promise<ApiAnswer> => {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? (JSON.parse(text) as unknown) : null,
  };
};
