import { describe, expect, test } from '@jest/globals';
import { createArrivals } from '../../src/projections/store/mongodb/arrivals.js';
import type { ReadModel } from '../../src/projections/store/readModelStore.js';
import { createTestClock } from '../support/testClock.js';

const sites: ReadModel = { name: 'site', version: '1', indexes: [] };

const world = () => {
  const clock = createTestClock();
  const store = { checkpoint: 0n, looks: 0 };
  const arrivals = createArrivals(() => {
    store.looks += 1;
    return Promise.resolve(store.checkpoint);
  }, clock);
  const wait = (position: bigint, signal = new AbortController().signal) => arrivals.wait(sites, position, signal);
  return { clock, store, arrivals, wait };
};

describe('waiting for a checkpoint in MongoDB', () => {
  test('what another process moved is noticed soon, and within 100 ms after a long wait', async () => {
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

  test('looks grow rare, are shared by all who wait, and end with the last of them', async () => {
    const { clock, store, wait } = world();
    const leaving = Array.from({ length: 50 }, () => new AbortController());
    const waiting = leaving.map(({ signal }) => wait(1n, signal));
    await clock.advance(10_000);
    expect(store.looks).toBeGreaterThan(50);
    expect(store.looks).toBeLessThan(120);
    for (const one of leaving) one.abort();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]));
    const before = store.looks;
    await clock.advance(10_000);
    expect([store.looks, clock.pending()]).toEqual([before, 0]);
  });

  test('what this process wrote is noticed without waiting for the next look', async () => {
    const { clock, store, arrivals, wait } = world();
    const waiting = wait(1n);
    await clock.advance(60_000);
    store.checkpoint = 1n;
    arrivals.announce('other');
    arrivals.announce('site');
    expect(await waiting).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  test('one who comes while others have waited long is answered at once', async () => {
    const { clock, store, wait } = world();
    const patient = wait(9n);
    await clock.advance(60_000);
    store.checkpoint = 1n;
    expect(await wait(1n)).toBe(true);
    store.checkpoint = 9n;
    await clock.advance(100);
    expect(await patient).toBe(true);
  });
});
