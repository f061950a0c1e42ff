import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import type { Random } from '../../../platform/random.js';
import type { EventFilter, LogSlice, StoredEvent } from '../eventStore.js';
import { heard, Silence } from './catchUp.js';
import { createBackoff } from './deadline.js';
import { faultKind, unavailable } from './faults.js';
import { matches } from './filters.js';
import { fromWire, type WireRecord } from './records.js';
import type { Wire } from './wire.js';

/**
 * The end of the log as it grows: one live subscription to everything, shared by all who follow, with the last events kept. Since it
 * carries every event, each follower also learns that events passed which are not for it.
 */
export interface Tail {
  /** Keeps it alive until the returned function is called. */
  watch(): () => void;
  /** A position from which `after` knows everything; `null` while the server was not reached yet. */
  start(): bigint | null;
  /** Up to `max` matching events after `position`, which must not lie before `start`. */
  after(position: bigint, max: number, filter: EventFilter | undefined): LogSlice;
  /** Resolves when there may be more than the caller last saw in this turn of the event loop, or `signal` is aborted. @throws what cannot get better by itself */
  grown(signal: AbortSignal): Promise<void>;
  /** Resolves when the subscription is gone. */
  close(): Promise<void>;
}

/** A load balancer may have dropped the connection without a word. */
const SILENCE_MS = 30_000;
/** What is kept for those who are a little behind; whoever is further asks the server again. */
const MAX_KEPT = 2_000;
const MAX_KEPT_BYTES = 4_000_000;

export const createTail = (parts: {
  readonly wire: Wire;
  readonly lastPosition: () => Promise<bigint>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'info' | 'warn'> | undefined;
}): Tail => {
  const { wire, lastPosition, clock, logger } = parts;
  const backOff = createBackoff(parts, { firstMs: 50, longestMs: 2_000 });
  const waiting = new Set<() => void>();

  let kept: WireRecord[] = [];
  let keptBytes = 0;
  /** Everything in (start, head] is kept. */
  let start: bigint | null = null;
  let head = 0n;
  let refusal: Error | null = null;
  let watchers = 0;
  let stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };

  const take = (record: WireRecord): void => {
    if (record.position <= head) return;
    kept.push(record);
    keptBytes += sizeOf(record);
    head = record.position;
    if (kept.length > 2 * MAX_KEPT || keptBytes > 2 * MAX_KEPT_BYTES) forgetOldest();
    wakeAll();
  };

  /** Half at a time, since it takes as long as what is left. */
  const forgetOldest = (): void => {
    let count = kept.length - MAX_KEPT;
    let bytes = kept.slice(0, Math.max(0, count)).reduce((sum, record) => sum + sizeOf(record), 0);
    for (const record of kept.slice(Math.max(0, count))) {
      if (keptBytes - bytes <= MAX_KEPT_BYTES) break;
      bytes += sizeOf(record);
      count += 1;
    }
    start = kept[count - 1]?.position ?? start;
    kept = kept.slice(Math.max(0, count));
    keptBytes -= bytes;
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    const stopped = (): boolean => signal.aborted;
    let failures = 0;
    while (!stopped()) {
      try {
        if (start === null) {
          const position = await lastPosition();
          if (stopped()) return;
          start = head = position;
          wakeAll();
        }
        for await (const message of heard(clock, SILENCE_MS, signal, (whileHeard) => wire.follow(head, null, whileHeard))) {
          if (failures > 0) logger?.info({ position: String(head) }, 'the event log is followed again');
          failures = 0;
          if (message.kind === 'event') take(message.record);
        }
      } catch (fault) {
        if (stopped()) return;
        if (faultKind(causeOf(fault)) === 'denied') {
          refusal = unavailable('the event log cannot be followed', fault);
          wakeAll();
          return;
        }
        // A log in which nothing happens is silent, too.
        if (failures === 0 && !(fault instanceof Silence)) {
          logger?.warn({ err: fault, position: String(head) }, 'the event log cannot be followed; going on from where it was');
        }
        await backOff(failures, signal);
        failures += 1;
      }
    }
  };

  const stop = (): void => {
    stopping.abort();
    start = null;
    refusal = null;
    kept = [];
    keptBytes = 0;
  };

  return {
    watch: () => {
      watchers += 1;
      if (watchers === 1) {
        stopping = new AbortController();
        running = running.then(() => follow(stopping.signal));
      }
      return () => {
        watchers -= 1;
        if (watchers === 0) stop();
      };
    },

    start: () => start,

    after: (position, max, filter) => {
      const events: StoredEvent[] = [];
      let reached = position;
      for (let index = firstAfter(kept, position); index < kept.length; index += 1) {
        const record = kept[index];
        if (record === undefined || (events.length >= max && record.position > reached)) return { events, position: reached };
        reached = record.position;
        const event = matches(record, filter) ? fromWire(record) : null;
        if (event !== null) events.push(event);
      }
      return { events, position: head > reached ? head : reached };
    },

    grown: (signal) =>
      new Promise((resolve, reject) => {
        const wake = (): void => {
          waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          if (refusal !== null) reject(refusal);
          else resolve();
        };
        waiting.add(wake);
        signal.addEventListener('abort', wake);
        if (signal.aborted || refusal !== null) wake();
      }),

    close: async () => {
      stop();
      await running;
    },
  };
};

const sizeOf = ({ data, metadata }: WireRecord): number => data.length + metadata.length + 200;

/** What the port's words were put around. */
const causeOf = (fault: unknown): unknown => (fault instanceof Error && fault.cause !== undefined ? fault.cause : fault);

/** The index of the first record after `position`. */
const firstAfter = (records: readonly WireRecord[], position: bigint): number => {
  let [low, high] = [0, records.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle]?.position ?? 0n) > position) high = middle;
    else low = middle + 1;
  }
  return low;
};
