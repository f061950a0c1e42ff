import type { JsonObject } from '../../../events/envelope.js';
import { isId, sortKeyIn, textsOf } from '../documents.js';
import type { DocumentWrite, ReadModel } from '../readModelStore.js';
import type { Database } from './database.js';
import { entryValue, sortEntryField } from './indexWalks.js';
import type { Tally } from './tally.js';

/**
 * Writes each document unless the stored one reflects the same or a later position, with its rows in
 * the index. Those of a model that is appended to must be new. Call it inside a write transaction.
 * @throws TypeError for an id that no document may have
 */
export type DocumentWriter = (model: ReadModel, key: bigint, writes: readonly WriteWithText[]) => void;

export interface WriteWithText extends DocumentWrite {
  /** The body as JSON, of whoever has it already. Then the body itself is needed only for the index. */
  readonly text?: string | null;
}

/** Of many rows a call of the driver takes a part that shows. */
const documentsPerStatement = 50;
const entriesPerStatement = 500;

const insertDocuments = (count: number): string => {
  const rows = Array.from(
    { length: count },
    (_, row) => `(?1, ${[2, 3, 4, 5].map((n) => `?${String(n + 4 * row)}`).join(', ')})`,
  );
  return `INSERT INTO document (model, id, revision, position, body) VALUES ${rows.join(', ')}
    ON CONFLICT DO UPDATE SET revision = excluded.revision, position = excluded.position, body = excluded.body`;
};
const insertDocument = insertDocuments(1);
const insertManyDocuments = insertDocuments(documentsPerStatement);
/** The rows as the members of one JSON object, id and value: half of what binding each of them takes. */
const insertEntries = 'INSERT INTO entry (model, field, value, id) SELECT ?1, ?2, value, key FROM json_each(?3)';
const deleteEntry = 'DELETE FROM entry WHERE model = ? AND field = ? AND value = ? AND id = ?';
// The body is read only for its rows in the index.
const selectStored = `SELECT document.id, position, CASE WHEN ?3 THEN body END AS body
  FROM json_each(?2) AS wanted CROSS JOIN document ON document.model = ?1 AND document.id = wanted.value`;

interface Stored {
  readonly id: string;
  readonly position: bigint;
  readonly body: string | null;
}

const noneStored: ReadonlyMap<string, Stored> = new Map();

/** A row of an index. */
interface Entry {
  readonly value: string;
  readonly id: string;
}

export const createDocumentWriter = ({ statement }: Pick<Database, 'statement'>, tally: Pick<Tally, 'move'>): DocumentWriter => {
  const storedOf = (key: bigint, ids: readonly string[], withBodies: boolean): ReadonlyMap<string, Stored> => {
    const found = statement(selectStored).all(key, JSON.stringify(ids), withBodies ? 1 : 0) as Stored[];
    return new Map(found.map((document) => [document.id, document]));
  };

  const insert = (key: bigint, documents: readonly WriteWithText[]): void => {
    const rows = documents.map(({ id, revision, position, body, text = body === null ? null : JSON.stringify(body) }) => [
      id,
      revision,
      position,
      text,
    ]);
    let done = 0;
    for (; done + documentsPerStatement <= rows.length; done += documentsPerStatement)
      statement(insertManyDocuments).run(key, ...rows.slice(done, done + documentsPerStatement).flat());
    for (const row of rows.slice(done)) statement(insertDocument).run(key, ...row);
  };

  const insertIntoIndex = (key: bigint, field: string, added: readonly Entry[]): void => {
    for (let done = 0; done < added.length; done += entriesPerStatement) {
      const members = added
        .slice(done, done + entriesPerStatement)
        .map(({ value, id }) => `${JSON.stringify(id)}:${JSON.stringify(value)}`);
      statement(insertEntries).run(key, field, `{${members.join(',')}}`);
    }
  };

  return (model, key, writes) => {
    const newest = newestById(writes);
    const hasIndexes = model.indexes.length > 0;
    const stored = model.isAppendOnly === true ? noneStored : storedOf(key, [...newest.keys()], hasIndexes);

    // What is next to each other in the file is written one after the other.
    const newer = [...newest.values()]
      .filter(({ id, position }) => (stored.get(id)?.position ?? -1n) < position)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    insert(key, newer);
    if (!hasIndexes) return;
    const changed = newer.map(({ id, body }) => {
      const before = stored.get(id)?.body ?? null;
      return { id, before: before === null ? null : (JSON.parse(before) as JsonObject), body };
    });
    tally.move(key, changed);
    for (const index of model.indexes) {
      const added: Entry[] = [];
      const { field, valuesIn } = entriesOf(index);
      for (const { id, before, body } of changed) {
        const value = body?.[index.field];
        if (before !== null && typeof value === 'string' && value === before[index.field]) continue;
        const old = new Set(before === null ? [] : valuesIn(before));
        const current = new Set(body === null ? [] : valuesIn(body));
        for (const one of old) if (!current.has(one)) statement(deleteEntry).run(key, field, one, id);
        for (const one of current) if (!old.has(one)) added.push({ value: one, id });
      }
      added.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
      insertIntoIndex(key, field, added);
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
