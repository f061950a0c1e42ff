import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../src/events/envelope.js';
import {
  CorruptedRetry,
  EARLIEST,
  InvalidAppend,
  NO_STREAM,
  PAGE_BYTES,
  type EventStore,
  type NewEvent,
  type StoredEvent,
} from '../../src/events/store/eventStore.js';
import { asWritten, follow, freshCategory, freshStream, idsOf, newEvent, newEvents, readCategory } from './eventStoreEvents.js';
import type { EventStoreUnderTest } from './eventStoreHarness.js';

/**
 * Cases 16 to 18 and the filters of 21: what is read is what was written, in the order of commits.
 */
export const readCases = (under: () => EventStoreUnderTest): void => {
  const store = (): EventStore => under().store;

  test('16 reading forwards and backwards, from a revision, with a maximum', async () => {
    const stream = freshStream();
    const events = newEvents(10);
    await store().append(stream, events, NO_STREAM);
    const read = async (options: Parameters<EventStore['readStream']>[1]): Promise<readonly unknown[]> => {
      const slice = await store().readStream(stream, options);
      expect(slice.head).toBe(9n);
      for (const { revision, id } of slice.events) expect(id).toBe(events[Number(revision)]?.id);
      return slice.events.map(({ data }) => data['index']);
    };
    expect(await read({})).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await read({ from: 7n })).toEqual([7, 8, 9]);
    expect(await read({ from: 2n, max: 3 })).toEqual([2, 3, 4]);
    expect(await read({ from: 10n })).toEqual([]);
    expect(await read({ from: 1_000n })).toEqual([]);
    expect(await read({ direction: 'backwards' })).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(await read({ direction: 'backwards', max: 1 })).toEqual([9]);
    expect(await read({ max: 0 })).toEqual([]);
    expect(await read({ direction: 'backwards', from: 4n, max: 3 })).toEqual([4, 3, 2]);
    expect(await read({ direction: 'backwards', from: 1_000n, max: 2 })).toEqual([9, 8]);
  });

  test('16 a missing stream is empty, and marked as missing', async () => {
    const missing = { events: [], head: NO_STREAM };
    expect(await store().readStream(freshStream())).toEqual(missing);
    expect(await store().readStream(freshStream(), { direction: 'backwards', from: 3n })).toEqual(missing);
  });

  test('16 reads since a moment have what anybody committed before it, and what the process itself has appended', async () => {
    const elsewhere = await under().reopen();
    const names = [freshStream(), freshStream()];
    const headsSince = async (since: number): Promise<readonly bigint[]> => {
      const heads: bigint[] = [];
      for (const name of names) heads.push((await store().readStream(name, { from: 1n, since })).head);
      return heads;
    };
    for (const name of names) {
      await store().append(name, newEvents(1), NO_STREAM);
      await store().readStream(name);
    }
    for (let head = 0n; head < 20n; head += 2n) {
      for (const name of names) await elsewhere.append(name, newEvents(1), head);
      const since = store().moment();
      expect(await headsSince(since)).toStrictEqual([head + 1n, head + 1n]);
      for (const name of names) await store().append(name, newEvents(1), head + 1n);
      expect(await headsSince(since)).toStrictEqual([head + 2n, head + 2n]);
      expect(await headsSince(EARLIEST)).toStrictEqual([head + 2n, head + 2n]);
    }
    await elsewhere.close();
  });

  test('16 at most 1,000 events are read by default', async () => {
    const category = freshCategory();
    await store().append(`${category}1`, newEvents(1_001), NO_STREAM);
    const slice = await store().readStream(`${category}1`);
    expect(slice.events).toHaveLength(1_000);
    expect(slice.head).toBe(1_000n);
    expect((await store().readStream(`${category}1`, { max: 2_000 })).events).toHaveLength(1_001);
    expect((await store().readAll({ after: 0n, filter: { streamPrefixes: [category] } })).events).toHaveLength(1_000);
  });

  const oddities: [string, JsonObject][] = [
    [
      'every 16-bit code unit, NUL and lone surrogates among them',
      { text: String.fromCharCode(...Array.from({ length: 65_536 }, (_, unit) => unit)) },
    ],
    ['characters beyond 16 bits', { '\u{1F600}': '\u{10FFFF}\u{1F468}\u200D\u{1F469}\u200D\u{1F467}' }],
    ['lone surrogates and NUL in keys', { '\ud800': 1, '\udfff': 2, '\u0000': 3, '': 4 }],
    ['what a number cannot hold, as text', { text: '9007199254740993' }],
    [
      'numbers at their limits',
      { numbers: [-0, 0, 5e-324, 1.7976931348623157e308, 9007199254740991, -9007199254740991, 0.1, 1e21] },
    ],
    ['a __proto__ key', JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as JsonObject],
    ['an empty object', {}],
    ['empty things inside', { object: {}, list: [], text: '', nothing: null, no: false }],
    ['keys that look like numbers, and their order', { b: 1, a: 2, 10: 3, 9: 4 }],
    ['deep nesting', JSON.parse(`${'{"a":['.repeat(100)}1${']}'.repeat(100)}`) as JsonObject],
  ];

  test.each(oddities)('17 data and metadata come back as they went in: %s', async (_, data) => {
    const stream = freshStream();
    const event: NewEvent = {
      ...newEvent('Happened', data),
      metadata: { ...newEvent().metadata, requestId: JSON.stringify(data), ...{ data } },
    };
    await store().append(stream, [event], NO_STREAM);
    const stored = (await store().readStream(stream)).events;
    expect(stored.map((each) => exactly(asWritten(each)))).toEqual([exactly(event)]);
    expect((await readCategory(store(), stream)).map(exactly)).toEqual(stored.map(exactly));
  });

  test('17 event types and schema versions come back too', async () => {
    const stream = freshStream();
    const events = ['Größer', 'a b', 'happened', 'Happened'].map((type, index) => ({
      ...newEvent(type),
      schemaVersion: index + 1,
    }));
    await store().append(stream, events, NO_STREAM);
    expect((await store().readStream(stream)).events.map(asWritten)).toEqual(events);
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = { cycle };
  const notJson: [string, unknown][] = [
    ['undefined', undefined],
    ['a bigint', 1n],
    ['NaN', NaN],
    ['Infinity', -Infinity],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a Date', new Date(0)],
    ['a Map', new Map([[1, 2]])],
    ['bytes', Buffer.from('x')],
    ['an object that says how it wants to be written', { toJSON: () => 'x' }],
    ['a hole in a list', Array<number>(2)],
    ['a cycle', cycle],
  ];

  test.each(notJson)('17 what is not JSON is refused before anything is written: %s', async (_, value) => {
    const stream = freshStream();
    const bad = { ...newEvent(), data: { list: [{ value }] } as unknown as JsonObject };
    await expect(store().append(stream, [newEvent(), bad], 'any')).rejects.toThrow(InvalidAppend);
    const badMetadata = { ...newEvent(), metadata: { ...newEvent().metadata, value } as NewEvent['metadata'] };
    await expect(store().append(stream, [newEvent(), badMetadata], 'any')).rejects.toThrow(InvalidAppend);
    expect((await store().readStream(stream)).head).toBe(NO_STREAM);
  });

  const valid = newEvent();
  test.each<[string, NewEvent[]]>([
    ['data that is no object', [{ ...valid, data: [] as unknown as JsonObject }]],
    ['an id that is no UUID', [{ ...valid, id: 'first' }]],
    ['the same id twice', [valid, { ...newEvent(), id: valid.id }]],
    ['an empty type', [{ ...valid, type: '' }]],
    ['a type with a lone surrogate', [{ ...valid, type: 'a\udc00' }]],
    ['schema version 0', [{ ...valid, schemaVersion: 0 }]],
    ['a broken schema version', [{ ...valid, schemaVersion: 1.5 }]],
  ])('17 an event that is not allowed is refused: %s', async (_, events) => {
    await expect(store().append(freshStream(), events, 'any')).rejects.toThrow(InvalidAppend);
  });

  test('18 the order of the whole log is the order of commits, and "after" is exclusive', async () => {
    const category = freshCategory();
    const start = await store().lastPosition();
    const appended: string[] = [];
    let previous = start;
    for (let index = 0; index < 20; index += 1) {
      const events = newEvents(1 + (index % 3));
      const { position } = await store().append(`${category}${String(index % 4)}`, events, 'any');
      appended.push(...idsOf(events));
      const slice = await store().readAll({ after: previous, filter: { streamPrefixes: [category] } });
      expect(idsOf(slice.events)).toEqual(idsOf(events));
      expect(slice.events.at(-1)?.position).toBe(position);
      expect(await store().lastPosition()).toBeGreaterThanOrEqual(position);
      previous = position;
    }
    const { events } = await store().readAll({ after: start, filter: { streamPrefixes: [category] } });
    expect(idsOf(events)).toEqual(appended);
    for (const [index, { position }] of events.entries()) {
      if (index > 0) expect(position).toBeGreaterThan(events[index - 1]?.position ?? position);
      expect(await store().readAll({ after: position, max: 0 })).toEqual({ events: [], position, bytes: 0 });
      const rest = await store().readAll({ after: position, filter: { streamPrefixes: [category] } });
      expect(idsOf(rest.events)).toEqual(appended.slice(index + 1));
    }
  });

  test('18 reading at the end gives nothing, and the position that was reached', async () => {
    const { position } = await store().append(freshStream(), newEvents(1), NO_STREAM);
    for (const filter of [{}, { streamPrefixes: [freshCategory()] }, { types: ['Never'] }]) {
      const slice = await store().readAll({ after: position, filter });
      expect(slice.events).toEqual([]);
      expect(slice.position).toBeGreaterThanOrEqual(position);
    }
  });

  test('12 a repetition among large events, which take several pages, is found by a process that has not seen them', async () => {
    const stream = freshStream();
    const text = 'x'.repeat(6_000);
    let head = NO_STREAM;
    const appends = Array.from({ length: 7 }, () => Array.from({ length: 150 }, () => newEvent('Happened', { text })));
    for (const events of appends) head = (await store().append(stream, events, head)).revision;
    const elsewhere = await under().reopen();
    const repeated = appends[1]?.slice(0, 1) ?? [];
    await expect(elsewhere.append(stream, repeated, head)).rejects.toThrow(CorruptedRetry);
    expect((await elsewhere.append(stream, newEvents(1), head)).revision).toBe(head + 1n);
  });

  test('22 a page and a batch end once they are large, and what follows is there', async () => {
    const category = freshCategory();
    const stream = `${category}1`;
    const after = await store().lastPosition();
    const large = 900_000;
    const events = Array.from({ length: 40 }, () => newEvent('Happened', { text: 'x'.repeat(large) }));
    for (const [index, event] of events.entries()) await store().append(stream, [event], BigInt(index) - 1n);
    // What is still in memory of them is read as well as what is not.
    await store().append(freshStream(), newEvents(1), NO_STREAM);
    const inPages = async (next: (last: StoredEvent | undefined) => Promise<readonly StoredEvent[]>): Promise<void> => {
      const ids: string[] = [];
      for (let last: StoredEvent | undefined; ;) {
        const page = await next(last);
        if (page.length === 0) break;
        expect(page.length * large).toBeLessThan(PAGE_BYTES + 32 * large);
        ids.push(...idsOf(page));
        last = page.at(-1);
      }
      expect(ids).toEqual(idsOf(events));
    };
    const filter = { streamPrefixes: [category] };
    await inPages(async (last) => (await store().readStream(stream, { from: (last?.revision ?? -1n) + 1n })).events);
    await inPages(async (last) => (await store().readAll({ after: last?.position ?? after, filter })).events);
    const backwards = await store().readStream(stream, { direction: 'backwards' });
    expect(idsOf(backwards.events)).toEqual(idsOf(events.toReversed().slice(0, backwards.events.length)));
    expect(backwards.events.length).toBeLessThan(events.length);
    expect(backwards.head).toBe(39n);

    const { slices } = await follow(store(), { after, filter }, (received) => received.events.length === events.length);
    expect(slices.flatMap((slice) => idsOf(slice.events))).toEqual(idsOf(events));
    for (const slice of slices) expect(slice.bytes).toBeLessThan(PAGE_BYTES + 32 * (large + 1_000));
    expect(slices.reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThanOrEqual(events.length * large);
  });

  test('21 filters by stream prefix, type, and both; positions advance past what does not match', async () => {
    const [one, two] = [freshCategory(), freshCategory()];
    const start = await store().lastPosition();
    const names = [`${one}a-1`, `${one}a-2`, `${one}b-1`, two.slice(0, -1), `${two}1`];
    const last = new Map<string, bigint>();
    for (const name of names) {
      for (const type of ['Opened', 'Closed'])
        last.set(`${name} ${type}`, (await store().append(name, [newEvent(type)], 'any')).position);
    }
    const { position: end } = await store().append(freshStream(), newEvents(1), NO_STREAM);
    const read = async (filter: { streamPrefixes?: string[]; types?: string[] }): Promise<string[]> => {
      const slice = await store().readAll({ after: start, filter });
      expect(slice.position).toBeGreaterThanOrEqual(end);
      const upTo = await store().lastPosition(filter);
      expect(upTo).toBeGreaterThanOrEqual(slice.events.at(-1)?.position ?? 0n);
      return slice.events.map(({ stream, type }) => `${stream} ${type}`);
    };
    const both = (...streams: string[]): string[] => streams.flatMap((stream) => [`${stream} Opened`, `${stream} Closed`]);
    expect(await read({ streamPrefixes: [one] })).toEqual(both(`${one}a-1`, `${one}a-2`, `${one}b-1`));
    expect(await read({ streamPrefixes: [`${one}a-`] })).toEqual(both(`${one}a-1`, `${one}a-2`));
    expect(await read({ streamPrefixes: [`${one}a-2`, two] })).toEqual(both(`${one}a-2`, `${two}1`));
    expect(await read({ streamPrefixes: [two.slice(0, -1)] })).toEqual(both(two.slice(0, -1), `${two}1`));
    expect(await read({ streamPrefixes: [one, two], types: ['Closed'] })).toEqual(
      both(`${one}a-1`, `${one}a-2`, `${one}b-1`, `${two}1`).filter((name) => name.endsWith('Closed')),
    );
    expect(await read({ streamPrefixes: [one], types: ['Never'] })).toEqual([]);
    expect(await read({ types: ['Closed'], streamPrefixes: [`${one}%`, `${one}*`] })).toEqual([]);
    expect((await read({ types: ['Opened'] })).length).toBeGreaterThanOrEqual(5);
  });
};

/** JSON text of `value`, which shows -0 and the order of keys. */
const exactly = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    Object.is(item, -0) ? 'minus zero' : typeof item === 'bigint' ? String(item) : item,
  );
