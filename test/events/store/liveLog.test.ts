import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import type { StoredEvent } from '../../../src/events/store/eventStore.js';
import { createLiveLog } from '../../../src/events/store/liveLog.js';
import type { LiveEvent } from '../../../src/events/store/recentEvents.js';
import { nextTurn } from '../../../src/platform/eventLoop.js';
import { createTestClock } from '../../support/testClock.js';

test('events of ever other categories, as of another program on the same log, take no memory for long', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const heapBytes = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const live = createLiveLog({
    clock: createTestClock(),
    maxEvents: 10,
    maxBytes: 4_000_000,
    reportMs: 250,
    follow: () => () => undefined,
  });
  live.begin(0n);
  const event = (position: number): LiveEvent => ({
    ...{
      stream: `${'x'.repeat(1_000)}${String(position)}-1`,
      revision: 0n,
      position: BigInt(position),
      type: 'Other',
      bytes: 100,
    },
    decoded: () => null,
  });
  const before = heapBytes();
  for (let position = 1; position <= 100_000; position += 1) live.add([event(position)]);
  expect(heapBytes() - before).toBeLessThan(20_000_000);
  // It is in use until here.
  expect(live.head()).toBe(100_000n);
});

const event = (position: number, type = 'Noted'): LiveEvent => ({
  ...{ stream: 'thing-1', revision: BigInt(position - 1), position: BigInt(position), type, bytes: 100 },
  decoded: () => ({ position: BigInt(position) }) as StoredEvent,
});

/** A log that is followed from its beginning. */
const openLive = ({ maxEvents = 10, maxBytes = 10_000 } = {}) => {
  const clock = createTestClock();
  const counts = { followed: 0, stopped: 0 };
  const live = createLiveLog({
    ...{ clock, maxEvents, maxBytes, reportMs: 250 },
    follow: () => {
      counts.followed += 1;
      live.begin(0n);
      return () => (counts.stopped += 1);
    },
  });
  /** `take`: the next slice, which is waited for when it resolves. */
  const subscribe = (types: readonly string[] = ['Noted'], after = 0n) => {
    const ending = new AbortController();
    const slices = live.subscribe({ after, filter: { types }, signal: ending.signal }, async function* history(options) {
      await nextTurn();
      yield { events: [], position: live.start() ?? options.after, bytes: 0 };
    });
    const take = async () => {
      const next = slices.next();
      next.catch(() => undefined);
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      return { next };
    };
    return {
      take,
      end: () => {
        ending.abort();
      },
    };
  };
  return { live, clock, counts, subscribe };
};

test('those who want none of the events learn again and again how far the log has come', async () => {
  const { live, clock, subscribe } = openLive();
  const { take } = subscribe(['Wanted']);
  for (const position of [1, 2, 3]) {
    const { next } = await take();
    live.add([event(position)]);
    await clock.advance(250);
    expect((await next).value).toEqual({ events: [], position: BigInt(position), bytes: 0 });
  }
  expect(clock.pending()).toBe(0);
});

test.each([
  ['events', { maxEvents: 2 }, 5, 3n],
  ['bytes', { maxBytes: 250 }, 6, 4n],
])('the oldest go when there are too many %s, and who is further behind reads the log', async (_, limits, count, start) => {
  const { live, subscribe } = openLive(limits);
  live.keepFollowing();
  for (let position = 1; position <= count; position += 1) live.add([event(position)]);
  expect([live.start(), live.head()]).toEqual([start, BigInt(count)]);
  const { take } = subscribe();
  expect((await (await take()).next).value).toMatchObject({ events: [], position: start });
  const rest = Array.from({ length: count - Number(start) }, (_event, index) => ({ position: start + BigInt(index) + 1n }));
  expect((await (await take()).next).value).toMatchObject({ events: rest, position: BigInt(count) });
  live.close();
});

test('a fault ends those that wait, or come to wait, until something is added', async () => {
  const { live, subscribe } = openLive();
  live.keepFollowing();
  const [one, other, later] = [subscribe(), subscribe(), subscribe()];
  const { next } = await one.take();
  live.fail(new Error('denied'));
  await expect(next).rejects.toThrow('denied');
  await expect((await other.take()).next).rejects.toThrow('denied');
  live.add([]);
  const waiting = await later.take();
  live.add([event(1)]);
  expect((await waiting.next).value).toMatchObject({ events: [{ position: 1n }], position: 1n });
  later.end();
  live.close();
});

test('nothing is kept once nobody follows, and the log begins anew with whoever does', async () => {
  const { live, clock, counts, subscribe } = openLive();
  for (const times of [1, 2]) {
    const { take, end } = subscribe(['Wanted']);
    const { next } = await take();
    expect([counts.followed, counts.stopped, live.start()]).toEqual([times, times - 1, 0n]);
    live.add([event(1)]);
    end();
    expect((await next).done).toBe(true);
    expect([counts.stopped, live.start(), clock.pending()]).toEqual([times, null, 0]);
    live.add([event(2)]);
    expect(live.lastMatching({})).toBe(1n);
  }
});
