import type { Clock } from '../../../platform/clock.js';
import type { JsonObject } from '../../../events/envelope.js';
import type { RecordStore } from '../readModelStore.js';
import type { MongoConnection } from './connection.js';
import { isTaken } from './duplicates.js';
import { removeInStretches } from './removal.js';

interface StoredRecord {
  /** Collection and key, as JSON text, which holds every string exactly. */
  readonly _id: string;
  readonly value: string;
  /** Milliseconds since the epoch; `null` for one that stays. */
  readonly expires: number | null;
}

const idOf = (collection: string, key: string): string => JSON.stringify([collection, key]);

/** Records in the MongoDB collection `name`. Expiry is looked at when a record is read: no server has to remove it in time. */
export const createMongoRecords = (connection: MongoConnection, name: string, clock: Clock): RecordStore => {
  const records = connection.collection<StoredRecord>(name);

  /** Replaces the record that matches, or writes the first; `false` when one that does not match is there. */
  const write = async (filter: object, id: string, value: JsonObject, expiresAt: number | undefined): Promise<boolean> => {
    const record = { value: JSON.stringify(value), expires: expiresAt === undefined ? null : Math.ceil(expiresAt) };
    try {
      await records.replaceOne({ ...filter, _id: id }, record, { upsert: true });
      return true;
    } catch (fault) {
      if (isTaken(fault)) return false;
      throw fault;
    }
  };

  return {
    get: (collection, key) =>
      connection.run(async () => {
        const found = await records.findOne({ _id: idOf(collection, key) });
        if (found === null || (found.expires !== null && found.expires <= clock.now())) return null;
        return JSON.parse(found.value) as JsonObject;
      }),

    insert: (collection, key, value, expiresAt) =>
      connection.run(() => write({ expires: { $lte: clock.now() } }, idOf(collection, key), value, expiresAt)),

    put: (collection, key, value, expiresAt) =>
      connection.run(async () => {
        const id = idOf(collection, key);
        // Two first writes at once: the one that is refused finds the other's record the next time.
        while (!(await write({}, id, value, expiresAt)));
      }),

    delete: (collection, key) =>
      connection.run(async () => {
        await records.deleteOne({ _id: idOf(collection, key) });
      }),

    purgeExpired: async () => {
      const removed = await removeInStretches(connection, records, { expires: { $lte: clock.now() } });
      // For the next time. Last, because a replica set finishes an index only when all who vote are there.
      await connection.run(() => records.createIndex({ expires: 1 }, { name: 'expires' }, {}));
      return removed;
    },
  };
};
