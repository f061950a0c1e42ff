import type { Collection, Filter } from 'mongodb';
import type { JsonObject } from '../../../events/envelope.js';
import type { Clock } from '../../../platform/clock.js';
import { textsOf, wantedValues } from '../documents.js';
import type { DocumentWrite, ReadModel, ReadModelQuery, StoredDocument } from '../readModelStore.js';
import { countsAsNumbers, type MongoConnection } from './connection.js';
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

/** Writes each document unless the stored one reflects the same or a later position. */
export type WriteGuarded = (
  documents: Collection<ModelDocument>,
  model: ReadModel,
  writes: readonly DocumentWrite[],
) => Promise<void>;

/** Writes in one command at most, and how long one should take. */
const largestSize = 100;
const comfortableMs = 400;

/** As many writes go into a command as the server can do in comfort: one that is slow, but there, must not run into the time limit for ever. */
export const createGuardedWriter = (connection: MongoConnection, clock: Clock): WriteGuarded => {
  let size = largestSize;
  const resize = (factor: number): void => {
    size = Math.max(1, Math.min(largestSize, Math.floor(size * factor)));
  };
  return async (documents, model, writes) => {
    for (let done = 0; done < writes.length;) {
      const replacements = writes.slice(done, done + size).map((write) => toModelDocument(model, write));
      const startedAt = clock.now();
      try {
        await connection.run(async () => {
          const refused = await replaceOlder(documents, replacements, true);
          if (refused.length > 0) await replaceOlder(documents, await olderThan(documents, refused), false);
        });
      } catch (fault) {
        resize(1 / 4);
        throw fault;
      }
      done += replacements.length;
      const tookMs = clock.now() - startedAt;
      if (tookMs > comfortableMs) resize(1 / 2);
      else if (tookMs < comfortableMs / 4) resize(2);
    }
  };
};

/**
 * Those of the refused writes whose stored document is older all the same: another process wrote it at the same moment, and the upsert
 * could not see it yet. The rest were refused because the stored one is as new, or newer.
 */
const olderThan = async (
  documents: Collection<ModelDocument>,
  refused: readonly ModelDocument[],
): Promise<readonly ModelDocument[]> => {
  const ids = refused.map(({ _id }) => _id);
  const found = await documents
    // Local: the refusal may speak of a write that a majority does not have yet, and that a read with majority concern would not see.
    .find({ _id: { $in: ids } }, { projection: { position: 1 }, batchSize: ids.length + 1, readConcern: { level: 'local' } })
    .toArray();
  const positions = new Map(found.map(({ _id, position }) => [_id, position]));
  return refused.filter(({ _id, position }) => {
    const stored = positions.get(_id);
    if (stored === undefined) throw new Error(`refused as a duplicate, but there is no document ${_id}`);
    return stored < position;
  });
};

/** Returns those that were refused because a document with that id is there, which the guard did not let them replace. */
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
      const partly = takenIn(fault);
      if (partly === null) throw fault;
      for (const index of partly.taken) {
        const replacement = rest[index];
        if (replacement !== undefined) refused.add(replacement);
      }
      // FerretDB ends even an unordered command at the first refusal: what it did not come to is asked for again.
      if (partly.settled >= rest.length) return [...refused];
    }
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
