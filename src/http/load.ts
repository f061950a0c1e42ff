import type { Clock } from '../platform/clock.js';

/** Says when more work would only make everybody wait. */
export interface Load {
  /** Whether another request should be turned away (503). */
  isTooHigh(): boolean;
  started(): void;
  ended(): void;
}

const measureEveryMs = 500;

/**
 * Watches how many requests are under way and how late the event loop is. The process that is late by more than `maxLagMs` has
 * more than it can do: those who ask now would wait longer than they are willing to.
 */
export const createLoad = (clock: Clock, limits: { readonly maxUnderWay: number; readonly maxLagMs: number }): Load => {
  let underWay = 0;
  let lagMs = 0;
  let dueAt = 0;
  const measure = (): void => {
    dueAt = clock.now() + measureEveryMs;
    clock.schedule(measureEveryMs, () => {
      lagMs = clock.now() - dueAt;
      // Measured only while there is work: an idle process has no timer.
      if (underWay > 0) measure();
      else dueAt = 0;
    });
  };
  return {
    isTooHigh: () => underWay >= limits.maxUnderWay || (lagMs > limits.maxLagMs && clock.now() - dueAt < measureEveryMs),
    started: () => {
      underWay += 1;
      if (dueAt === 0) measure();
    },
    ended: () => {
      underWay -= 1;
    },
  };
};
