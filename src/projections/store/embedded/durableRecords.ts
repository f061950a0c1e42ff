import { sleep, type Clock } from '../../../platform/clock.js';
import { ReadModelStoreUnavailable, type RecordStore } from '../readModelStore.js';
import { openDatabase } from './database.js';
import { createRecords } from './records.js';

/** How long a deletion waits for the reads of other processes to end. */
const timeoutMs = 10_000;

export interface DurableRecords extends RecordStore {
  /** Another value after each write of another process that was acknowledged before the call. */
  revision(): Promise<bigint>;
  close(): Promise<void>;
}

/**
 * Records that survive a power cut, for the key vault. They have an SQLite file of their own, so
 * that rebuilding or dropping read models never touches them. When `delete` resolves, none of the
 * store's files holds the deleted record any more.
 *
 * @param alone whether no other process may use the file, until the store is closed
 * @throws ReadModelStoreUnavailable when the file cannot be opened; ReadModelStoreInUse
 */
export const createDurableRecords = async ({
  file,
  clock,
  alone,
}: {
  file: string;
  clock: Clock;
  alone?: boolean;
}): Promise<DurableRecords> => {
  const database = await openDatabase(file, clock, { durability: 'durable', ...(alone !== undefined && { alone }) });
  const records = createRecords(database, clock);

  /**
   * Empties SQLite's write-ahead log, which still holds the pages from before a deletion. Returns
   * whether it is empty.
   */
  const truncateWal = async (): Promise<boolean> => {
    const statement = database.statement('PRAGMA wal_checkpoint(TRUNCATE)');
    const { busy } = await database.read(() => statement.get() as { readonly busy: bigint });
    return busy === 0n;
  };
  // A process that crashed right after a deletion left the log as it was.
  await truncateWal();

  /** @throws ReadModelStoreUnavailable after `timeoutMs` */
  const emptyWal = async (): Promise<void> => {
    const deadline = clock.now() + timeoutMs;
    while (!(await truncateWal())) {
      if (clock.now() >= deadline) {
        throw new ReadModelStoreUnavailable('other processes kept the file busy; delete the record again');
      }
      await sleep(clock, 5);
    }
  };

  return {
    ...records,
    revision: () =>
      database.read(() => (database.statement('PRAGMA data_version').get() as { readonly data_version: bigint }).data_version),
    delete: async (collection, key) => {
      await records.delete(collection, key);
      await emptyWal();
    },
    purgeExpired: async () => {
      const purged = await records.purgeExpired();
      if (purged > 0) await emptyWal();
      return purged;
    },
    close: () => {
      database.close();
      return Promise.resolve();
    },
  };
};
