import type { Clock } from '../../../platform/clock.js';
import type { JsonObject } from '../../../events/envelope.js';
import { nextTurn } from '../../../platform/eventLoop.js';
import type { RecordEntry, RecordStore } from '../readModelStore.js';
import { countsAsNumbers, type MongoConnection } from './connection.js';
import { isDuplicateId } from './duplicateIds.js';
import { removeInChunks } from './removal.js';

interface StoredRecord {
  /** Collection and key as JSON text, which holds every string exactly. */
  readonly _id: string;
  readonly value: string;
  /** Milliseconds since the epoch; `null` when the record does not expire. */
  readonly expires: number | null;
}

const toRecord = (value: JsonObject, expiresAt: number | undefined): Omit<StoredRecord, '_id'> => ({
  value: JSON.stringify(value),
  expires: expiresAt === undefined ? null : Math.ceil(expiresAt),
});

/** Records that are read at once. */
const pageSize = 500;

const toEntry = ({ _id, value, expires }: StoredRecord): RecordEntry => {
  const [collection, key] = JSON.parse(_id) as [string, string];
  return { collection, key, value: JSON.parse(value) as JsonObject, ...(expires !== null && { expiresAt: expires }) };
};

const idOf = (collection: string, key: string): string => JSON.stringify([collection, key]);

/**
 * Records in the MongoDB collection `name`. Reads check the expiry, so no server has to remove a
 * record in time.
 */
export const createMongoRecords = (connection: MongoConnection, name: string, clock: Clock): RecordStore => {
  const records = connection.collection<StoredRecord>(name);

  /**
   * Replaces the record that matches `filter`, or inserts it. Returns `false` when a record exists
   * that does not match.
   */
  const write = async (filter: object, id: string, value: JsonObject, expiresAt: number | undefined): Promise<boolean> => {
    const record = toRecord(value, expiresAt);
    try {
      await records.replaceOne({ ...filter, _id: id }, record, { upsert: true });
      return true;
    } catch (fault) {
      if (isDuplicateId(fault)) return false;
      throw fault;
    }
  };

  /** What is asked for in this turn of the event loop. */
  let asked: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, StoredRecord>> } | undefined;

  const findAll = async (ids: ReadonlySet<string>): Promise<ReadonlyMap<string, StoredRecord>> => {
    await nextTurn();
    // Sent only now, so that each answer is from after its question.
    asked = undefined;
    const found = await connection.run(() => records.find({ _id: { $in: [...ids] } }, { batchSize: ids.size + 1 }).toArray());
    return new Map(found.map((record) => [record._id, record]));
  };

  /** Many are asked for at once: the keys of the people on a page, and those of other requests. */
  const find = async (id: string): Promise<StoredRecord | undefined> => {
    if (asked === undefined) {
      const ids = new Set<string>();
      asked = { ids, found: findAll(ids) };
    }
    asked.ids.add(id);
    return (await asked.found).get(id);
  };

  return {
    get: async (collection, key) => {
      const found = await find(idOf(collection, key));
      if (found === undefined || (found.expires !== null && found.expires <= clock.now())) return null;
      return JSON.parse(found.value) as JsonObject;
    },

    insert: (collection, key, value, expiresAt) =>
      connection.run(() => write({ expires: { $lte: clock.now() } }, idOf(collection, key), value, expiresAt)),

    put: (collection, key, value, expiresAt) =>
      connection.run(async () => {
        const id = idOf(collection, key);
        // Of two concurrent inserts one is refused; repeated, it replaces the other's record.
        while (!(await write({}, id, value, expiresAt)));
      }),

    replace: (collection, key, expected, value, expiresAt) =>
      connection.run(async () => {
        const record = toRecord(value, expiresAt);
        const isPresent = [{ expires: null }, { expires: { $gt: clock.now() } }];
        const filter = { _id: idOf(collection, key), value: JSON.stringify(expected), $or: isPresent };
        const { matchedCount } = await records.replaceOne(filter, record, countsAsNumbers);
        return matchedCount > 0;
      }),

    delete: (collection, key) =>
      connection.run(async () => {
        await records.deleteOne({ _id: idOf(collection, key) });
      }),

    purgeExpired: async () => {
      const removed = await removeInChunks(connection, records, { expires: { $lte: clock.now() } });
      // Created last, for the next purge, because a replica set finishes an index only when every
      // voting member is up.
      await connection.run(() => records.createIndex({ expires: 1 }, { name: 'expires' }, {}));
      return removed;
    },

    entries: async function* entries() {
      for (let last = ''; ;) {
        const after = last;
        const filter = { _id: { $gt: after }, $or: [{ expires: null }, { expires: { $gt: clock.now() } }] };
        const page = await connection.run(() =>
          records
            .find(filter, { batchSize: pageSize + 1 })
            .sort({ _id: 1 })
            .limit(pageSize)
            .toArray(),
        );
        yield* page.map(toEntry);
        const end = page.at(-1);
        if (end === undefined || page.length < pageSize) return;
        last = end._id;
      }
    },
  };
};
