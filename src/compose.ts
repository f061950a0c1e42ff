import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine, type Engine } from './engine.js';
import { catalogue } from './events/catalogue.js';
import { createCodec } from './events/codec.js';
import { createEmbeddedEventStore } from './events/store/embedded/eventStore.js';
import { createApp } from './http/app.js';
import { createKeyUse } from './http/auth/keyUse.js';
import { createServer } from './http/server.js';
import { accessRoutes } from './http/routes/access/access.routes.js';
import { clientRoutes } from './http/routes/clients/clients.routes.js';
import { deliveryRoutes } from './http/routes/delivery/delivery.routes.js';
import { meRoutes } from './http/routes/me/me.routes.js';
import { websiteRoutes } from './http/routes/websites/websites.routes.js';
import { createEmbeddedHosting } from './integrations/hosting/embedded.js';
import { createEmbeddedSourceHost } from './integrations/sourceHost/embedded.js';
import { systemClock } from './platform/clock.js';
import type { Logger } from './platform/logger.js';
import { systemRandom } from './platform/random.js';
import { loadEncryptionKey, type Settings } from './platform/settings.js';
import { projections } from './projections/catalogue.js';
import { createProjector } from './projections/runner/projector.js';
import { liveModel } from './projections/runner/versions.js';
import { createEmbeddedReadModelStore } from './projections/store/embedded/embeddedReadModelStore.js';
import { createProvisioningWorker } from './workers/provisioning/provisioningWorker.js';

/** The stores and the engine on them: all that an operator's script needs. */
export interface OpenEngine {
  readonly engine: Engine;
  /** 32 bytes. */
  readonly encryptionKey: Buffer;
  /** Finishes what is being written, then lets go of the stores. */
  close(): Promise<void>;
}

export const openEngine = async (settings: Settings, logger: Logger): Promise<OpenEngine> => {
  const clock = systemClock;
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  const encryptionKey = await loadEncryptionKey(settings);
  const eventStore = await createEmbeddedEventStore({ file: join(settings.dataDir, 'events.db'), clock, logger });
  const readModels = await createEmbeddedReadModelStore({ file: join(settings.dataDir, 'read-models.db'), clock });
  const engine = createEngine({
    clock,
    random: systemRandom,
    logger,
    codec: createCodec(catalogue),
    eventStore,
    readModels,
    liveModel: (projection) => liveModel(projection, readModels),
    encryptionKey,
  });
  return {
    engine,
    encryptionKey,
    close: async () => {
      await eventStore.close();
      await readModels.close();
    },
  };
};

/** The service, running. */
export interface Doorstep {
  /** Public base address, without a trailing slash. */
  readonly baseUrl: string;
  /** Takes no new work, finishes what is under way within 10 s, lets go of the stores. */
  stop(): Promise<void>;
}

const templatesFolder = fileURLToPath(new URL('../templates', import.meta.url));

/** Starts the parts named in `PROCESS_ROLES`. */
export const startDoorstep = async (settings: Settings, logger: Logger): Promise<Doorstep> => {
  const open = await openEngine(settings, logger);
  const { engine, encryptionKey } = open;
  const { clock, random, eventStore, readModels, codec } = engine;
  const { host, port, corsOrigins } = settings.http;
  const folder = (name: string): string => join(settings.dataDir, name);

  // The port, and with it the address, is known once it is listened on; until then nobody asks.
  let localUrl = '';
  const baseUrl = (): string => settings.http.baseUrl ?? localUrl;

  const sourceHost = createEmbeddedSourceHost({ folder: folder('repositories'), templatesFolder, clock });
  const hosting = createEmbeddedHosting({
    folder: folder('sites'),
    repositoriesFolder: folder('repositories'),
    publicUrl: baseUrl,
    clock,
  });

  const app = createApp({
    engine,
    routes: [
      ...meRoutes({ engine }),
      ...websiteRoutes({ engine, sourceHost }),
      ...clientRoutes({ engine }),
      ...accessRoutes({ engine }),
      ...deliveryRoutes({ engine, hosting }),
    ],
    identityProvider: null,
    keyUse: createKeyUse(engine),
    encryptionKey,
    baseUrl,
    corsOrigins,
    mounts: { '/sites': hosting.handler },
  });
  const server = createServer(app, clock);
  const projector = createProjector({
    projections,
    eventStore,
    readModels,
    clock,
    random,
    logger,
    decode: (stored) => codec.decode(stored),
  });
  const workers = [
    createProvisioningWorker({
      engine,
      sourceHost,
      hosting,
      // From this machine, websites served here are reached without going through the public address.
      reach: (url) => (localUrl !== '' && url.startsWith(baseUrl()) ? localUrl + url.slice(baseUrl().length) : url),
    }),
  ];

  const { roles } = settings;
  if (roles.has('api')) localUrl = (await server.listen(host, port)).url;
  if (roles.has('projector')) await projector.start();
  if (roles.has('worker')) await Promise.all(workers.map((worker) => worker.start()));

  return {
    baseUrl: baseUrl(),
    stop: async () => {
      if (roles.has('api')) await server.stop();
      if (roles.has('worker')) await Promise.all(workers.map((worker) => worker.stop()));
      if (roles.has('projector')) await projector.stop();
      await open.close();
    },
  };
};
