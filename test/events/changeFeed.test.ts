import { setMaxListeners } from 'node:events';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { catalogue } from '../../src/events/catalogue.js';
import { createChangeFeed, type ChangeFeed, type FeedItem } from '../../src/events/changeFeed.js';
import { createCodec } from '../../src/events/codec.js';
import { createLogSubscription } from '../../src/events/logSubscription.js';
import { EventStoreUnavailable, type EventStore } from '../../src/events/store/eventStore.js';
import { systemRandom } from '../../src/platform/random.js';
import { createIds } from '../../src/platform/ids.js';
import { systemClock } from '../../src/platform/clock.js';
import { nextTurn } from '../../src/platform/eventLoop.js';
import { engineOn, openStores } from '../workers/engines.js';

const codec = createCodec(catalogue);
const ids = createIds(systemClock, systemRandom);
const actor = { subject: 'test', role: 'system', via: 'worker' } as const;

let eventStore: EventStore;
let feed: ChangeFeed;
/** Subscriptions that were begun, pages that were read, events that were decoded. */
let calls: { subscribe: number; readAll: number; decode: number };
const countingCodec: typeof codec = {
  ...codec,
  decode: (stored) => {
    calls.decode += 1;
    return codec.decode(stored);
  },
};
let fail: ((error: Error) => void) | undefined;

beforeEach(async () => {
  const stores = await openStores();
  calls = { subscribe: 0, readAll: 0, decode: 0 };
  fail = undefined;
  eventStore = {
    ...stores.eventStore,
    readAll: (options) => {
      calls.readAll += 1;
      return stores.eventStore.readAll(options);
    },
    async *subscribe(options) {
      calls.subscribe += 1;
      const failed = new Promise<never>((_, reject) => {
        fail = reject;
      });
      failed.catch(() => undefined);
      const slices = stores.eventStore.subscribe(options)[Symbol.asyncIterator]();
      for (;;) {
        const next = await Promise.race([slices.next(), failed]);
        if (next.done === true) return;
        yield next.value;
      }
    },
  };
  feed = createChangeFeed({
    clock: systemClock,
    eventStore,
    codec: countingCodec,
    subscription: createLogSubscription(eventStore),
  });
});

const rename = async (websiteId: string, names: readonly string[]): Promise<void> => {
  const events = names.map((name) => ({
    id: ids.commandId(),
    type: 'WebsiteRenamed',
    schemaVersion: 1,
    data: { websiteId, name },
    metadata: { at: '2030-01-01T00:00:00.000Z', actor, requestId: 'test', correlationId: 'test', causationId: 'test' },
  }));
  await eventStore.append(`website-${websiteId}`, events, 'any');
};
const numbers = (count: number, from = 0): readonly string[] => Array.from({ length: count }, (_, index) => String(index + from));
const nameOf = (item: FeedItem): unknown => (item.kind === 'change' ? (item.event.data as { name: string }).name : item.kind);
type Items = AsyncGenerator<readonly FeedItem[], void>;
const types = new Set(['WebsiteRenamed']);

const open = async (websiteId: string, signal = new AbortController().signal): Promise<Items> => {
  const items = feed.follow({ types, websiteId, signal });
  expect(await take(items, 1)).toStrictEqual(['ready']);
  return items;
};
const take = async (items: Items, count: number): Promise<readonly unknown[]> => {
  const names: unknown[] = [];
  while (names.length < count) names.push(...((await items.next()).value ?? []).map(nameOf));
  return names;
};

