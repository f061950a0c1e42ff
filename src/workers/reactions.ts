import { setMaxListeners } from 'node:events';
import type { Codec } from '../events/codec.js';
import { streamPrefix, type EventOf, type StreamDefinition } from '../events/defineStream.js';
import type { Recorded } from '../events/envelope.js';
import { START, type EventStore, type LogSlice, type StoredEvent } from '../events/store/eventStore.js';
import { sleep, type Clock } from '../platform/clock.js';
import { createKeyedMutex } from '../platform/keyedMutex.js';
import type { Logger } from '../platform/logger.js';
import type { Random } from '../platform/random.js';
import { createSemaphore } from '../platform/semaphore.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import { isStoreAway, storeFaultLevel } from '../projections/store/storeFault.js';
import type { Worker } from './worker.js';

/** The event of that type, as one of the streams defines it. */
type EventIn<Stream extends StreamDefinition, Type = unknown> = Stream extends StreamDefinition
  ? Recorded<Extract<EventOf<Stream['events']>, { type: Type }>>
  : never;

/** How a process reacts to the events of some streams. */
export interface Reaction<Stream extends StreamDefinition, Type extends EventIn<Stream>['type']> {
  /** Also the key of its position. */
  readonly name: string;
  readonly streams: readonly Stream[];
  /**
   * The handler of each event type. It does everything that the event requires, including pauses,
   * and resolves when nothing is left to do. It is called at least once for each event, by every
   * worker, and learns from the process's own stream what is done already. An error counts as a
   * fault of our stores: the handler is called again after a while, until it succeeds.
   */
  readonly on: { readonly [Each in Type]: (event: EventIn<Stream, Each>, context: ReactionContext) => Promise<void> };
  /**
   * Events with the same key are handled one after the other, in order. Default: those of the same
   * stream.
   */
  readonly key?: (event: EventIn<Stream, Type>) => string;
}

export interface ReactionContext {
  /** Aborted when the worker stops: work under way may finish, but nothing new begins. */
  readonly signal: AbortSignal;
  /** Waits, and lets others work meanwhile. Resolves early when `signal` is aborted. */
  readonly pause: (ms: number) => Promise<void>;
}

/** Reactions that run at the same time. */
const MAX_RUNNING = 8;
/** Reactions under way, pausing ones included, before no more events are read. */
const MAX_OPEN = 1_000;
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 15_000;
const SAVE_EVERY_MS = 1_000;
/** Less than the 10 s that a process has for stopping. */
const STOP_TIMEOUT_MS = 8_000;

const streamOf = ({ stream }: { readonly stream: string }): string => stream;

type React = (event: Recorded, context: ReactionContext) => Promise<void>;

/** Creates the worker that follows the log for one reaction. */
export type CreateReactor = <Stream extends StreamDefinition, Type extends EventIn<Stream>['type']>(
  reaction: Reaction<Stream, Type>,
) => Worker;

interface ReactorParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly eventStore: EventStore;
  readonly codec: Codec;
  /** Where the positions of reactions are stored. */
  readonly records: RecordStore;
}

/**
 * Follows the log and reacts to its events. The stored position is before the first event that is
 * not handled completely, so that a start continues everything that was open. If the position is
 * lost, every event is handled again, and nothing is done twice.
 */
