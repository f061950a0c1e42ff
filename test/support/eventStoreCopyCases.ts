import { expect, test } from '@jest/globals';
import { NO_STREAM, WrongExpectedRevision, type CopyTarget, type StoredEvent } from '../../src/events/store/eventStore.js';
import { freshCategory, newEvent, newEvents } from './eventStoreEvents.js';
import type { EventStoreUnderTest } from './eventStoreHarness.js';

/** Without what is new in each log. */
const asCopied = ({ position, ...event }: StoredEvent): Omit<StoredEvent, 'position'> => {
  expect(typeof position).toBe('bigint');
  return event;
};

/** Case 33: what a log that is filled with another one's events promises. */
export const copyCases = (under: () => EventStoreUnderTest): void => {
  const store = (): CopyTarget => under().store;

  /** The events of another log: of several streams in turn, from another time, each with its own. */
  const otherLog = (category: string, count: number): readonly StoredEvent[] => {
    const revisions = new Map<string, bigint>();
    return Array.from({ length: count }, (_, index) => {
      // Neighbours of one stream, and streams that come back.
      const stream = `${category}${String(Math.floor(index / 3) % 5)}`;
      const revision = (revisions.get(stream) ?? NO_STREAM) + 1n;
      revisions.set(stream, revision);
      return {
        ...newEvent(index % 2 === 0 ? 'Opened' : 'Changed', { index, text: '\0 \ud800', zero: -0 }),
        schemaVersion: 1 + (index % 3),
        stream,
        revision,
        position: BigInt(index * 10 + 7),
        recordedAt: new Date(Date.UTC(2020, 0, 1) + Math.floor(index / 2) * 1_000).toISOString(),
      };
    });
  };

  const inLog = async (category: string): Promise<readonly StoredEvent[]> =>
    (await store().readAll({ after: 0n, max: 10_000, filter: { streamPrefixes: [category] } })).events;

  test('33 a copy has the order, ids, revisions and times of the other log', async () => {
    const category = freshCategory();
    const events = otherLog(category, 200);
    await store().copy(events);
    const copied = await inLog(category);
    expect(copied.map(asCopied)).toEqual(events.map(asCopied));
    expect((await store().readStream(`${category}2`)).head).toBe(
      events.findLast(({ stream }) => stream === `${category}2`)?.revision,
    );
  });

  test('33 a copy that is repeated from anywhere, in other parts, adds nothing twice and goes on', async () => {
    const category = freshCategory();
    const events = otherLog(category, 100);
    await store().copy(events.slice(0, 40));
    await store().copy(events.slice(0, 40));
    await store().copy(events.slice(16, 71));
    await store().copy(events.slice(0, 1));
    const reopened = await under().reopen();
    await store().copy(events.slice(70));
    await reopened.close();
    expect((await inLog(category)).map(asCopied)).toEqual(events.map(asCopied));
  });

  test('33 what comes after a copy goes on from it', async () => {
    const category = freshCategory();
    const events = otherLog(category, 9);
    await store().copy(events);
    expect(await store().append(`${category}0`, newEvents(2), 2n)).toMatchObject({ revision: 4n });
    const { events: all } = await store().readStream(`${category}0`);
    expect(all.map(({ revision }) => revision)).toEqual([0n, 1n, 2n, 3n, 4n]);
    expect((all[3]?.recordedAt ?? '') > (all[2]?.recordedAt ?? '')).toBe(true);
  });

  test('33 a stream that has other events, or lacks those before, refuses a copy', async () => {
    const category = freshCategory();
    const events = otherLog(category, 6);
    await store().append(`${category}1`, newEvents(1), NO_STREAM);
    await expect(store().copy(events)).rejects.toThrow(WrongExpectedRevision);
    expect((await store().readStream(`${category}1`)).head).toBe(0n);
    const gap = otherLog(freshCategory(), 3).slice(1);
    await expect(store().copy(gap)).rejects.toThrow(WrongExpectedRevision);
    expect((await store().readStream(gap[0]?.stream ?? '')).head).toBe(NO_STREAM);
  });

  test('33 dropped streams are known, up to where they were dropped', async () => {
    const category = freshCategory();
    await store().copy(otherLog(category, 12));
    await store().drop(`${category}1`, 2n);
    await store().drop(`${category}2`, 2n);
    await store().append(`${category}2`, newEvents(2), 2n);
    await store().drop(`${category}3`, 2n);
    await store().append(`${category}3`, newEvents(2), 2n);
    await store().drop(`${category}3`, 4n);
    const ours = [...(await store().dropped())].filter(([stream]) => stream.startsWith(category));
    expect(new Map(ours)).toEqual(
      new Map([
        [`${category}1`, 2n],
        [`${category}2`, 2n],
        [`${category}3`, 4n],
      ]),
    );
  });

  test('33 a copy of more than an append takes is written in several', async () => {
    const category = freshCategory();
    const text = 'x'.repeat(300_000);
    const events = otherLog(category, 12).map((event, index) => ({
      ...event,
      stream: `${category}1`,
      revision: BigInt(index),
      data: { text, index },
    }));
    await store().copy(events);
    expect((await inLog(category)).map(asCopied)).toEqual(events.map(asCopied));
  });
};
