import type { JsonObject } from '../../../events/envelope.js';
import { textsOf, wantedValues } from '../documents.js';
import type { ReadModel, Selection } from '../readModelStore.js';
import type { Database } from './database.js';

/**
 * How many documents of a version have which values of the fields that its model is counted by: one
 * row for each combination of values that occurs, so that a count reads as many rows as there are
 * combinations, and not as many as there are documents. Call all of it inside a transaction.
 *
 * A version keeps the fields with which it was prepared: one that was prepared without is counted by
 * its index. So is one that a build without tallies has written since: its checkpoint went on without
 * `counted.through`.
 */
export interface Tally {
  /** Of a version that was added just now. */
  readonly begin: (model: ReadModel, key: bigint) => void;
  /** Counts documents anew that were written. */
  readonly move: (key: bigint, changed: readonly ChangedDocument[]) => void;
  /** The checkpoint is about to be moved, and all up to there is counted. */
  readonly advance: (model: ReadModel, checkpoint: bigint) => void;
  /** How many match, or `null` when it is not counted by all that is asked for. */
  readonly count: (model: ReadModel, key: bigint, selection: Selection) => number | null;
  /** Forgets the versions of a model but one. */
  readonly keepOnly: (name: string, key: bigint) => void;
}

export interface ChangedDocument {
  readonly before: JsonObject | null;
  readonly body: JsonObject | null;
}

const schema = `
  CREATE TABLE IF NOT EXISTS counted (
    model INTEGER PRIMARY KEY, fields TEXT NOT NULL, through INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS tally (
    model INTEGER NOT NULL, combination TEXT NOT NULL, documents INTEGER NOT NULL, PRIMARY KEY (model, combination)
  ) STRICT, WITHOUT ROWID;`;

/** Opens the tally of a file, also of one that an earlier version made: that version passes it over. */
export const openTally = async (database: Database): Promise<Tally> => {
  const { statement } = database;
  const isThere = await database.read(() => statement("SELECT 1 FROM sqlite_master WHERE name = 'tally'").get() !== undefined);
  if (!isThere)
    await database.write(() => {
      for (const sql of schema.split(';').filter((one) => one.trim() !== '')) statement(sql).run();
    });
  /** Safe to keep: the fields of a version never change. */
  const known = new Map<bigint, readonly string[] | null>();

  const fieldsOf = (key: bigint): readonly string[] | null => {
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    const row = statement('SELECT fields FROM counted WHERE model = ?').get(key) as { fields: string } | undefined;
    const fields = row === undefined ? null : (JSON.parse(row.fields) as readonly string[]);
    known.set(key, fields);
    return fields;
  };

  return {
    begin: ({ counted }, key) => {
      if (counted !== undefined) statement('INSERT INTO counted (model, fields) VALUES (?, ?)').run(key, JSON.stringify(counted));
    },

    move: (key, changed) => {
      const fields = fieldsOf(key);
      if (fields === null) return;
      const differences = new Map<string, number>();
      const add = (body: JsonObject | null, difference: number): void => {
        if (body === null) return;
        const combination = JSON.stringify(fields.map((field) => [...new Set(textsOf(body, field))].sort()));
        differences.set(combination, (differences.get(combination) ?? 0) + difference);
      };
      for (const { before, body } of changed) {
        add(before, -1);
        add(body, 1);
      }
      for (const [combination, difference] of differences) {
        if (difference === 0) continue;
        statement(
          `INSERT INTO tally (model, combination, documents) VALUES (?, ?, ?)
           ON CONFLICT DO UPDATE SET documents = documents + excluded.documents`,
        ).run(key, combination, difference);
      }
    },

    advance: ({ name, version, counted }, checkpoint) => {
      if (counted === undefined) return;
      statement(
        `UPDATE counted SET through = max(through, ?) WHERE model =
         (SELECT key FROM model WHERE name = ? AND version = ? AND checkpoint = counted.through)`,
      ).run(checkpoint, name, version);
    },

    count: (model, key, selection) => {
      const isWhole = statement(
        'SELECT 1 FROM counted JOIN model ON key = counted.model WHERE counted.model = ? AND through = checkpoint',
      );
      const fields = isWhole.get(key) === undefined ? null : fieldsOf(key);
      const { ids, without = [], beginning, below, range = {} } = selection;
      const isMore = [ids, beginning, below, range.from, range.before].some((one) => one !== undefined) || without.length > 0;
      const conditions = wantedValues(model, selection).map(({ field, values }) => ({
        place: fields?.indexOf(field) ?? -1,
        values,
      }));
      if (fields === null || isMore || conditions.some(({ place }) => place === -1)) return null;
      const rows = statement('SELECT combination, documents FROM tally WHERE model = ?').all(key) as {
        combination: string;
        documents: bigint;
      }[];
      return rows.reduce((sum, { combination, documents }) => {
        const has = JSON.parse(combination) as readonly (readonly string[])[];
        const isMatching = conditions.every(({ place, values }) => values.some((value) => has[place]?.includes(value)));
        return isMatching ? sum + Number(documents) : sum;
      }, 0);
    },

    keepOnly: (name, key) => {
      for (const table of ['counted', 'tally'])
        statement(`DELETE FROM ${table} WHERE model IN (SELECT key FROM model WHERE name = ? AND key <> ?)`).run(name, key);
    },
  };
};
