import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock.js';

export interface TestClock extends Clock {
  /**
   * Moves time on by `ms`, running the timers that fall due on the way in their order, each at its
   * own time. What a timer sets going gets a turn of the event loop before the next one, so that
   * timers it schedules are run as well.
   */
  advance(ms: number): Promise<void>;
  /**
   * Moves time on by `ms` at once, as for a machine that slept: timers that fell due meanwhile run
   * at its end. For long times, in which what is checked every second would run millions of times.
   */
  sleep(ms: number): Promise<void>;
  /**
   * Sets the wall clock, backwards too, as an administrator would: timers keep the delay that they
   * have left.
   */
  setTime(epochMs: number): void;
  /** How many timers are waiting. */
  pending(): number;
}

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

/**
 * A clock that stands still until it is advanced. It starts at `start`, milliseconds since the
 * epoch.
 */
export const createTestClock = (start = Date.UTC(2026, 0, 1)): TestClock => {
  /** Time that has passed, which only grows; the wall clock shows `start` more. */
  let elapsed = 0;
  let offset = start;
  const timers = new Set<Timer>();

  const nextDue = (until: number): Timer | undefined =>
    [...timers]
      .filter(({ due }) => due <= until)
      .reduce<Timer | undefined>((first, timer) => (first === undefined || timer.due < first.due ? timer : first), undefined);

  const advance = async (ms: number): Promise<void> => {
    const until = elapsed + ms;
    for (;;) {
      await nextTurn();
      const timer = nextDue(until);
      if (timer === undefined) break;
      timers.delete(timer);
      elapsed = Math.max(elapsed, timer.due);
      timer.task();
    }
    // Somebody else may have moved it further meanwhile.
    elapsed = Math.max(elapsed, until);
  };

  return {
    now: () => Math.floor(offset + elapsed),
    schedule: (delayMs, task) => {
      const timer = { due: elapsed + Math.max(0, delayMs), task };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance,
    sleep: (ms) => {
      elapsed += ms;
      return advance(0);
    },
    setTime: (epochMs) => {
      offset = epochMs - elapsed;
    },
    pending: () => timers.size,
  };
};

/** Lets time pass while `work` is under way. */
export const passTimeDuring = async <Result>(clock: TestClock, work: Promise<Result>): Promise<Result> => {
  const seen = { ended: false };
  const end = (): void => {
    seen.ended = true;
  };
  work.then(end, end);
  while (!seen.ended) await clock.advance(5);
  return work;
};
