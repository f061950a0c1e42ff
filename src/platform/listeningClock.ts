import type { Clock } from './clock.js';

/** A timer is waited for in so many parts. */
const PARTS = 30;
const MIN_PART_MS = 10;

/**
 * The clock for deadlines of calls to others: its timers count only the time in which this process
 * listened. While the event loop is blocked, answers wait unread, and a plain timer, which runs
 * before they are read, would blame whoever sent them.
 *
 * A delay is waited for in parts, and a part that ends late counts no more than its length. Between
 * two parts, and after the last one, sockets are read. So however long the process was blocked, a
 * deadline loses at most a thirtieth of its time by it.
 */
export const createListeningClock = (clock: Clock): Clock => ({
  now: () => clock.now(),
  schedule: (delayMs, task, options) => {
    const partMs = Math.max(MIN_PART_MS, Math.ceil(delayMs / PARTS));
    let leftMs = delayMs;
    let cancel = (): void => undefined;
    const next = (): void => {
      if (leftMs <= 0) {
        // One turn more, for answers that came during the last part.
        cancel = clock.schedule(0, task, options);
        return;
      }
      const ms = Math.min(partMs, leftMs);
      leftMs -= ms;
      cancel = clock.schedule(ms, next, options);
    };
    next();
    return () => {
      cancel();
    };
  },
});
