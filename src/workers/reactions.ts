import { setMaxListeners } from 'node:events';
import type { Engine } from '../engine.js';
import type { Codec } from '../events/codec.js';
import { streamPrefix, type EventOf, type StreamDefinition } from '../events/defineStream.js';
import type { Recorded } from '../events/envelope.js';
import { reactionStream } from '../events/reaction/reaction.stream.js';
import type { EventStore, LogSlice, StoredEvent } from '../events/store/eventStore.js';
import { createBackoff } from '../platform/backoff.js';
import { sleep } from '../platform/clock.js';
import { createKeyedMutex } from '../platform/keyedMutex.js';
import type { Logger } from '../platform/logger.js';
import { createPriority } from '../platform/priority.js';
import { createSemaphore, type Semaphore } from '../platform/semaphore.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import { storeFaultLevel } from '../projections/store/storeFault.js';
import type { FailedReaction } from './reaction/reaction.process.js';
import { createReactionFailures } from './reaction/reactionFailures.js';
import { createLanes, type Lane } from './lanes.js';
import { createLeaseRecords } from './leaseRecords.js';
import { createReactionContext, type ReactionContext } from './reactionContext.js';
import type { Worker } from './worker.js';

/** The event of that type, as one of the streams defines it. */
type EventIn<Stream extends StreamDefinition, Type = unknown> = Stream extends StreamDefinition
  ? Recorded<Extract<EventOf<Stream['events']>, { type: Type }>>
  : never;

/** How a process reacts to the events of some streams. */
export interface Reaction<Stream extends StreamDefinition, Type extends EventIn<Stream>['type']> {
  /** Also of its position and of its reactions that failed, so it stays as it is. */
  readonly name: string;
  readonly streams: readonly Stream[];
  /**
   * The handler of each event type. It does everything that the event requires, including pauses,
   * and resolves when nothing is left to do. It is called at least once for each event, by every
   * worker, and learns from the process's own stream what is done already. After an error it is
   * called again, ever more slowly: while our stores are away for as long as it takes, after any
   * other error for a day. Then the reaction is parked (reaction.process.ts).
   */
  readonly on: { readonly [Each in Type]: (event: EventIn<Stream, Each>, context: ReactionContext) => Promise<void> };
  /**
   * Events with the same key are handled one after the other, in order. Default: those of the same
   * stream.
   */
  readonly key?: (event: EventIn<Stream, Type>) => string;
  /** How many of each lane run at the same time. Default: 8. */
  readonly maxRunning?: number;
}

const MAX_RUNNING = 8;
/** Reactions of a lane under way, pausing ones included, before it reads no more events. */
const MAX_OPEN = 1_000;
/** Less than the 10 s that a process has for stopping. */
const STOP_TIMEOUT_MS = 8_000;

const streamOf = ({ stream }: { readonly stream: string }): string => stream;

const backoff = { firstMs: 100, maxMs: 15_000 };

/** Of whatever streams. */
interface UntypedReaction {
  readonly name: string;
  readonly on: Readonly<Record<string, (event: Recorded, context: ReactionContext) => Promise<void>>>;
  readonly key?: (event: Recorded) => string;
}

/** Creates the worker that follows the log for one reaction. */
export type CreateReactor = <Stream extends StreamDefinition, Type extends EventIn<Stream>['type']>(
  reaction: Reaction<Stream, Type>,
) => Worker;

interface ReactorParts {
  readonly engine: Engine;
  readonly eventStore: EventStore;
  readonly codec: Codec;
  /** Where the positions of reactions are stored. */
  readonly records: RecordStore;
}

/**
 * Follows the log and reacts to its events. The stored position is before the first event that is
 * not handled completely, so that a start continues everything that was open. If the position is
 * lost, every event is handled again, and nothing is done twice.
 *
 * A start reads what comes and, beside it, what is between the stored position and the end of the
 * log, which gives way to it. So new work never waits for old, and an event may be handled before an older one of its key,
 * as it may where several processes react (docs/adr/0004). In one process no two of a key are
 * handled at once.
 */
