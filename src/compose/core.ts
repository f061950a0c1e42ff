import { createEngine, type Engine, type EngineParts } from '../engine.js';
import { createChangeFeed, type ChangeFeed } from '../events/changeFeed.js';
import type { Codec } from '../events/codec.js';
import { createLogSubscription } from '../events/logSubscription.js';
import type { EventStore } from '../events/store/eventStore.js';
import { createStreamFolds } from '../events/streamFolds.js';
import { createFoldSnapshots } from '../projections/foldSnapshots.js';
import { createReader, type Reader } from '../projections/reader.js';
import type { ReadModelStore } from '../projections/store/readModelStore.js';
import { createReactors, type CreateReactor } from '../workers/reactions.js';

/**
 * The stores for code that follows the log and writes read models: projectors, reactors, scripts
 * for operators.
 */
export interface Stores {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly codec: Codec;
}

/** One process on its stores: it decides, reads and reacts. */
export interface Core {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly createReactor: CreateReactor;
  readonly changeFeed: ChangeFeed;
  readonly stores: Stores;
}

export const createCore = (
  parts: Omit<EngineParts, 'folds' | 'subscription'> & { readonly readModels: ReadModelStore },
): Core => {
  const { eventStore, readModels, codec, clock, personal } = parts;
  const folds = createStreamFolds(eventStore, codec, { snapshots: createFoldSnapshots(readModels.modelRecords, clock) });
  const subscription = createLogSubscription(eventStore);
  const engine = createEngine({ ...parts, folds, subscription });
  return {
    engine,
    reader: createReader({ streams: engine, folds, eventStore, readModels, clock, personal }),
    createReactor: createReactors({ engine, eventStore, codec, records: readModels.records }),
    changeFeed: createChangeFeed({ clock, eventStore, codec, subscription }),
    stores: { eventStore, readModels, codec },
  };
};
