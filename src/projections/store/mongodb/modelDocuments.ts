import type { Collection, Filter } from 'mongodb';
import type { JsonObject } from '../../../events/envelope.js';
import type { Clock } from '../../../platform/clock.js';
import { sortKeyOf } from '../../../platform/foldText.js';
import { checkSort, endOfBeginning, isId, sortingFields, sortKeyIn, textsOf, wantedValues } from '../documents.js';
import {
  DocumentsTooLarge,
  type DocumentWrite,
  type ReadModel,
  type ReadModelQuery,
  type Selection,
  type StoredDocument,
} from '../readModelStore.js';
import { countsAsNumbers, type MongoConnection } from './connection.js';
import { duplicateIdsIn } from './duplicateIds.js';

/** A document, or its tombstone, as a version's collection stores it. */
export interface ModelDocument {
  /** The id, written by `storedId`. */
  readonly _id: string;
  readonly revision: bigint;
  readonly position: bigint;
  /**
   * JSON text, which holds every string and field name exactly: BSON has no lone surrogates, and
   * some servers give `$` and `.` in names a meaning. Absent in a tombstone.
   */
  readonly body?: string;
  /** The index entries: `entry` of each indexed field and value. */
  readonly entries?: readonly string[];
  /** The position again, in tombstones only. */
  readonly deleted?: bigint;
  /** What documents are sorted by, for each field that they can be sorted by: its key, then the id. */
  readonly [sorted: `sorted_${string}`]: string;
}

/**
 * Creates one index for all fields that documents are found by. Within a value it is in id order,
 * so that a page is read without sorting; so are those of the fields that documents are sorted by.
 */
export const createIndexes = async (documents: Collection<ModelDocument>, model: ReadModel): Promise<void> => {
  await documents.createIndexes([
    { key: { entries: 1, _id: 1 }, name: 'entries' },
    { key: { deleted: 1 }, name: 'deleted', sparse: true },
    ...sortingFields(model).flatMap((field) => [
      { key: { [sortedField(field)]: 1 } as const, name: sortedField(field) },
      { key: { entries: 1, [sortedField(field)]: 1 } as const, name: `entries_${sortedField(field)}` },
    ]),
  ]);
};

const sortedField = (field: string): `sorted_${string}` => `sorted_${field}`;

/** Orders by the key, and by the id where it is equal: a key holds no space. */
const sortedText = (key: string, id: string): string => `${key} ${storedId(id)}`;

const entry = (field: string, value: string): string => JSON.stringify([field, value]);

/**
 * Encodes an id so that every server sorts it like the id's UTF-8 bytes, although MongoDB compares
 * bytes and others compare UTF-16 units or letters. Characters after `}` become hexadecimal bytes,
 * each behind a `~`, which sorts after all characters that remain.
 */
export const storedId = (id: string): string =>
  id.replace(/[~-\u{10ffff}]+/gu, (run) => [...Buffer.from(run)].map((byte) => `~${byte.toString(16)}`).join(''));

const originalId = (stored: string): string =>
  stored.replace(/(?:~[0-9a-f]{2})+/g, (run) => Buffer.from(run.replaceAll('~', ''), 'hex').toString());

export const toStoredDocument = ({ _id, revision, position, body }: ModelDocument & { body: string }): StoredDocument => ({
  id: originalId(_id),
  revision,
  position,
  body: JSON.parse(body) as JsonObject,
});

export const isPresent = (document: ModelDocument): document is ModelDocument & { body: string } => document.body !== undefined;

const toModelDocument = (model: ReadModel, { id, revision, position, body }: DocumentWrite): ModelDocument => {
  const guarded = { _id: storedId(id), revision, position };
  if (body === null) return { ...guarded, deleted: position };
  const entries = model.indexes.flatMap(({ field, sorts }) =>
    sorts === true ? [] : textsOf(body, field).map((value) => entry(field, value)),
  );
  const sorted = sortingFields(model).map((field) => [sortedField(field), sortedText(sortKeyIn(body, field), id)] as const);
  return {
    ...guarded,
    body: JSON.stringify(body),
    ...(entries.length > 0 && { entries: [...new Set(entries)] }),
    ...Object.fromEntries(sorted),
  };
};

/** Writes each document unless the stored one reflects the same or a later position. */
export type WriteGuarded = (
  documents: Collection<ModelDocument>,
  model: ReadModel,
  writes: readonly DocumentWrite[],
) => Promise<void>;

/** MongoDB's limit of 16 MiB, less what surrounds a text in BSON. */
const maxDocumentBytes = 16 * 1024 ** 2 - 16 * 1024;

const bytesOf = ({ body = '', entries = [] }: ModelDocument): number =>
  // A name, a type and a length stand beside each entry.
  entries.reduce((sum, text) => sum + Buffer.byteLength(text) + 16, Buffer.byteLength(body));

/** Writes in one command. */
const maxBatchSize = 100;
/** How long one command should take. */
const targetMs = 400;

/**
 * Adapts the number of writes in a command to the server's speed, so that a slow server does not
 * run into the time limit for ever.
 */
