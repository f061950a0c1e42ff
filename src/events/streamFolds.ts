import { LRUCache } from 'lru-cache';
import type { Fold } from '../commands/decider.js';
import type { Codec } from './codec.js';
import type { DomainEvent, Recorded } from './envelope.js';
import { NO_STREAM, type EventStore } from './store/eventStore.js';

/** A stream folded up to one of its revisions. */
export interface Folded<State> {
  readonly state: State;
  /** Revision of the last event that it reflects; `NO_STREAM` when there is none. */
  readonly revision: bigint;
  /** `metadata.at` of that event; empty when there is none. */
  readonly at: string;
}

/**
 * Streams folded into states, each kept from its last use, so that a fold reads only what is new. Every `load` asks the store
 * for the events after the kept revision: what it returns reflects everything that was committed before the call, by any
 * process. That makes it the validated read behind every decision and every authorisation (docs/architecture.md).
 */
export interface StreamFolds {
  /**
   * @param seed where to begin when nothing is kept, for streams that are long (a document of a read model)
   * @throws EventStoreUnavailable and the other faults of `EventStore.readStream`; UnknownEvent
   */
  load<State, Event extends DomainEvent>(
    fold: Fold<State, Event>,
    stream: string,
    seed?: () => Promise<Folded<State> | null>,
  ): Promise<Folded<State>>;

  /** Folds events over a state that `load` returned, and keeps the result: what `handleCommand` has just appended. */
  advance<State, Event extends DomainEvent>(
    fold: Fold<State, Event>,
    stream: string,
    from: Folded<State>,
    events: readonly Recorded<Event>[],
  ): Folded<State>;
}

const pageSize = 1_000;

export const createStreamFolds = (eventStore: EventStore, codec: Codec, maxKept = 20_000): StreamFolds => {
  const kept = new LRUCache<string, Folded<unknown>>({ max: maxKept });
  const keyOf = (fold: { name: string }, stream: string): string => `${fold.name}/${stream}`;

  const keep = (key: string, folded: Folded<unknown>): void => {
    // Two loads may overlap: the one that saw less must not replace the one that saw more.
    const other = kept.get(key);
    if (other === undefined || other.revision < folded.revision) kept.set(key, folded);
  };

  const foldOver = <State, Event extends DomainEvent>(
    fold: Fold<State, Event>,
    from: Folded<State>,
    events: readonly Recorded<Event>[],
  ): Folded<State> => {
    const last = events.at(-1);
    if (last === undefined) return from;
    return {
      state: events.reduce((state, event) => fold.evolve(state, event), from.state),
      revision: last.revision,
      at: last.metadata.at,
    };
  };

  return {
    load: async (fold, stream, seed) => {
      type State = typeof fold.initialState;
      const key = keyOf(fold, stream);
      const known = (kept.get(key) as Folded<State> | undefined) ?? (await seed?.());
      let folded = known ?? { state: fold.initialState, revision: NO_STREAM, at: '' };
      for (;;) {
        const { events, head } = await eventStore.readStream(stream, { from: folded.revision + 1n, max: pageSize });
        if (events.length > 0) {
          folded = foldOver(
            fold,
            folded,
            events.map((stored) => codec.decode(stored) as Parameters<typeof fold.evolve>[1]),
          );
        }
        if (folded.revision >= head || events.length === 0) break;
      }
      keep(key, folded);
      return folded;
    },

    advance: (fold, stream, from, events) => {
      const folded = foldOver(fold, from, events);
      keep(keyOf(fold, stream), folded);
      return folded;
    },
  };
};
