import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import type { OutageLog } from '../../../platform/outageLog.js';
import type { Random } from '../../../platform/random.js';
import type { EventFilter, LogSlice, StoredEvent } from '../eventStore.js';
import { withSilenceTimeout, SilenceTimeout } from './catchUp.js';
import { createBackoff } from './deadline.js';
import { faultKind, isServerAway, unavailable } from './faults.js';
import { matches } from './filters.js';
import { fromWire, type WireRecord } from './records.js';
import type { Wire } from './wire.js';

/**
 * One live subscription to the whole log with a buffer of the last events, shared by all
 * subscribers of this process. Since it receives every event, each subscriber also learns the
 * position of events that do not match its filter.
 */
export interface LiveSubscription {
  /** Keeps the subscription running until the returned function is called. */
  watch(): () => void;
  /**
   * The position after which the buffer holds every event; `null` before the server was reached.
   */
  start(): bigint | null;
  /** Up to `max` matching events after `position`, which must not lie before `start`. */
  eventsAfter(position: bigint, max: number, filter: EventFilter | undefined): LogSlice;
  /**
   * Resolves at the next event or when `signal` is aborted. Call it in the same turn of the event
   * loop as `eventsAfter`.
   * @throws EventStoreUnavailable when the server denies the subscription
   */
  nextEvent(signal: AbortSignal): Promise<void>;
  /** Resolves when the subscription has ended. */
  close(): Promise<void>;
}

/**
 * The subscription is made again after such a silence, because a load balancer may have dropped the
 * connection without an error.
 */
const SILENCE_MS = 30_000;
/**
 * A server that goes down first ends connections in several ways. After so many faults in a row
 * that are no outage, the fault is worth a line of its own.
 */
export const EXPLAINED_AFTER = 3;
/**
 * Events buffered for subscribers that are a little behind. One that is further behind reads from
 * the server again.
 */
const MAX_BUFFERED = 2_000;
const MAX_BUFFERED_BYTES = 4_000_000;

export const createLiveSubscription = (parts: {
  readonly wire: Wire;
  readonly lastPosition: () => Promise<bigint>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'info' | 'warn'> | undefined;
  readonly outage: OutageLog | undefined;
}): LiveSubscription => {
  const { wire, lastPosition, clock, logger, outage } = parts;
  const backOff = createBackoff(parts, { firstMs: 50, maxMs: 2_000 });
  const waiting = new Set<() => void>();

  let buffer: WireRecord[] = [];
  let bufferedBytes = 0;
  /** The buffer holds every event in (start, head]. */
  let start: bigint | null = null;
  let head = 0n;
  let refusal: Error | null = null;
  let watchers = 0;
  let stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };

  const addEvent = (record: WireRecord): void => {
    if (record.position <= head) return;
    buffer.push(record);
    bufferedBytes += sizeOf(record);
    head = record.position;
    if (buffer.length > 2 * MAX_BUFFERED || bufferedBytes > 2 * MAX_BUFFERED_BYTES) dropOldest();
    wakeAll();
  };

  /**
   * Drops half of the buffer at a time, because copying the rest takes time for every event that
   * stays.
   */
  const dropOldest = (): void => {
    let count = buffer.length - MAX_BUFFERED;
    let bytes = buffer.slice(0, Math.max(0, count)).reduce((sum, record) => sum + sizeOf(record), 0);
    for (const record of buffer.slice(Math.max(0, count))) {
      if (bufferedBytes - bytes <= MAX_BUFFERED_BYTES) break;
      bytes += sizeOf(record);
      count += 1;
    }
    start = buffer[count - 1]?.position ?? start;
    buffer = buffer.slice(Math.max(0, count));
    bufferedBytes -= bytes;
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const stopped = (): boolean => signal.aborted;
    let failures = 0;
    /** A fault that may turn out to be the beginning of an outage, which is logged elsewhere. */
    let unexplained: unknown = null;
    const logged = { failure: false };
    const logUnexplained = (): void => {
      if (unexplained === null) return;
      logger?.warn({ err: unexplained, position: String(head) }, 'the subscription to the event log failed; resuming it');
      unexplained = null;
      logged.failure = true;
    };
    while (!stopped()) {
      try {
        if (start === null) {
          const position = await lastPosition();
          if (stopped()) return;
          start = head = position;
          wakeAll();
        }
        for await (const message of withSilenceTimeout(clock, SILENCE_MS, signal, (callSignal) =>
          wire.subscribe(head, null, callSignal),
        )) {
          outage?.answered();
          logUnexplained();
          if (logged.failure) logger?.info({ position: String(head) }, 'the subscription to the event log works again');
          logged.failure = false;
          failures = 0;
          if (message.kind === 'event') addEvent(message.record);
        }
      } catch (fault) {
        if (stopped()) return;
        if (faultKind(causeOf(fault)) === 'denied') {
          refusal = unavailable('the subscription to the event log was denied', fault);
          wakeAll();
          return;
        }
        if (isServerAway(fault)) {
          outage?.failed(fault);
          unexplained = null;
        } else {
          // Silence is not logged, because a log without new events is silent too.
          if (failures === 0 && !(fault instanceof SilenceTimeout)) unexplained = fault;
          if (failures === EXPLAINED_AFTER) logUnexplained();
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
    buffer = [];
    bufferedBytes = 0;
  };

  return {
    watch: () => {
      watchers += 1;
      if (watchers === 1) {
        stopping = new AbortController();
        running = running.then(() => run(stopping.signal));
      }
      return () => {
        watchers -= 1;
        if (watchers === 0) stop();
      };
    },

    start: () => start,

    eventsAfter: (position, max, filter) => {
      const events: StoredEvent[] = [];
      let reached = position;
      for (let index = firstAfter(buffer, position); index < buffer.length; index += 1) {
        const record = buffer[index];
        if (record === undefined || (events.length >= max && record.position > reached)) return { events, position: reached };
        reached = record.position;
        const event = matches(record, filter) ? fromWire(record) : null;
        if (event !== null) events.push(event);
      }
      return { events, position: head > reached ? head : reached };
    },

    nextEvent: (signal) =>
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

/** The original fault behind one of the port's. */
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
