import type { Codec } from '../events/codec.js';
import type { Actor, DomainEvent, EventMetadata, Recorded } from '../events/envelope.js';
import { createLongFold } from '../events/fold.js';
import {
  CorruptedRetry,
  EARLIEST,
  EventStoreUnavailable,
  NO_STREAM,
  OutcomeUnknown,
  WrongExpectedRevision,
  type AppendResult,
  type EventStore,
  type NewEvent,
} from '../events/store/eventStore.js';
import type { StreamFolds } from '../events/streamFolds.js';
import { isoTime, sleep, type Clock } from '../platform/clock.js';
import { copyWith } from '../platform/copyWith.js';
import { eventId, type Ids } from '../platform/ids.js';
import type { Random } from '../platform/random.js';
import { createKeyedMutex } from '../platform/keyedMutex.js';
import { isRefusal, type AnyCommand, type Decider, type Untimed } from './decider.js';
import { Refused, refusals, type Refusal } from './refusal.js';

/**
 * Who issued a command, and what caused it. One context serves all streams that a request or a
 * reaction writes to, but only one command on each: a second one on the same stream would count as
 * a repetition of the first.
 */
export interface CommandContext {
  /**
   * A UUIDv7; entity ids and event ids are derived from it, so that a repeated command creates
   * nothing twice.
   */
  readonly commandId: string;
  readonly actor: Actor;
  readonly requestId: string;
  /**
   * The same command may have been handled before: when it comes to nothing or is refused now, the
   * answer is what it came to then.
   */
  readonly isRepetition?: true;
  /** Default: the command itself. */
  readonly correlationId?: string;
  readonly causationId?: string;
}

/** For a further command that this one leads to, also on a stream that this one wrote to. */
export const consequenceOf = ({ ids }: { readonly ids: Ids }, context: CommandContext): CommandContext => {
  const { commandId, correlationId = commandId } = context;
  return copyWith(context, { commandId: ids.commandId(), correlationId, causationId: commandId });
};

export interface Handled<State, Event extends DomainEvent> {
  /**
   * What was appended, now or when the same command was handled before; empty when the command
   * changed nothing.
   */
  readonly events: readonly Event[];
  /** What the command left. Others may have appended since. */
  readonly state: State;
  readonly revision: bigint;
}

export interface HandleOptions {
  /**
   * Decide only at this revision (`If-Match`); at any other the command is refused as stale, unless
   * what it is about is not found (RFC 9110, 13.2.1).
   */
  readonly expectedRevision?: bigint;
  /** Decide only on a stream that is there (`If-Match: *`), else as at another revision. */
  readonly mustExist?: true;
  /** Of a removal: what it is refused with when nothing is left to remove, so that it changes nothing. */
  readonly ifNothing?: Refusal;
}

/**
 * Decides on what is known of the stream, and appends at the revision decided on. On a conflict, and
 * before it refuses or changes nothing, it reads the stream and decides again. An append of which
 * the outcome is unknown is repeated until it is known. When it resolves, the events are durable.
 * Waiting, also for other commands on the stream, ends after 5 s.
 *
 * A command id that was handled before, by any process, appends nothing again.
 *
 * @throws Refused with the decider's refusal
 * @throws TooManyConflicts when other writers kept the stream busy until the deadline: nothing was
 *   written
 * @throws OutcomeUnknown when it could not be found out in time; repeating the command with the
 *   same id settles it
 * @throws EventRejected, UnknownEvent; other faults of the event store: nothing was written
 */
export type HandleCommand = <State, Command extends AnyCommand, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  command: Untimed<Command>,
  context: CommandContext,
  options?: HandleOptions,
) => Promise<Handled<State, Event>>;

export class TooManyConflicts extends Error {
  override readonly name = 'TooManyConflicts';
}

interface Deadline {
  readonly passed: boolean;
}

const deadlineMs = 5_000;
const maxPauseMs = 50;
const pageSize = 500;

