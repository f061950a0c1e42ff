import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { catalogue } from '../events/catalogue.js';
import { createCodec } from '../events/codec.js';
import { createEmbeddedEventStore } from '../events/store/embedded/eventStore.js';
import { EventStoreUnavailable, OutcomeUnknown, type EventStore } from '../events/store/eventStore.js';
import { sleep, systemClock, type Clock } from '../platform/clock.js';
import { makeFolders } from '../platform/folders.js';
import type { Logger } from '../platform/logger.js';
import { encryptionKeyFile, isKeyFileMissing, loadMasterKeys } from '../platform/masterKeys.js';
import { createPersonalData } from '../platform/personal.js';
import { createOutageLog, reportingOutages } from '../platform/outageLog.js';
import { systemRandom } from '../platform/random.js';
import { SettingsError } from '../platform/settings/environment.js';
import type { Settings } from '../platform/settings/settings.js';
import { hostsOf } from '../platform/storeAddress.js';
import type { VaultRecords } from '../platform/vault/records.js';
import { isNewVault, MasterKeyUnknown } from '../platform/vault/roots.js';
import { openVault, type Vault } from '../platform/vault/vault.js';
import { projections } from '../projections/catalogue.js';
import { guardLogIdentity, OtherLog } from '../projections/runner/logIdentity.js';
import { createDurableRecords } from '../projections/store/embedded/durableRecords.js';
import { bindVault, isNewLog, noteEmptyVault, NotTheVault } from '../projections/runner/vaultBinding.js';
import { createEmbeddedReadModelStore } from '../projections/store/embedded/embeddedReadModelStore.js';
import { ReadModelStoreUnavailable, type ReadModelStore } from '../projections/store/readModelStore.js';
import { isStoreAway } from '../projections/store/storeFault.js';
import { writingProgram } from '../programs.js';
import { asSetting } from './asSetting.js';
import { createCore, type Core } from './core.js';
import { noteLedger, requireLedger } from './ledgerFile.js';

/** The stores, and the engine and the reader on them: all that an operator's script needs. */
export interface OpenCore extends Core {
  /** Notes that the embedded ledger has something in it. */
  readonly noteLedger: () => Promise<void>;
  /** Finishes what is being written, then closes the stores. */
  close(): Promise<void>;
}

export interface CoreOptions {
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Wraps the event store, for example to count calls. Default: unchanged. */
  readonly instrument?: (eventStore: EventStore) => EventStore;
  /** Resolves once the read models of a new installation are there: what reads them waits for that, up to 2 s. */
  readonly firstVersions?: Promise<void>;
  /** Where the embedded ledger is, of a process that uses it. */
  readonly ledgerFile?: string;
}

const firstVersionsTimeoutMs = 2_000;

/**
 * Opens the stores that the settings name.
 * @throws SettingsError for what the operator has to correct; ReadModelStoreUnavailable
 */
export const openCore = async (
  settings: Settings,
  logger: Logger,
  { clock = systemClock, instrument = (eventStore) => eventStore, firstVersions, ledgerFile }: CoreOptions = {},
): Promise<OpenCore> => {
  await asSetting('DATA_DIR', async () => {
    await makeFolders(settings.dataDir);
    await access(settings.dataDir, constants.W_OK);
  });
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const store of opened.splice(0).reverse()) await store.close();
  };
  try {
    const { readModels, records } = await openReadModels(settings, clock, logger);
    opened.push(records, readModels);
    await noteEmptyVault(records);
    const vault = await unlock(settings, records);
    const log = await openEventStore(settings, clock, logger);
    opened.push(log);
    const guard = guardLogIdentity({
      eventStore: log,
      readModels,
      projections,
      clock,
      random: systemRandom,
      logger,
      alsoVerify: (identity) => bindVault({ vault: records, eventStore: log, acceptLoss: settings.acceptEmptyVault }, identity),
    });
    await requireSameLog(settings, guard.verify, log);
    if (ledgerFile !== undefined) await requireLedger(records, ledgerFile);
    const core = createCore({
      clock,
      random: systemRandom,
      logger,
      codec: createCodec(catalogue),
      eventStore: instrument(guard.eventStore),
      readModels: firstVersions === undefined ? readModels : awaitingFirstVersions(readModels, firstVersions, clock),
      vault,
      personal: await createPersonalData(vault),
    });
    return { ...core, noteLedger: () => noteLedger(records), close };
  } catch (error) {
    await close();
    throw error;
  }
};

