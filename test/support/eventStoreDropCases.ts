import { expect, test } from '@jest/globals';
import { NO_STREAM, WrongExpectedRevision, type EventStore } from '../../src/events/store/eventStore.js';
import { follow, freshCategory, freshStream, idsOf, newEvents, readCategory } from './eventStoreEvents.js';
import type { EventStoreUnderTest } from './eventStoreHarness.js';

/** Case 34: dropping a stream. */
export const dropCases = (under: () => EventStoreUnderTest): void => {
  const store = (): EventStore => under().store;

  test('34 a dropped stream has no events, keeps its revision, and goes on there', async () => {
    const stream = freshStream();
    const [first, second] = [newEvents(3), newEvents(2)];
    await store().append(stream, first, NO_STREAM);
    await store().drop(stream, 2n);
    const gone = { events: [], head: 2n };
    expect(await store().readStream(stream)).toStrictEqual(gone);
    expect(await store().readStream(stream, { direction: 'backwards' })).toStrictEqual(gone);
    expect(await store().readStream(stream, { direction: 'backwards', from: 1n, max: 1 })).toStrictEqual(gone);
    expect(await store().readStream(stream, { from: 3n })).toStrictEqual(gone);
    await expect(store().append(stream, newEvents(1), NO_STREAM)).rejects.toMatchObject({ actual: 2n });
    await expect(store().append(stream, newEvents(1), 1n)).rejects.toThrow(WrongExpectedRevision);
    expect(await store().append(stream, second, 2n)).toMatchObject({ revision: 4n });
    const reopened = await under().reopen();
    for (const reader of [store(), reopened]) {
      const { events, head } = await reader.readStream(stream);
      expect([idsOf(events), events.map(({ revision }) => revision), head]).toStrictEqual([idsOf(second), [3n, 4n], 4n]);
      const { events: backwards } = await reader.readStream(stream, { direction: 'backwards' });
      expect(idsOf(backwards)).toStrictEqual(idsOf(second).toReversed());
    }
    await reopened.close();
  });

  test('34 by "exists" and "any" it goes on too', async () => {
    for (const expected of ['exists', 'any'] as const) {
      const stream = freshStream();
      await store().append(stream, newEvents(1), NO_STREAM);
      await store().drop(stream, 0n);
      expect(await store().append(stream, newEvents(1), expected)).toMatchObject({ revision: 1n });
    }
  });

  test('34 repeating an append that was dropped adds nothing', async () => {
    const stream = freshStream();
    const events = newEvents(2);
    await store().append(stream, events, NO_STREAM);
    await store().drop(stream, 1n);
    // Not every store knows the ids of what was dropped.
    await store()
      .append(stream, events, NO_STREAM)
      .catch((error: unknown) => {
        expect(error).toBeInstanceOf(WrongExpectedRevision);
      });
    expect(await store().readStream(stream)).toStrictEqual({ events: [], head: 1n });
  });

  test('34 only the stream as it was seen is dropped, and again when it has grown', async () => {
    const stream = freshStream();
    await expect(store().drop(stream, NO_STREAM)).rejects.toThrow(WrongExpectedRevision);
    await expect(store().drop(stream, 0n)).rejects.toMatchObject({ actual: NO_STREAM });
    await store().append(stream, newEvents(2), NO_STREAM);
    await expect(store().drop(stream, 0n)).rejects.toMatchObject({ actual: 1n });
    expect((await store().readStream(stream)).events).toHaveLength(2);
    await Promise.all([store().drop(stream, 1n), store().drop(stream, 1n)]);
    await store().append(stream, newEvents(1), 1n);
    await expect(store().drop(stream, 1n)).rejects.toMatchObject({ actual: 2n });
    await store().drop(stream, 2n);
    expect(await store().readStream(stream)).toStrictEqual({ events: [], head: 2n });
  });

  test('34 other streams keep their events and positions, and no position is given twice', async () => {
    const category = freshCategory();
    const start = await store().lastPosition();
    const [kept, gone] = [`${category}kept`, `${category}gone`];
    for (let index = 0; index < 3; index += 1) {
      await store().append(kept, newEvents(1), 'any');
      await store().append(gone, newEvents(250), 'any');
    }
    const before = (await readCategory(store(), kept)).map(({ id, position }) => [id, position]);
    const end = await store().lastPosition();
    // It holds the last event of the log.
    await store().drop(gone, 749n);
    expect(await store().lastPosition()).toBeGreaterThanOrEqual(end);
    const { position } = await store().append(kept, newEvents(1), 2n);
    expect(position).toBeGreaterThan(end);
    const after = (await readCategory(store(), kept)).map(({ id, position: at }) => [id, at]);
    expect(after.slice(0, -1)).toStrictEqual(before);
    const filter = { streamPrefixes: [kept] };
    const { events } = await follow(store(), { after: start, filter }, (received) => received.position >= position);
    expect(idsOf(events)).toStrictEqual(after.map(([id]) => id));
  });
};
