import { expect, test } from '@jest/globals';
import {
  AppendTooLarge,
  CorruptedRetry,
  InvalidAppend,
  MAX_APPEND_BYTES,
  MAX_STREAM_NAME,
  NO_STREAM,
  WrongExpectedRevision,
  type EventStore,
} from '../../src/events/store/eventStore.js';
import { asWritten, freshCategory, freshStream, idsOf, newEvent, newEvents } from './eventStoreEvents.js';

/** Cases 1 to 13, 15, 24, 25 and 31: what one append promises. */
export const appendCases = (store: () => EventStore): void => {
  const streamOf = async (count: number): Promise<string> => {
    const stream = freshStream();
    if (count > 0) await store().append(stream, newEvents(count), NO_STREAM);
    return stream;
  };

  const expectWrong = async (stream: string, expected: bigint | 'exists', actual: bigint): Promise<void> => {
    const appending = store().append(stream, newEvents(1), expected);
    await expect(appending).rejects.toThrow(WrongExpectedRevision);
    await expect(appending).rejects.toMatchObject({ stream, expected, actual });
    expect((await store().readStream(stream)).head).toBe(actual);
  };

  test('1 none expected, on a new stream', async () => {
    const stream = freshStream();
    const event = newEvent();
    const { revision } = await store().append(stream, [event], NO_STREAM);
    expect(revision).toBe(0n);
    expect((await store().readStream(stream)).events.map(asWritten)).toEqual([event]);
  });

  test('2 none expected, on an existing stream: wrong, with the actual revision', async () => {
    await expectWrong(await streamOf(2), NO_STREAM, 1n);
  });

  test('3 an exact revision', async () => {
    const stream = await streamOf(3);
    expect(await store().append(stream, newEvents(2), 2n)).toMatchObject({ revision: 4n });
  });

  test('4 a stale revision: wrong', async () => {
    await expectWrong(await streamOf(3), 1n, 2n);
  });

  test('5 a future revision: wrong, on existing and missing streams', async () => {
    await expectWrong(await streamOf(3), 3n, 2n);
    await expectWrong(await streamOf(3), 2n ** 62n, 2n);
    await expectWrong(freshStream(), 0n, NO_STREAM);
  });

  test('6 any, on new and existing streams', async () => {
    const stream = freshStream();
    expect(await store().append(stream, newEvents(1), 'any')).toMatchObject({ revision: 0n });
    expect(await store().append(stream, newEvents(2), 'any')).toMatchObject({ revision: 2n });
  });

  test('7 exists, on a missing stream: wrong; on an existing one it goes on', async () => {
    await expectWrong(freshStream(), 'exists', NO_STREAM);
    expect(await store().append(await streamOf(1), newEvents(1), 'exists')).toMatchObject({ revision: 1n });
  });

  test('8 several events are atomic and contiguous, in both orders', async () => {
    const category = freshCategory();
    const appends = Array.from({ length: 10 }, (_, index) => ({
      stream: `${category}${String(index % 3)}`,
      events: newEvents(5),
    }));
    await Promise.all(appends.map(({ stream, events }) => store().append(stream, events, 'any')));
    const { events: all } = await store().readAll({ after: 0n, filter: { streamPrefixes: [category] } });
    expect(all).toHaveLength(50);
    for (const { stream, events } of appends) {
      const inLog = idsOf(all).indexOf(events[0]?.id ?? '');
      expect(idsOf(all).slice(inLog, inLog + 5)).toEqual(idsOf(events));
      const inStream = await store().readStream(stream, { from: all[inLog]?.revision ?? -1n, max: 5 });
      expect(idsOf(inStream.events)).toEqual(idsOf(events));
    }
  });

  test('9 an empty append is refused', async () => {
    const stream = freshStream();
    await expect(store().append(stream, [], 'any')).rejects.toThrow(InvalidAppend);
    expect((await store().readStream(stream)).head).toBe(NO_STREAM);
  });

  test.each([
    ['none expected', NO_STREAM, 0],
    ['an exact revision', 1n, 2],
    ['any', 'any', 2],
    ['exists', 'exists', 2],
  ] as const)('10 repeated with the same ids, %s: the same result, and nothing added', async (_, expected, before) => {
    const stream = await streamOf(before);
    const events = newEvents(3);
    const result = await store().append(stream, events, expected);
    expect(await store().append(stream, events, expected)).toEqual(result);
    expect((await store().readStream(stream)).events).toHaveLength(before + 3);
  });

  test('10 repeated while the first attempt is still under way: one effect', async () => {
    const stream = await streamOf(1);
    const events = newEvents(2);
    const [first, second] = await Promise.all([store().append(stream, events, 0n), store().append(stream, events, 0n)]);
    expect(second).toEqual(first);
    expect((await store().readStream(stream)).head).toBe(2n);
  });

  test.each([
    ['none expected', NO_STREAM, 0],
    ['an exact revision', 1n, 2],
    ['any', 'any', 2],
  ] as const)('11 repeated after later appends, %s: the same result, and nothing added', async (_, expected, before) => {
    const stream = await streamOf(before);
    const events = newEvents(2);
    const result = await store().append(stream, events, expected);
    await store().append(stream, newEvents(3), result.revision);
    expect(await store().append(stream, events, expected)).toEqual(result);
    expect((await store().readStream(stream)).head).toBe(result.revision + 3n);
  });

  test.each([
    ['none expected', NO_STREAM, 0],
    ['an exact revision', 1n, 2],
    ['any', 'any', 2],
  ] as const)('12 a partial overlap of ids, %s: a corrupted retry', async (_, expected, before) => {
    const stream = await streamOf(before);
    const [first, second, third] = [newEvent(), newEvent(), newEvent()];
    await store().append(stream, [first, second], expected);
    await expect(store().append(stream, [first, third], expected)).rejects.toThrow(CorruptedRetry);
    await expect(store().append(stream, [first, second, third], expected)).rejects.toThrow(CorruptedRetry);
    expect((await store().readStream(stream)).head).toBe(BigInt(before) + 1n);
  });

  test('12 the same ids, expecting what they led to: a corrupted retry', async () => {
    const stream = await streamOf(2);
    const events = newEvents(2);
    const { revision } = await store().append(stream, events, 1n);
    await expect(store().append(stream, events, revision)).rejects.toThrow(CorruptedRetry);
    await expect(store().append(stream, [newEvent(), ...events.slice(1)], revision)).rejects.toThrow(CorruptedRetry);
    await store().append(stream, newEvents(1), revision);
    await expect(store().append(stream, events, revision + 1n)).rejects.toThrow(CorruptedRetry);
    expect((await store().readStream(stream)).head).toBe(revision + 1n);
  });

  test('13 the same id in another stream is fine', async () => {
    const events = newEvents(2);
    expect(await store().append(freshStream(), events, NO_STREAM)).toMatchObject({ revision: 1n });
    expect(await store().append(freshStream(), events, NO_STREAM)).toMatchObject({ revision: 1n });
  });

  test('15 parallel appends to different streams all succeed', async () => {
    const category = freshCategory();
    const appends = Array.from({ length: 64 }, (_, index) =>
      store().append(`${category}${String(index)}`, newEvents(2), NO_STREAM),
    );
    const results = await Promise.all(appends);
    expect(results.map(({ revision }) => revision)).toEqual(results.map(() => 1n));
    expect(new Set(results.map(({ position }) => position)).size).toBe(64);
  });

  test('24 too large: refused with nothing written; what just fits is taken', async () => {
    const stream = freshStream();
    const half = (bytes: number): ReturnType<typeof newEvent> => newEvent('Happened', { text: 'x'.repeat(bytes) });
    await expect(store().append(stream, [half(MAX_APPEND_BYTES)], 'any')).rejects.toThrow(AppendTooLarge);
    await expect(store().append(stream, [half(500_000), half(500_000)], 'any')).rejects.toThrow(AppendTooLarge);
    await expect(store().append(stream, [newEvent('Happened', { text: '\u{1F600}'.repeat(250_000) })], 'any')).rejects.toThrow(
      AppendTooLarge,
    );
    expect((await store().readStream(stream)).head).toBe(NO_STREAM);
    expect(await store().append(stream, [half(499_000), half(499_000)], NO_STREAM)).toMatchObject({ revision: 1n });
  });

  test.each([
    ['a reserved one', '$settings'],
    ['an empty one', ''],
    ['a control character', 'a\u0000b'],
    ['a line feed', 'a\nb'],
    ['a lone surrogate', 'a\ud800'],
    ['one character too long', 'x'.repeat(MAX_STREAM_NAME + 1)],
  ])('25 a stream name that is not allowed is refused and read as missing: %s', async (_, name) => {
    await expect(store().append(name, newEvents(1), 'any')).rejects.toThrow(InvalidAppend);
    expect(await store().readStream(name)).toEqual({ events: [], head: NO_STREAM });
  });

  test.each([
    ['as long as allowed', (unique: string) => unique.padEnd(MAX_STREAM_NAME, 'x')],
    ['slashes and dashes', (unique: string) => `${unique}/a-b/c--d`],
    ['no ASCII', (unique: string) => `${unique}ü-猫-\u{1F408}`],
    ['spaces, quotes, percent', (unique: string) => `${unique} '"%_*?`],
  ])('25 a stream name that is allowed: %s', async (_, nameOf) => {
    const name = nameOf(freshStream());
    const events = newEvents(1);
    await store().append(name, events, NO_STREAM);
    const slice = await store().readStream(name);
    expect(slice.events.map(asWritten)).toEqual(events);
    expect(slice.events[0]?.stream).toBe(name);
  });

  test('25 stream names are case-sensitive', async () => {
    const stream = freshStream();
    await store().append(`${stream}a`, newEvents(1), NO_STREAM);
    await store().append(`${stream}A`, newEvents(2), NO_STREAM);
    expect((await store().readStream(`${stream}a`)).head).toBe(0n);
    expect((await store().readStream(`${stream}A`)).head).toBe(1n);
  });

  test('31 positions and revisions are bigint at run time', async () => {
    const stream = freshStream();
    const result = await store().append(stream, newEvents(1), NO_STREAM);
    const slice = await store().readStream(stream);
    const log = await store().readAll({ after: 0n, max: 1 });
    const last = await store().lastPosition();
    const values = [
      result.revision,
      result.position,
      slice.head,
      slice.events[0]?.revision,
      slice.events[0]?.position,
      log.position,
      last,
    ];
    expect(values.map((value) => typeof value)).toEqual(values.map(() => 'bigint'));
  });
};