const awaitingFirstVersions = (readModels: ReadModelStore, firstVersions: Promise<void>, clock: Clock): ReadModelStore => ({
  ...readModels,
  liveVersion: async (name) => {
    const version = await readModels.liveVersion(name);
    if (version !== null) return version;
    await Promise.race([firstVersions, sleep(clock, firstVersionsTimeoutMs)]);
    return readModels.liveVersion(name);
  },
});

/** @throws SettingsError when the master key is missing, or not the vault's */
export const unlock = async (settings: Settings, records: VaultRecords): Promise<Vault> => {
  // A new key would not open it, and would be taken for the one that is looked for. Asked in this order,
  // because the first start makes the file before it makes the vault.
  if (settings.previousEncryptionKeys.length === 0 && !(await isNewVault(records)) && (await isKeyFileMissing(settings))) {
    throw new SettingsError([
      `ENCRYPTION_KEY: is not set, and there is no ${encryptionKeyFile} in DATA_DIR, but the vault is wrapped with a key. Put that file back, or set ENCRYPTION_KEY to its first line`,
    ]);
  }
  try {
    return await openVault({ records, masterKeys: () => loadMasterKeys(settings), random: systemRandom });
  } catch (error) {
    if (!(error instanceof MasterKeyUnknown)) throw error;
    const where = settings.encryptionKey === undefined ? `${encryptionKeyFile} in DATA_DIR` : 'ENCRYPTION_KEY';
    throw new SettingsError([
      `${where}: is not the key that the vault is wrapped with. Set that one; or, to change keys, put it into PREVIOUS_ENCRYPTION_KEYS`,
    ]);
  }
};

/**
 * An unavailable store does not end the start: each of its users waits for it.
 * @throws SettingsError when the settings combine read models or a vault with a log that is not theirs
 */
const requireSameLog = async (
  { stores: { eventStoreUrl, readModelUrl } }: Settings,
  verify: () => Promise<void>,
  log: EventStore,
): Promise<void> => {
  try {
    await verify();
  } catch (error) {
    if (error instanceof OtherLog) {
      const setting = eventStoreUrl === undefined ? 'DATA_DIR (events.db)' : 'EVENT_STORE_URL';
      const [models, wayOut] =
        readModelUrl === undefined
          ? ['DATA_DIR (read-models.db, records.db)', 'move both, and what begins with their names, away']
          : ['READ_MODEL_URL', 'name a database without read models; the collection vault that belongs to the log goes with it'];
      // Once its read models are moved away, an empty log begins a new installation: that would hide a lost one.
      const advice = (await isNewLog(log))
        ? `, which is empty. Set DATA_DIR, EVENT_STORE_URL and READ_MODEL_URL to what belongs together; or, if the log was lost, ${eventStoreUrl === undefined ? putBack('events.db') : 'restore it'}`
        : `. Set both to what belongs together; or, to have them made anew from this log, ${wayOut}`;
      throw new SettingsError([`${models}: the read models there were made from another log than that of ${setting}${advice}`]);
    }
    if (error instanceof NotTheVault) throw new SettingsError([vaultProblem(error, { eventStoreUrl, readModelUrl })]);
    const isAway = [EventStoreUnavailable, OutcomeUnknown, ReadModelStoreUnavailable].some((kind) => error instanceof kind);
    if (!isAway) throw error;
  }
};

/** SQLite would write the `-wal` of the file that was there into the one that is put back. */
const putBack = (file: string): string =>
  `move ${file} and what begins with its name away, and put ${file} there from the backup of this installation`;

