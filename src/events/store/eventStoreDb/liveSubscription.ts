import { createBackoff } from '../../../platform/backoff.js';
import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import type { OutageLog } from '../../../platform/outageLog.js';
import type { Random } from '../../../platform/random.js';
import type { StoredEvent } from '../eventStore.js';
import type { LiveLog } from '../liveLog.js';
import type { LiveEvent } from '../recentEvents.js';
import { SilenceTimeout, untilSilent } from './catchUp.js';
import { faultKind, isServerAway, unavailable } from './faults.js';
import { bytesOf, fromWire, type WireRecord } from './records.js';
import type { Wire } from './wire.js';

/**
 * Keeps `live` up to date by one subscription to the whole log, which receives every event, so that
 * each subscriber of this process also learns the position of events that do not match its filter.
 */
export interface LiveSubscription {
  /** Keeps the subscription running until the returned function is called. */
  watch(): () => void;
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
export const createLiveSubscription = (parts: {
  readonly live: LiveLog;
  readonly wire: Wire;
  readonly lastPosition: () => Promise<bigint>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'info' | 'warn'> | undefined;
  readonly outage: OutageLog | undefined;
}): LiveSubscription => {
  const { live, wire, lastPosition, clock, logger, outage } = parts;
  const backOff = createBackoff(parts, { firstMs: 50, maxMs: 2_000 });
  let stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const run = async (signal: AbortSignal): Promise<void> => {
    const stopped = (): boolean => signal.aborted;
    let failures = 0;
    /** A fault that may turn out to be the beginning of an outage, which is logged elsewhere. */
    let unexplained: unknown = null;
    const logged = { failure: false };
    const logUnexplained = (): void => {
      if (unexplained === null) return;
      logger?.warn({ err: unexplained, position: String(live.head()) }, 'the subscription to the event log failed; resuming it');
      unexplained = null;
      logged.failure = true;
    };
    const works = (): void => {
      outage?.answered();
      logUnexplained();
      if (logged.failure) logger?.info({ position: String(live.head()) }, 'the subscription to the event log works again');
      logged.failure = false;
      failures = 0;
    };
    while (!stopped()) {
      try {
        if (live.start() === null) {
          const position = await lastPosition();
          if (stopped()) return;
          live.begin(position);
        }
        await untilSilent(clock, SILENCE_MS, signal, (callSignal, heard) =>
          wire.follow(live.head(), callSignal, (message) => {
            heard();
            works();
            // A message without an event ends the fault of a subscription that was denied.
            live.add(message.kind === 'event' ? [toLive(message.record)] : []);
          }),
        );
      } catch (fault) {
        if (stopped()) return;
        const isDenied = faultKind(causeOf(fault)) === 'denied';
        // Subscribers learn it at once. The operator may grant the right while this process runs.
        if (isDenied) live.fail(unavailable('the subscription to the event log was denied', fault));
        if (isServerAway(fault) && !isDenied) {
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

  return {
    watch: () => {
      const begun = (stopping = new AbortController());
      running = running.then(() => run(begun.signal));
      return () => {
        begun.abort();
      };
    },

    close: async () => {
      stopping.abort();
      await running;
    },
  };
};

/** Decoded once for all subscribers; its bytes are kept until then. */
const toLive = (record: WireRecord): LiveEvent => {
  const { stream, revision, type, position } = record;
  let kept: { readonly record: WireRecord } | { readonly stored: StoredEvent | null } = { record };
  const decoded = (): StoredEvent | null => {
    if ('record' in kept) kept = { stored: fromWire(kept.record) };
    return kept.stored;
  };
  return { stream, revision, type, position, bytes: bytesOf(record) + 200, decoded };
};

/** The original fault behind one of the port's. */
const causeOf = (fault: unknown): unknown => (fault instanceof Error && fault.cause !== undefined ? fault.cause : fault);
