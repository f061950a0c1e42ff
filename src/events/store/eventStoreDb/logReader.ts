import { createBackoff } from '../../../platform/backoff.js';
import type { Clock } from '../../../platform/clock.js';
import { nextTurnAlone } from '../../../platform/eventLoop.js';
import type { Logger } from '../../../platform/logger.js';
import type { OutageLog } from '../../../platform/outageLog.js';
import type { Random } from '../../../platform/random.js';
import { PAGE_BYTES, type EventStore, type LogSlice, type StoredEvent, type SubscribeOptions } from '../eventStore.js';
import { createLiveLog, type LiveLog } from '../liveLog.js';
import { MAX_READ_MS } from './calls.js';
import { catchUp } from './catchUp.js';
import { faultKind, isServerAway, unavailable } from './faults.js';
import { createLiveSubscription, EXPLAINED_AFTER } from './liveSubscription.js';
import type { Wire } from './wire.js';

/** Reads the whole log and subscribes to it. */
export interface LogReader {
  readonly live: LiveLog;
  readAll: EventStore['readAll'];
  subscribe(options: SubscribeOptions): AsyncGenerator<LogSlice, void>;
  close(): Promise<void>;
}

/** A server that searches the log for matching events reports its position long before this. */
const SILENCE_MS = 30_000;
/**
 * Consecutive faults after which a read gives up, in less than a second when the server is down.
 */
const MAX_FAILURES = 3;

export const createLogReader = (parts: {
  readonly wire: Wire;
  readonly lastPosition: () => Promise<bigint>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'info' | 'warn'> | undefined;
  readonly outage: OutageLog | undefined;
}): LogReader => {
  const { wire, lastPosition, clock, logger, outage } = parts;
  const live = createLiveLog({
    clock,
    maxEvents: 2_000,
    maxBytes: 4_000_000,
    reportMs: 250,
    follow: () => liveSubscription.watch(),
  });
  const liveSubscription = createLiveSubscription({ ...parts, live });
  const backOff = createBackoff(parts, { firstMs: 50, maxMs: 2_000 });

  /**
   * Yields the events between `after` and the start of the live subscription. It retries after
   * faults and ends when `signal` is aborted.
   */
  async function* untilLive({ after, filter, maxBatch = 500, signal }: SubscribeOptions): AsyncGenerator<LogSlice, void> {
    const ended = (): boolean => signal.aborted;
    let position = after;
    for (let failures = 0; !ended(); failures += 1) {
      const through = live.start();
      if (through === null || position >= through) return;
      try {
        const options = { after: position, through, filter, maxBatch, silenceMs: SILENCE_MS, signal };
        for await (const slice of catchUp(wire, clock, options)) {
          failures = 0;
          position = slice.position;
          await nextTurnAlone();
          yield slice;
          if (ended()) return;
        }
      } catch (fault) {
        if (ended()) return;
        if (faultKind(fault) === 'denied') throw unavailable('the subscription to the event log was denied', fault);
        if (isServerAway(fault)) outage?.failed(fault);
        else if (failures === EXPLAINED_AFTER)
          logger?.warn({ err: fault, position: String(position) }, 'reading the event log was interrupted; resuming it');
        await backOff(failures, signal);
      }
    }
  }

  const readAll: EventStore['readAll'] = async ({ after, max = 1_000, filter }) => {
    if (max < 1) return { events: [], position: after, bytes: 0 };
    const through = await lastPosition();
    const events: StoredEvent[] = [];
    let [position, bytes] = [after, 0];
    const never = new AbortController().signal;
    for (let failures = 0; position < through; failures += 1) {
      try {
        const options = {
          after: position,
          through,
          filter,
          maxBatch: max - events.length,
          silenceMs: MAX_READ_MS,
          signal: never,
        };
        for await (const slice of catchUp(wire, clock, options)) {
          failures = 0;
          const taken = slice.events.slice(0, max - events.length);
          events.push(...taken);
          position = taken.length < slice.events.length ? (taken.at(-1)?.position ?? position) : slice.position;
          bytes += slice.bytes;
          if (events.length === max || bytes >= PAGE_BYTES) return { events, position, bytes };
        }
      } catch (fault) {
        if (failures === MAX_FAILURES || faultKind(fault) === 'denied') throw unavailable('the event log cannot be read', fault);
        await backOff(failures, never);
      }
    }
    return { events, position, bytes };
  };

  return {
    live,
    readAll,
    subscribe: (options) => live.subscribe(options, untilLive),
    close: async () => {
      live.close();
      await liveSubscription.close();
    },
  };
};
