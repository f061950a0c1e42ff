import type { DomainEvent } from '../events/envelope.js';
import type { StreamFold } from '../events/fold.js';
import type { Refusal } from './refusal.js';

/**
 * A stream's rules. `decide` is pure: time, ids, actor and facts of other streams arrive in the
 * command. It returns the events that the command causes (`[]` when the state is already as
 * requested) or the refusal. The command names the stream.
 */
export interface Decider<State, Command extends AnyCommand, Event extends DomainEvent = DomainEvent> extends StreamFold<
  State,
  Event,
  Untimed<Command>
> {
  readonly decide: (command: Command, state: State) => readonly Event[] | Refusal;
}

export interface AnyCommand {
  readonly type: string;
  /**
   * When it is decided, ISO 8601 UTC; never before the stream's last event. Set by `engine.handle`.
   */
  readonly at: string;
}

/** What every command on a website, or on something of it, names. */
export interface OfWebsite extends Pick<AnyCommand, 'at'> {
  readonly websiteId: string;
}

/** A command without the time, which `engine.handle` sets. */
export type Untimed<Command extends AnyCommand> = Command extends AnyCommand ? Omit<Command, 'at'> : never;

export const isRefusal = (outcome: readonly DomainEvent[] | Refusal): outcome is Refusal => 'code' in outcome;