export const createHandleCommand = (parts: {
  eventStore: EventStore;
  codec: Codec;
  folds: StreamFolds;
  clock: Clock;
  random: Random;
}): HandleCommand => {
  const { eventStore, codec, folds, clock, random } = parts;
  // Commands of this process on one stream would only conflict and be decided again.
  const mutex = createKeyedMutex();

  const pause = (attempt: number): Promise<void> => sleep(clock, random.fraction() * Math.min(maxPauseMs, 2 ** attempt));

  const appendUntilKnown = async (
    stream: string,
    events: readonly NewEvent[],
    expected: bigint,
    deadline: Deadline,
  ): Promise<AppendResult> => {
    let unknown: OutcomeUnknown | null = null;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await eventStore.append(stream, events, expected);
      } catch (error) {
        if (error instanceof OutcomeUnknown) unknown = error;
        // Another event has that revision, so none of the attempts was written.
        if (unknown === null || error instanceof WrongExpectedRevision) throw error;
        // A store that is unavailable now cannot answer either.
        const worthAsking = error instanceof OutcomeUnknown || error instanceof EventStoreUnavailable;
        if (!worthAsking || deadline.passed) throw unknown;
      }
      await pause(attempt);
    }
  };

  /** What the command appended when it was handled before, if that was after revision `after`. */
  const appendedBefore = async (commandId: string, stream: string, after: bigint): Promise<readonly Recorded[]> => {
    const own: Recorded[] = [];
    for (let from = after + 1n; ;) {
      const { events, head } = await eventStore.readStream(stream, { from, max: pageSize });
      for (const stored of events) {
        if (stored.id === eventId(commandId, stream, own.length)) own.push(codec.decode(stored));
        from = stored.revision + 1n;
      }
      if (events.length === 0 || from > head) return own;
    }
  };

  const handle = async <State, Command extends AnyCommand, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    untimed: Untimed<Command>,
    context: CommandContext,
    { expectedRevision, mustExist, ifNothing }: HandleOptions,
    deadline: Deadline,
  ): Promise<Handled<State, Event>> => {
    const { commandId, actor, requestId, correlationId = commandId, causationId = commandId } = context;
    for (let attempt = 1; ; attempt += 1) {
      if (deadline.passed) throw new TooManyConflicts(`others kept stream ${stream} busy`);
      // Only an append validates what is known; anything else is decided on what there is.
      const isValidated = attempt > 1;
      const { state, revision, at: lastAt } = await folds.load(decider, stream, isValidated ? {} : { since: EARLIEST });
      const handledBefore = async (after: bigint): Promise<Handled<State, Event> | null> => {
        const events = (await appendedBefore(commandId, stream, after)) as readonly Recorded<Event>[];
        const last = events.at(-1);
        if (last === undefined) return null;
        return { events, ...(await folds.load(decider, stream, { through: last.revision })) };
      };

      const isMissing = mustExist === true && revision === NO_STREAM;
      const isStale = isMissing || (expectedRevision !== undefined && expectedRevision !== revision);
      if (isStale) {
        if (!isValidated) continue;
        const before = await handledBefore(expectedRevision ?? NO_STREAM);
        if (before !== null) return before;
      }

      // Time never steps back within a stream, whatever the clock does.
      const now = isoTime(clock.now());
      const at = now > lastAt ? now : lastAt;
      const decided = decider.decide(copyWith(untimed, { at }) as unknown as Command, state);
      const outcome = ifNothing !== undefined && !isRefusal(decided) && decided.length === 0 ? ifNothing : decided;
      if (isStale) throw new Refused(isRefusal(outcome) && outcome.kind === 'notFound' ? outcome : refusals.stale());
      if (!isValidated && (isRefusal(outcome) || outcome.length === 0)) continue;
      if (context.isRepetition === true && (isRefusal(outcome) || outcome.length === 0)) {
        const before = await handledBefore(NO_STREAM);
        if (before !== null) return before;
      }
      if (isRefusal(outcome)) throw new Refused(outcome);
      if (outcome.length === 0) return { events: [], state, revision };

      const metadata: EventMetadata = { at, actor, requestId, correlationId, causationId };
      const encoded = outcome.map((event, index) => codec.encode(event, eventId(commandId, stream, index), metadata));
      const handled = (next: AppendResult): Handled<State, Event> => ({
        events: outcome,
        state: createLongFold().page(() =>
          outcome.reduce(
            (before, event, index) =>
              decider.evolve(
                before,
                copyWith(event, {
                  id: eventId(commandId, stream, index),
                  stream,
                  revision: revision + BigInt(index + 1),
                  position: next.position,
                  metadata,
                }),
              ),
            state,
          ),
        ),
        revision: next.revision,
      });

      try {
        return handled(await appendUntilKnown(stream, encoded, revision, deadline));
      } catch (error) {
        if (error instanceof CorruptedRetry) {
          const before = await handledBefore(NO_STREAM);
          if (before !== null) return before;
        }
        if (!(error instanceof WrongExpectedRevision)) throw error;
      }
      await pause(attempt);
    }
  };

  return async (decider, command, context, options = {}) => {
    const stream = decider.stream.name(command);
    // A timer, because the wall clock may be set meanwhile.
    const deadline = { passed: false };
    const cancel = clock.schedule(deadlineMs, () => {
      deadline.passed = true;
    });
    try {
      return await mutex.run(stream, () => handle(decider, stream, command, context, options, deadline));
    } finally {
      cancel();
    }
  };
};
