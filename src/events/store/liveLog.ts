import type { Clock } from '../../platform/clock.js';
import { nextTurn } from '../../platform/eventLoop.js';
import { createEventMatcher, type EventMatcher } from './eventMatcher.js';
import { PAGE_BYTES, type EventFilter, type LogSlice, type StoredEvent, type SubscribeOptions } from './eventStore.js';

/**
 * The last events of the log, in memory, for all who subscribe to it in this process: what is
 * committed is read once, or not at all, however many they are. Only those that want an event are
 * woken by it.
 */
export interface LiveLog {
  /** Every event after this position, up to `head`, is in memory; `null` before `begin`. */
  start(): bigint | null;
  head(): bigint;
  /** Goes on at `position`, without the events before it. */
  begin(position: bigint): void;
  /** Adds the events that follow the last one; those up to `head` are there already. */
  add(events: readonly LiveEvent[]): void;
  /** Ends the subscriptions that wait, or come to wait, before something is added again. */
  fail(fault: Error): void;
  /**
   * `EventStore.subscribe`.
   * @param history yields the events after a position, until that of `start` is reached
   */
  subscribe(
    options: SubscribeOptions,
    history: (options: SubscribeOptions) => AsyncIterable<LogSlice>,
  ): AsyncGenerator<LogSlice, void>;
  /** Reports what is added, in the same turn of the event loop, for as long as the log is followed. */
  listen(listener: LiveListener): void;
  /**
   * The position of the last event that matches, or a later one that every subscription has passed, or passes
   * within `reportMs`.
   */
  lastMatching(filter: EventFilter): bigint;
  /** Follows the log from now on, whether or not anybody subscribes. */
  keepFollowing(): void;
  /** Follows the log no more, even if some subscribers have not noticed that it ends. */
  close(): void;
}

export interface LiveListener {
  /** The next events of the log. */
  readonly added?: (events: readonly LiveEvent[]) => void;
  /** The log goes on elsewhere: there may be events in between. */
  readonly begun?: () => void;
}

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

interface Subscriber {
  readonly matcher: EventMatcher;
  /** Ends its wait, with a fault when there is one. `null` while it does not wait. */
  wake: ((fault?: Error) => void) | null;
}

/**
 * Events after which all learn how far the log has come. Fewer than the positions that
 * `lastPosition` of the embedded store looks back, so that no list waits for a quiet read model.
 */
const EVENTS_BETWEEN_REPORTS = 100;
/** How many events `lastMatching` looks at: subscriptions have been told of those before. */
const EVENTS_LOOKED_AT = 2 * EVENTS_BETWEEN_REPORTS;

/** More than ours, of which there are some 200. What others write to the same log may have any number. */
const MAX_CATEGORIES_AND_TYPES = 1_000;

