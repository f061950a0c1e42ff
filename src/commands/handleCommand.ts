import type { Codec } from '../events/codec.js';
import type { Actor, DomainEvent, EventMetadata, Recorded } from '../events/envelope.js';
import { OutcomeUnknown, WrongExpectedRevision, type EventStore } from '../events/store/eventStore.js';
import type { StreamFolds } from '../events/streamFolds.js';
import { isoTime, sleep, type Clock } from '../platform/clock.js';
import { eventId } from '../platform/ids.js';
import type { Random } from '../platform/random.js';
import { isRefusal, type AnyCommand, type Decider } from './decider.js';
import { Refused, refusals } from './refusal.js';

/** Who asks, and for what chain of causes. One context serves every stream that a request or a reaction writes to. */
export interface CommandContext {
  /** A UUIDv7; entity ids and event ids are derived from it, so that repeating the command makes nothing twice. */
  readonly commandId: string;
  readonly actor: Actor;
  readonly requestId: string;
  /** Default: the command itself. */
  readonly correlationId?: string;
  readonly causationId?: string;
  /** Present in a dry run: nothing is appended, and what would have been is added here. */
  readonly planned?: PlannedEvent[];
}

export interface PlannedEvent extends DomainEvent {
  readonly stream: string;
}

export interface Handled<State, Event extends DomainEvent> {
  /** What was appended; empty when the command changed nothing. */
  readonly events: readonly Event[];
  readonly state: State;
  readonly revision: bigint;
}

export interface HandleOptions {
  /** Decide on this revision or not at all (`If-Match`): another one is refused as stale. */
  readonly expectedRevision?: bigint;
}

/** A command without the time, which `handleCommand` sets. */
export type Untimed<Command extends AnyCommand> = Command extends AnyCommand ? Omit<Command, 'at'> : never;

/**
 * Reads the stream, folds, decides, appends at the revision decided on; on a conflict it reads and decides again, within
 * `deadlineMs`. When it resolves, the events are durable.
 *
 * @throws Refused with the decider's refusal
 * @throws TooManyConflicts when others kept winning until the deadline; faults of the event store
 */
export type HandleCommand = <State, Command extends AnyCommand, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  stream: string,
  command: Untimed<Command>,
  context: CommandContext,
  options?: HandleOptions,
) => Promise<Handled<State, Event>>;

export class TooManyConflicts extends Error {
  override readonly name = 'TooManyConflicts';
}

const deadlineMs = 5_000;
const longestPauseMs = 50;

export const createHandleCommand = (parts: {
  eventStore: EventStore;
  codec: Codec;
  folds: StreamFolds;
  clock: Clock;
  random: Random;
}): HandleCommand => {
  const { eventStore, codec, folds, clock, random } = parts;
  // Commands of this process on one stream go one after the other: they would only conflict and be decided again.
  const lastOf = new Map<string, Promise<unknown>>();

  const inTurn = async <Result>(stream: string, task: () => Promise<Result>): Promise<Result> => {
    const before = lastOf.get(stream);
    const mine = before === undefined ? task() : before.then(task, task);
    lastOf.set(stream, mine);
    try {
      return await mine;
    } finally {
      if (lastOf.get(stream) === mine) lastOf.delete(stream);
    }
  };

  return (decider, stream, untimed, context, options) =>
    inTurn(stream, async () => {
      const giveUpAt = clock.now() + deadlineMs;
      for (let attempt = 1; ; attempt += 1) {
        const folded = await folds.load(decider, stream);
        if (options?.expectedRevision !== undefined && options.expectedRevision !== folded.revision)
          throw new Refused(refusals.stale());

        // Time never steps back within a stream, whatever the clock does.
        const now = isoTime(clock.now());
        const at = now > folded.at ? now : folded.at;
        const outcome = decider.decide({ ...untimed, at } as unknown as Parameters<typeof decider.decide>[0], folded.state);
        if (isRefusal(outcome)) throw new Refused(outcome);
        if (outcome.length === 0) return { events: [], state: folded.state, revision: folded.revision };

        const metadata: EventMetadata = {
          at,
          actor: context.actor,
          requestId: context.requestId,
          correlationId: context.correlationId ?? context.commandId,
          causationId: context.causationId ?? context.commandId,
        };
        const encoded = outcome.map((event, index) => codec.encode(event, eventId(context.commandId, stream, index), metadata));
        const recordedAt = (position: bigint) =>
          outcome.map((event, index): Recorded<typeof event> => ({
            ...event,
            id: encoded[index]?.id ?? '',
            stream,
            revision: folded.revision + BigInt(index + 1),
            position,
            metadata,
          }));

        if (context.planned !== undefined) {
          context.planned.push(...outcome.map(({ type, data }) => ({ stream, type, data })));
          const state = recordedAt(0n).reduce((state, event) => decider.evolve(state, event), folded.state);
          return { events: outcome, state, revision: folded.revision };
        }

        try {
          const { position } = await eventStore.append(stream, encoded, folded.revision);
          const next = folds.advance(decider, stream, folded, recordedAt(position));
          return { events: outcome, state: next.state, revision: next.revision };
        } catch (error) {
          if (!(error instanceof WrongExpectedRevision) && !(error instanceof OutcomeUnknown)) throw error;
          if (clock.now() >= giveUpAt) {
            throw error instanceof OutcomeUnknown
              ? error
              : new TooManyConflicts(`stream ${stream} was changed by others ${String(attempt)} times in a row`);
          }
          await sleep(clock, random.fraction() * Math.min(longestPauseMs, 2 ** attempt));
        }
      }
    });
};
