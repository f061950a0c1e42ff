import type { Collection, Db, Document, MongoClient } from 'mongodb';
import type { Clock } from '../../../platform/clock.js';
import { createListeningClock } from '../../../platform/listeningClock.js';
import { ReadModelStoreUnavailable } from '../readModelStore.js';
import { createFaultMapper, storeAt } from './faults.js';

/**
 * A MongoDB database on one server, a replica set or a sharded cluster. It connects at the first
 * call.
 */
export interface MongoConnection {
  collection<Stored extends Document>(name: string): Collection<Stored>;
  /** Drops the collection if it exists. */
  drop(name: string): Promise<void>;
  /** Which build of which server answers, as `{ build }`. */
  build(): Promise<{ readonly build: string }>;
  /** Names of the collections whose name begins with `prefix`. */
  collectionNames(prefix: string): Promise<readonly string[]>;
  /**
   * Runs `work`, a few commands, within the time limit.
   *
   * @throws ReadModelStoreUnavailable when the store cannot be reached or cannot do its work now,
   * at the latest 1.8 s after the call. Whether `work` wrote anything is then unknown.
   */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A request over HTTP is answered within 2 s. */
const timeoutMs = 1_800;
/** Less, so that a call without a server ends with the driver's reason. */
const selectionTimeoutMs = 1_500;
/**
 * A socket that receives nothing for so long is closed, which also ends commands that `run` no
 * longer waits for.
 */
const socketTimeoutMs = 3_000;

/**
 * An option for writes whose counts are used: the driver adds counts up as numbers, even if a
 * server sends 64-bit integers.
 */
export const countsAsNumbers = { useBigInt64: false } as const;

/** The database for an address that names none. */
const defaultDatabase = 'doorstep';

/**
 * @param url `mongodb://` or `mongodb+srv://`. Its read preference and its read and write concerns
 * are overridden, because the loss of a server must not roll back a document that was already
 * served.
 * @throws ReadModelStoreUnavailable when the address is not valid. The error never quotes it, since
 * it may hold a password.
 */
export const connectMongo = async (url: string, clock: Clock): Promise<MongoConnection> => {
  // Imported only here, so that a service on the embedded store does not load the driver.
  const driver = await import('mongodb');
  const toPortFault = createFaultMapper(url, driver);
  let client: MongoClient;
  let database: Db;
  try {
    client = new driver.MongoClient(url, {
      appName: 'doorstep',
      serverSelectionTimeoutMS: selectionTimeoutMs,
      connectTimeoutMS: timeoutMs,
      waitQueueTimeoutMS: timeoutMs,
      socketTimeoutMS: socketTimeoutMs,
      // 64-bit integers are bigint in both directions.
      useBigInt64: true,
    });
    // Set on the database and not on the client, where options in the address would win.
    database = client.db(databaseNameIn(url) ?? defaultDatabase, {
      readPreference: 'primary',
      readConcern: new driver.ReadConcern('majority'),
      // `wtimeoutMS` makes a server that waits for a majority give up when this process does.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs },
    });
  } catch {
    throw new ReadModelStoreUnavailable('the address of the read-model store is not a valid MongoDB connection string');
  }
  const listening = createListeningClock(clock);
  let closed = false;
  const isClosed = (): boolean => closed;

  const run = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isClosed()) throw storeClosed();
    let cancel = (): void => undefined;
    const timeout = new Promise<never>((_, reject) => {
      cancel = listening.schedule(timeoutMs, () => {
        reject(new ReadModelStoreUnavailable(`${storeAt(url)} did not answer within ${String(timeoutMs)} ms`));
      });
    });
    const working = work();
    // After the timeout nothing handles its rejection any more.
    working.catch(() => undefined);
    try {
      return await Promise.race([working, timeout]);
    } catch (fault) {
      throw isClosed() ? storeClosed() : toPortFault(fault);
    } finally {
      cancel();
    }
  };

  return {
    collection: (name) => database.collection(name),
    drop: async (name) => {
      try {
        await database.dropCollection(name);
      } catch (fault) {
        if (!isCollectionMissing(fault)) throw fault;
      }
    },
    build: async () => {
      const { version, gitVersion, ferretdb } = await database.command({ buildInfo: 1 });
      return { build: JSON.stringify([version, gitVersion, ferretdb]) };
    },
    collectionNames: async (prefix) => {
      const found = await database.listCollections({}, { nameOnly: true }).toArray();
      return found.map(({ name }) => name).filter((name) => name.startsWith(prefix));
    },
    run,
    ping: () =>
      run(async () => {
        await database.command({ ping: 1 });
      }),
    close: async () => {
      closed = true;
      await client.close();
    },
  };
};

/** Compatible servers say this in words only; the driver handles MongoDB's own code. */
const isCollectionMissing = (fault: unknown): boolean => fault instanceof Error && /\bns not found\b/.test(fault.message);

/** The fault of every call after `close`. */
export const storeClosed = (): ReadModelStoreUnavailable => new ReadModelStoreUnavailable('the read-model store is closed');

const databaseNameIn = (url: string): string | undefined => {
  const written = /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^/?]+)/.exec(url)?.[1];
  return written === undefined ? undefined : decodeURIComponent(written);
};