export const createReactors =
  (parts: ReactorParts): CreateReactor =>
  (reaction) => {
    const { clock, random, eventStore, codec, records } = parts;
    const { name } = reaction;
    const filter = { streamPrefixes: reaction.streams.map(streamPrefix), types: Object.keys(reaction.on) };
    // Nothing but events of these streams and types arrives, each decoded as its definition says.
    const on = reaction.on as unknown as Readonly<Record<string, React>>;
    const key = (reaction.key ?? streamOf) as (event: Recorded) => string;
    const logger = parts.logger.child({ worker: name });
    const permits = createSemaphore(MAX_RUNNING);
    const inOrder = createKeyedMutex();
    const stopping = new AbortController();
    const { signal } = stopping;
    // One for each reaction that pauses.
    setMaxListeners(0, signal);

    /** Reactions under way; `after` is the position from which their event would be read again. */
    const open = new Set<{ readonly after: bigint; readonly done: Promise<void> }>();
    /** Called when a reaction has ended. */
    let onEnd = (): void => undefined;
    let seen = START;
    let saved: bigint | null = null;
    let cancelSave: (() => void) | null = null;
    let following: Promise<void> | null = null;

    const backOff = async (attempt: number): Promise<void> => {
      const backoff = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** attempt);
      await sleep(clock, backoff * (0.5 + random.fraction() / 2), signal);
    };

    const resumeAfter = (): bigint => [...open].reduce((first, { after }) => (after < first ? after : first), seen);

    const save = async (): Promise<void> => {
      cancelSave?.();
      cancelSave = null;
      const position = resumeAfter();
      if (saved === null || position === saved) return;
      await records.put('workerPositions', name, { position: String(position) });
      saved = position;
    };

    const saveSoon = (): void => {
      if (signal.aborted) return;
      cancelSave ??= clock.schedule(SAVE_EVERY_MS, () => {
        save().catch((error: unknown) => {
          logger[storeFaultLevel(error)](
            { err: error },
            'the position could not be saved; a start will react to more events again',
          );
        });
      });
    };

    const context: ReactionContext = {
      signal,
      pause: async (ms) => {
        permits.release();
        await sleep(clock, ms, signal);
        await permits.acquire();
      },
    };

    const reactOnce = async (stored: StoredEvent): Promise<void> => {
      await permits.acquire();
      try {
        await on[stored.type]?.(codec.decode(stored), context);
      } finally {
        permits.release();
      }
    };

    const reactUntilDone = async (stored: StoredEvent): Promise<void> => {
      for (let attempt = 0; !signal.aborted; attempt += 1) {
        try {
          await reactOnce(stored);
          return;
        } catch (error) {
          const { type, stream, id } = stored;
          logger[isStoreAway(error) ? 'debug' : 'error'](
            { err: error, event: { type, stream, id }, attempt },
            'the reaction to an event failed; it will be repeated',
          );
          await backOff(attempt);
        }
      }
    };

    const orderKeyOf = (stored: StoredEvent): string => {
      try {
        return key(codec.decode(stored));
      } catch {
        // The reaction reports what cannot be decoded.
        return stored.stream;
      }
    };

    const take = (stored: StoredEvent, after: bigint): void => {
      const done = inOrder.run(orderKeyOf(stored), () => reactUntilDone(stored));
      const entry = { after, done };
      open.add(entry);
      void done.then(() => {
        // A reaction that a stop interrupts stays open: the next start continues it.
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
            const record = await records.get('workerPositions', name);
            saved = seen = typeof record?.position === 'string' ? BigInt(record.position) : START;
          }
          for await (const slice of eventStore.subscribe({ after: seen, filter, signal })) {
            attempt = 0;
            await takeAll(slice);
          }
        } catch (error) {
          logger[storeFaultLevel(error)]({ err: error, attempt }, 'the log cannot be followed; trying again');
          await backOff(attempt);
        }
      }
    };

    return {
      name,
      start: () => {
        following ??= follow();
        return Promise.resolve();
      },
      stop: async () => {
        stopping.abort();
        const ended = Promise.all([following, ...[...open].map(({ done }) => done)]);
        const enough = new AbortController();
        await Promise.race([ended, sleep(clock, STOP_TIMEOUT_MS, enough.signal)]);
        enough.abort();
        await save().catch((error: unknown) => {
          logger[storeFaultLevel(error)](
            { err: error },
            'the position could not be saved; a start will react to more events again',
          );
        });
      },
    };
  };
