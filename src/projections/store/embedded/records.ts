import type { JsonObject } from '../../../events/envelope.js';
import type { Clock } from '../../../platform/clock.js';
import type { RecordStore } from '../readModelStore.js';
import type { Database } from './database.js';

/** Expired records that one write clears away: enough to keep up, few enough not to be felt. */
const purgedPerWrite = 20;
/** Those that a purge clears away before others get their turn. */
const purgedAtOnce = 500;

/** Records in one table; keys are kept as JSON text, which holds every string exactly. */
export const createRecords = (database: Database, clock: Clock): RecordStore => {
  const { statement } = database;

  /** Within a transaction. */
  const purge = (now: bigint, most: number): number =>
    Number(
      statement(
        'DELETE FROM record WHERE (collection, key) IN (SELECT collection, key FROM record WHERE expires <= ? LIMIT ?)',
      ).run(now, most).changes,
    );

  const write = (onConflict: string, collection: string, key: string, value: JsonObject, expiresAt?: number): Promise<boolean> =>
    database.write(() => {
      const now = BigInt(Math.trunc(clock.now()));
      purge(now, purgedPerWrite);
      const { changes } = statement(
        `INSERT INTO record (collection, key, value, expires) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires ${onConflict}`,
      ).run(
        collection,
        JSON.stringify(key),
        JSON.stringify(value),
        expiresAt === undefined ? null : BigInt(Math.ceil(expiresAt)),
        ...(onConflict === '' ? [] : [now]),
      );
      return changes > 0n;
    });

  return {
    get: (collection, key) =>
      database.read(() => {
        const row = statement(
          'SELECT value FROM record WHERE collection = ? AND key = ? AND (expires IS NULL OR expires > ?)',
        ).get(collection, JSON.stringify(key), BigInt(Math.trunc(clock.now()))) as { value: string } | undefined;
        return row === undefined ? null : (JSON.parse(row.value) as JsonObject);
      }),

    insert: (collection, key, value, expiresAt) => write('WHERE record.expires <= ?', collection, key, value, expiresAt),

    put: async (collection, key, value, expiresAt) => {
      await write('', collection, key, value, expiresAt);
    },

    delete: (collection, key) =>
      database.write(() => {
        statement('DELETE FROM record WHERE collection = ? AND key = ?').run(collection, JSON.stringify(key));
      }),

    purgeExpired: async () => {
      let purged = 0;
      for (;;) {
        const count = await database.write(() => purge(BigInt(Math.trunc(clock.now())), purgedAtOnce));
        purged += count;
        if (count < purgedAtOnce) return purged;
        await othersFirst();
      }
    },
  };
};

const othersFirst = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
