import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ErasureParts } from './commands/erasure/erasure.handlers.js';
import { createCore, type Core } from './core.js';
import { catalogue } from './events/catalogue.js';
import { createCodec } from './events/codec.js';
import { EventStoreUnavailable, OutcomeUnknown, type EventStore } from './events/store/eventStore.js';
import { createEmbeddedEventStore } from './events/store/embedded/eventStore.js';
import { createApp, vitalPaths, type HttpAppParts } from './http/app.js';
import { createKeyUse } from './http/auth/keyUse.js';
import { createMetrics } from './http/metrics.js';
import { createRoutes } from './http/routes/index.js';
import { readinessChecks } from './http/routes/system/readiness.js';
import { createServer } from './http/server.js';
import { createPageCounter } from './integrations/analytics/embedded.js';
import { createPlausible } from './integrations/analytics/plausible.js';
import { createShopify } from './integrations/commerce/shopify.js';
import { createEmbeddedOutbox } from './integrations/email/embedded.js';
import { createSmtpSender } from './integrations/email/smtp.js';
import { createEmbeddedHosting } from './integrations/hosting/embedded.js';
import { createVercel } from './integrations/hosting/vercel.js';
import { createEmbeddedIdentity } from './integrations/identity/embedded.js';
import { createOpenAiGateway } from './integrations/llm/openAi.js';
import { createOidcIssuer } from './integrations/identity/oidcIssuer.js';
import { createEmbeddedLedger } from './integrations/payments/embedded.js';
import { createStripePayments } from './integrations/payments/stripe.js';
import { createCalCom } from './integrations/scheduling/calCom.js';
import { createEmbeddedCalendar } from './integrations/scheduling/embedded.js';
import { createEmbeddedSourceHost } from './integrations/sourceHost/embedded.js';
import { createGitHub } from './integrations/sourceHost/github.js';
import { createFetchStatus } from './integrations/fetchStatus.js';
import { sleep, systemClock, type Clock } from './platform/clock.js';
import type { Logger } from './platform/logger.js';
import { encryptionKeyFile, loadMasterKeys } from './platform/masterKeys.js';
import { createPersonalData } from './platform/personal.js';
import { systemRandom } from './platform/random.js';
import { SettingsError, type Settings } from './platform/settings.js';
import { MasterKeyUnknown, openVault, type Vault, type VaultRecords } from './platform/vault.js';
import { readVersion } from './platform/version.js';
import { erasureTargets } from './projections/erasure/erasureTargets.queries.js';
import { projectionStatus } from './projections/runner/status.js';
import { listBookings } from './projections/booking/booking.queries.js';
import { projections } from './projections/catalogue.js';
import { guardLogIdentity, OtherLog } from './projections/runner/logIdentity.js';
import { createProjector } from './projections/runner/projector.js';
import { ReadModelStoreUnavailable, type ReadModelStore } from './projections/store/readModelStore.js';
import { createEmbeddedReadModelStore } from './projections/store/embedded/embeddedReadModelStore.js';
import { createDurableRecords } from './projections/store/embedded/durableRecords.js';
import { createCommerceWebhooksWorker } from './workers/webhook/webhookWorker.js';
import { createServiceSecretsWorker } from './workers/service/serviceSecretsWorker.js';
import { createCronWorker } from './workers/cron/cronWorker.js';
import { maintenanceJob } from './workers/cron/maintenance.js';
import { createErasureWorker } from './workers/erasure/erasureWorker.js';
import { createInvitationMailWorker } from './workers/invitationMail/invitationMailWorker.js';
import { createProvisioningWorker } from './workers/provisioning/provisioningWorker.js';
import { createRedeployWorker } from './workers/deployment/deploymentWorker.js';
import { createTransferWorker } from './workers/transfer/transferWorker.js';
import { createScan } from './workers/seo/scan.js';
import { createSeoRunWorker, scheduledSeoScans } from './workers/seoRun/seoRunWorker.js';
import { createSeoScanWorker } from './workers/seo/seoWorker.js';

/** The stores, and the engine and the reader on them: all that an operator's script needs. */
export interface OpenCore extends Core {
  /** Finishes what is being written, then lets go of the stores. */
  close(): Promise<void>;
}

