import type { JsonObject } from '../../../events/envelope.js';
import type { Clock } from '../../../platform/clock.js';
import { nextTurn } from '../../../platform/eventLoop.js';
import { modelCollections, type RecordEntry, type RecordStore } from '../readModelStore.js';
import type { Database } from './database.js';

/** Expired records that each write removes: enough to keep up, few enough not to slow the write. */
const maxPurgedPerWrite = 20;
/** Expired records that a purge removes in one transaction, before other work gets its turn. */
const purgeChunkSize = 500;
/** Records that are read at once. */
const pageSize = 500;

/** Those of the read models, which stay beside them, and the log that they belong to. */
const ofModels = ['log', ...modelCollections].map((name) => `'${name}'`).join(', ');

/**
 * Moves the records that earlier versions had beside the read models. It may be cut off at any
 * point, and processes of such a version may still write there: the next start goes on.
 */
export const moveRecords = async (from: Database, to: Database): Promise<void> => {
  const select = from.statement(
    `SELECT collection, key, value, expires FROM record WHERE collection NOT IN (${ofModels}) LIMIT ${String(purgeChunkSize)}`,
  );
  for (;;) {
    const rows = (await from.read(() => select.all())) as {
      collection: string;
      key: string;
      value: string;
      expires: bigint | null;
    }[];
    if (rows.length === 0) return;
    await to.writeDurably(() => {
      const insert = to.statement(
        'INSERT INTO record (collection, key, value, expires) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      );
      for (const { collection, key, value, expires } of rows) insert.run(collection, key, value, expires);
    });
    await from.write(() => {
      const remove = from.statement('DELETE FROM record WHERE collection = ? AND key = ?');
      for (const { collection, key } of rows) remove.run(collection, key);
    });
    await nextTurn();
  }
};

/**
 * Records in one table. Keys are stored as JSON text, which holds every string exactly.
 * @param write how the database writes: `database.write` or `database.writeDurably`
 */
export const createRecords = (
  database: Database,
  clock: Clock,
  write: Database['write'] = (work) => database.write(work),
): RecordStore => {
  const { statement } = database;

  /** Call it within a transaction. */
  const purge = (now: bigint, max: number): number =>
    Number(
      statement(
        'DELETE FROM record WHERE (collection, key) IN (SELECT collection, key FROM record WHERE expires <= ? LIMIT ?)',
      ).run(now, max).changes,
    );

  const expiry = (expiresAt: number | undefined): bigint | null =>
    expiresAt === undefined ? null : BigInt(Math.ceil(expiresAt));

  const upsert = (onConflict: string, collection: string, key: string, value: JsonObject, expiresAt?: number): Promise<boolean> =>
    write(() => {
      const now = BigInt(Math.trunc(clock.now()));
      purge(now, maxPurgedPerWrite);
      const { changes } = statement(
        `INSERT INTO record (collection, key, value, expires) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires ${onConflict}`,
      ).run(collection, JSON.stringify(key), JSON.stringify(value), expiry(expiresAt), ...(onConflict === '' ? [] : [now]));
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

    insert: (collection, key, value, expiresAt) => upsert('WHERE record.expires <= ?', collection, key, value, expiresAt),

    put: async (collection, key, value, expiresAt) => {
      await upsert('', collection, key, value, expiresAt);
    },

    replace: (collection, key, expected, value, expiresAt) =>
      write(() => {
        const { changes } = statement(
          `UPDATE record SET value = ?, expires = ?
           WHERE collection = ? AND key = ? AND value = ? AND (expires IS NULL OR expires > ?)`,
        ).run(
          JSON.stringify(value),
          expiry(expiresAt),
          collection,
          JSON.stringify(key),
          JSON.stringify(expected),
          BigInt(Math.trunc(clock.now())),
        );
        return changes > 0n;
      }),

    delete: (collection, key) =>
      write(() => {
        statement('DELETE FROM record WHERE collection = ? AND key = ?').run(collection, JSON.stringify(key));
      }),

    purgeExpired: async () => {
      let purged = 0;
      for (;;) {
        const count = await database.write(() => purge(BigInt(Math.trunc(clock.now())), purgeChunkSize));
        purged += count;
        if (count < purgeChunkSize) return purged;
        await nextTurn();
      }
    },

    entries: async function* entries() {
      for (let last = ['', '']; ;) {
        const page = (await database.read(() =>
          statement(
            `SELECT collection, key, value, expires FROM record
             WHERE (collection, key) > (?, ?) AND (expires IS NULL OR expires > ?) ORDER BY collection, key LIMIT ?`,
          ).all(...last, BigInt(Math.trunc(clock.now())), pageSize),
        )) as RecordRow[];
        yield* page.map(toEntry);
        const end = page.at(-1);
        if (end === undefined || page.length < pageSize) return;
        last = [end.collection, end.key];
        await nextTurn();
      }
    },
  };
};

interface RecordRow {
  readonly collection: string;
  readonly key: string;
  readonly value: string;
  readonly expires: bigint | null;
}

const toEntry = ({ collection, key, value, expires }: RecordRow): RecordEntry => ({
  collection,
  key: JSON.parse(key) as string,
  value: JSON.parse(value) as JsonObject,
  ...(expires !== null && { expiresAt: Number(expires) }),
});
