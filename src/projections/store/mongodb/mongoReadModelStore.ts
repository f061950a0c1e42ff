import type { Collection } from 'mongodb';
import type { Clock } from '../../../platform/clock.js';
import type { Random } from '../../../platform/random.js';
import { isId, matchesSearch, placeInSort, searchSteps } from '../documents.js';
import {
  ReadModelDropped,
  type ModelCheckpoint,
  type ReadModel,
  type ReadModelQuery,
  type ReadModelStore,
  type RecordStore,
  type StoredDocument,
} from '../readModelStore.js';
import { createCheckpointNotifier } from './checkpointNotifier.js';
import { storeClosed, connectMongo, type MongoConnection } from './connection.js';
import { isReadLost } from './faults.js';
import {
  createGuardedWriter,
  createIndexes,
  filterOf,
  findIdsPage,
  findPage,
  isPresent,
  storedId,
  toStoredDocument,
  type ModelDocument,
} from './modelDocuments.js';
import { createMongoRecords } from './records.js';
import { createRegistry, type RegisteredVersion } from './registry.js';
import { removeInChunks } from './removal.js';
import { probeServer } from './serverProbe.js';

export interface MongoReadModelStore extends ReadModelStore {
  /**
   * Records in a collection of their own, on the same connections, for the key vault. Publishing or
   * dropping read models never touches them. As every write here, one is acknowledged once a
   * majority has it in its journal.
   */
  recordsIn(collection: string): RecordStore;
  /**
   * Probes, once for each build of the server, what all guards rest on.
   * @throws ServerLosesUpdates
   */
  probeServer(): Promise<void>;
}

/** Documents that a search reads before it checks again that the version is still registered. */
const searchPageSize = 500;
/** Ids that are read at once. */
const idsPageSize = 2_000;

/**
 * Read models in a MongoDB database, which any number of processes on any number of machines may
 * share. It connects at the first call, and again whenever the connection is lost. It uses only
 * what standalone and compatible servers offer too: no transactions, no change streams, no updates
 * by pipeline, no partial indexes (docs/adr/0009).
 *
 * The collection `readModels` lists the versions and says which is live; each version has a
 * collection of its own.
 *
 * @param url `mongodb://` or `mongodb+srv://`; the database is the one it names, else `doorstep`
 * @throws ReadModelStoreUnavailable when `url` is not a valid connection string
 */
