import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../platform/clock.js';

/** Says when more work would only make everybody wait. */
export interface Load {
  /** Whether another request should be turned away (503). */
  isTooHigh(): boolean;
  started(): void;
  ended(): void;
}

const lookEveryMs = 500;
const nanosecondsPerMs = 1e6;

/**
 * Watches how many requests are under way and how late the event loop is. A process that was late by more than `maxLagMs` has more
 * than it can do: who asks it now would wait longer than they are willing to. (The lateness is measured by Node on its own monotonic
 * clock: a step of the wall clock is no load.)
 */
export const createLoad = (clock: Clock, limits: { readonly maxUnderWay: number; readonly maxLagMs: number }): Load => {
  const delays = monitorEventLoopDelay({ resolution: 50 });
  let underWay = 0;
  let lagMs = 0;
  let isWatching = false;

  const look = (): void => {
    clock.schedule(lookEveryMs, () => {
      lagMs = delays.max / nanosecondsPerMs;
      delays.reset();
      if (underWay > 0) {
        look();
        return;
      }
      // An idle process has no timers.
      delays.disable();
      lagMs = 0;
      isWatching = false;
    });
  };

  return {
    isTooHigh: () => underWay > limits.maxUnderWay || lagMs > limits.maxLagMs,
    started: () => {
      underWay += 1;
      if (isWatching) return;
      isWatching = true;
      delays.enable();
      look();
    },
    ended: () => {
      underWay -= 1;
    },
  };
};
