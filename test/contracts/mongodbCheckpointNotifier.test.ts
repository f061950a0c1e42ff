import { describe, expect, test } from '@jest/globals';
import { nextTurn } from '../../src/platform/eventLoop.js';
import { createCheckpointNotifier } from '../../src/projections/store/mongodb/checkpointNotifier.js';
import type { ReadModel } from '../../src/projections/store/readModelStore.js';
import { createTestClock } from '../support/testClock.js';

const sites: ReadModel = { name: 'site', version: '1', indexes: [] };

const world = () => {
  const clock = createTestClock();
  const store = { checkpoint: 0n, reads: 0 };
  const notifier = createCheckpointNotifier(() => {
    store.reads += 1;
    return Promise.resolve(store.checkpoint);
  }, clock);
  const wait = (position: bigint, signal = new AbortController().signal) => notifier.wait(sites, position, signal);
  return { clock, store, notifier, wait };
};

describe('waiting for a checkpoint in MongoDB', () => {
  test('a checkpoint that another process moved is noticed soon, and within 100 ms after a long wait', async () => {
    const { clock, store, wait } = world();
    const first = wait(1n);
    await clock.advance(10);
    store.checkpoint = 1n;
    await clock.advance(20);
    expect(await first).toBe(true);

    const second = wait(2n);
    await clock.advance(60_000);
    store.checkpoint = 2n;
    await clock.advance(100);
    expect(await second).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  test('polling slows down, is shared by all waiters, and ends with the last of them', async () => {
    const { clock, store, wait } = world();
    const leaving = Array.from({ length: 50 }, () => new AbortController());
    const waiting = leaving.map(({ signal }) => wait(1n, signal));
    await clock.advance(10_000);
    expect(store.reads).toBeGreaterThan(50);
    expect(store.reads).toBeLessThan(120);
    for (const one of leaving) one.abort();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]));
    const before = store.reads;
    await clock.advance(10_000);
    expect([store.reads, clock.pending()]).toEqual([before, 0]);
  });

  test('a write of this process is noticed without waiting for the next poll', async () => {
    const { clock, store, notifier, wait } = world();
    const waiting = wait(1n);
    await clock.advance(60_000);
    store.checkpoint = 1n;
    notifier.notify('other');
    notifier.notify('site');
    expect(await waiting).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  test('a write of this process during a check is followed by another check at once', async () => {
    const answers: ((checkpoint: bigint) => void)[] = [];
    const clock = createTestClock();
    const notifier = createCheckpointNotifier(() => new Promise((resolve) => answers.push(resolve)), clock);
    const waiting = notifier.wait(sites, 1n, new AbortController().signal);
    notifier.notify('site');
    answers.shift()?.(0n);
    await nextTurn();
    expect(clock.pending()).toBe(0);
    answers.shift()?.(1n);
    expect(await waiting).toBe(true);
  });

  test('a new waiter is answered at once while others have waited long', async () => {
    const { clock, store, wait } = world();
    const longWait = wait(9n);
    await clock.advance(60_000);
    store.checkpoint = 1n;
    expect(await wait(1n)).toBe(true);
    store.checkpoint = 9n;
    await clock.advance(100);
    expect(await longWait).toBe(true);
  });
});
