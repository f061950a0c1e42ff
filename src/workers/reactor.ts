import { setMaxListeners } from 'node:events';
import type { Codec } from '../events/codec.js';
import type { Recorded } from '../events/envelope.js';
import { START, type EventFilter, type EventStore, type LogSlice, type StoredEvent } from '../events/store/eventStore.js';
import { sleep, type Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { Random } from '../platform/random.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import type { Worker } from './worker.js';

/** How a process reacts to events of the log. */
export interface Reaction {
  /** Also the key of its position. */
  readonly name: string;
  readonly filter: EventFilter;
  /** What is done for events of the same key is done one after the other, in their order. */
  readonly keyOf: (event: StoredEvent) => unknown;
  /**
   * Does all that the event asks for, pauses included, and resolves when nothing is left to do. It is called at least once for
   * each event, by every worker: what has been done it learns from the process's own stream. What it throws is taken as a fault of the
   * stores: it is called again after a while, as often as it takes.
   */
  readonly react: (event: Recorded, turn: Turn) => Promise<void>;
}

export interface Turn {
  /** Aborted when the worker stops: what is under way may be finished, nothing new is begun. */
  readonly signal: AbortSignal;
  /** Waits, and lets others work meanwhile. Resolves early when `signal` is aborted. */
  readonly pause: (ms: number) => Promise<void>;
}

/** Reactions that run at the same time, and those that are under way in all, pausing ones included, before no more events are read. */
const MAX_RUNNING = 8;
const MAX_OPEN = 1_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 15_000;
const SAVE_EVERY_MS = 1_000;
/** Within the 10 s that a process has for stopping. */
const STOP_WITHIN_MS = 8_000;

/** Makes the worker that follows the log for one reaction. */
export type CreateReactor = (reaction: Reaction) => Worker;

interface ReactorParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly eventStore: EventStore;
  readonly codec: Codec;
  /** Where the positions of reactions are kept. */
  readonly records: RecordStore;
}

/**
 * Follows the log and reacts to its events. The position that is kept stands before the first event that is not dealt with, so
 * that a start takes up everything that was open; when the position is lost, all is looked at again, and nothing is done twice.
 */
export const createReactors =
  (parts: ReactorParts): CreateReactor =>
  (reaction) => {
    const { clock, random, eventStore, codec, records } = parts;
    const logger = parts.logger.child({ worker: reaction.name });
    const slots = createSlots(MAX_RUNNING);
    const stopping = new AbortController();
    const { signal } = stopping;
    // One for each reaction that pauses.
    setMaxListeners(0, signal);

    /** Reactions under way; `after` is the position from which their event would be read again. */
    const open = new Set<{ readonly after: bigint; readonly done: Promise<void> }>();
    const lastOfKey = new Map<unknown, Promise<void>>();
    /** Called when a reaction has ended. */
    let onEnd = (): void => undefined;
    let seen = START;
    let saved: bigint | null = null;
    let cancelSave: (() => void) | null = null;
    let following: Promise<void> | null = null;

    const backOff = async (attempt: number): Promise<void> => {
      const longest = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt);
      await sleep(clock, longest * (0.5 + random.fraction() / 2), signal);
    };

    const resumeAfter = (): bigint => [...open].reduce((first, { after }) => (after < first ? after : first), seen);

    const save = async (): Promise<void> => {
      cancelSave?.();
      cancelSave = null;
      const position = resumeAfter();
      if (saved === null || position === saved) return;
      await records.put('workerPositions', reaction.name, { position: String(position) });
      saved = position;
    };

    const saveSoon = (): void => {
      if (signal.aborted) return;
      cancelSave ??= clock.schedule(SAVE_EVERY_MS, () => {
        save().catch((error: unknown) => {
          logger.warn({ err: error }, 'the position could not be kept; a start will look at more events again');
        });
      });
    };

    const reactUntilDone = async (stored: StoredEvent): Promise<void> => {
      const turn: Turn = { signal, pause: (ms) => slots.lend(() => sleep(clock, ms, signal)) };
      for (let attempt = 0; !signal.aborted; attempt += 1) {
        try {
          await slots.use(() => reaction.react(codec.decode(stored), turn));
          return;
        } catch (error) {
          const { type, stream, id } = stored;
          logger.error(
            { err: error, event: { type, stream, id }, attempt },
            'the reaction to an event failed; it will be repeated',
          );
          await backOff(attempt);
        }
      }
    };

    const take = (stored: StoredEvent, after: bigint): void => {
      const key = reaction.keyOf(stored);
      const before = lastOfKey.get(key) ?? Promise.resolve();
      const done = before.then(() => reactUntilDone(stored));
      const entry = { after, done };
      open.add(entry);
      lastOfKey.set(key, done);
      void done.then(() => {
        if (lastOfKey.get(key) === done) lastOfKey.delete(key);
        // What a stop interrupts stays open: the next start takes it up.
        if (!signal.aborted) open.delete(entry);
        onEnd();
        saveSoon();
      });
    };

    const takeAll = async ({ events, position }: LogSlice): Promise<void> => {
      for (const stored of events) {
        take(stored, seen);
        seen = stored.position;
        while (open.size >= MAX_OPEN && !signal.aborted) await new Promise<void>((resolve) => (onEnd = resolve));
      }
      seen = position;
      saveSoon();
    };

    const follow = async (): Promise<void> => {
      for (let attempt = 0; !signal.aborted; attempt += 1) {
        try {
          if (saved === null) {
            const record = await records.get('workerPositions', reaction.name);
            saved = seen = typeof record?.position === 'string' ? BigInt(record.position) : START;
          }
          for await (const slice of eventStore.subscribe({ after: seen, filter: reaction.filter, signal })) {
            attempt = 0;
            await takeAll(slice);
          }
        } catch (error) {
          logger.warn({ err: error, attempt }, 'the log cannot be followed; trying again');
          await backOff(attempt);
        }
      }
    };

    return {
      name: reaction.name,
      start: () => {
        following ??= follow();
        return Promise.resolve();
      },
      stop: async () => {
        stopping.abort();
        const ended = Promise.all([following, ...[...open].map(({ done }) => done)]);
        const enough = new AbortController();
        await Promise.race([ended, sleep(clock, STOP_WITHIN_MS, enough.signal)]);
        enough.abort();
        await save().catch((error: unknown) => {
          logger.warn({ err: error }, 'the position could not be kept; a start will look at more events again');
        });
      },
    };
  };

interface Slots {
  /** Runs `task` when a slot is free. */
  use<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Within `use`: gives the slot up while `task` runs. */
  lend(task: () => Promise<void>): Promise<void>;
}

const createSlots = (count: number): Slots => {
  let free = count;
  const waiting: (() => void)[] = [];
  const acquire = (): Promise<void> => {
    if (free === 0) return new Promise((resolve) => waiting.push(resolve));
    free -= 1;
    return Promise.resolve();
  };
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    use: async (task) => {
      await acquire();
      try {
        return await task();
      } finally {
        release();
      }
    },
    lend: async (task) => {
      release();
      try {
        await task();
      } finally {
        await acquire();
      }
    },
  };
};
