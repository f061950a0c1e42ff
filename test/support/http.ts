import { fileURLToPath } from 'node:url';
import { afterAll, expect } from '@jest/globals';
import { mintApiKey } from '../../src/commands/apiKey/apiKey.handlers.js';
import type { PersonalDataHolder } from '../../src/commands/erasure/erasure.handlers.js';
import { mailsFolder } from './mails.js';
import { erasureOf, processOn, type TestProcess } from './process.js';
import { createAddress } from '../../src/compose/address.js';
import { countAppends } from '../../src/compose/countAppends.js';
import { composeHttp } from '../../src/compose/http.js';
import { composeIntegrations } from '../../src/compose/integrations.js';
import { openCore } from '../../src/compose/stores.js';
import { composeProjector } from '../../src/compose/projector.js';
import type { Environment } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import type { Answered } from '../../src/http/accessLog.js';
import type { HttpAppParts } from '../../src/http/app.js';
import { createMetrics } from '../../src/http/metrics.js';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { errorCodesOf } from '../../src/http/refusals.js';
import type { Route } from '../../src/http/route.js';
import type { HttpServer, Timeouts } from '../../src/http/server.js';
import type { EventStore } from '../../src/events/store/eventStore.js';
import type { Commerce } from '../../src/integrations/commerce/port.js';
import { createShopify } from '../../src/integrations/commerce/shopify.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import type { EmbeddedIdentity } from '../../src/integrations/identity/embedded.js';
import type { Payments } from '../../src/integrations/payments/port.js';
import type { Scheduling } from '../../src/integrations/scheduling/port.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { createLogger, type Logger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { readVersion } from '../../src/platform/version.js';
import { buildProgram } from './siteBuilder.js';
import { temporaryFolder } from './temporary.js';

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
  mintToken(input?: TokenInput): Promise<string>;
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

export interface TokenInput {
  readonly role?: 'admin' | 'client';
  readonly subject?: string;
  readonly scope?: 'read' | 'write';
  readonly verifiedEmail?: string;
  readonly expiresAt?: string;
}

export interface ApiOptions extends Partial<Pick<HttpAppParts, 'identityProvider' | 'corsOrigins' | 'limits' | 'mounts'>> {
  /** Settings of the service. Default: none. */
  readonly environment?: Environment;
  /** Default: the embedded ledger. */
  readonly payments?: Payments;
  /**
   * Where the files are; given the folder of another one, both are processes of one installation.
   */
  readonly folder?: string;
  readonly clock?: Clock;
  readonly timeouts?: Timeouts;
  /** Stands before the event store. */
  readonly instrument?: (eventStore: EventStore) => EventStore;
  /** Of the timeouts of connections and bodies. Default: the system's. */
  readonly timeoutClock?: Clock;
  /** Instead of the embedded calendar. */
  readonly scheduling?: Scheduling;
  /** Instead of shops that sell nothing, with the webhook secrets `secret` and `previous`. */
  readonly commerce?: Commerce;
  /** Instead of the embedded hosting, for routes. */
  readonly hosting?: Hosting;
  /** Instead of accounts without bookings. */
  readonly ownScheduling?: Scheduling;
  /** Instead of the service's. */
  readonly routes?: (parts: RouteParts) => readonly Route[];
  /** Instead of `identityProvider`, with what it answers. */
  readonly signIn?: (engine: TestProcess, baseUrl: () => string) => EmbeddedIdentity;
  readonly holders?: readonly PersonalDataHolder[];
  /** Instead of the built MCP server. */
  readonly mcpProgram?: string;
  /** Whether the websites hosted here are served. Default: no, unless `mounts` does. */
  readonly sites?: boolean;
  /** Whether read models are kept up to date here. Default: yes. */
  readonly projector?: boolean;
}

const templatesFolder = fileURLToPath(new URL('../../templates', import.meta.url));
const portalFolder = fileURLToPath(new URL('../../portal/dist', import.meta.url));
const mcpProgram = fileURLToPath(new URL('../../mcp/dist/index.js', import.meta.url));

