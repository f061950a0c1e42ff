import type { Collection, Filter } from 'mongodb';
import type { JsonObject } from '../../../events/envelope.js';
import { textsOf, wantedValues } from '../documents.js';
import type { DocumentWrite, ReadModel, ReadModelQuery, StoredDocument } from '../readModelStore.js';
import type { MongoConnection } from './connection.js';
import { takenIn } from './duplicates.js';

/** A document, or the tombstone of one, as it stands in a version's collection. */
export interface ModelDocument {
  /** `storedId` of its id. */
  readonly _id: string;
  readonly revision: bigint;
  readonly position: bigint;
  /**
   * As JSON text, which holds every string and every field name exactly: BSON has no lone surrogates, and `$` and `.` in names mean
   * something to some servers. Absent in a tombstone.
   */
  readonly body?: string;
  /** What it is found by: `entry` of each indexed field and value. */
  readonly entries?: readonly string[];
  /** The position again, in tombstones only. */
  readonly deleted?: bigint;
}

/** One index for all fields: within a value it is in id order, so that a page is read without sorting. */
export const createIndexes = async (documents: Collection<ModelDocument>): Promise<void> => {
  await documents.createIndexes([
    { key: { entries: 1, _id: 1 }, name: 'entries' },
    { key: { deleted: 1 }, name: 'deleted', sparse: true },
  ]);
};

const entry = (field: string, value: string): string => JSON.stringify([field, value]);

/**
 * An id as text whose order is that of the id's UTF-8 bytes under every comparison that servers use: what lies beyond `}` is written
 * byte for byte, behind the one character that sorts after all that are left. MongoDB compares bytes, others UTF-16 units or letters.
 */
export const storedId = (id: string): string =>
  id.replace(/[~-\u{10ffff}]+/gu, (run) => [...Buffer.from(run)].map((byte) => `~${byte.toString(16)}`).join(''));

const meantId = (stored: string): string =>
  stored.replace(/(?:~[0-9a-f]{2})+/g, (run) => Buffer.from(run.replaceAll('~', ''), 'hex').toString());

export const toStoredDocument = ({ _id, revision, position, body }: ModelDocument & { body: string }): StoredDocument => ({
  id: meantId(_id),
  revision,
  position,
  body: JSON.parse(body) as JsonObject,
});

export const isPresent = (document: ModelDocument): document is ModelDocument & { body: string } => document.body !== undefined;

const toModelDocument = (model: ReadModel, { id, revision, position, body }: DocumentWrite): ModelDocument => {
  const guarded = { _id: storedId(id), revision, position };
  if (body === null) return { ...guarded, deleted: position };
  const entries = model.indexes.flatMap(({ field }) => textsOf(body, field).map((value) => entry(field, value)));
  return { ...guarded, body: JSON.stringify(body), ...(entries.length > 0 && { entries: [...new Set(entries)] }) };
};

/** Writes in one command: a server under load still answers them in time. */
const writesAtOnce = 100;

/** Writes each document unless the stored one reflects the same or a later position. */
export const writeGuarded = async (
  connection: MongoConnection,
  documents: Collection<ModelDocument>,
  model: ReadModel,
  writes: readonly DocumentWrite[],
): Promise<void> => {
  for (let start = 0; start < writes.length; start += writesAtOnce) {
    const replacements = writes.slice(start, start + writesAtOnce).map((write) => toModelDocument(model, write));
    await connection.run(async () => {
      const refused = await replaceOlder(documents, replacements, true);
      // A document that is there was the newer one, or another process wrote an older one at the same moment. Without upsert the
      // second case is made good, and the first stays as it is.
      if (refused.length > 0) await replaceOlder(documents, refused, false);
    });
  }
};

/** Returns those that were refused because a document with that id is there, which the guard did not let them replace. */
const replaceOlder = async (
  documents: Collection<ModelDocument>,
  replacements: readonly ModelDocument[],
  upsert: boolean,
): Promise<readonly ModelDocument[]> => {
  const operations = replacements.map((replacement) => ({
    replaceOne: { filter: { _id: replacement._id, position: { $lt: replacement.position } }, replacement, upsert },
  }));
  try {
    await documents.bulkWrite(operations, { ordered: false });
    return [];
  } catch (fault) {
    const taken = takenIn(fault);
    if (taken === null) throw fault;
    return taken.map((index) => replacements[index]).filter((replacement) => replacement !== undefined);
  }
};

/** What a query asks for, without its search. @throws TypeError for a field without an index */
export const filterOf = (model: ReadModel, query: ReadModelQuery): Filter<ModelDocument> => {
  const conditions = wantedValues(model, query).map(({ field, values }) => ({
    entries: { $in: values.map((value) => entry(field, value)) },
  }));
  // Tombstones have no entries: only a query without conditions meets them.
  return conditions.length === 0 ? { deleted: { $exists: false } } : { $and: conditions };
};

/** One page of what `filter` lets through, by id. */
export const findPage = async (
  documents: Collection<ModelDocument>,
  filter: Filter<ModelDocument>,
  { order, after, limit }: Pick<ReadModelQuery, 'order' | 'after' | 'limit'>,
): Promise<readonly StoredDocument[]> => {
  const beyond = after === undefined ? {} : { _id: order === 'ascending' ? { $gt: storedId(after) } : { $lt: storedId(after) } };
  const found = await documents
    .find({ ...filter, ...beyond }, { projection: { entries: 0 }, batchSize: limit })
    .sort({ _id: order === 'ascending' ? 1 : -1 })
    .limit(limit)
    .toArray();
  return found.filter(isPresent).map(toStoredDocument);
};
