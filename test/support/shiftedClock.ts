import { systemClock, type Clock } from '../../src/platform/clock.js';

/** The system's clock, set forward or back: it runs on, and so do timers. */
export const createShiftedClock = (): Clock & { shift(ms: number): void } => {
  let shiftMs = 0;
  return {
    now: () => systemClock.now() + shiftMs,
    schedule: (delayMs, task) => systemClock.schedule(delayMs, task),
    shift: (ms) => {
      shiftMs += ms;
    },
  };
};
