import { LRUCache } from 'lru-cache';
import type { StoredEvent } from '../eventStore.js';

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

interface Entry {
  /** In the order of revisions, which end with `last`. */
  readonly ids: Set<string>;
  last: bigint;
  recordedAt: string;
}

/** How far back a repetition is recognised. */
export const KNOWN_EVENTS = 1_000;
/** Ids in all, of about 100 bytes each. */
const MAX_IDS = 100_000;

export const createKnownEvents = (): KnownEvents => {
  const streams = new LRUCache<string, Entry>({ max: 20_000 });
  let count = 0;

  const drop = (stream: string, entry: Entry): void => {
    streams.delete(stream);
    count -= entry.ids.size;
  };

  const firstOf = ({ last, ids }: Entry): bigint => last + 1n - BigInt(ids.size);

  return {
    upTo: (stream, revision) => {
      const entry = streams.get(stream);
      if (entry?.last !== revision) return null;
      const enough = entry.ids.size >= KNOWN_EVENTS || firstOf(entry) === 0n;
      return enough ? entry : null;
    },

    note: (stream, events) => {
      const entry = streams.get(stream) ?? { ids: new Set(), last: (events[0]?.revision ?? 0n) - 1n, recordedAt: '' };
      streams.set(stream, entry);
      count -= entry.ids.size;
      if (events.some(({ revision }) => revision < firstOf(entry))) entry.ids.clear();
      for (const { id, revision, recordedAt } of events) {
        if (entry.ids.size > 0 && revision <= entry.last) continue;
        if (revision !== entry.last + 1n) entry.ids.clear();
        entry.ids.add(id);
        entry.last = revision;
        entry.recordedAt = recordedAt;
      }
      for (const id of entry.ids) {
        if (entry.ids.size <= 2 * KNOWN_EVENTS) break;
        entry.ids.delete(id);
      }
      count += entry.ids.size;
      for (const [oldest, other] of streams.rentries()) {
        if (count <= MAX_IDS) break;
        drop(oldest, other);
      }
    },
  };
};