describe('a change feed', () => {
  test('gives a slow reader everything, from the log', async () => {
    const items = await open('one');
    await rename('one', numbers(90));
    await rename('other', numbers(50));
    await rename('one', numbers(400, 90));
    const fast = await open('one');
    await rename('one', ['last']);
    // The other reader has it, so the slow one was told of all of them.
    expect(await take(fast, 1)).toStrictEqual(['last']);
    expect(calls.readAll).toBe(0);
    expect(await take(items, 491)).toStrictEqual([...numbers(490), 'last']);
    expect(calls.readAll).toBeGreaterThan(0);
    await rename('one', ['live']);
    expect(await take(items, 1)).toStrictEqual(['live']);
  });

  test('has one subscription for all of its readers, and none without them', async () => {
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    const readers = await Promise.all(numbers(500).map((websiteId) => open(websiteId, leaving.signal)));
    await rename('7', ['told']);
    expect(await take(readers[7] as (typeof readers)[number], 1)).toStrictEqual(['told']);
    expect(calls.subscribe).toBe(1);
    leaving.abort();
    for (const reader of readers) expect((await reader.next()).done).toBe(true);
    await open('7');
    expect(calls.subscribe).toBe(2);
  });

  test('decodes an event once for all of its readers', async () => {
    const readers = await Promise.all(numbers(50).map(() => open('one')));
    const before = calls.decode;
    await rename('one', ['told']);
    for (const reader of readers) expect(await take(reader, 1)).toStrictEqual(['told']);
    expect(calls.decode - before).toBe(1);
    expect(calls.readAll).toBe(0);
  });

  test('gives what has come meanwhile at once', async () => {
    const items = await open('one');
    await rename('one', ['first']);
    for (let index = 0; index < 20; index += 1) await rename('one', [String(index)]);
    // One more reader, whom the last one reaches, so that the other has been told of all.
    const told = await open('one');
    await rename('one', ['last']);
    await take(told, 1);
    const { value } = await items.next();
    expect((value ?? []).map(nameOf)).toStrictEqual(['first', ...numbers(20), 'last']);
  });

  test('lets a reader who is busy wait for their turn, as all others', async () => {
    const subscription = createLogSubscription(eventStore);
    let endPause: (() => void) | undefined;
    let now = 0;
    const clock = {
      ...systemClock,
      now: () => (now += 1),
      schedule: (_ms: number, task: () => void) => {
        endPause = task;
        return () => undefined;
      },
    };
    const follow = (of: ChangeFeed): Items => of.follow({ types, signal: new AbortController().signal });
    const items = follow(createChangeFeed({ clock, eventStore, codec, subscription }));
    const others = follow(createChangeFeed({ clock: systemClock, eventStore, codec, subscription }));
    await Promise.all([take(items, 1), take(others, 1)]);
    await rename('one', ['first']);
    expect(await Promise.all([take(items, 1), take(others, 1)])).toStrictEqual([['first'], ['first']]);

    // It comes while the reader is at the first one, within the pause after it.
    await rename('one', ['second']);
    await take(others, 1);
    let isGiven = false;
    const second = take(items, 1).finally(() => {
      isGiven = true;
    });
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(isGiven).toBe(false);
    endPause?.();
    expect(await second).toStrictEqual(['second']);
  });

  test('ends with the fault of the subscription; who follows again misses nothing', async () => {
    const items = feed.follow({ types, signal: new AbortController().signal });
    const { value: ready } = await items.next();
    fail?.(new EventStoreUnavailable('away'));
    await expect(items.next()).rejects.toThrow('away');
    await rename('one', ['meanwhile']);
    const after = ready?.[0]?.place;
    const again = feed.follow({ types, after, signal: new AbortController().signal });
    expect(await take(again, 1)).toStrictEqual(['meanwhile']);
  });
});

test('all that watch streams share one subscription', async () => {
  const stores = await openStores();
  let subscriptions = 0;
  const counted: EventStore = {
    ...stores.eventStore,
    subscribe: (options) => {
      subscriptions += 1;
      return stores.eventStore.subscribe(options);
    },
  };
  const engine = engineOn({ ...stores, eventStore: counted });
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const watches = await Promise.all(numbers(200).map((id) => engine.watch([`website-${id}`, `delivery-${id}`], signal)));
  eventStore = counted;
  await rename('3', ['new']);
  await rename('4', ['new', 'newer']);
  expect(await watches[3]?.next()).toStrictEqual({ done: false, value: undefined });
  expect(await watches[4]?.next()).toStrictEqual({ done: false, value: undefined });
  expect(subscriptions).toBe(1);
});
