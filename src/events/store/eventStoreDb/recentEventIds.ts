import { LRUCache } from 'lru-cache';
import { NO_STREAM, type StoredEvent } from '../eventStore.js';
import type { LiveEvent } from '../recentEvents.js';

/**
 * The last event ids of streams that this process read or wrote. The server compares ids only with
 * the events after the expected revision and would write an append that repeats older ids a second
 * time. This cache recognises such an append.
 */
export interface RecentEventIds {
  /**
   * The ids up to `revision`, which the caller believes is the stream's last; `null` when they have
   * to be read first.
   */
  upTo(stream: string, revision: bigint): RecentIds | null;
  /** Adds contiguous events of a stream, in order. */
  note(stream: string, events: readonly Pick<StoredEvent, 'id' | 'revision' | 'recordedAt'>[]): void;
  /** Adds an event that somebody appended, where it is the next one of a stream that is cached. */
  noteNext(event: Pick<LiveEvent, 'stream' | 'revision' | 'decoded'>): void;
}

export interface RecentIds {
  readonly ids: ReadonlySet<string>;
  /** `recordedAt` of the last event. */
  readonly recordedAt: string;
}

interface Entry extends RecentIds {
  /** In the order of revisions. The last id has the revision `last`. */
  readonly ids: Set<string>;
  readonly last: bigint;
}

/** How many events back a repetition is recognised. */
export const REPETITION_WINDOW = 1_000;
/** Cached ids of all streams, of about 100 bytes each. */
const MAX_IDS = 100_000;

export const createRecentEventIds = (): RecentEventIds => {
  const streams = new LRUCache<string, Entry>({ maxSize: MAX_IDS, sizeCalculation: ({ ids }) => ids.size + 1 });

  const note: RecentEventIds['note'] = (stream, events) => {
    const entry = streams.get(stream);
    const goesOn = entry !== undefined && events.every(({ revision }) => revision >= firstOf(entry));
    const ids = goesOn ? entry.ids : new Set<string>();
    let { last, recordedAt } = goesOn ? entry : { last: NO_STREAM, recordedAt: '' };
    for (const event of events) {
      if (ids.size > 0 && event.revision <= last) continue;
      if (event.revision !== last + 1n) ids.clear();
      ids.add(event.id);
      ({ revision: last, recordedAt } = event);
    }
    for (const id of ids) {
      if (ids.size <= 2 * REPETITION_WINDOW) break;
      ids.delete(id);
    }
    // A new object each time, because the cache computes the size of an entry only when it is
    // set.
    if (ids.size > 0) streams.set(stream, { ids, last, recordedAt });
  };

  return {
    upTo: (stream, revision) => {
      const entry = streams.get(stream);
      if (entry?.last !== revision) return null;
      return entry.ids.size >= REPETITION_WINDOW || firstOf(entry) === 0n ? entry : null;
    },

    note,

    noteNext: ({ stream, revision, decoded }) => {
      if (streams.peek(stream)?.last !== revision - 1n) return;
      const event = decoded();
      if (event !== null) note(stream, [event]);
    },
  };
};

const firstOf = ({ last, ids }: Entry): bigint => last + 1n - BigInt(ids.size);
