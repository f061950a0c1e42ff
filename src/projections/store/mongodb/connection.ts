import type { Collection, Db, Document, MongoClient } from 'mongodb';
import type { Clock } from '../../../platform/clock.js';
import { ReadModelStoreUnavailable } from '../readModelStore.js';
import { createFaults } from './faults.js';

/** A MongoDB database, on one server, a replica set or a sharded cluster. Connections are made at the first call. */
export interface MongoConnection {
  collection<Stored extends Document>(name: string): Collection<Stored>;
  /** Removes the collection, if it is there. */
  drop(name: string): Promise<void>;
  /** Names of the collections that begin with `prefix`. */
  collectionNames(prefix: string): Promise<readonly string[]>;
  /**
   * Runs `work`, a few commands that somebody waits for.
   *
   * @throws ReadModelStoreUnavailable when the store cannot be reached or cannot do its work now, and 1.8 s after the call at the
   * latest. What was written is then unknown.
   */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Somebody who asks over HTTP is answered within 2 s. */
const answerMs = 1_800;
/** A socket on which nothing came for so long is given up, and with it what `run` no longer waits for. */
const silentSocketMs = 3_000;

/** For writes whose counts are looked at: the driver adds them up as numbers, also when a server sends them with 64 bits. */
export const countsAsNumbers = { useBigInt64: false } as const;

/** The database when the address names none. */
const defaultDatabase = 'doorstep';

/**
 * @param url `mongodb://` or `mongodb+srv://`; what it says of concerns and of where to read is overruled: a document that was
 * answered from must not be rolled back by the loss of a server
 * @throws ReadModelStoreUnavailable when the address cannot be understood; it is never quoted, for it may hold a password
 */
export const connectMongo = async (url: string, clock: Clock): Promise<MongoConnection> => {
  // Only here: who runs on the embedded store does not wait for the driver to be loaded.
  const driver = await import('mongodb');
  const mapped = createFaults(url, driver);
  let client: MongoClient;
  let database: Db;
  try {
    client = new driver.MongoClient(url, {
      appName: 'doorstep',
      serverSelectionTimeoutMS: answerMs,
      connectTimeoutMS: answerMs,
      waitQueueTimeoutMS: answerMs,
      socketTimeoutMS: silentSocketMs,
      // 64-bit integers are bigint in both directions.
      useBigInt64: true,
    });
    // Of the database, not of the client, where parts of these in the address would win.
    database = client.db(databaseNameIn(url) ?? defaultDatabase, {
      readPreference: 'primary',
      readConcern: new driver.ReadConcern('majority'),
      // A server that waits for a majority gives up when nobody listens any more.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: answerMs },
    });
  } catch {
    throw new ReadModelStoreUnavailable('the address of the read-model store cannot be understood');
  }
  let closed = false;
  const isClosed = (): boolean => closed;

  const run = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isClosed()) throw closedFault();
    let cancel = (): void => undefined;
    const tooLate = new Promise<never>((_, reject) => {
      cancel = clock.schedule(answerMs, () => {
        reject(new ReadModelStoreUnavailable(`the read-model store did not answer within ${String(answerMs)} ms`));
      });
    });
    const working = work();
    // When the time is over, nobody is left to hear how it ended.
    working.catch(() => undefined);
    try {
      return await Promise.race([working, tooLate]);
    } catch (fault) {
      throw isClosed() ? closedFault() : mapped(fault);
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
        if (!isAbsent(fault)) throw fault;
      }
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

/** What compatible servers say in words only; the driver knows MongoDB's code for it. */
const isAbsent = (fault: unknown): boolean => fault instanceof Error && /\bns not found\b/.test(fault.message);

/** The reason that calls after `close` are refused with. */
export const closedFault = (): ReadModelStoreUnavailable => new ReadModelStoreUnavailable('the read-model store is closed');

const databaseNameIn = (url: string): string | undefined => {
  const written = /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^/?]+)/.exec(url)?.[1];
  return written === undefined ? undefined : decodeURIComponent(written);
};