const emptyShops = (clock: Clock, logger: Logger): Commerce => ({
  ...createShopify({ webhookSecrets: ['secret', 'previous'], apiVersion: '2026-01', clock, random: systemRandom, logger }),
  products: () => Promise.resolve([]),
  countProducts: () => Promise.resolve(0),
});

const emptyAccounts: Scheduling = { provider: 'Cal.com', bookings: () => Promise.resolve([]), count: () => Promise.resolve(0) };

const running = new Set<RunningApi>();

/** Errors that a route gave without declaring them (`refusals`, `asksProvider`, `faults`). */
const undeclared = new Set<string>();

afterAll(async () => {
  for (const api of [...running]) await api.stop();
  expect([...undeclared]).toEqual([]);
});

const noteUndeclared = (routes: readonly Route[], { method, route: path, status, code }: Answered): void => {
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
  const route = routes.find((one) => one.path === path && one.method === asked);
  if (route === undefined || code === undefined || status < 400) return;
  const declared: ReadonlySet<string> = errorCodesOf(route);
  if (!declared.has(code)) undeclared.add(`${route.operationId}: ${code}`);
};

/** Starts it; it is stopped after the test file at the latest. */
export const startApi = async (options: ApiOptions = {}): Promise<RunningApi> => {
  const { clock = systemClock, folder = temporaryFolder() } = options;
  const log: Record<string, unknown>[] = [];
  const logger: Logger = createLogger({
    level: 'info',
    destination: { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const settings = loadSettings({ DATA_DIR: folder, ...options.environment });
  const metrics = createMetrics();
  const core = await openCore(settings, logger, {
    clock,
    instrument: (eventStore) => countAppends(options.instrument?.(eventStore) ?? eventStore, metrics),
  });
  const engine = processOn(core);
  const projector = composeProjector(core);
  if (options.projector !== false) await projector.start();

  const address = createAddress(settings);
  const { baseUrl } = address;
  const signIn = options.signIn?.(engine, baseUrl);
  const integrations = composeIntegrations(
    settings,
    core,
    address,
    { templatesFolder, buildProgram, mailsFolder },
    {
      commerce: options.commerce ?? emptyShops(clock, logger),
      ownScheduling: options.ownScheduling ?? emptyAccounts,
      ...(options.scheduling !== undefined && { scheduling: options.scheduling, ownsCalendar: false }),
      ...(options.payments !== undefined && { payments: options.payments }),
      ...(options.hosting !== undefined && { hosting: options.hosting }),
      identityProvider: signIn?.identityProvider ?? options.identityProvider ?? null,
      ...(options.sites !== true && { mounts: options.mounts ?? signIn?.mounts ?? {} }),
      erasure: {
        ...erasureOf(engine, options.holders),
        accounts: { forget: async (email, person) => signIn?.identityProvider.forget?.(email, person) },
      },
    },
  );
  let declared: readonly Route[] = [];
  const { api: server } = composeHttp(core, integrations, address, {
    corsOrigins: options.corsOrigins ?? [],
    metrics: {
      ...metrics,
      observe: (answered) => {
        metrics.observe(answered);
        noteUndeclared(declared, answered);
      },
    },
    version: readVersion(new URL('../../package.json', import.meta.url)),
    portalFolder,
    mcpProgram: options.mcpProgram ?? mcpProgram,
    brand: settings.brand,
    storageLimit: settings.files.storageLimit,
    readReceipts: settings.readReceipts,
    clock: options.timeoutClock ?? systemClock,
    rateLimit: settings.http.rateLimit,
    routes: (parts) => {
      declared = (options.routes ?? createRoutes)(parts);
      return declared;
    },
    ...(options.limits !== undefined && { limits: options.limits }),
    ...(options.timeouts !== undefined && { timeouts: options.timeouts }),
  });
  const { url } = await server.listen('127.0.0.1', 0);
  address.listensAt(url);

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
      integrations.close();
      await core.close();
    },
  };
  running.add(api);
  return api;
};

const call = async (url: string, init: RequestInit): Promise<ApiAnswer> => {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = /^application\/(?:\S+\+)?json\b/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? (JSON.parse(text) as unknown) : null,
  };
};
