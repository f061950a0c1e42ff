import { START, type EventFilter } from '../events/store/eventStore.js';
import { hashOfJson } from '../platform/canonicalJson.js';
import type { RecordStore } from '../projections/store/readModelStore.js';

/** The collection of the positions up to which workers have reacted to the log. */
export const workerPositions = 'workerPositions';

/** A worker that follows the log. */
interface Following {
  readonly name: string;
  readonly reactsTo: EventFilter;
}

/**
 * The key of the position that holds for these events. Builds that react to others have one each: with a shared
 * one, a build that does not know an event would move the position past it while a newer build still works on it.
 */
export const positionKey = ({ name, reactsTo: { streamPrefixes = [], types = [] } }: Following): string =>
  `${name}-${hashOfJson([streamPrefixes.toSorted(), types.toSorted()]).slice(0, 16)}`;

/** Of whichever build moved on last. Not the name alone: version 0.1.0 may be started again, and waits for other events. */
const sharedKey = (name: string): string => `${name}-last`;

/**
 * Where a start of the worker goes on. A build that reacts to other events than those before it begins where they
 * stand, as version 0.1.0 by the name alone: a handler that is added is not called for older events.
 * @throws ReadModelStoreUnavailable
 */
export const loadPosition = async (records: RecordStore, worker: Following): Promise<bigint> => {
  for (const key of [positionKey(worker), sharedKey(worker.name), worker.name]) {
    const position = (await records.get(workerPositions, key))?.position;
    if (typeof position === 'string') return BigInt(position);
  }
  return START;
};

/**
 * Stores how far the worker is: for its restart, and for the first start of a build that reacts to other events.
 * @throws ReadModelStoreUnavailable
 */
export const storePosition = async (records: RecordStore, worker: Following, position: bigint): Promise<void> => {
  const value = { position: String(position) };
  await Promise.all([positionKey(worker), sharedKey(worker.name)].map((key) => records.put(workerPositions, key, value)));
};
