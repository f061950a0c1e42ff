import type { Database } from './database.js';

/** Rows that are removed before other work gets its turn. */
const chunkSize = 1_000;

/** Removes a chunk of the rows of dropped versions. Resolves with whether nothing was left. */
export const createRemoval = (database: Database): (() => Promise<boolean>) => {
  const { statement } = database;

  /**
   * Removes the first rows of a version, as one part of the table, which takes a third of looking each of
   * them up. Returns whether there were any.
   * @param order the columns that the table's primary key has beside the version
   */
  const removeRows = (table: 'document' | 'entry', order: string, key: bigint): boolean => {
    const next = statement(`SELECT ${order} FROM ${table} WHERE model = ? ORDER BY ${order} LIMIT 1 OFFSET ?`).get(
      key,
      chunkSize,
    ) as Readonly<Record<string, string>> | undefined;
    const bound = Object.values(next ?? {});
    const before = next === undefined ? '' : `AND (${order}) < (${bound.map(() => '?').join(', ')})`;
    return statement(`DELETE FROM ${table} WHERE model = ? ${before}`).run(key, ...bound).changes > 0n;
  };

  return () =>
    database.write(() => {
      const row = statement('SELECT key FROM dropped LIMIT 1').get() as { key: bigint } | undefined;
      if (row === undefined) return true;
      if (!removeRows('entry', 'field, value, id', row.key) && !removeRows('document', 'id', row.key))
        statement('DELETE FROM dropped WHERE key = ?').run(row.key);
      return false;
    });
};
