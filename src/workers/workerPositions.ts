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

/**
 * Where a start of the worker goes on. A build that reacts to other events than those before it goes on where version
 * 0.1.0 stood, whose key is the name alone, else at the beginning of the log: no later position says
 * whether the events that only it reacts to are done.
 * @throws ReadModelStoreUnavailable
 */
export const loadPosition = async (records: RecordStore, worker: Following): Promise<bigint> => {
  const stored = (await records.get(workerPositions, positionKey(worker))) ?? (await records.get(workerPositions, worker.name));
  return typeof stored?.position === 'string' ? BigInt(stored.position) : START;
};
