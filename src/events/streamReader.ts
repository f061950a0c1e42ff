import type { Codec } from './codec.js';
import type { StreamNaming } from './defineStream.js';
import type { DomainEvent, Recorded } from './envelope.js';
import type { StreamFold } from './fold.js';
import type { EventStore } from './store/eventStore.js';
import type { Folded, StreamFolds } from './streamFolds.js';

/**
 * Reads single streams of the log, each as of now, for decisions, authorisation and queries of one
 * resource.
 */
export interface StreamReader {
  /**
   * The state that the events of one stream lead to, with everything in it that was committed
   * before the call.
   * @throws as `StreamFolds.load`
   */
  readonly state: <State, Event extends DomainEvent, Key>(
    fold: StreamFold<State, Event, Key>,
    key: Key,
  ) => Promise<Folded<State>>;
  /**
   * The events of one stream, oldest first, after a revision (exclusive; default: all), up to the
   * end that the stream has while it is read.
   * @param pageSize how many are read at once: fewer where only the first ones are used
   * @throws as `EventStore.readStream`; UnknownEvent
   */
  readonly history: <Event extends DomainEvent, Key>(
    stream: StreamNaming<Key>,
    key: Key,
    after?: bigint,
    pageSize?: number,
  ) => AsyncGenerator<Recorded<Event>, void>;
  /**
   * Up to `max` events of the stream of this name, from the revision `from` on (inclusive), oldest
   * first.
   * @throws as `history`
   */
  readonly slice: (name: string, from: bigint, max: number) => Promise<readonly Recorded[]>;
}

const defaultPageSize = 1_000;

export const createStreamReader = (parts: {
  readonly eventStore: Pick<EventStore, 'readStream'>;
  readonly codec: Pick<Codec, 'decode'>;
  readonly folds: StreamFolds;
}): StreamReader => {
  const { eventStore, codec, folds } = parts;

  async function* history<Event extends DomainEvent, Key>(
    stream: StreamNaming<Key>,
    key: Key,
    after = -1n,
    pageSize = defaultPageSize,
  ): AsyncGenerator<Recorded<Event>, void> {
    const name = stream.name(key);
    for (let from = after + 1n; ;) {
      const { events, head } = await eventStore.readStream(name, { from, max: pageSize });
      for (const stored of events) {
        yield codec.decode(stored) as Recorded<Event>;
        from = stored.revision + 1n;
      }
      if (events.length === 0 || from > head) return;
    }
  }

  return {
    state: (fold, key) => folds.load(fold, fold.stream.name(key)),
    history,
    slice: async (name, from, max) => {
      const found: Recorded[] = [];
      // A page may end early by its bytes.
      for (let next = from; ;) {
        const { events, head } = await eventStore.readStream(name, { from: next, max: max - found.length });
        found.push(...events.map((stored) => codec.decode(stored)));
        const last = events.at(-1);
        if (last === undefined || last.revision >= head || found.length >= max) return found;
        next = last.revision + 1n;
      }
    },
  };
};