/** @param watched the event store as everybody uses it, for those who measure */
export const openCore = async (
  settings: Settings,
  logger: Logger,
  watched: (eventStore: EventStore) => EventStore = (eventStore) => eventStore,
): Promise<OpenCore> => {
  const clock = systemClock;
  await asSetting('DATA_DIR', async () => {
    await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
    await access(settings.dataDir, constants.W_OK);
  });
  const { readModels, records } = await openReadModels(settings, clock);
  const vault = await unlock(settings, records, clock).catch(async (error: unknown) => {
    await readModels.close();
    await records.close();
    throw error;
  });
  const log = await openEventStore(settings, clock, logger);
  const guard = guardLogIdentity({ eventStore: log, readModels, projections, clock, random: systemRandom });
  const eventStore = watched(guard.eventStore);
  await requireSameLog(settings, guard.verify).catch(async (error: unknown) => {
    await eventStore.close();
    await readModels.close();
    await records.close();
    throw error;
  });
  const core = createCore({
    clock,
    random: systemRandom,
    logger,
    codec: createCodec(catalogue),
    eventStore,
    readModels,
    vault,
    personal: await createPersonalData(vault),
  });
  return {
    ...core,
    close: async () => {
      await eventStore.close();
      await readModels.close();
      await records.close();
    },
  };
};

/** @throws SettingsError when the master key is not the vault's */
const unlock = async (settings: Settings, records: VaultRecords, clock: Clock): Promise<Vault> => {
  try {
    return await openVault({ records, masterKeys: () => loadMasterKeys(settings), clock, random: systemRandom });
  } catch (error) {
    if (!(error instanceof MasterKeyUnknown)) throw error;
    const where = settings.encryptionKey === undefined ? `${encryptionKeyFile} in DATA_DIR` : 'ENCRYPTION_KEY';
    throw new SettingsError([
      `${where}: is not the key that the vault is wrapped with; the one before it belongs into PREVIOUS_ENCRYPTION_KEYS`,
    ]);
  }
};

/**
 * A store that is unavailable does not end the start: each of its users waits for it.
 * @throws SettingsError when the settings combine read models with a log that is not theirs
 */
const requireSameLog = async (
  { stores: { eventStoreUrl, readModelUrl } }: Settings,
  verify: () => Promise<void>,
): Promise<void> => {
  try {
    await verify();
  } catch (error) {
    if (error instanceof OtherLog) {
      const log = eventStoreUrl === undefined ? 'DATA_DIR (events.db)' : 'EVENT_STORE_URL';
      const [models, wayOut] =
        readModelUrl === undefined
          ? ['DATA_DIR (read-models.db)', 'move read-models.db, and what begins with its name, away']
          : ['READ_MODEL_URL', 'name a database without read models; the collection vault that belongs to the log goes with it'];
      throw new SettingsError([
        `${models}: the read models there were made from another log than that of ${log}. Set both to what belongs together; or, to have them made anew from this log, ${wayOut}`,
      ]);
    }
    const isAway = [EventStoreUnavailable, OutcomeUnknown, ReadModelStoreUnavailable].some((kind) => error instanceof kind);
    if (!isAway) throw error;
  }
};

/** What is not used is not loaded. */
const openEventStore = async (
  { dataDir, stores: { eventStoreUrl } }: Settings,
  clock: Clock,
  logger: Logger,
): Promise<EventStore> => {
  if (eventStoreUrl === undefined) return createEmbeddedEventStore({ file: join(dataDir, 'events.db'), clock, logger });
  const { createEventStoreDb } = await import('./events/store/eventStoreDb/eventStore.js');
  return asSetting('EVENT_STORE_URL', () => createEventStoreDb({ url: eventStoreUrl, clock, random: systemRandom, logger }));
};

/** Read models, and beside them the records that outlast every one of them. */
const openReadModels = async (
  { dataDir, stores: { readModelUrl } }: Settings,
  clock: Clock,
): Promise<{ readModels: ReadModelStore; records: VaultRecords & { close(): Promise<void> } }> => {
  if (readModelUrl === undefined) {
    return {
      readModels: await createEmbeddedReadModelStore({ file: join(dataDir, 'read-models.db'), clock }),
      records: await createDurableRecords({ file: join(dataDir, 'vault.db'), clock }),
    };
  }
  const { createMongoReadModelStore } = await import('./projections/store/mongodb/mongoReadModelStore.js');
  const readModels = await asSetting('READ_MODEL_URL', () =>
    createMongoReadModelStore({ url: readModelUrl, clock, random: systemRandom }),
  );
  return { readModels, records: { ...readModels.recordsIn('vault'), close: () => Promise.resolve() } };
};