const vaultProblem = ({ isEmpty }: NotTheVault, { eventStoreUrl, readModelUrl }: Settings['stores']): string => {
  const [vault, wayOut] =
    readModelUrl !== undefined
      ? ['READ_MODEL_URL (collection vault)', 'name the database that has the vault of this log, or restore that collection']
      : ['DATA_DIR (vault.db)', putBack('vault.db')];
  // Where the log is the wrong one, this is the only vault of another.
  const [problem, lead] = isEmpty
    ? ['is empty, and the log is not', '']
    : [
        'belongs to another log',
        `${eventStoreUrl === undefined ? 'Put the events.db of this vault there' : 'Set EVENT_STORE_URL to the log of this vault'}; or `,
      ];
  const advice = `${lead}${wayOut}`;
  return (
    `${vault}: the vault there ${problem}: names, addresses and secrets in the log could not be read. ` +
    `${advice.charAt(0).toUpperCase()}${advice.slice(1)}. If it is lost for good, ACCEPT_EMPTY_VAULT=yes starts without them`
  );
};

/** Imports only the adapter that is used, to keep the start short. */
const openEventStore = async (
  { dataDir, stores: { eventStoreUrl } }: Settings,
  clock: Clock,
  logger: Logger,
): Promise<EventStore> => {
  const outage = createOutageLog({
    store: eventStoreUrl === undefined ? inDataDir('events.db') : { setting: 'EVENT_STORE_URL', address: hostsOf(eventStoreUrl) },
    messages: { begins: 'the event store cannot be reached', ends: 'the event store answers again' },
    clock,
    logger,
  });
  const open = async (): Promise<EventStore> => {
    if (eventStoreUrl === undefined) return createEmbeddedEventStore({ file: join(dataDir, 'events.db'), clock, logger });
    const { createEventStoreDb } = await import('../events/store/eventStoreDb/eventStore.js');
    return asSetting('EVENT_STORE_URL', () =>
      createEventStoreDb({ url: eventStoreUrl, clock, random: systemRandom, logger, outage }),
    );
  };
  return reportingOutages(await open(), outage, isStoreAway);
};

/** Read models, and the durable records beside them. */
const openReadModels = async (
  { dataDir, stores: { readModelUrl } }: Settings,
  clock: Clock,
  logger: Logger,
): Promise<{ readModels: ReadModelStore; records: VaultRecords & { close(): Promise<void> } }> => {
  const outage = createOutageLog({
    store:
      readModelUrl === undefined ? inDataDir('read-models.db') : { setting: 'READ_MODEL_URL', address: hostsOf(readModelUrl) },
    messages: { begins: 'the read models cannot be reached', ends: 'the read models answer again' },
    clock,
    logger,
  });
  if (readModelUrl === undefined) {
    const file = join(dataDir, 'read-models.db');
    return {
      readModels: reportingOutages(await createEmbeddedReadModelStore({ file, clock, writingProgram }), outage, isStoreAway),
      records: await createDurableRecords({ file: join(dataDir, 'vault.db'), clock }),
    };
  }
  const { createMongoReadModelStore } = await import('../projections/store/mongodb/mongoReadModelStore.js');
  const readModels = await asSetting('READ_MODEL_URL', () =>
    createMongoReadModelStore({ url: readModelUrl, clock, random: systemRandom }),
  );
  try {
    await readModels.probeServer();
  } catch (error) {
    await readModels.close();
    if ((error as Error).name !== 'ServerLosesUpdates') throw error;
    throw new SettingsError([`READ_MODEL_URL: ${(error as Error).message}`]);
  }
  return {
    readModels: reportingOutages(readModels, outage, isStoreAway),
    records: { ...readModels.recordsIn('vault'), close: () => Promise.resolve() },
  };
};

const inDataDir = (address: string): { readonly setting: string; readonly address: string } => ({ setting: 'DATA_DIR', address });
