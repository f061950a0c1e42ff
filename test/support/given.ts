import { expect } from '@jest/globals';
import { isRefusal, type AnyCommand, type Decider } from '../../src/commands/decider.js';
import type { Fold } from '../../src/events/fold.js';
import type { Untimed } from '../../src/commands/decider.js';
import type { Refusal } from '../../src/commands/refusal.js';
import type { Actor, DomainEvent, Recorded } from '../../src/events/envelope.js';

/** When the given events happened, unless they say otherwise. */
export const earlier = '2026-01-01T00:00:00.000Z';
/** When a command is decided, unless it says otherwise. */
export const now = '2026-01-02T00:00:00.000Z';

export const someAdmin: Actor = { subject: 'ops@example.com', role: 'admin', via: 'portal' };

/** A domain event as it stands in its stream at `revision`. */
export const recorded = <Event extends DomainEvent>(
  event: Event,
  { revision = 0, at = earlier, stream = 'some-stream', actor = someAdmin } = {},
): Recorded<Event> => ({
  ...event,
  id: `event-${revision}`,
  stream,
  revision: BigInt(revision),
  position: BigInt(revision + 1),
  metadata: { at, actor, requestId: 'request', correlationId: 'command', causationId: 'command' },
});

/**
 * The state that `events` lead to; each is taken as recorded `earlier`, or as it is when it is
 * recorded already.
 */
export const stateAfter = <State, Event extends DomainEvent>(
  fold: Fold<State, Event>,
  events: readonly (Event | Recorded<Event>)[],
): State =>
  events
    .map((event, revision) => ('metadata' in event ? event : recorded<Event>(event, { revision })))
    .reduce((state, event) => fold.evolve(state, event), fold.initialState);

export type Timeless<Command extends AnyCommand> = Untimed<Command> & { readonly at?: string };

interface Given<Command extends AnyCommand, Event extends DomainEvent> {
  when(command: Timeless<Command>): {
    readonly outcome: readonly Event[] | Refusal;
    then(expected: readonly Event[]): void;
    thenRefused(refusal: Refusal): void;
  };
}

/**
 * What a decider makes of a command: `given(decider, events).when(command).then(events)` or
 * `.thenRefused(refusal)`.
 */
export const given = <State, Command extends AnyCommand, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  events: readonly (Event | Recorded<Event>)[] = [],
): Given<Command, Event> => ({
  when: (command) => {
    const outcome = decider.decide(timed<Command>(command), stateAfter(decider, events));
    return {
      outcome,
      then: (expected) => {
        expect(outcome).toStrictEqual(expected);
      },
      thenRefused: (refusal) => {
        expect(outcome).toStrictEqual(refusal);
      },
    };
  },
});

/**
 * What holds for every command: repeated, even later, on the state that it led to, it changes
 * nothing. It fails for a command that is refused or changes nothing, so that each one is shown in a
 * case where it acts.
 */
export const expectRepeatable = <State, Command extends AnyCommand, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  events: readonly (Event | Recorded<Event>)[],
  command: Timeless<Command>,
): void => {
  const { outcome } = given(decider, events).when(command);
  if (isRefusal(outcome)) throw new Error(`${command.type} is refused: ${outcome.message}`);
  if (outcome.length === 0) throw new Error(`${command.type} changes nothing here, so that repeating it shows nothing`);
  const { at } = timed<Command>(command);
  const appended = outcome.map((event, index) => recorded(event, { revision: events.length + index, at }));
  const later = new Date(Date.parse(at) + 1_000).toISOString();
  given(decider, [...events, ...appended])
    .when({ ...command, at: later })
    .then([]);
};

const timed = <Command extends AnyCommand>(command: Timeless<Command>): Command =>
  ({ ...command, at: command.at ?? now }) as unknown as Command;