/**
 * What an adapter finds wrong with its address, or the operating system with a folder or a port, is the operator's to mend. Adapters
 * tell nothing of what the address holds.
 */
const asSetting = async <Store>(name: string, open: () => Store | Promise<Store>): Promise<Store> => {
  try {
    return await open();
  } catch (error) {
    throw new SettingsError([`${name}: ${(error as Error).message}`]);
  }
};

/** The service, running. */
export interface Doorstep {
  /** Public base address, without a trailing slash. */
  readonly baseUrl: string;
  /** Where `/healthz`, `/readyz` and `/metrics` alone are answered (`HEALTH_PORT`). */
  readonly healthUrl: string | undefined;
  /** Takes no new work, finishes what is under way within 10 s, lets go of the stores. */
  stop(): Promise<void>;
}

const templatesFolder = fileURLToPath(new URL('../templates', import.meta.url));

/** Starts the parts named in `PROCESS_ROLES`. */
export const startDoorstep = async (settings: Settings, logger: Logger): Promise<Doorstep> => {
  const metrics = createMetrics();
  const open = await openCore(settings, logger, (eventStore) => metrics.counting(eventStore));
  const { engine, reader, createReactor } = open;
  const { clock, random } = engine;
  const { eventStore, readModels, codec } = open.stores;
  const { records } = readModels;
  const { host, port, healthPort, corsOrigins } = settings.http;
  const folder = (name: string): string => join(settings.dataDir, name);

  // Known once it is listened on; until then nobody asks. A process without the api takes it that another one has the address.
  let localUrl: string | undefined;
  const baseUrl = (): string => settings.http.baseUrl ?? localUrl ?? addressOf(host, port);

  // Websites served here are reached without going through the public address.
  const toLocalUrl = (url: string): string => {
    const inside = localUrl ?? settings.http.internalUrl;
    return inside !== undefined && url.startsWith(baseUrl()) ? inside + url.slice(baseUrl().length) : url;
  };
  const fetchStatus = createFetchStatus({ clock, toLocalUrl });
  const { sites } = settings;
  const sourceHost =
    sites === undefined
      ? createEmbeddedSourceHost({ folder: folder('repositories'), templatesFolder, clock })
      : createGitHub({ settings: sites.github, clock, random, logger });
  const counter = createPageCounter({ file: folder('analytics.db'), clock, random, logger });
  const analytics =
    settings.analytics === undefined ? counter : createPlausible({ ...settings.analytics, clock, random, logger });
  // Sites that were made before Vercel was chosen are served on.
  const hostingHere = createEmbeddedHosting({
    folder: folder('sites'),
    repositoriesFolder: folder('repositories'),
    publicUrl: baseUrl,
    clock,
    ...(analytics === counter && { countPage: counter.count }),
  });
  const hosting =
    sites === undefined ? hostingHere : createVercel({ settings: sites.vercel, clock, random, logger, fetchStatus });

  const { siteAddress } = hostingHere;

  const { from, smtp } = settings.mail;
  const outbox = createEmbeddedOutbox({ folder: folder('outbox'), from, clock });
  const email = smtp === undefined ? outbox : createSmtpSender({ server: smtp, from, clock, logger });
  const { stripe } = settings;
  const ledger = createEmbeddedLedger({ file: folder('ledger.db'), clock });
  const payments = stripe === undefined ? ledger : createStripePayments({ ...stripe, clock, random, logger });
  const keyUse = createKeyUse({ records, logger });
  const { issuer, adminEmails } = settings.auth;
  const { identityProvider, mounts: signIn } =
    issuer === undefined
      ? createEmbeddedIdentity({
          ...engine,
          records,
          email,
          logsSignInCodes: smtp === undefined,
          baseUrl,
          origins: corsOrigins,
          adminEmails,
        })
      : { identityProvider: createOidcIssuer(issuer, engine), mounts: {} };

  const erasure: ErasureParts = {
    findTargets: (clientId, person) => erasureTargets(reader, clientId, person),
    holders: [
      // Mails that were kept before there was a mail server are still here.
      outbox,
      { forget: (address, person) => identityProvider.forget?.(address, person) ?? Promise.resolve() },
    ],
  };

  const { url: calComUrl, apiKey: calComKey } = settings.scheduling ?? { url: 'https://api.cal.com', apiKey: undefined };
  const calCom = createCalCom({ url: calComUrl, apiKey: calComKey, clock, random, logger });
  const scheduling =
    settings.scheduling === undefined
      ? createEmbeddedCalendar((websiteId, query) => listBookings(reader, websiteId, query))
      : calCom;

  const commerce = createShopify({ ...settings.commerce, clock, random, logger });

  const status = { eventStore, readModels, clock };
  const routes = createRoutes({
    engine,
    reader,
    commerce,
    sourceHost,
    hosting,
    siteAddress,
    analytics,
    scheduling,
    ownsCalendar: settings.scheduling === undefined,
    ownScheduling: calCom,
    keyUse,
    ...(smtp === undefined && { outbox }),
    erasure,
    payments,
    ...(stripe === undefined && { ledger }),
    projectionStatus: () => projectionStatus(projections, status),
    checks: readinessChecks(status, projections),
    metrics,
    baseUrl,
    version: readVersion(new URL('../package.json', import.meta.url)),
  });
  const appParts: HttpAppParts = {
    engine,
    reader,
    records,
    routes,
    identityProvider,
    keyUse,
    baseUrl,
    corsOrigins,
    observe: (answered) => {
      metrics.observe(answered);
    },
  };
  const server = createServer(createApp({ ...appParts, mounts: { ...signIn, '/sites': hostingHere.handler } }), clock);
  const health = createServer(createApp({ ...appParts, routes: routes.filter(({ path }) => vitalPaths.includes(path)) }), clock);
  const projector = createProjector({
    projections,
    eventStore,
    readModels,
    clock,
    random,
    logger,
    decode: (stored) => codec.decode(stored),
  });
  const llm = settings.llm === undefined ? undefined : createOpenAiGateway({ ...settings.llm, clock, random, logger });
  const servedSiteUrl = ({ href }: URL): URL | null =>
    href.startsWith(`${baseUrl()}/sites/`) ? new URL(toLocalUrl(href)) : null;
  const workers = [
    createSeoScanWorker({ engine, reader, createReactor, scan: createScan({ clock, servedSiteUrl, llm }), siteAddress }),
    createSeoRunWorker({ engine, reader, createReactor, siteAddress }),
    createProvisioningWorker({ engine, createReactor, sourceHost, hosting, visit: fetchStatus }),
    createRedeployWorker({ engine, createReactor, hosting }),
    createInvitationMailWorker({ engine, reader, createReactor, email, baseUrl }),
    createErasureWorker({ engine, createReactor, erasure }),
    createServiceSecretsWorker({ engine, createReactor }),
    createCommerceWebhooksWorker({ engine, createReactor }),
    createTransferWorker({ engine, reader, createReactor, payments }),
  ];

  const cron = createCronWorker(engine, [
    maintenanceJob({ records, logger }),
    scheduledSeoScans(engine, settings.seoScanSchedule),
  ]);

  const stayed = stay(clock);
  const { roles } = settings;
  const healthUrl =
    healthPort === undefined ? undefined : (await asSetting('HOST, HEALTH_PORT', () => health.listen(host, healthPort))).url;
  if (roles.has('api')) localUrl = (await asSetting('HOST, PORT', () => server.listen(host, port))).url;
  if (roles.has('projector')) await projector.start();
  if (roles.has('worker')) await Promise.all(workers.map((worker) => worker.start()));
  if (roles.has('cron')) await cron.start();

  return {
    baseUrl: baseUrl(),
    healthUrl,
    stop: async () => {
      // At the same time: each takes up to 10 s, and that is what there is in all.
      await Promise.all([
        roles.has('api') && server.stop(),
        ...(roles.has('worker') ? workers.map((worker) => worker.stop()) : []),
        roles.has('cron') && cron.stop(),
      ]);
      if (roles.has('projector')) await projector.stop();
      if (healthUrl !== undefined) await health.stop();
      counter.close();
      ledger.close();
      await open.close();
      stayed.end();
    },
  };
};

const addressOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;

/** Node ends when nothing is left that it waits for, and nothing in a process without the api has to be waited for. */
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
