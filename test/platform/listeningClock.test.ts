import { expect, test } from '@jest/globals';
import { createListeningClock } from '../../src/platform/listeningClock.js';
import type { Clock } from '../../src/platform/clock.js';
import { createTestClock } from '../support/testClock.js';

/** A clock whose every timer fires when the test says, `lateMs` after it was due. */
const manualClock = (lateMs: number): Clock & { readonly delays: readonly number[]; fire(): void } => {
  const delays: number[] = [];
  let now = 0;
  let task: (() => void) | null = null;
  return {
    delays,
    now: () => now,
    schedule: (delayMs, due) => {
      delays.push(delayMs);
      task = due;
      return () => (task = null);
    },
    fire: () => {
      const due = task;
      now += (delays.at(-1) ?? 0) + lateMs;
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

test.each([
  ['minutes late counts twice its part', 120_000, 15],
  ['a little late counts in full', 25, 20],
  ['before its part is over, because the clock was set back, counts its part', -3_600_000, 30],
])('a timer that fires %s, and sockets are read before the last one', (_name, lateMs, parts) => {
  const clock = manualClock(lateMs);
  let fired = 0;
  createListeningClock(clock).schedule(1_500, () => (fired += 1));
  while (fired === 0) clock.fire();
  expect(clock.delays).toEqual([...Array.from({ length: parts }, () => 50), 0]);
  expect(fired).toBe(1);
});

test('a short delay is not cut into parts that cost more than they tell', () => {
  const clock = manualClock(0);
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
