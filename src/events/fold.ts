import type { StreamNaming } from './defineStream.js';
import type { DomainEvent, Recorded } from './envelope.js';

/** State folded from the events of one stream. */
export interface Fold<State, Event extends DomainEvent = DomainEvent> {
  /** Unique among all folds: the cache of folded streams is keyed by it. */
  readonly name: string;
  readonly initialState: State;
  /**
   * What a stream is once its events were dropped (`retention` of its definition), so that commands
   * that come late change nothing, or begin anew where the stream allows it. Absent: never dropped.
   */
  readonly droppedState?: State;
  /** Pure. What grows with the stream it changes by `withEntry` and `withItems`. */
  readonly evolve: (state: State, event: Recorded<Event>) => State;
  /**
   * Of folds whose streams may become long: they keep snapshots, so that a process does not begin at
   * the first event. Raise it when states change, by `evolve` or by an upcaster: older ones are ignored.
   */
  readonly snapshotVersion?: number;
}

/** A fold that knows its stream: `key` leads to the stream's name. */
export interface StreamFold<State, Event extends DomainEvent = DomainEvent, Key = never> extends Fold<State, Event> {
  readonly stream: StreamNaming<Key>;
}

/** The collections that the fold under way made: nobody else has seen them. */
let own: WeakSet<object> | null = null;

export interface LongFold {
  /** One page of it. The state may be passed on only when there is no further page. */
  readonly page: <State>(work: () => State) => State;
}

/**
 * A fold of many events, page by page. `withEntry` and `withItems` copy a collection only once in it,
 * so that its cost grows with the events alone, and not with what they lead to. The state before it
 * stays as it was.
 */
export const createLongFold = (): LongFold => {
  const collections = new WeakSet<object>();
  return {
    page: (work) => {
      own = collections;
      try {
        return work();
      } finally {
        own = null;
      }
    },
  };
};

/** The same collection when the fold under way made it, else a copy that is the fold's. */
const owned = <Collection extends object>(given: object, copy: () => Collection): Collection => {
  if (own?.has(given) === true) return given as Collection;
  const made = copy();
  own?.add(made);
  return made;
};

/** The map with the entry, for `evolve`: the map that is given must not be used any more. */
export const withEntry = <Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value): ReadonlyMap<Key, Value> =>
  owned(map, () => new Map(map)).set(key, value);

/** The list with the items at its end, for `evolve`: the list that is given must not be used any more. */
export const withItems = <Item>(list: readonly Item[], ...items: readonly Item[]): readonly Item[] => {
  const longer = owned(list, () => [...list]);
  longer.push(...items);
  return longer;
};
