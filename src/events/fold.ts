import type { StreamNaming } from './defineStream.js';
import type { DomainEvent, Recorded } from './envelope.js';

/** State folded from the events of one stream. */
export interface Fold<State, Event extends DomainEvent = DomainEvent> {
  /** Unique among all folds: the cache of folded streams is keyed by it. */
  readonly name: string;
  readonly initialState: State;
  readonly evolve: (state: State, event: Recorded<Event>) => State;
}

/** A fold that knows its stream: `key` leads to the stream's name. */
export interface StreamFold<State, Event extends DomainEvent = DomainEvent, Key = never> extends Fold<State, Event> {
  readonly stream: StreamNaming<Key>;
}