export const createReactors = (parts: ReactorParts): CreateReactor => {
  const priority = createPriority(parts.engine.clock);
  return (reaction) => {
    const { engine, eventStore, records } = parts;
    const { clock } = engine;
    const { name, maxRunning = MAX_RUNNING } = reaction;
    const reopened = `${streamPrefix(reactionStream)}${name}-`;
    const filter = {
      streamPrefixes: [...reaction.streams.map(streamPrefix), reopened],
      types: [...Object.keys(reaction.on), 'ReactionReopened'],
    };
    const logger = engine.logger.child({ worker: name });
    const stopping = new AbortController();
    const { signal } = stopping;
    // One for each reaction that pauses.
    setMaxListeners(0, signal);

    const lanes = createLanes(
      { name, reactsTo: filter, records, eventStore, clock, logger, signal },
      { past: createSemaphore(maxRunning), coming: priority.first(createSemaphore(maxRunning)) },
    );
    const { past, coming } = lanes;
    let following: Promise<void> | null = null;

    const backOff = createBackoff(engine, backoff);
    // Nothing but events of these streams and types arrives, each decoded as its definition says.
    const react = createReact(parts, reaction as unknown as UntypedReaction, { logger, signal });

    /** What is to be reacted to: for a reopened reaction, the event that it failed at. */
    const eventFor = async (stored: StoredEvent): Promise<StoredEvent | undefined> => {
      if (!stored.stream.startsWith(reopened)) return stored;
      const { stream, revision } = stored.data as FailedReaction;
      return (await eventStore.readStream(stream, { from: BigInt(revision), max: 1 })).events[0];
    };

    const take = (stored: StoredEvent, lane: Lane): void => {
      // An event of the past may have failed in another process, or before a restart.
      lanes.add(lane, react(stored, lane.permits, lane === past));
    };

    /** Resolves once what the lane took before has begun, but for what waits for others of its key. */
    const ownTurn = async ({ permits }: Lane): Promise<void> => {
      await permits.acquire();
      permits.release();
    };

    const takeAll = async ({ events, position }: LogSlice, lane: Lane): Promise<void> => {
      for (const stored of events) {
        const event = await eventFor(stored);
        if (event !== undefined) take(event, lane);
        lane.seen = stored.position;
        // A new event waits for one of the past with its key only if that has begun.
        if (lane === past) await Promise.all([ownTurn(lane), priority.giveWay(signal)]);
        while (lane.open.size >= MAX_OPEN && !signal.aborted) await new Promise<void>((resolve) => (lane.onEnd = resolve));
      }
      lane.seen = position;
      lanes.saveSoon();
    };

    const readPast = async (onProgress: () => void): Promise<void> => {
      const end = lanes.startedAt();
      if (past.seen >= end) return;
      for await (const slice of eventStore.subscribe({ after: past.seen, filter, signal })) {
        onProgress();
        await priority.giveWay(signal);
        const isLast = slice.position >= end;
        const events = slice.events.filter((stored) => stored.position <= end);
        await takeAll(isLast ? { ...slice, events, position: end } : slice, past);
        if (isLast) return;
      }
    };

    const readOn = async (onProgress: () => void): Promise<void> => {
      for await (const slice of eventStore.subscribe({ after: coming.seen, filter, signal })) {
        onProgress();
        await takeAll(slice, coming);
      }
    };

    /** Repeats `work` after each fault, until it ends or the worker stops. */
    const persist = async (work: (onProgress: () => void) => Promise<void>): Promise<void> => {
      let attempt = 0;
      const onProgress = (): void => {
        attempt = 0;
      };
      while (!signal.aborted) {
        try {
          await work(onProgress);
          return;
        } catch (error) {
          logger[storeFaultLevel(error)]({ err: error, attempt }, 'the log cannot be followed; trying again');
          await backOff(attempt, signal);
          attempt += 1;
        }
      }
    };

    const follow = async (): Promise<void> => {
      await persist(lanes.begin);
      await Promise.all([persist(readPast), persist(readOn)]);
    };

    return {
      name,
      reactsTo: filter,
      start: () => {
        following ??= follow();
        return Promise.resolve();
      },
      stop: async () => {
        stopping.abort();
        const ended = Promise.all([following, ...[...past.open, ...coming.open].map(({ done }) => done)]);
        const enough = new AbortController();
        await Promise.race([ended, sleep(clock, STOP_TIMEOUT_MS, enough.signal)]);
        enough.abort();
        await lanes.save();
      },
    };
  };
};

/**
 * Reacts to events, those of one key one after the other, each until it is done, parked, or the worker stops.
 * Never rejects.
 */
type React = (stored: StoredEvent, permits: Semaphore, mayHaveFailed: boolean) => Promise<void>;

const createReact = (
  { engine, codec, records }: ReactorParts,
  { name, on, key = streamOf }: UntypedReaction,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): React => {
  const { clock } = engine;
  const leases = createLeaseRecords(records, clock);
  const failures = createReactionFailures({ name, engine, logger });
  const backOff = createBackoff(engine, backoff);
  const inOrder = createKeyedMutex();

  const orderKeyOf = (stored: StoredEvent): string => {
    try {
      return key(codec.decode(stored));
    } catch {
      // The reaction reports what cannot be decoded.
      return stored.stream;
    }
  };

  const reactOnce = async (stored: StoredEvent, permits: Semaphore): Promise<void> => {
    await permits.acquire();
    try {
      await on[stored.type]?.(codec.decode(stored), createReactionContext({ clock, leases, permits, signal }));
    } finally {
      permits.release();
    }
  };

  const reactUntilDone: React = async (stored, permits, mayHaveFailed) => {
    let hasFailed: boolean | null = mayHaveFailed ? null : false;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        await reactOnce(stored, permits);
        if (hasFailed ?? (await failures.areRecorded(stored))) await failures.recordSuccess(stored);
        return;
      } catch (error) {
        hasFailed = true;
        if (await failures.record(stored, error, attempt)) return;
        await backOff(attempt, signal);
      }
    }
  };

  return (stored, permits, mayHaveFailed) =>
    inOrder.run(orderKeyOf(stored), () => reactUntilDone(stored, permits, mayHaveFailed));
};
