import { describe, expect, test } from '@jest/globals';
import { isoTime, sleep, systemClock, type Clock } from '../../src/platform/clock.js';
import { createTestClock } from '../support/testClock.js';

describe('sleep', () => {
  const watch = (sleeping: Promise<void>): { readonly over: boolean } => {
    const seen = { over: false };
    void sleeping.then(() => {
      seen.over = true;
    });
    return seen;
  };

  test('ends after its time, and not before', async () => {
    const clock = createTestClock();
    const sleeping = watch(sleep(clock, 100));
    await clock.advance(99);
    expect(sleeping.over).toBe(false);
    await clock.advance(1);
    expect(sleeping.over).toBe(true);
  });

  test('ends at once when it is aborted, and leaves no timer behind', async () => {
    const clock = createTestClock();
    const abort = new AbortController();
    const sleeping = sleep(clock, 100, abort.signal);
    expect(clock.pending()).toBe(1);
    abort.abort();
    await sleeping;
    expect(clock.pending()).toBe(0);
  });

  test('does not wait when it was aborted before', async () => {
    const clock = createTestClock();
    await sleep(clock, 100, AbortSignal.abort());
    expect(clock.pending()).toBe(0);
  });

  test('removes its listener from the signal at the end', async () => {
    const clock = createTestClock();
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = Object.assign(signal, {
      addEventListener: () => {
        listeners += 1;
      },
      removeEventListener: () => {
        listeners -= 1;
      },
    });
    const sleeping = sleep(clock, 100, counted);
    expect(listeners).toBe(1);
    await clock.advance(100);
    await sleeping;
    expect(listeners).toBe(0);
  });

  test('keeps the process alive, so that a script which waits for nothing else does not exit', async () => {
    const kept: unknown[] = [];
    const clock: Clock = {
      ...systemClock,
      schedule: (delayMs, task, options) => {
        kept.push(options?.keepAlive);
        return systemClock.schedule(delayMs, task, options);
      },
    };
    await sleep(clock, 1);
    expect(kept).toEqual([true]);
  });
});

describe('the system clock', () => {
  /** Timers that keep the process alive. */
  const holding = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

  test('keeps the process alive only with keepAlive, until it is cancelled', () => {
    const before = holding();
    const cancelIdle = systemClock.schedule(60_000, () => undefined);
    expect(holding()).toBe(before);
    const cancelHeld = systemClock.schedule(60_000, () => undefined, { keepAlive: true });
    expect(holding()).toBe(before + 1);
    cancelHeld();
    cancelIdle();
    expect(holding()).toBe(before);
  });

  test('a cancelled timer does not run', async () => {
    const ran: string[] = [];
    systemClock.schedule(1, () => ran.push('cancelled'))();
    await new Promise<void>((resolve) => {
      systemClock.schedule(2, resolve, { keepAlive: true });
    });
    expect(ran).toEqual([]);
  });
});

test('a time leaves the service as ISO 8601 UTC with milliseconds', () => {
  expect(isoTime(Date.UTC(2026, 1, 3, 4, 5, 6, 7))).toBe('2026-02-03T04:05:06.007Z');
});
