import type { Random } from '../../../platform/random.js';
import { ReadModelDropped, type ReadModel } from '../readModelStore.js';
import { countsAsNumbers, type MongoConnection } from './connection.js';
import { isDuplicateId } from './duplicateIds.js';

/** The versions of one read model, in a single document so that every change of them is atomic. */
interface RegistryEntry {
  /** The read model's name. */
  readonly _id: string;
  /** Counts the changes, so that a change is written only if no other one came first. */
  readonly change: bigint;
  /** The version that answers reads. */
  readonly live: string | null;
  readonly versions: readonly RegisteredVersion[];
}

export interface RegisteredVersion {
  readonly version: string;
  /** The collection that holds its documents. It is never reused after the version was dropped. */
  readonly collection: string;
  readonly checkpoint: bigint;
}

/** The versions of all read models, shared by every process. */
export interface Registry {
  /** @throws ReadModelDropped when the version is not registered */
  find(model: ReadModel): Promise<RegisteredVersion>;
  liveVersion(name: string): Promise<string | null>;
  /** Adds the version, with a collection of its own, unless it is registered already. */
  add(model: ReadModel): Promise<RegisteredVersion>;
  /**
   * Moves the checkpoint forward, never back. @throws ReadModelDropped when the version no longer
   * has that collection
   */
  advance(model: ReadModel, collection: string, checkpoint: bigint): Promise<void>;
  /** Makes the version the live one and removes all others. @throws ReadModelDropped */
  publish(model: ReadModel): Promise<void>;
  /** Collections of documents that belong to no registered version. */
  leftovers(): Promise<readonly string[]>;
}

const collectionPrefix = 'readModel.';

export const createRegistry = (connection: MongoConnection, random: Random): Registry => {
  const entries = connection.collection<RegistryEntry>('readModels');

  const read = async (name: string): Promise<RegistryEntry> =>
    (await entries.findOne({ _id: name })) ?? { _id: name, change: 0n, live: null, versions: [] };

  /**
   * Changes an entry. `next` runs again when another process was faster; `null` leaves the entry
   * unchanged.
   */
  const change = async (
    name: string,
    next: (entry: RegistryEntry) => Pick<RegistryEntry, 'live' | 'versions'> | null,
  ): Promise<void> => {
    for (;;) {
      const entry = await read(name);
      const changed = next(entry);
      if (changed === null) return;
      try {
        const { matchedCount, upsertedCount } = await entries.replaceOne(
          { _id: name, change: entry.change },
          { change: entry.change + 1n, ...changed },
          { upsert: entry.change === 0n, ...countsAsNumbers },
        );
        if (matchedCount + upsertedCount > 0) return;
      } catch (fault) {
        if (!isDuplicateId(fault)) throw fault;
      }
    }
  };

  const versionIn = ({ versions }: RegistryEntry, model: ReadModel): RegisteredVersion => {
    const found = versions.find(({ version }) => version === model.version);
    if (found === undefined) throw new ReadModelDropped(model);
    return found;
  };

  const others = ({ versions }: RegistryEntry, model: ReadModel): readonly RegisteredVersion[] =>
    versions.filter(({ version }) => version !== model.version);

  /**
   * The collection's name holds the model's name and version for human readers, and random
   * characters to be new.
   */
  const newVersion = ({ name, version }: ReadModel): RegisteredVersion => {
    const readable = `${name}.${version}`.replace(/[^\w.-]/g, '_').slice(0, 80);
    const unique = Buffer.from(random.bytes(8)).toString('hex');
    return { version, collection: `${collectionPrefix}${readable}.${unique}`, checkpoint: 0n };
  };

  return {
    find: async (model) => versionIn(await read(model.name), model),

    liveVersion: async (name) => (await read(name)).live,

    add: async (model) => {
      await change(model.name, (entry) =>
        entry.versions.some(({ version }) => version === model.version)
          ? null
          : { live: entry.live, versions: [...entry.versions, newVersion(model)] },
      );
      return versionIn(await read(model.name), model);
    },

    advance: (model, collection, checkpoint) =>
      change(model.name, (entry) => {
        const current = versionIn(entry, model);
        if (current.collection !== collection) throw new ReadModelDropped(model);
        if (current.checkpoint >= checkpoint) return null;
        return { live: entry.live, versions: [...others(entry, model), { ...current, checkpoint }] };
      }),

    publish: (model) =>
      change(model.name, (entry) => {
        const published = versionIn(entry, model);
        if (entry.live === model.version && entry.versions.length === 1) return null;
        return { live: model.version, versions: [published] };
      }),

    leftovers: async () => {
      // The order matters: a version is registered before its collection is created, so a
      // collection that is listed here and not registered afterwards never will be.
      const collections = await connection.collectionNames(collectionPrefix);
      const registered = new Set(
        (await entries.find().toArray()).flatMap(({ versions }) => versions.map(({ collection }) => collection)),
      );
      return collections.filter((name) => !registered.has(name));
    },
  };
};
