import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../src/events/envelope.js';
import {
  EARLIEST,
  type EventFilter,
  type EventStore,
  type LogSlice,
  type StoredEvent,
} from '../../src/events/store/eventStore.js';
import type { ReadModelStore, RecordStore } from '../../src/projections/store/readModelStore.js';
import { EventStoreModel, type ModelEvent } from '../support/eventStoreModel.js';
import { openSecrets } from '../support/vaults.js';
import type { Stores } from './engines.js';

/**
 * Stores in memory, for simulations that run thousands of times: the oracle of the event store's
 * contract suite, followed as the port says — and the records of a read-model store that has no
 * read model yet, so that every read folds the log.
 */
export const createMemoryStores = async (): Promise<Stores> => ({
  eventStore: createMemoryEventStore(),
  readModels: {
    records: createMemoryRecords(),
    modelRecords: createMemoryRecords(),
    liveVersion: () => Promise.resolve(null),
  } as Partial<ReadModelStore> as ReadModelStore,
  ...(await openSecrets(createMemoryRecords())),
});

const createMemoryEventStore = (): EventStore => {
  const model = new EventStoreModel();
  const waiting = new Set<() => void>();

  const stored = (event: ModelEvent): StoredEvent => ({
    ...event,
    position: BigInt(model.log.indexOf(event) + 1),
    recordedAt: event.metadata.at,
  });
  const readAll = (after: bigint, max: number, filter: EventFilter = {}): LogSlice => {
    const events = model.readAll(Number(after), max, filter).map(stored);
    const last = events.at(-1)?.position;
    const position = last !== undefined && events.length === max ? last : BigInt(model.log.length);
    return { events, position, bytes: 0 };
  };

  async function* subscribe({ after, filter, maxBatch = 500, signal }: Parameters<EventStore['subscribe']>[0]) {
    let position = after;
    while (!signal.aborted) {
      const slice = readAll(position, maxBatch, filter);
      if (slice.position > position) {
        ({ position } = slice);
        yield slice;
        continue;
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener('abort', wake);
      });
    }
  }

  return {
    append: async (stream, events, expected) => {
      await nextTurn();
      const { revision, position } = stored(model.append(stream, events, expected));
      for (const wake of waiting) wake();
      waiting.clear();
      return { revision, position };
    },
    moment: () => EARLIEST,
    readStream: async (stream, options = {}) => {
      await nextTurn();
      return { events: model.readStream(stream, options).map(stored), head: BigInt(model.stream(stream).length - 1) };
    },
    drop: () => Promise.reject(new Error('no worker drops a stream')),
    readAll: ({ after, max = 1_000, filter }) => Promise.resolve(readAll(after, max, filter)),
    lastPosition: () => Promise.resolve(BigInt(model.log.length)),
    subscribe,
    close: () => Promise.resolve(),
  };
};

export const createMemoryRecords = (): RecordStore => {
  const kept = new Map<string, JsonObject>();
  const nameOf = (collection: string, key: string): string => `${collection}/${key}`;
  return {
    get: (collection, key) => Promise.resolve(kept.get(nameOf(collection, key)) ?? null),
    put: (collection, key, value) => Promise.resolve(void kept.set(nameOf(collection, key), value)),
    insert: (collection, key, value) => {
      const isNew = !kept.has(nameOf(collection, key));
      if (isNew) kept.set(nameOf(collection, key), value);
      return Promise.resolve(isNew);
    },
    replace: (collection, key, expected, value) => {
      const name = nameOf(collection, key);
      const isEqual = JSON.stringify(kept.get(name)) === JSON.stringify(expected);
      if (isEqual) kept.set(name, value);
      return Promise.resolve(isEqual);
    },
    delete: (collection, key) => Promise.resolve(void kept.delete(nameOf(collection, key))),
    // Nothing expires within a test of workers.
    purgeExpired: () => Promise.resolve(0),
    entries: async function* entries() {
      for (const [name, value] of kept) {
        const [collection = '', ...key] = name.split('/');
        yield await Promise.resolve({ collection, key: key.join('/'), value });
      }
    },
  };
};
