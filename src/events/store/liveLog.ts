import type { Clock } from '../../platform/clock.js';
import { nextTurn } from '../../platform/eventLoop.js';
import { createEventMatcher } from './eventMatcher.js';
import type { EventFilter, LogSlice, SubscribeOptions } from './eventStore.js';
import { createRecentEvents, type LiveEvent } from './recentEvents.js';
import { createSubscribers, type Subscriber } from './subscribers.js';

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

/**
 * Events after which all learn how far the log has come. Fewer than the positions that
 * `lastPosition` of the embedded store looks back, so that no list waits for a quiet read model.
 */
const EVENTS_BETWEEN_REPORTS = 100;
/** How many events `lastMatching` looks at: subscriptions have been told of those before. */
const EVENTS_LOOKED_AT = 2 * EVENTS_BETWEEN_REPORTS;

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
  const { clock, reportMs, follow } = parts;
  const recent = createRecentEvents(parts);
  const { start, head } = recent;
  const subscribers = createSubscribers();
  const listeners: LiveListener[] = [];
  let isKept = false;
  let fault: Error | null = null;
  let unreported = 0;
  let cancelReport: (() => void) | null = null;
  let stopFollowing: (() => void) | null = null;

  const endReport = (): void => {
    cancelReport?.();
    cancelReport = null;
  };

  const report = (): void => {
    endReport();
    unreported = 0;
    subscribers.wakeAll();
  };

  const stop = (): void => {
    endReport();
    stopFollowing?.();
    stopFollowing = null;
    recent.clear();
    fault = null;
  };

  /** Call it in the same turn of the event loop as `recent.after`. */
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
    stopFollowing ??= follow();
    const subscriber = subscribers.join(filter);
    const onAbort = (): void => subscriber.wake?.();
    signal.addEventListener('abort', onAbort);
    let position = after;
    try {
      for (;;) {
        // Events that come in one turn of the event loop are yielded in one batch.
        await nextTurn();
        if (ended()) return;
        const begin = start();
        if (begin !== null && position < begin) {
          for await (const slice of history({ ...options, after: position })) {
            ({ position } = slice);
            yield slice;
            if (ended()) return;
          }
        } else {
          const slice = begin === null ? null : recent.after(position, maxBatch, subscriber.matcher);
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
      if (subscribers.leave(subscriber) && !isKept) stop();
    }
  }

  return {
    start,
    head,

    begin: (position) => {
      recent.begin(position);
      fault = null;
      for (const { begun } of listeners) begun?.();
      report();
    },

    add: (added) => {
      fault = null;
      if (start() === null || added.length === 0) return;
      const woken = new Set<Subscriber>();
      const before = head();
      const next = added.filter(({ position }) => position > before);
      for (const event of next) {
        recent.add(event);
        unreported += 1;
        for (const candidate of subscribers.candidatesFor(event))
          if (candidate.wake !== null && candidate.matcher.matches(event)) woken.add(candidate);
      }
      for (const listener of listeners) listener.added?.(next);
      recent.trim();
      if (unreported >= EVENTS_BETWEEN_REPORTS) {
        report();
        return;
      }
      for (const { wake } of woken) wake?.();
      if (unreported > 0 && cancelReport === null && subscribers.isAnyWaiting()) cancelReport = clock.schedule(reportMs, report);
    },

    fail: (reason) => {
      fault = reason;
      subscribers.wakeAll(reason);
    },

    subscribe,

    listen: (listener) => {
      listeners.push(listener);
    },

    lastMatching: (filter) => recent.lastMatching(EVENTS_LOOKED_AT, createEventMatcher(filter)),

    keepFollowing: () => {
      stopFollowing ??= follow();
      isKept = true;
    },

    close: stop,
  };
};
