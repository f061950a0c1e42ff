import { join } from 'node:path';
import { createEmbeddedEventStore } from '../events/store/embedded/eventStore.js';
import type { CopyTarget } from '../events/store/eventStore.js';
import type { FileStore } from '../integrations/files/port.js';
import type { Clock } from '../platform/clock.js';
import { systemRandom } from '../platform/random.js';
import type { Settings } from '../platform/settings/settings.js';
import { createDurableRecords } from '../projections/store/embedded/durableRecords.js';
import { createEmbeddedReadModelStore } from '../projections/store/embedded/embeddedReadModelStore.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import { asSetting } from './asSetting.js';
import { filesBelow, filesInBucket } from './files.js';

/** All that an installation stores, apart from read models, which are folded from the log, and folders. */
export interface Installation {
  readonly log: CopyTarget;
  /** Beside the read models: sign-ins, stored responses, positions. */
  readonly records: RecordStore;
  readonly vault: RecordStore;
  readonly files: FileStore;
  close(): Promise<void>;
}

/**
 * Opens the stores that the settings name, for one process alone: no other process has the files of
 * a data folder open, or can open them until `close`. Of servers this cannot be known.
 *
 * @throws EventStoreInUse, ReadModelStoreInUse; SettingsError
 */
export const openInstallation = async (settings: Settings, clock: Clock): Promise<Installation> => {
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const store of opened.splice(0).reverse()) await store.close();
  };
  const open = async <Store extends { close(): Promise<void> }>(opening: Promise<Store>): Promise<Store> => {
    const store = await opening;
    opened.push(store);
    return store;
  };
  try {
    const log = await open(openLog(settings, clock));
    const { records, vault } = await openRecords(settings, clock, open);
    return { log, records, vault, files: filesInBucket(settings) ?? filesBelow(settings.dataDir), close };
  } catch (error) {
    await close();
    throw error;
  }
};

const openLog = async ({ dataDir, stores: { eventStoreUrl } }: Settings, clock: Clock): Promise<CopyTarget> => {
  if (eventStoreUrl === undefined) return createEmbeddedEventStore({ file: join(dataDir, 'events.db'), clock, alone: true });
  const { createEventStoreDb } = await import('../events/store/eventStoreDb/eventStore.js');
  return asSetting('EVENT_STORE_URL', () => createEventStoreDb({ url: eventStoreUrl, clock, random: systemRandom }));
};

const openRecords = async (
  { dataDir, stores: { readModelUrl } }: Settings,
  clock: Clock,
  open: <Store extends { close(): Promise<void> }>(opening: Promise<Store>) => Promise<Store>,
): Promise<Pick<Installation, 'records' | 'vault'>> => {
  if (readModelUrl === undefined) {
    const file = join(dataDir, 'read-models.db');
    const { durableRecords } = await open(createEmbeddedReadModelStore({ file, clock, alone: true }));
    return {
      records: durableRecords,
      vault: await open(createDurableRecords({ file: join(dataDir, 'vault.db'), clock, alone: true })),
    };
  }
  const { createMongoReadModelStore } = await import('../projections/store/mongodb/mongoReadModelStore.js');
  const store = await open(
    asSetting('READ_MODEL_URL', () => createMongoReadModelStore({ url: readModelUrl, clock, random: systemRandom })),
  );
  // A server that loses updates is refused here, and not only at the first start.
  await asSetting('READ_MODEL_URL', () => store.probeServer());
  return { records: store.durableRecords, vault: store.recordsIn('vault') };
};
