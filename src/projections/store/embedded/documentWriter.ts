import type { JsonObject } from '../../../events/envelope.js';
import { isId, sortKeyIn, textsOf } from '../documents.js';
import type { DocumentWrite, ReadModel } from '../readModelStore.js';
import type { Database, SqlValue } from './database.js';
import { entryValue, sortEntryField } from './indexWalks.js';
import type { Tally } from './tally.js';

/**
 * Writes each document unless the stored one reflects the same or a later position, with its rows in
 * the index. Call it inside a write transaction.
 * @throws TypeError for an id that no document may have
 */
export type DocumentWriter = (model: ReadModel, key: bigint, writes: readonly WriteWithText[]) => void;

export interface WriteWithText extends DocumentWrite {
  /** The body as JSON, of whoever has it already. Then the body itself is needed only for the index. */
  readonly text?: string | null;
}

/** Of many rows a call of the driver takes a part that shows. */
const rowsPerStatement = 50;

/** A statement for one row, and one for many. */
const forRows = (statementFor: (rows: string) => string, columns: number) => {
  const row = `(${new Array(columns).fill('?').join(', ')})`;
  return { one: statementFor(row), many: statementFor(new Array(rowsPerStatement).fill(row).join(', ')) };
};

const insertDocuments = forRows(
  (rows) => `INSERT INTO document (model, id, revision, position, body) VALUES ${rows}
    ON CONFLICT DO UPDATE SET revision = excluded.revision, position = excluded.position, body = excluded.body`,
  5,
);
const insertEntries = forRows((rows) => `INSERT INTO entry (model, field, value, id) VALUES ${rows}`, 4);
const deleteEntry = 'DELETE FROM entry WHERE model = ? AND field = ? AND value = ? AND id = ?';
// The body is read only for its rows in the index.
const selectStored = `SELECT document.id, position, CASE WHEN ?3 THEN body END AS body
  FROM json_each(?2) AS wanted CROSS JOIN document ON document.model = ?1 AND document.id = wanted.value`;

interface Stored {
  readonly id: string;
  readonly position: bigint;
  readonly body: string | null;
}

export const createDocumentWriter = ({ statement }: Pick<Database, 'statement'>, tally: Pick<Tally, 'move'>): DocumentWriter => {
  const insert = ({ one, many }: ReturnType<typeof forRows>, rows: readonly (readonly SqlValue[])[]): void => {
    let done = 0;
    for (; done + rowsPerStatement <= rows.length; done += rowsPerStatement)
      statement(many).run(...rows.slice(done, done + rowsPerStatement).flat());
    for (const row of rows.slice(done)) statement(one).run(...row);
  };

  return (model, key, writes) => {
    const newest = newestById(writes);
    const hasIndexes = model.indexes.length > 0;
    const found = statement(selectStored).all(key, JSON.stringify([...newest.keys()]), hasIndexes ? 1 : 0) as Stored[];
    const stored = new Map(found.map((document) => [document.id, document]));

    // What is next to each other in the file is written one after the other.
    const newer = [...newest.values()]
      .filter(({ id, position }) => (stored.get(id)?.position ?? -1n) < position)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    insert(
      insertDocuments,
      newer.map(({ id, revision, position, body, text = body === null ? null : JSON.stringify(body) }) => [
        key,
        id,
        revision,
        position,
        text,
      ]),
    );

    if (!hasIndexes) return;
    const changed = newer.map(({ id, body }) => {
      const before = stored.get(id)?.body ?? null;
      return { id, before: before === null ? null : (JSON.parse(before) as JsonObject), body };
    });
    tally.move(key, changed);
    for (const index of model.indexes) {
      const added: [value: string, id: string][] = [];
      const { field, valuesIn } = entriesOf(index);
      for (const { id, before, body } of changed) {
        const value = body?.[index.field];
        if (before !== null && typeof value === 'string' && value === before[index.field]) continue;
        const old = new Set(before === null ? [] : valuesIn(before));
        const current = new Set(body === null ? [] : valuesIn(body));
        for (const one of old) if (!current.has(one)) statement(deleteEntry).run(key, field, one, id);
        for (const one of current) if (!old.has(one)) added.push([one, id]);
      }
      added.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      insert(
        insertEntries,
        added.map(([value, id]) => [key, field, value, id]),
      );
    }
  };
};

/** @throws TypeError for an id that no document may have */
const newestById = (writes: readonly WriteWithText[]): ReadonlyMap<string, WriteWithText> => {
  const newest = new Map<string, WriteWithText>();
  for (const write of writes) {
    if (!isId(write.id)) throw new TypeError(`not an id: ${JSON.stringify(write.id)}`);
    const known = newest.get(write.id);
    if (known === undefined || known.position < write.position) newest.set(write.id, write);
  }
  return newest;
};

/** The rows of an index: under which field, and the values of a document. */
const entriesOf = ({
  field,
  sorts,
}: ReadModel['indexes'][number]): { readonly field: string; readonly valuesIn: (body: JsonObject) => readonly string[] } =>
  sorts === true
    ? { field: sortEntryField(field), valuesIn: (body) => [sortKeyIn(body, field)] }
    : { field, valuesIn: (body) => textsOf(body, field).map(entryValue) };
