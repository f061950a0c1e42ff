import type { JsonObject, JsonValue } from '../../../events/envelope.js';
import { isId, sortKeyIn, textsOf } from '../documents.js';
import type { DocumentWrite, ReadModel } from '../readModelStore.js';
import type { Database } from './database.js';
import { entryValue, sortEntryField } from './indexSql.js';
import type { Tally } from './tally.js';

/**
 * Writes each document unless the stored one reflects the same or a later position, with its rows in
 * the index. Those of a model that is appended to must be new. Call it inside a write transaction.
 * @throws TypeError for an id that no document may have
 */
export type DocumentWriter = (model: ReadModel, key: bigint, writes: readonly WriteWithText[]) => void;

export interface WriteWithText extends DocumentWrite {
  /** The body as JSON, where the caller has it already. Then the body itself is needed only for the index. */
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
  return `INSERT INTO document (model, id, revision, position, body) VALUES ${rows.join(', ')}`;
};
const overStored = 'ON CONFLICT DO UPDATE SET revision = excluded.revision, position = excluded.position, body = excluded.body';
const [insertOne, insertMany] = [insertDocuments(1), insertDocuments(documentsPerStatement)];
const [putOne, putMany] = [`${insertOne} ${overStored}`, `${insertMany} ${overStored}`];
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
  /** The document's id, as a name in JSON. */
  readonly name: string;
}

export const createDocumentWriter = ({ statement }: Pick<Database, 'statement'>, tally: Pick<Tally, 'move'>): DocumentWriter => {
  const storedOf = (key: bigint, ids: readonly string[], withBodies: boolean): ReadonlyMap<string, Stored> => {
    const found = statement(selectStored).all(key, JSON.stringify(ids), withBodies ? 1 : 0) as Stored[];
    return new Map(found.map((document) => [document.id, document]));
  };

  const insert = (key: bigint, documents: readonly WriteWithText[], areNew: boolean): void => {
    const run = (sql: string, part: readonly WriteWithText[]): void => {
      const rows = part.flatMap(({ id, revision, position, body, text = body === null ? null : JSON.stringify(body) }) => [
        id,
        revision,
        position,
        text,
      ]);
      statement(sql).run(key, ...rows);
    };
    // SQLite takes longer where others may be stored.
    const [one, many] = areNew ? [insertOne, insertMany] : [putOne, putMany];
    const rest = documents.length - (documents.length % documentsPerStatement);
    for (let done = 0; done < rest; done += documentsPerStatement) run(many, documents.slice(done, done + documentsPerStatement));
    for (const document of documents.slice(rest)) run(one, [document]);
  };

  const insertIntoIndex = (key: bigint, field: string, added: readonly Entry[]): void => {
    for (let done = 0; done < added.length; done += entriesPerStatement) {
      const members = added.slice(done, done + entriesPerStatement).map(({ value, name }) => `${name}:${JSON.stringify(value)}`);
      statement(insertEntries).run(key, field, `{${members.join(',')}}`);
    }
  };

  return (model, key, writes) => {
    const newest = newestById(writes);
    const hasIndexes = model.indexes.length > 0;
    const areNew = model.isAppendOnly === true;
    const stored = areNew ? noneStored : storedOf(key, [...newest.keys()], hasIndexes);

    // What is next to each other in the file is written one after the other.
    const newer = [...newest.values()]
      .filter(({ id, position }) => (stored.get(id)?.position ?? -1n) < position)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    insert(key, newer, areNew);
    if (!hasIndexes) return;
    const changed = newer.map(({ id, body }) => {
      const before = stored.get(id)?.body ?? null;
      return { id, name: JSON.stringify(id), before: before === null ? null : (JSON.parse(before) as JsonObject), body };
    });
    tally.move(key, changed);
    for (const index of model.indexes) {
      const added: Entry[] = [];
      const { field, valuesIn } = entriesOf(index);
      for (const { id, name, before, body } of changed) {
        if (before !== null && body !== null && areSame(before[index.field], body[index.field])) continue;
        const old = new Set(before === null ? [] : valuesIn(before));
        const current = new Set(body === null ? [] : valuesIn(body));
        for (const one of old) if (!current.has(one)) statement(deleteEntry).run(key, field, one, id);
        for (const one of current) if (!old.has(one)) added.push({ value: one, name });
      }
      added.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
      insertIntoIndex(key, field, added);
    }
  };
};

/** Whether they surely give the same rows of an index. */
const areSame = (before: JsonValue | undefined, value: JsonValue | undefined): boolean =>
  before === value ||
  (Array.isArray(before) &&
    Array.isArray(value) &&
    before.length === value.length &&
    before.every((part, index) => part === value[index]));

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
