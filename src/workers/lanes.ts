import { START, type EventFilter, type EventStore } from '../events/store/eventStore.js';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { Semaphore } from '../platform/semaphore.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import { storeFaultLevel } from '../projections/store/storeFault.js';
import { loadPosition, positionKey, storePosition, workerPositions } from './workerPositions.js';

/** One of the two parts of the log that a worker reads side by side. */
export interface Lane {
  /** The position up to which it was read. */
  seen: bigint;
  readonly permits: Semaphore;
  /** Reactions under way; `after` is the position from which their event would be read again. */
  readonly open: Set<{ readonly after: bigint; readonly done: Promise<void> }>;
  /** Called when a reaction has ended. */
  onEnd: () => void;
}

/** The lanes of a worker. The position it stores is before the first event that is not handled completely. */
export interface Lanes {
  /** What was there at the start, after the stored position. */
  readonly past: Lane;
  /** What comes after the start. */
  readonly coming: Lane;
  /** The end of the log at the start, where `past` ends and `coming` begins. */
  readonly startedAt: () => bigint;
  /** Sets both where a start goes on. */
  readonly begin: () => Promise<void>;
  /**
   * Adds the reaction to the event after what the lane has seen: until it is done, the stored position
   * stays before that event. `done` never rejects.
   */
  readonly add: (lane: Lane, done: Promise<void>) => void;
  /** Stores the position within a second, unless the worker stops. */
  readonly saveSoon: () => void;
  /**
   * Stores the position, which holds for every process: each reacts to all events of the worker, and is done with one
   * once any has done what it requires. One that is behind sets it back, and a start then handles more events again,
   * as it does after a fault, which is logged.
   */
  readonly save: () => Promise<void>;
}

const SAVE_EVERY_MS = 1_000;

const createLane = (permits: Semaphore): Lane => ({ seen: START, permits, open: new Set(), onEnd: () => undefined });

/**
 * @param parts `name` and `reactsTo`: of the worker, which make the key of its position
 * @param permits how many reactions of each lane run at the same time
 */
export const createLanes = (
  parts: {
    readonly name: string;
    readonly reactsTo: EventFilter;
    readonly records: RecordStore;
    readonly eventStore: EventStore;
    readonly clock: Clock;
    readonly logger: Logger;
    /** Aborted when the worker stops. */
    readonly signal: AbortSignal;
  },
  permits: { readonly past: Semaphore; readonly coming: Semaphore },
): Lanes => {
  const { records, eventStore, clock, logger, signal } = parts;
  const past = createLane(permits.past);
  const coming = createLane(permits.coming);
  let startedAt = START;
  let saved: bigint | null = null;
  let cancelSave: (() => void) | null = null;

  const resumeAfter = (): bigint => {
    const read = past.seen < startedAt ? past.seen : coming.seen;
    return [...past.open, ...coming.open].reduce((first, { after }) => (after < first ? after : first), read);
  };

  const save = async (): Promise<void> => {
    cancelSave?.();
    cancelSave = null;
    const position = resumeAfter();
    if (saved === null) return;
    try {
      await storePosition(records, parts, position);
      saved = position;
    } catch (error) {
      logger[storeFaultLevel(error)]({ err: error }, 'the position could not be saved; a start will react to more events again');
    }
  };

  const saveSoon = (): void => {
    if (signal.aborted) return;
    cancelSave ??= clock.schedule(SAVE_EVERY_MS, () => {
      cancelSave = null;
      if (resumeAfter() !== saved) void save();
    });
  };

  return {
    past,
    coming,
    startedAt: () => startedAt,
    begin: async () => {
      const position = await loadPosition(records, parts);
      // A restart finds this position, although a build with another key moves on its own one meanwhile.
      await records.insert(workerPositions, positionKey(parts), { position: String(position) });
      startedAt = coming.seen = await eventStore.lastPosition();
      // Beyond the end, it was stored beside a later state of a log that was restored.
      past.seen = position > startedAt ? START : position;
      saved = position;
    },
    add: (lane, done) => {
      const entry = { after: lane.seen, done };
      lane.open.add(entry);
      void done.then(() => {
        // A reaction that a stop interrupts stays open: the next start continues it.
        if (!signal.aborted) lane.open.delete(entry);
        lane.onEnd();
        saveSoon();
      });
    },
    saveSoon,
    save,
  };
};