export const createGuardedWriter = (connection: MongoConnection, clock: Clock): WriteGuarded => {
  let batchSize = maxBatchSize;
  const resize = (factor: number): void => {
    batchSize = Math.max(1, Math.min(maxBatchSize, Math.floor(batchSize * factor)));
  };
  return async (documents, model, writes) => {
    const tooLarge: string[] = [];
    for (let done = 0; done < writes.length;) {
      const chunk = writes.slice(done, done + batchSize).map((write) => ({ write, document: toModelDocument(model, write) }));
      const replacements: ModelDocument[] = [];
      for (const { write, document } of chunk) {
        if (bytesOf(document) > maxDocumentBytes) tooLarge.push(write.id);
        else replacements.push(document);
      }
      const startedAt = clock.now();
      try {
        await connection.run(async () => {
          const refused = await replaceOlder(documents, replacements, true);
          if (refused.length > 0) await replaceOlder(documents, await stillOlder(documents, refused), false);
        });
      } catch (fault) {
        resize(1 / 4);
        throw fault;
      }
      done += chunk.length;
      const tookMs = clock.now() - startedAt;
      if (tookMs > targetMs) resize(1 / 2);
      else if (tookMs < targetMs / 4) resize(2);
    }
    if (tooLarge.length > 0) throw new DocumentsTooLarge(tooLarge, maxDocumentBytes);
  };
};

/**
 * Those of the refused writes whose stored document is older all the same, because another process
 * inserted it after the upsert had looked for it. The others were refused rightly: the stored
 * document is as new or newer.
 */
const stillOlder = async (
  documents: Collection<ModelDocument>,
  refused: readonly ModelDocument[],
): Promise<readonly ModelDocument[]> => {
  const ids = refused.map(({ _id }) => _id);
  const found = await documents
    // With read concern local: the refusal may come from a write that a majority does not have yet,
    // and majority concern would hide it.
    .find({ _id: { $in: ids } }, { projection: { position: 1 }, batchSize: ids.length + 1, readConcern: { level: 'local' } })
    .toArray();
  const positions = new Map(found.map(({ _id, position }) => [_id, position]));
  return refused.filter(({ _id, position }) => {
    const stored = positions.get(_id);
    if (stored === undefined) throw new Error(`refused as a duplicate, but there is no document ${_id}`);
    return stored < position;
  });
};

/**
 * Returns the writes that were refused because a document with their id exists and their guard does
 * not match it.
 */
const replaceOlder = async (
  documents: Collection<ModelDocument>,
  replacements: readonly ModelDocument[],
  upsert: boolean,
): Promise<readonly ModelDocument[]> => {
  const refused = new Set<ModelDocument>();
  for (;;) {
    const rest = replacements.filter((replacement) => !refused.has(replacement));
    const operations = rest.map((replacement) => ({
      replaceOne: { filter: { _id: replacement._id, position: { $lt: replacement.position } }, replacement, upsert },
    }));
    if (operations.length === 0) return [...refused];
    try {
      await documents.bulkWrite(operations, { ordered: false, ...countsAsNumbers });
      return [...refused];
    } catch (fault) {
      const partial = duplicateIdsIn(fault);
      if (partial === null) throw fault;
      for (const index of partial.duplicates) {
        const replacement = rest[index];
        if (replacement !== undefined) refused.add(replacement);
      }
      // FerretDB ends even an unordered command at the first refusal, so the rest is sent again.
      if (partial.settled >= rest.length) return [...refused];
    }
  }
};

/**
 * The filter of a query, without its search.
 * @throws TypeError for a field without the index that the query needs
 */
export const filterOf = (model: ReadModel, query: Selection & Pick<ReadModelQuery, 'sort'>): Filter<ModelDocument> => {
  checkSort(model, query);
  const { ids, without = [], range, below, beginning } = query;
  const conditions: Filter<ModelDocument>[] = wantedValues(model, query).map(({ field, values }) => ({
    entries: { $in: values.map((value) => entry(field, value)) },
  }));
  if (below !== undefined) conditions.push({ [sortedField(below.field)]: { $lt: sortKeyOf(below.text) } });
  if (beginning !== undefined) {
    const from = entry(beginning.field, beginning.text).slice(0, -2);
    conditions.push({ entries: { $elemMatch: { $gte: from, $lt: endOfBeginning(from) } } });
  }
  // Tombstones have no entries, so only a query without conditions has to leave them out.
  if (conditions.length === 0) conditions.push({ deleted: { $exists: false } });
  if (ids !== undefined) conditions.push({ _id: { $in: ids.filter(isId).map(storedId) } });
  if (without.length > 0) conditions.push({ _id: { $nin: without.map(storedId) } });
  if (range?.from !== undefined) conditions.push({ _id: { $gte: storedId(range.from) } });
  if (range?.before !== undefined) conditions.push({ _id: { $lt: storedId(range.before) } });
  return { $and: conditions };
};

/** One page of the documents that match `filter`. */
export const findPage = async (
  documents: Collection<ModelDocument>,
  filter: Filter<ModelDocument>,
  { order, after, limit, sort }: Pick<ReadModelQuery, 'order' | 'after' | 'limit' | 'sort'>,
): Promise<readonly StoredDocument[]> => {
  const field = sort === undefined ? '_id' : sortedField(sort.field);
  const beyond = (text: string): Filter<ModelDocument> => ({ [field]: order === 'ascending' ? { $gt: text } : { $lt: text } });
  const start = (id: string): string => (sort === undefined ? storedId(id) : sortedText(sort.afterKey ?? '', id));
  const found = await documents
    .find({ ...filter, ...(after !== undefined && beyond(start(after))) }, { projection: { entries: 0 }, batchSize: limit })
    .sort({ [field]: order === 'ascending' ? 1 : -1 })
    .limit(limit)
    .toArray();
  return found.filter(isPresent).map(toStoredDocument);
};

/** Up to `limit` ids of documents that match `filter`, the last first. */
export const findIdsPage = async (
  documents: Collection<ModelDocument>,
  filter: Filter<ModelDocument>,
  after: string | undefined,
  limit: number,
): Promise<readonly string[]> => {
  const beyond = after === undefined ? {} : { _id: { $lt: storedId(after) } };
  const found = await documents
    .find({ ...filter, ...beyond }, { projection: { _id: 1 }, batchSize: limit })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
  return found.map(({ _id }) => originalId(_id));
};
