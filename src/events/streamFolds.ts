import { LRUCache } from 'lru-cache';
import { createSharedCalls } from '../platform/sharedCalls.js';
import type { Codec } from './codec.js';
import type { DomainEvent, Recorded } from './envelope.js';
import type { Fold } from './fold.js';
import { NO_STREAM, type EventStore } from './store/eventStore.js';

/** A stream folded up to one of its revisions. */
export interface Folded<State> {
  readonly state: State;
  /** Revision of the last event that it reflects; `NO_STREAM` when there is none. */
  readonly revision: bigint;
  /**
   * `metadata.at` of that event; empty when there is none, or when it was not read but stands in a
   * seed.
   */
  readonly at: string;
}

/**
 * Streams folded into states, cached, so that a fold reads only new events. Every `load` asks the
 * store for the events after the cached revision: its result reflects everything that was committed
 * before the call, by any process. That makes it the validated read behind every decision and every
 * authorisation (docs/architecture.md).
 *
 * Loads of one stream at the same time share what they ask: a load may wait for one that is under
 * way, and its own question is shared only with those that came in before it was sent.
 */
export interface StreamFolds {
  /**
   * @param seed where to begin when nothing is cached, for long streams (a document of a read
   *   model)
   * @param through the last revision to fold: the result is what the stream was then, whatever was
   *   appended since
   * @throws EventStoreUnavailable and the other faults of `EventStore.readStream`; UnknownEvent;
   *   what `seed` throws
   */
  load<State, Event extends DomainEvent>(
    fold: Fold<State, Event>,
    stream: string,
    seed?: () => Promise<Folded<State> | null>,
    through?: bigint,
  ): Promise<Folded<State>>;
}

const pageSize = 1_000;

export const createStreamFolds = (eventStore: EventStore, codec: Codec, maxCached = 20_000): StreamFolds => {
  // Only what was read from the log is cached: after a repeated append, the log may differ from
  // what the append tried to write.
  const cached = new LRUCache<string, Folded<unknown>>({ max: maxCached });
  const sharedReads = createSharedCalls();

  const cache = (key: string, folded: Folded<unknown>): void => {
    // Loads may overlap: an older result must not replace a newer one.
    const other = cached.get(key);
    if (other === undefined || other.revision < folded.revision) cached.set(key, folded);
  };

  const read = async <State, Event extends DomainEvent>(
    key: string,
    fold: Fold<State, Event>,
    stream: string,
    seed?: () => Promise<Folded<State> | null>,
    through?: bigint,
  ): Promise<Folded<State>> => {
    const isTooNew = ({ revision }: Folded<unknown>): boolean => through !== undefined && revision > through;
    const nothing: Folded<State> = { state: fold.initialState, revision: NO_STREAM, at: '' };
    // The key contains the fold's name, so the state is of this fold.
    let folded = (cached.get(key) as Folded<State> | undefined) ?? (await seed?.()) ?? nothing;
    if (isTooNew(folded)) folded = nothing;
    for (;;) {
      const { events, head } = await eventStore.readStream(stream, { from: folded.revision + 1n, max: pageSize });
      const end = through === undefined || through > head ? head : through;
      for (const stored of events) {
        if (stored.revision > end) break;
        const event = codec.decode(stored) as Recorded<Event>;
        folded = { state: fold.evolve(folded.state, event), revision: event.revision, at: event.metadata.at };
      }
      if (folded.revision === end) break;
      if (folded.revision > head) {
        // The log was restored from a backup: the events that were folded beyond its head no longer
        // exist.
        cached.delete(key);
        folded = nothing;
      } else if (events.length === 0) {
        throw new Error(
          `stream ${stream} reaches to revision ${String(head)}, but cannot be read after ${String(folded.revision)}`,
        );
      }
    }
    cache(key, folded);
    return folded;
  };

  return {
    load: (fold, stream, seed, through) => {
      const key = `${fold.name}/${stream}`;
      // Of several that would read the whole stream, the others wait for the first, and read only
      // what is new.
      return sharedReads.run(key, () => read(key, fold, stream, seed, through), { afterOther: !cached.has(key) });
    },
  };
};
