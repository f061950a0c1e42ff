import { performance } from 'node:perf_hooks';
import type { Clock } from '../platform/clock.js';

/** Says when more work would only make everybody wait. */
export interface Load {
  /** Whether another request should be turned away (503). */
  isTooHigh(): boolean;
  /** Counts a request from now on; call what it returns, once or more, when its work has ended. */
  started(): () => void;
}

const lookEveryMs = 500;

/**
 * Watches how many requests are under way and how late the event loop is. A process that was late
 * by more than `maxLagMs` has more than it can do: who asks it now would wait longer than they are
 * willing to. The lateness is measured on the monotonic clock: a step of the wall clock is no load.
 */
export const createLoad = (clock: Clock, limits: { readonly maxUnderWay: number; readonly maxLagMs: number }): Load => {
  let underWay = 0;
  let lagMs = 0;
  let isWatching = false;

  const measure = (): void => {
    const dueAt = performance.now() + lookEveryMs;
    clock.schedule(lookEveryMs, () => {
      lagMs = performance.now() - dueAt;
      // An idle process has no timer, and is not late.
      isWatching = underWay > 0;
      if (isWatching) measure();
      else lagMs = 0;
    });
  };

  return {
    isTooHigh: () => underWay >= limits.maxUnderWay || lagMs > limits.maxLagMs,
    started: () => {
      underWay += 1;
      if (!isWatching) {
        isWatching = true;
        measure();
      }
      let hasEnded = false;
      return () => {
        if (!hasEnded) underWay -= 1;
        hasEnded = true;
      };
    },
  };
};
