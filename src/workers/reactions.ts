import { setMaxListeners } from 'node:events';
import { TooManyConflicts } from '../commands/handleCommand.js';
import { Refused } from '../commands/refusal.js';
import type { Engine } from '../engine.js';
import type { Codec } from '../events/codec.js';
import { streamPrefix, type EventOf, type StreamDefinition } from '../events/defineStream.js';
import type { Actor, Recorded } from '../events/envelope.js';
import { reactionStream } from '../events/reaction/reaction.stream.js';
import { EventStoreClosed, type EventStore, type LogSlice, type StoredEvent } from '../events/store/eventStore.js';
import { ProviderFault } from '../integrations/fault.js';
import { sleep } from '../platform/clock.js';
import { placeOf } from '../platform/faultPlace.js';
import { createKeyedMutex } from '../platform/keyedMutex.js';
import { createPriority } from '../platform/priority.js';
import { createSemaphore } from '../platform/semaphore.js';
import { ProjectionBehind } from '../projections/runner/versions.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import { isStoreAway, storeFaultLevel } from '../projections/store/storeFault.js';
import { reactionFold, reactionProcess, type ReactionName } from './reaction/reaction.process.js';
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
  /** Also the key of its position. */
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
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 15_000;
/** Less than the 10 s that a process has for stopping. */
const STOP_TIMEOUT_MS = 8_000;

const actor: Actor = { subject: 'workers', role: 'system', via: 'worker' };

const nameOf = (worker: string, { id, type, stream, revision, position }: StoredEvent): ReactionName => ({
  worker,
  eventId: id,
  eventType: type,
  stream,
  revision: String(revision),
  position: String(position),
});

/** Our stores do not answer for now: no fault of the reaction. */
const isOutage = (error: unknown): boolean =>
  isStoreAway(error) || [EventStoreClosed, TooManyConflicts, ProjectionBehind].some((kind) => error instanceof kind);

/** The words of an unknown error may quote the event, so only its place is recorded. */
const reasonOf = (error: unknown): string =>
  error instanceof ProviderFault || error instanceof Refused ? error.message : placeOf(error);

const streamOf = ({ stream }: { readonly stream: string }): string => stream;

type React = (event: Recorded, context: ReactionContext) => Promise<void>;

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
    const { engine, eventStore, codec, records } = parts;
    const { clock, random } = engine;
    const { name, maxRunning = MAX_RUNNING } = reaction;
    const reopened = `${streamPrefix(reactionStream)}${name}-`;
    const filter = {
      streamPrefixes: [...reaction.streams.map(streamPrefix), reopened],
      types: [...Object.keys(reaction.on), 'ReactionReopened'],
    };
    // Nothing but events of these streams and types arrives, each decoded as its definition says.
    const on = reaction.on as unknown as Readonly<Record<string, React>>;
    const leases = createLeaseRecords(records, clock);
    const key = (reaction.key ?? streamOf) as (event: Recorded) => string;
    const logger = engine.logger.child({ worker: name });
    const inOrder = createKeyedMutex();
    const stopping = new AbortController();
    const { signal } = stopping;
    // One for each reaction that pauses.
    setMaxListeners(0, signal);

    const lanes = createLanes(
      { name, records, eventStore, clock, logger, signal },
      { past: createSemaphore(maxRunning), coming: priority.first(createSemaphore(maxRunning)) },
    );
    const { past, coming } = lanes;
    let following: Promise<void> | null = null;

    const backOff = async (attempt: number): Promise<void> => {
      const backoff = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** attempt);
      await sleep(clock, backoff * (0.5 + random.fraction() / 2), signal);
    };

    const reactOnce = async (stored: StoredEvent, lane: Lane): Promise<void> => {
      await lane.permits.acquire();
      try {
        await on[stored.type]?.(codec.decode(stored), createReactionContext({ clock, leases, permits: lane.permits, signal }));
      } finally {
        lane.permits.release();
      }
    };

    const record = async (
      stored: StoredEvent,
      command: { readonly type: 'RecordReactionFailure'; readonly reason: string } | { readonly type: 'RecordReactionSuccess' },
    ): Promise<'none' | 'failing' | 'parked'> => {
      const because = { commandId: engine.ids.commandId(), actor, requestId: stored.metadata.requestId, causationId: stored.id };
      const { state } = await engine.handle(reactionProcess, { ...nameOf(name, stored), ...command }, because);
      return state.stage;
    };

    /** Whether it is parked by now, by any process. */
    const giveUp = async (stored: StoredEvent, error: unknown, attempt: number): Promise<boolean> => {
      const { type, stream, id, position } = stored;
      const event = { type, stream, id, position: String(position) };
      const level = isStoreAway(error) ? 'debug' : 'error';
      logger[level]({ err: error, event, attempt }, 'the reaction to an event failed; it will be repeated');
      if (isOutage(error)) return false;
      const stage = await record(stored, { type: 'RecordReactionFailure', reason: reasonOf(error) });
      if (stage !== 'parked') return false;
      logger.error({ event }, 'the reaction to an event is parked');
      return true;
    };

    const reactUntilDone = async (stored: StoredEvent, lane: Lane): Promise<void> => {
      let hasFailed: boolean | null = lane === past ? null : false;
      for (let attempt = 0; !signal.aborted; attempt += 1) {
        try {
          await reactOnce(stored, lane);
          // An event of the past may have failed in another process, or before a restart.
          hasFailed ??= await hasFailedBefore(stored);
          if (hasFailed) await record(stored, { type: 'RecordReactionSuccess' });
          return;
        } catch (error) {
          hasFailed = true;
          const isParked = await giveUp(stored, error, attempt).catch((err: unknown) => {
            logger[storeFaultLevel(err)]({ err }, 'the failure of a reaction could not be recorded; it will be repeated');
            return false;
          });
          if (isParked) return;
          await backOff(attempt);
        }
      }
    };

    /** When it cannot be asked, it is taken for failed: recording a success changes nothing then. */
    const hasFailedBefore = async ({ id }: StoredEvent): Promise<boolean> => {
      try {
        return (await engine.state(reactionFold, { worker: name, eventId: id })).state.stage !== 'none';
      } catch {
        return true;
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

    /** What is to be reacted to: for a reopened reaction, the event that it failed at. */
    const eventFor = async (stored: StoredEvent): Promise<StoredEvent | undefined> => {
      if (!stored.stream.startsWith(reopened)) return stored;
      const { stream, revision } = stored.data as ReactionName;
      return (await eventStore.readStream(stream, { from: BigInt(revision), max: 1 })).events[0];
    };

    const take = (stored: StoredEvent, lane: Lane): void => {
      lanes.add(
        lane,
        inOrder.run(orderKeyOf(stored), () => reactUntilDone(stored, lane)),
      );
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
      for await (const { events, position } of eventStore.subscribe({ after: past.seen, filter, signal })) {
        onProgress();
        await priority.giveWay(signal);
        const isLast = position >= end;
        const slice = isLast
          ? { events: events.filter((stored) => stored.position <= end), position: end }
          : { events, position };
        await takeAll(slice, past);
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
          await backOff(attempt);
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
