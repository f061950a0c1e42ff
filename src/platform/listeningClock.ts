import type { Clock } from './clock.js';

/** A timer is waited for in so many parts. */
const PARTS = 30;
const MIN_PART_MS = 10;

/**
 * The clock for deadlines of calls to others: its timers count only the time in which this process
 * listened. While the event loop is blocked, answers wait unread, and a plain timer, which runs
 * before they are read, would blame the sender.
 *
 * A delay is waited for in parts. Between two parts, and after the last one, sockets are read. A
 * part that ends late counts no more than twice its length, so however long the process was
 * blocked, a deadline loses at most a fifteenth of its time by it. A part that ends a little late,
 * as each does on a busy machine, counts in full: otherwise 2 s would become 3 s there.
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
      const startedAt = clock.now();
      cancel = clock.schedule(
        ms,
        () => {
          // Never less than the part: the clock may have been set back.
          leftMs -= Math.min(2 * ms, Math.max(ms, clock.now() - startedAt));
          next();
        },
        options,
      );
    };
    next();
    return () => {
      cancel();
    };
  },
});
