import { expect, test } from '@jest/globals';
import { createListeningClock } from '../../src/platform/listeningClock.js';
import type { Clock } from '../../src/platform/clock.js';
import { createTestClock } from '../support/testClock.js';

/** A clock of which the test says when each timer fires, and so how late. */
const manualClock = (): Clock & { readonly delays: readonly number[]; fire(): void } => {
  const delays: number[] = [];
  let task: (() => void) | null = null;
  return {
    delays,
    now: () => 0,
    schedule: (delayMs, due) => {
      delays.push(delayMs);
      task = due;
      return () => (task = null);
    },
    fire: () => {
      const due = task;
      task = null;
      due?.();
    },
  };
};

test('a delay passes in its time while the process listens', async () => {
  const clock = createTestClock();
  let fired = 0;
  createListeningClock(clock).schedule(1_500, () => (fired += 1));
  await clock.advance(1_499);
  expect(fired).toBe(0);
  await clock.advance(1);
  expect(fired).toBe(1);
  expect(clock.pending()).toBe(0);
});

test('a timer that fires late counts no more than its part, and sockets are read before the last one', () => {
  const clock = manualClock();
  let fired = 0;
  createListeningClock(clock).schedule(1_500, () => (fired += 1));
  // Each of these may have been minutes late.
  while (fired === 0) clock.fire();
  expect(clock.delays).toEqual([...Array.from({ length: 30 }, () => 50), 0]);
  expect(fired).toBe(1);
});

test('a short delay is not cut into parts that cost more than they tell', () => {
  const clock = manualClock();
  let fired = 0;
  createListeningClock(clock).schedule(25, () => (fired += 1));
  while (fired === 0) clock.fire();
  expect(clock.delays).toEqual([10, 10, 5, 0]);
});

test('cancelling ends it in any of its parts', async () => {
  const clock = createTestClock();
  let fired = 0;
  const cancel = createListeningClock(clock).schedule(1_500, () => (fired += 1));
  await clock.advance(700);
  cancel();
  expect(clock.pending()).toBe(0);
  await clock.advance(5_000);
  expect(fired).toBe(0);
});
