import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { NO_STREAM, type EventStore } from '../../src/events/store/eventStore.js';
import {
  asWritten,
  follow,
  freshCategory,
  freshStream,
  idsOf,
  newEvent,
  newEvents,
  readCategory,
  startFollowing,
} from './eventStoreEvents.js';
import type { EventStoreFaults, EventStoreUnderTest } from './eventStoreHarness.js';

/** Cases 19 to 23: subscriptions. */
export const subscribeCases = (under: () => EventStoreUnderTest, { process }: EventStoreFaults): void => {
  const store = (): EventStore => under().store;

  const write = async (category: string, writer: string, count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1)
      await store().append(`${category}${writer}`, newEvents(1 + (index % 3)), 'any');
  };

  test('19 history, then live, without gap or duplicate at the join, under concurrent writers', async () => {
    const category = freshCategory();
    const after = await store().lastPosition();
    await write(category, 'before', 39);
    const writing = Promise.all(['a', 'b', 'c'].map((writer) => write(category, writer, 39)));
    const following: ReturnType<typeof follow>[] = [];
    for (let follower = 0; follower < 5; follower += 1) {
      const options = { after, filter: { streamPrefixes: [category] }, maxBatch: 1 + follower * 7 };
      following.push(follow(store(), options, ({ events }) => events.length >= 4 * 39 * 2));
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    }
    await writing;
    const all = await readCategory(store(), category);
    expect(all).toHaveLength(4 * 39 * 2);
    for (const { events } of await Promise.all(following)) expect(events).toEqual(all);
  });

  if (typeof process === 'function') {
    test('19 likewise when other processes write', async () => {
      const category = freshCategory();
      const after = await store().lastPosition();
      const writers = await Promise.all([1, 2].map(() => process(under(), { kind: 'write', category, count: 100 })));
      const following = follow(store(), { after, filter: { streamPrefixes: [category] } }, ({ events }) => events.length >= 296);
      for (const writer of writers) writer.go();
      const [, ...answers] = await Promise.all([write(category, 'here', 48), ...writers.map(({ answer }) => answer)]);
      // The subscription would wait for the events of one that failed.
      expect(answers).toEqual([{}, {}]);
      expect((await following).events).toEqual(await readCategory(store(), category));
    });
  } else {
    test.skip(`19 likewise when other processes write (cannot be shown: ${process.because})`, () => undefined);
  }

  test('19 a batch holds no more than `maxBatch` events, and no event is delivered late or twice', async () => {
    const category = freshCategory();
    const after = await store().lastPosition();
    await store().append(`${category}1`, newEvents(95), NO_STREAM);
    const { events, slices } = await follow(
      store(),
      { after, filter: { streamPrefixes: [category] }, maxBatch: 10 },
      (received) => received.events.length >= 95,
    );
    expect(events.map(({ revision }) => Number(revision))).toEqual(Array.from({ length: 95 }, (_, index) => index));
    expect(Math.max(...slices.map((slice) => slice.events.length))).toBeLessThanOrEqual(10);
  });

  test('20 resuming from any position gives the same suffix', async () => {
    const category = freshCategory();
    const after = await store().lastPosition();
    await Promise.all(['a', 'b', 'c'].map((writer) => write(category, writer, 6)));
    const filter = { streamPrefixes: [category] };
    const { events: all, slices } = await follow(store(), { after, filter, maxBatch: 3 }, ({ events }) => events.length >= 36);
    expect(all).toHaveLength(36);
    for (const position of [
      after,
      ...all.slice(0, -1).map((event) => event.position),
      ...slices.slice(0, -1).map((slice) => slice.position),
    ]) {
      const expected = all.filter((event) => event.position > position);
      if (expected.length === 0) continue;
      const resumed = await follow(store(), { after: position, filter }, ({ events }) => events.length >= expected.length);
      expect(resumed.events).toEqual(expected);
    }
  });

  test('21 a subscription filters, and its position advances without matches', async () => {
    const [category, other] = [freshCategory(), freshCategory()];
    const after = await store().lastPosition();
    const filter = { streamPrefixes: [category], types: ['Wanted'] };
    await store().append(`${category}1`, [newEvent('Unwanted'), newEvent('Wanted')], 'any');
    const { position: end } = await store().append(`${other}1`, newEvents(300), 'any');
    const caughtUp = await follow(store(), { after, filter }, ({ position }) => position >= end);
    expect(caughtUp.events).toMatchObject([{ type: 'Wanted', stream: `${category}1`, revision: 1n }]);

    let moved = (): void => undefined;
    const live = follow(store(), { after: end, filter }, ({ events, position }) => {
      if (events.length === 0 && position > end) moved();
      return events.length > 0;
    });
    await new Promise<void>((resolve) => {
      moved = resolve;
      void store().append(`${other}1`, newEvents(300), 'any');
    });
    const [wanted, unwanted] = [newEvent('Wanted'), newEvent('Unwanted')];
    await store().append(`${category}2`, [unwanted, wanted], NO_STREAM);
    expect((await live).events.map(asWritten)).toEqual([wanted]);
  });

  test('22 a slow consumer costs bounded memory', async () => {
    const category = freshCategory();
    const after = await store().lastPosition();
    await store().append(`${category}1`, newEvents(1), 'any');
    const options = { after, filter: { streamPrefixes: [category] }, maxBatch: 10 };
    const iterators = Array.from({ length: 4 }, () => startFollowing(store(), options));
    for (const iterator of iterators) await iterator.next();
    const before = heapInUse();
    const padding = 'x'.repeat(20_000);
    for (let index = 0; index < 40; index += 1) {
      const events = Array.from({ length: 20 }, () => newEvent('Happened', { padding }));
      await store().append(`${category}${String(index)}`, events, 'any');
    }
    // 16 MB were written, for each of four consumers that do not ask for them.
    expect(heapInUse() - before).toBeLessThan(8_000_000);
    for (const iterator of iterators) {
      expect((await iterator.next()).value).toMatchObject({ events: { length: 10 } });
      await iterator.return?.();
    }
  });

  test('23 a consumer that throws ends its subscription with its error; it can be resumed, and others go on', async () => {
    const category = freshCategory();
    const after = await store().lastPosition();
    const filter = { streamPrefixes: [category] };
    const events = newEvents(6);
    const other = follow(store(), { after, filter }, (received) => received.events.length >= 6);
    await store().append(`${category}1`, events, NO_STREAM);
    let seen = after;
    const consuming = (async () => {
      for await (const slice of store().subscribe({ after, filter, maxBatch: 2, signal: new AbortController().signal })) {
        if (slice.events.some(({ revision }) => revision >= 2n)) throw new Error('cannot take it');
        seen = slice.position;
      }
    })();
    await expect(consuming).rejects.toThrow('cannot take it');
    const resumed = await follow(store(), { after: seen, filter }, (received) => received.events.length >= 4);
    expect(idsOf(resumed.events)).toEqual(idsOf(events).slice(2));
    expect(idsOf((await other).events)).toEqual(idsOf(events));
  });

  describe('a subscription ends', () => {
    const ends = async (abortWhen: 'before' | 'waiting' | 'between'): Promise<number> => {
      const stream = freshStream();
      const after = await store().lastPosition();
      if (abortWhen === 'between') await store().append(stream, newEvents(3), NO_STREAM);
      const controller = new AbortController();
      if (abortWhen === 'before') controller.abort();
      if (abortWhen === 'waiting')
        setImmediate(() =>
          setImmediate(() => {
            controller.abort();
          }),
        );
      let slices = 0;
      for await (const slice of store().subscribe({
        after,
        filter: { streamPrefixes: [stream] },
        maxBatch: 1,
        signal: controller.signal,
      })) {
        if (slice.events.length > 0) slices += 1;
        if (abortWhen === 'between') controller.abort();
      }
      return slices;
    };

    test('19 at once when it is aborted before it starts', async () => {
      expect(await ends('before')).toBe(0);
    });

    test('19 at once when it is aborted while it waits', async () => {
      expect(await ends('waiting')).toBe(0);
    });

    test('19 when it is aborted between two batches', async () => {
      expect(await ends('between')).toBe(1);
    });
  });
};

/** Bytes of the heap in use after everything unreachable was collected. */
const heapInUse = (): number => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return globalThis.process.memoryUsage().heapUsed;
};