export const createMongoReadModelStore = async ({
  url,
  clock,
  random,
}: {
  url: string;
  clock: Clock;
  random: Random;
}): Promise<MongoReadModelStore> => {
  const connection = await connectMongo(url, clock);
  const run: MongoConnection['run'] = (work) => connection.run(work);
  const registry = createRegistry(connection, random);
  const writeGuarded = createGuardedWriter(connection, clock);
  // Safe to cache: a collection is never reused, so the collection of a dropped version holds no
  // other version's documents.
  const collections = new Map<string, string>();

  const keyOf = ({ name, version }: ReadModel): string => JSON.stringify([name, version]);

  const documentsOf = ({ collection }: Pick<RegisteredVersion, 'collection'>): Collection<ModelDocument> =>
    connection.collection<ModelDocument>(collection);

  /** Finds the version in the registry and caches its collection. @throws ReadModelDropped */
  const findRegistered = async (model: ReadModel): Promise<RegisteredVersion> => {
    try {
      const found = await registry.find(model);
      collections.set(keyOf(model), found.collection);
      return found;
    } catch (fault) {
      if (fault instanceof ReadModelDropped) collections.delete(keyOf(model));
      throw fault;
    }
  };

  const collectionOf = async (model: ReadModel): Promise<string> =>
    collections.get(keyOf(model)) ?? (await findRegistered(model)).collection;

  /**
   * Reads, then checks that the version is still registered. A dropped version leaves the registry
   * before its documents are removed, so a read that passes this check saw all of them.
   */
  const readChecked = async <Result>(
    model: ReadModel,
    read: (documents: Collection<ModelDocument>) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> => {
    signal?.throwIfAborted();
    return run(async () => {
      const collection = await collectionOf(model);
      const assertStillRegistered = async (): Promise<void> => {
        if ((await findRegistered(model)).collection !== collection) throw new ReadModelDropped(model);
      };
      try {
        const result = await read(documentsOf({ collection }));
        await assertStillRegistered();
        return result;
      } catch (fault) {
        // MongoDB ends a read with a fault when its collection is dropped meanwhile.
        if (isReadLost(fault)) await assertStillRegistered();
        throw fault;
      }
    });
  };

  const checkpoint = (model: ReadModel): Promise<bigint> => run(async () => (await findRegistered(model)).checkpoint);
  const notifier = createCheckpointNotifier(checkpoint, clock);

  /**
   * Drops the collections of dropped versions, and those that a late writer to one created again.
   */
  const sweep = async (): Promise<void> => {
    for (const collection of await run(() => registry.leftovers())) await run(() => connection.drop(collection));
  };

  const records = createMongoRecords(connection, 'records', clock);

  return {
    records,
    durableRecords: records,
    // Beside the others: nobody drops the models' collections without `readModels`, which lists them.
    modelRecords: records,
    probeServer: () => probeServer(connection, records, { clock, random }),
    recordsIn: (collection) => createMongoRecords(connection, collection, clock),

    prepare: async (model) => {
      const version = await run(() => registry.add(model));
      collections.set(keyOf(model), version.collection);
      await run(() => createIndexes(documentsOf(version), model));
      await sweep();
    },

    get: (model, id) =>
      readChecked(model, async (documents) => {
        const found = isId(id) ? await documents.findOne({ _id: storedId(id) }, { projection: { entries: 0 } }) : null;
        return found !== null && isPresent(found) ? toStoredDocument(found) : null;
      }),

    getMany: (model, ids) =>
      readChecked(model, async (documents) => {
        const _ids = ids.filter(isId).map(storedId);
        const found = await documents
          .find({ _id: { $in: _ids } }, { projection: { entries: 0 }, batchSize: ids.length + 1 })
          .toArray();
        return new Map(
          found
            .filter(isPresent)
            .map(toStoredDocument)
            .map((document) => [document.id, document]),
        );
      }),

    find: async (model, query, signal) => {
      const { search, sort, limit } = query;
      const filter = filterOf(model, query);
      const pageOf = (page: ReadModelQuery): Promise<readonly StoredDocument[]> =>
        readChecked(model, (documents) => findPage(documents, filter, page), signal);
      if (search === undefined) return pageOf(query);

      const found: StoredDocument[] = [];
      const steps = searchSteps(limit, searchPageSize);
      let size = steps.next().value;
      for (let page: ReadModelQuery = { ...query, limit: size }; ;) {
        const documents = await pageOf(page);
        found.push(...documents.filter(({ body }) => matchesSearch(body, search)).slice(0, limit - found.length));
        const last = documents.at(-1);
        if (found.length >= limit || documents.length < size || last === undefined) return found;
        size = steps.next().value;
        page = { ...page, limit: size, after: last.id, ...(sort !== undefined && { sort: placeInSort(sort, last) }) };
      }
    },

    findIds: async (model, { after, limit = Infinity, ...selection }, signal) => {
      const filter = filterOf(model, selection);
      const found: string[] = [];
      for (let last = after; ;) {
        const size = Math.min(idsPageSize, limit - found.length);
        const page = await readChecked(model, (documents) => findIdsPage(documents, filter, last, size), signal);
        found.push(...page);
        if (page.length < size || found.length >= limit) return found;
        last = page.at(-1);
      }
    },

    count: (model, selection, signal) => {
      const filter = filterOf(model, selection);
      return readChecked(model, (documents) => documents.countDocuments(filter), signal);
    },

    apply: async (model, writes, position) => {
      for (const { id } of writes) if (!isId(id)) throw new TypeError(`not an id: ${JSON.stringify(id)}`);
      const collection = await run(() => collectionOf(model));
      try {
        await writeGuarded(documentsOf({ collection }), model, writes);
        await run(() => registry.advance(model, collection, position));
      } catch (fault) {
        if (fault instanceof ReadModelDropped) {
          collections.delete(keyOf(model));
          // Writing to a collection that was dropped created it again.
          await run(() => connection.drop(collection));
        }
        throw fault;
      }
      notifier.notify(model.name);
    },

    advance: async (checkpoints) => {
      const advance = async ({ model, position }: ModelCheckpoint): Promise<void> => {
        try {
          await run(async () => registry.advance(model, await collectionOf(model), position));
        } catch (fault) {
          if (!(fault instanceof ReadModelDropped)) throw fault;
          collections.delete(keyOf(model));
        }
        notifier.notify(model.name);
      };
      await Promise.all(checkpoints.map(advance));
    },

    checkpoint,

    reached: (model, position, signal) => notifier.wait(model, position, signal),

    liveVersion: (name) => run(() => registry.liveVersion(name)),

    publish: async (model) => {
      await run(() => registry.publish(model));
      notifier.notify(model.name);
      await sweep();
    },

    sweep,

    purgeTombstones: async (model, before) => {
      const collection = await run(() => collectionOf(model));
      await removeInChunks(connection, documentsOf({ collection }), { deleted: { $lt: before } });
    },

    ping: () => connection.ping(),

    close: async () => {
      notifier.close(storeClosed());
      await connection.close();
    },
  };
};
