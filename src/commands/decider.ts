import type { DomainEvent, Recorded } from '../events/envelope.js';
import type { Refusal } from './refusal.js';

/** State folded from the events of one stream. */
export interface Fold<State, Event extends DomainEvent = DomainEvent> {
  /** Unique among all folds: the cache is keyed by it. */
  readonly name: string;
  readonly initialState: State;
  readonly evolve: (state: State, event: Recorded<Event>) => State;
}

/**
 * A stream's rules. `decide` is pure: time, ids, actor and looked-up facts arrive in the command. It returns the events that the
 * command causes (`[]` when the state is already what was asked for) or the refusal.
 */
export interface Decider<State, Command extends AnyCommand, Event extends DomainEvent = DomainEvent> extends Fold<State, Event> {
  readonly decide: (command: Command, state: State) => readonly Event[] | Refusal;
}

export interface AnyCommand {
  readonly type: string;
  /** When it is decided, ISO 8601 UTC; never before the stream's last event. Set by `handleCommand`. */
  readonly at: string;
}

export const isRefusal = (outcome: readonly DomainEvent[] | Refusal): outcome is Refusal => 'refused' in outcome;
