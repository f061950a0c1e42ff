import { sleep, type Clock } from '../../../platform/clock.js';
import { ReadModelStoreUnavailable, type RecordStore } from '../readModelStore.js';
import { openDatabase } from './database.js';
import { createRecords } from './records.js';

/** How long a deletion waits for other processes to end their reads, in milliseconds. */
const patienceMs = 10_000;

/**
 * Records in an SQLite file of their own, which survive a power cut and are not touched by anything that concerns read models: the key
 * vault. What was deleted is in none of the store's files when `delete` resolves.
 *
 * @throws ReadModelStoreUnavailable when the file cannot be opened
 */
export const createLastingRecords = async ({
  file,
  clock,
}: {
  file: string;
  clock: Clock;
}): Promise<RecordStore & { close(): Promise<void> }> => {
  const database = await openDatabase(file, clock, { kept: 'lasting' });
  const records = createRecords(database, clock);

  /** The log that SQLite writes ahead holds the pages as they were: into the file with it, and empty it. */
  const emptiedLog = async (): Promise<boolean> => {
    const statement = database.statement('PRAGMA wal_checkpoint(TRUNCATE)');
    const { busy } = await database.read(() => statement.get() as { readonly busy: bigint });
    return busy === 0n;
  };
  // After a crash that came between a deletion and this.
  await emptiedLog();

  return {
    ...records,
    delete: async (collection, key) => {
      await records.delete(collection, key);
      const giveUpAt = clock.now() + patienceMs;
      while (!(await emptiedLog())) {
        if (clock.now() >= giveUpAt) throw new ReadModelStoreUnavailable('others kept the vault from forgetting a key');
        await sleep(clock, 5);
      }
    },
    close: () => {
      database.close();
      return Promise.resolve();
    },
  };
};
