import type { EventMatcher } from './eventMatcher.js';
import { PAGE_BYTES, type LogSlice, type StoredEvent } from './eventStore.js';

export interface LiveEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly type: string;
  readonly position: bigint;
  /** What it takes in memory, roughly. */
  readonly bytes: number;
  /** The event, decoded when first asked for; `null` when it is none of ours. */
  readonly decoded: () => StoredEvent | null;
}

/** The last events of the log, in memory. */
export interface RecentEvents {
  /** Every event after this position, up to `head`, is here; `null`: none are kept. */
  readonly start: () => bigint | null;
  readonly head: () => bigint;
  /** Goes on at `position`, without the events before it. */
  begin(position: bigint): void;
  /** Adds the event that follows the last one. */
  add(event: LiveEvent): void;
  /** Drops the oldest, once there are twice as many as are to be kept. */
  trim(): void;
  /** Keeps none, until it begins again. */
  clear(): void;
  /** Those after `position` that match. */
  after(position: bigint, max: number, matcher: EventMatcher): LogSlice;
  /** The position of the last one that matches, of the newest `max`; if none does, that of the one before those. */
  lastMatching(max: number, matcher: EventMatcher): bigint;
}

/** Keeps so many, and so many bytes of them; at times twice as many. */
export const createRecentEvents = ({ maxEvents, maxBytes }: { maxEvents: number; maxBytes: number }): RecentEvents => {
  let events: LiveEvent[] = [];
  let bytes = 0;
  let start: bigint | null = null;
  let head = 0n;

  const empty = (): void => {
    events = [];
    bytes = 0;
  };

  return {
    start: () => start,
    head: () => head,
    begin: (position) => {
      empty();
      start = head = position;
    },
    add: (event) => {
      events.push(event);
      bytes += event.bytes;
      head = event.position;
    },
    trim: () => {
      if (events.length <= 2 * maxEvents && bytes <= 2 * maxBytes) return;
      // Half at a time, because what stays is copied.
      let count = Math.max(0, events.length - maxEvents);
      let dropped = events.slice(0, count).reduce((sum, event) => sum + event.bytes, 0);
      for (; bytes - dropped > maxBytes; count += 1) dropped += events[count]?.bytes ?? 0;
      start = events[count - 1]?.position ?? start;
      events = events.slice(count);
      bytes -= dropped;
    },
    clear: () => {
      empty();
      start = null;
    },
    after: (position, max, { matches }) => {
      const found: StoredEvent[] = [];
      let [reached, taken] = [position, 0];
      for (let index = firstAfter(events, position); index < events.length; index += 1) {
        const event = events[index];
        if (event === undefined || found.length >= max || taken >= PAGE_BYTES)
          return { events: found, position: reached, bytes: taken };
        reached = event.position;
        const wanted = matches(event) ? event.decoded() : null;
        if (wanted === null) continue;
        found.push(wanted);
        taken += event.bytes;
      }
      return { events: found, position: head > reached ? head : reached, bytes: taken };
    },
    lastMatching: (max, { matches }) => {
      const begin = Math.max(0, events.length - max);
      const last = events.findLast((event, index) => index < begin || matches(event));
      return last?.position ?? start ?? head;
    },
  };
};

/** The index of the first event after `position`. */
const firstAfter = (events: readonly LiveEvent[], position: bigint): number => {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.position ?? 0n) > position) high = middle;
    else low = middle + 1;
  }
  return low;
};
