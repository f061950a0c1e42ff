import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createPriority } from '../../src/platform/priority.js';
import { createSemaphore } from '../../src/platform/semaphore.js';
import { createTestClock } from '../support/testClock.js';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};

const createWorld = () => {
  const clock = createTestClock();
  const priority = createPriority(clock);
  const permits = priority.first(createSemaphore(2));
  const stopping = new AbortController();
  const world = { clock, permits, stopping, steps: 0 };
  const walk = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await priority.giveWay(stopping.signal);
      world.steps += 1;
    }
  };
  return { ...world, walks: () => [walk(), walk()], stepsOf: () => world.steps };
};

test('steps give way while anything comes first, and never stand still', async () => {
  const { clock, permits, stopping, walks, stepsOf } = createWorld();
  await permits.acquire();
  await permits.acquire();
  const ended = walks();
  await turns();
  expect(stepsOf()).toBe(0);
  for (let waited = 0; waited < 10; waited += 1) {
    await clock.advance(10);
    await turns();
  }
  // One at a time, however many walk.
  expect(stepsOf()).toBe(10);
  permits.release();
  await turns();
  expect(stepsOf()).toBe(10);
  permits.release();
  await turns();
  expect(stepsOf()).toBeGreaterThan(15);
  stopping.abort();
  await Promise.all(ended);
});

test('after steps for a while there is a rest', async () => {
  const { clock, stopping, walks, stepsOf } = createWorld();
  const ended = walks();
  await turns();
  const rested = stepsOf();
  expect(rested).toBeGreaterThan(10);
  await clock.advance(10);
  await turns();
  // Those that were on their way noticed it.
  expect(stepsOf()).toBeLessThanOrEqual(rested + 1);
  const before = stepsOf();
  await turns();
  expect(stepsOf()).toBe(before);
  await clock.advance(10);
  await turns();
  expect(stepsOf()).toBeGreaterThan(before + 10);
  stopping.abort();
  await Promise.all(ended);
});