export const createLiveLog = (parts: {
  readonly clock: Clock;
  /** Events, and bytes of them, that are kept for subscribers a little behind; at times twice as many. */
  readonly maxEvents: number;
  readonly maxBytes: number;
  /** How late those who want none of the events learn how far the log has come. */
  readonly reportMs: number;
  /** Called for the first subscriber; what it returns is called after the last one. */
  readonly follow: () => () => void;
}): LiveLog => {
  const { clock, maxEvents, maxBytes, reportMs, follow } = parts;
  const subscribers = new Set<Subscriber>();
  const listeners: LiveListener[] = [];
  let isKept = false;
  /** By category and type, those that may want such an event. */
  const candidates = new Map<string, readonly Subscriber[]>();
  let events: LiveEvent[] = [];
  let bytes = 0;
  let start: bigint | null = null;
  let head = 0n;
  let fault: Error | null = null;
  let unreported = 0;
  let cancelReport: (() => void) | null = null;
  let stopFollowing: (() => void) | null = null;

  const wakeAll = (): void => {
    cancelReport?.();
    cancelReport = null;
    unreported = 0;
    for (const { wake } of subscribers) wake?.();
  };

  const candidatesFor = ({ stream, type }: LiveEvent): readonly Subscriber[] => {
    const category = stream.slice(0, stream.indexOf('-') + 1);
    const key = `${category}\n${type}`;
    let found = candidates.get(key);
    if (found === undefined) {
      found = [...subscribers].filter(({ matcher }) => matcher.mayMatch(category, type));
      if (candidates.size === MAX_CATEGORIES_AND_TYPES) candidates.clear();
      candidates.set(key, found);
    }
    return found;
  };

  /** Drops half at a time, because what stays is copied. */
  const dropOldest = (): void => {
    let count = Math.max(0, events.length - maxEvents);
    let dropped = events.slice(0, count).reduce((sum, event) => sum + event.bytes, 0);
    for (; bytes - dropped > maxBytes; count += 1) dropped += events[count]?.bytes ?? 0;
    start = events[count - 1]?.position ?? start;
    events = events.slice(count);
    bytes -= dropped;
  };

  const eventsAfter = (position: bigint, max: number, { matches }: EventMatcher): LogSlice => {
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
  };

  const join = (filter: EventFilter | undefined): Subscriber => {
    const subscriber: Subscriber = { matcher: createEventMatcher(filter), wake: null };
    stopFollowing ??= follow();
    subscribers.add(subscriber);
    candidates.clear();
    return subscriber;
  };

  const leave = (subscriber: Subscriber): void => {
    subscribers.delete(subscriber);
    candidates.clear();
    if (subscribers.size === 0 && !isKept) stop();
  };

  const stop = (): void => {
    cancelReport?.();
    cancelReport = null;
    stopFollowing?.();
    stopFollowing = null;
    events = [];
    bytes = 0;
    start = fault = null;
  };

  /** Call it in the same turn of the event loop as `eventsAfter`. */
  const news = (subscriber: Subscriber): Promise<void> =>
    new Promise((resolve, reject) => {
      subscriber.wake = (reason) => {
        subscriber.wake = null;
        if (reason === undefined) resolve();
        else reject(reason);
      };
      if (fault !== null) subscriber.wake(fault);
    });

  async function* subscribe(
    options: SubscribeOptions,
    history: (options: SubscribeOptions) => AsyncIterable<LogSlice>,
  ): AsyncGenerator<LogSlice, void> {
    const { after, filter, maxBatch = 500, signal } = options;
    const ended = (): boolean => signal.aborted;
    if (ended()) return;
    const subscriber = join(filter);
    const onAbort = (): void => subscriber.wake?.();
    signal.addEventListener('abort', onAbort);
    let position = after;
    try {
      for (;;) {
        // Events that come in one turn of the event loop are yielded in one batch.
        await nextTurn();
        if (ended()) return;
        if (start !== null && position < start) {
          for await (const slice of history({ ...options, after: position })) {
            ({ position } = slice);
            yield slice;
            if (ended()) return;
          }
        } else {
          const slice = start === null ? null : eventsAfter(position, maxBatch, subscriber.matcher);
          if (slice === null || slice.position <= position) {
            await news(subscriber);
          } else {
            ({ position } = slice);
            yield slice;
          }
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      leave(subscriber);
    }
  }

  return {
    start: () => start,
    head: () => head,

    begin: (position) => {
      events = [];
      bytes = 0;
      start = head = position;
      fault = null;
      for (const { begun } of listeners) begun?.();
      wakeAll();
    },

    add: (added) => {
      fault = null;
      if (start === null || added.length === 0) return;
      const woken = new Set<Subscriber>();
      const before = head;
      const next = added.filter(({ position }) => position > before);
      for (const event of next) {
        events.push(event);
        bytes += event.bytes;
        head = event.position;
        unreported += 1;
        for (const candidate of candidatesFor(event))
          if (candidate.wake !== null && candidate.matcher.matches(event)) woken.add(candidate);
      }
      for (const { added: report } of listeners) report?.(next);
      if (events.length > 2 * maxEvents || bytes > 2 * maxBytes) dropOldest();
      if (unreported >= EVENTS_BETWEEN_REPORTS) {
        wakeAll();
        return;
      }
      for (const { wake } of woken) wake?.();
      if (unreported > 0 && cancelReport === null && [...subscribers].some(({ wake }) => wake !== null))
        cancelReport = clock.schedule(reportMs, wakeAll);
    },

    fail: (reason) => {
      fault = reason;
      for (const { wake } of subscribers) wake?.(reason);
    },

    subscribe,

    listen: (listener) => {
      listeners.push(listener);
    },

    lastMatching: (filter) => {
      const { matches } = createEventMatcher(filter);
      const begin = Math.max(0, events.length - EVENTS_LOOKED_AT);
      const last = events.findLast((event, index) => index < begin || matches(event));
      return last?.position ?? start ?? head;
    },

    keepFollowing: () => {
      stopFollowing ??= follow();
      isKept = true;
    },

    close: stop,
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
