import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import type { Random } from '../../../platform/random.js';
import type { EventStore, LogSlice, StoredEvent, SubscribeOptions } from '../eventStore.js';
import { READ_MS } from './calls.js';
import { catchUp } from './catchUp.js';
import { createBackoff } from './deadline.js';
import { faultKind, unavailable } from './faults.js';
import { createTail } from './tail.js';
import type { Wire } from './wire.js';

/** Reading and following the whole log. */
export interface Following {
  readAll: EventStore['readAll'];
  subscribe(options: SubscribeOptions): AsyncGenerator<LogSlice, void>;
  close(): Promise<void>;
}

/** A server that searches a log for a filter tells how far it is long before that. */
const SILENCE_MS = 30_000;

export const createFollowing = (parts: {
  readonly wire: Wire;
  readonly lastPosition: () => Promise<bigint>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'info' | 'warn'> | undefined;
}): Following => {
  const { wire, lastPosition, clock, logger } = parts;
  const tail = createTail(parts);
  const backOff = createBackoff(parts, { firstMs: 50, longestMs: 2_000 });

  /** What lies between `after` and the tail, or nothing when the tail reaches that far. Goes on after faults; ends when `signal` is aborted. */
  async function* upToTail({ after, filter, maxBatch = 500, signal }: SubscribeOptions): AsyncGenerator<LogSlice, void> {
    const ended = (): boolean => signal.aborted;
    let position = after;
    for (let failures = 0; !ended(); failures += 1) {
      const through = tail.start();
      if (through === null || position >= through) return;
      try {
        const options = { after: position, through, filter, maxBatch, silenceMs: SILENCE_MS, signal };
        for await (const slice of catchUp(wire, clock, options)) {
          failures = 0;
          position = slice.position;
          yield slice;
          if (ended()) return;
        }
      } catch (fault) {
        if (ended()) return;
        if (faultKind(fault) === 'denied') throw unavailable('the event log cannot be followed', fault);
        if (failures === 0)
          logger?.warn({ err: fault, position: String(position) }, 'reading the event log was interrupted; going on');
        await backOff(failures, signal);
      }
    }
  }

  async function* subscribe(options: SubscribeOptions): AsyncGenerator<LogSlice, void> {
    const { after, filter, maxBatch = 500, signal } = options;
    const ended = (): boolean => signal.aborted;
    if (ended()) return;
    const stopWatching = tail.watch();
    let position = after;
    try {
      for (;;) {
        // What came in together goes out together.
        await nextTurn();
        if (ended()) return;
        for await (const slice of upToTail({ ...options, after: position })) {
          position = slice.position;
          yield slice;
        }
        const start = tail.start();
        if (ended() || (start !== null && position < start)) continue;
        const slice = start === null ? null : tail.after(position, maxBatch, filter);
        if (slice !== null && slice.position > position) {
          position = slice.position;
          yield slice;
        } else {
          await tail.grown(signal);
        }
      }
    } finally {
      stopWatching();
    }
  }

  const readAll: EventStore['readAll'] = async ({ after, max = 1_000, filter }) => {
    if (max < 1) return { events: [], position: after };
    const through = await lastPosition();
    const events: StoredEvent[] = [];
    let position = after;
    const never = new AbortController().signal;
    for (let failures = 0; position < through; failures += 1) {
      try {
        const options = { after: position, through, filter, maxBatch: max - events.length, silenceMs: READ_MS, signal: never };
        for await (const slice of catchUp(wire, clock, options)) {
          failures = 0;
          const taken = slice.events.slice(0, max - events.length);
          events.push(...taken);
          position = taken.length < slice.events.length ? (taken.at(-1)?.position ?? position) : slice.position;
          if (events.length === max) return { events, position };
        }
      } catch (fault) {
        if (failures === MAX_FAILURES || faultKind(fault) === 'denied') throw unavailable('the event log cannot be read', fault);
        await backOff(failures, never);
      }
    }
    return { events, position };
  };

  return { readAll, subscribe, close: () => tail.close() };
};

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Reads of the log are given up after so many faults in a row, which takes less than a second when the server is down. */
const MAX_FAILURES = 3;
