import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createEngine, type Engine } from './engine.js';
import { catalogue } from './events/catalogue.js';
import { createCodec } from './events/codec.js';
import { createEmbeddedEventStore } from './events/store/embedded/eventStore.js';
import { systemClock } from './platform/clock.js';
import type { Logger } from './platform/logger.js';
import { systemRandom } from './platform/random.js';
import { loadEncryptionKey, type Settings } from './platform/settings.js';
import { liveModel } from './projections/runner/versions.js';
import { createEmbeddedReadModelStore } from './projections/store/embedded/embeddedReadModelStore.js';

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
