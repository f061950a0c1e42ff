import { LRUCache } from 'lru-cache';
import { NO_STREAM, type StoredEvent } from '../eventStore.js';

/**
 * The last ids of streams that this process read or wrote. The server compares ids only with those that follow the expected revision, so
 * an append that repeats older ids would be written a second time: it is recognised here.
 */
export interface KnownEvents {
  /** What is known of the events up to `revision`, the last of a stream as the caller believes; `null` when they have to be read first. */
  upTo(stream: string, revision: bigint): Known | null;
  /** Events of a stream that were read, in a row, forwards. */
  note(stream: string, events: readonly Pick<StoredEvent, 'id' | 'revision' | 'recordedAt'>[]): void;
}

export interface Known {
  readonly ids: ReadonlySet<string>;
  /** Of the last event. */
  readonly recordedAt: string;
}

interface Entry extends Known {
  /** In the order of revisions, which end with `last`. */
  readonly ids: Set<string>;
  readonly last: bigint;
}

/** How far back a repetition is recognised. */
export const KNOWN_EVENTS = 1_000;
/** Ids in all, of about 100 bytes each. */
const MAX_IDS = 100_000;

export const createKnownEvents = (): KnownEvents => {
  const streams = new LRUCache<string, Entry>({ maxSize: MAX_IDS, sizeCalculation: ({ ids }) => ids.size + 1 });

  return {
    upTo: (stream, revision) => {
      const entry = streams.get(stream);
      if (entry?.last !== revision) return null;
      return entry.ids.size >= KNOWN_EVENTS || firstOf(entry) === 0n ? entry : null;
    },

    note: (stream, events) => {
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
        if (ids.size <= 2 * KNOWN_EVENTS) break;
        ids.delete(id);
      }
      // Another object each time: that is how the cache learns of another size.
      if (ids.size > 0) streams.set(stream, { ids, last, recordedAt });
    },
  };
};

const firstOf = ({ last, ids }: Entry): bigint => last + 1n - BigInt(ids.size);
