import type { Collection } from 'mongodb';
import type { Clock } from '../../../platform/clock.js';
import type { Random } from '../../../platform/random.js';
import { isId, matchesSearch } from '../documents.js';
import {
  ReadModelDropped,
  type ReadModel,
  type ReadModelStore,
  type RecordStore,
  type StoredDocument,
} from '../readModelStore.js';
import { createArrivals } from './arrivals.js';
import { closedFault, connectMongo, type MongoConnection } from './connection.js';
import { isReadLost } from './faults.js';
import {
  createGuardedWriter,
  createIndexes,
  filterOf,
  findPage,
  isPresent,
  storedId,
  toStoredDocument,
  type ModelDocument,
} from './modelDocuments.js';
import { createMongoRecords } from './records.js';
import { createRegistry, type RegisteredVersion } from './registry.js';
import { removeInStretches } from './removal.js';

export interface MongoReadModelStore extends ReadModelStore {
  /**
   * Records in a collection of their own, on the same connections: kept apart from the read models, they survive whatever is reset,
   * published or dropped. Acknowledged once a majority has them in its journal, as every write here. For the key vault.
   */
  recordsIn(collection: string): RecordStore;
}

/** Documents that a search looks at between two questions whether the version is still there. */
const stretch = 500;

/**
 * Read models in a MongoDB database, which any number of processes on any number of machines may share. It connects at the first
 * call, and again after every loss. It asks of the server only what a standalone one and compatible ones have: no transactions, no
 * change streams, no updates by pipeline, no partial indexes (docs/adr/0009).
 *
 * The collection `readModels` says which versions there are and which is live; each version has a collection of its own.
 *
 * @param url `mongodb://` or `mongodb+srv://`; the database is the one it names, else `doorstep`
 * @throws ReadModelStoreUnavailable when `url` cannot be understood
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
  // A version's collection is never another version's: one that is known and gone from the registry holds nothing to answer from.
  const collections = new Map<string, string>();

  const keyOf = ({ name, version }: ReadModel): string => JSON.stringify([name, version]);

  const documentsOf = ({ collection }: Pick<RegisteredVersion, 'collection'>): Collection<ModelDocument> =>
    connection.collection<ModelDocument>(collection);

  /** Finds the version in the registry, and remembers its collection. */
  const registered = async (model: ReadModel): Promise<RegisteredVersion> => {
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
    collections.get(keyOf(model)) ?? (await registered(model)).collection;

  /**
   * Reads, and then makes sure that the version was there all the time: what is dropped leaves the registry first, so an answer after
   * which it is still in there was not taken from what is being removed.
   */
  const answer = async <Result>(
    model: ReadModel,
    read: (documents: Collection<ModelDocument>) => Promise<Result>,
  ): Promise<Result> =>
    run(async () => {
      const collection = await collectionOf(model);
      const makeSure = async (): Promise<void> => {
        if ((await registered(model)).collection !== collection) throw new ReadModelDropped(model);
      };
      try {
        const result = await read(documentsOf({ collection }));
        await makeSure();
        return result;
      } catch (fault) {
        // MongoDB ends a read whose collection is dropped under it.
        if (isReadLost(fault)) await makeSure();
        throw fault;
      }
    });

  const checkpoint = (model: ReadModel): Promise<bigint> => run(async () => (await registered(model)).checkpoint);
  const arrivals = createArrivals(checkpoint, clock);

  /** Removes what dropped versions left, and what a writer that was late made anew. */
  const sweep = async (): Promise<void> => {
    for (const collection of await run(() => registry.leftovers())) await run(() => connection.drop(collection));
  };

  return {
    records: createMongoRecords(connection, 'records', clock),
    recordsIn: (collection) => createMongoRecords(connection, collection, clock),

    prepare: async (model) => {
      const version = await run(() => registry.add(model));
      collections.set(keyOf(model), version.collection);
      await run(() => createIndexes(documentsOf(version)));
      await sweep();
    },

    get: (model, id) =>
      answer(model, async (documents) => {
        const found = isId(id) ? await documents.findOne({ _id: storedId(id) }, { projection: { entries: 0 } }) : null;
        return found !== null && isPresent(found) ? toStoredDocument(found) : null;
      }),

    getMany: (model, ids) =>
      answer(model, async (documents) => {
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

    find: async (model, query) => {
      const { search, order, limit } = query;
      const filter = filterOf(model, query);
      if (search === undefined) return answer(model, (documents) => findPage(documents, filter, query));

      const found: StoredDocument[] = [];
      let { after } = query;
      for (;;) {
        const page = { order, limit: stretch, ...(after !== undefined && { after }) };
        const looked = await answer(model, (documents) => findPage(documents, filter, page));
        found.push(...looked.filter(({ body }) => matchesSearch(body, search)).slice(0, limit - found.length));
        if (found.length >= limit || looked.length < stretch) return found;
        after = looked.at(-1)?.id;
      }
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
          // Writing to a collection that was dropped makes it again.
          await run(() => connection.drop(collection));
        }
        throw fault;
      }
      arrivals.announce(model.name);
    },

    checkpoint,

    reached: (model, position, signal) => arrivals.wait(model, position, signal),

    liveVersion: (name) => run(() => registry.liveVersion(name)),

    publish: async (model) => {
      await run(() => registry.publish(model));
      arrivals.announce(model.name);
      await sweep();
    },

    purgeTombstones: async (model, before) => {
      const collection = await run(() => collectionOf(model));
      await removeInStretches(connection, documentsOf({ collection }), { deleted: { $lt: before } });
    },

    ping: () => connection.ping(),

    close: async () => {
      arrivals.close(closedFault());
      await connection.close();
    },
  };
};
