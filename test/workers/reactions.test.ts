import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { Recorded } from '../../src/events/envelope.js';
import { EventStoreUnavailable, NO_STREAM, START, type EventStore } from '../../src/events/store/eventStore.js';
import type { SlugEvent } from '../../src/events/website/website.events.js';
import { slugStream } from '../../src/events/website/website.stream.js';
import { createLogger } from '../../src/platform/logger.js';
import { ReadModelStoreUnavailable, type RecordStore } from '../../src/projections/store/readModelStore.js';
import type { ParkedWork } from '../../src/projections/parkedWork/parkedWork.projection.js';
import { listParked } from '../../src/projections/parkedWork/parkedWork.queries.js';
import { retryParked } from '../../src/workers/parkedWork.js';
import { REACTION_RETRY_MS } from '../../src/workers/reaction/reaction.process.js';
import { workerPositions } from '../../src/workers/workerPositions.js';
import { workerStatus } from '../../src/workers/workerStatus.js';
import type { ReactionContext, TaskContext } from '../../src/workers/reactionContext.js';
import { someAdmin } from '../support/given.js';
import { createTestClock } from '../support/testClock.js';
import { engineOn, type Stores } from './engines.js';
import { passTimeUntil } from './machine.js';
import { createMemoryStores } from './memoryStores.js';
import { positionOf } from './positions.js';

type SlugReserved = Recorded<Extract<SlugEvent, { type: 'SlugReserved' }>>;
type React = (event: SlugReserved, context: ReactionContext) => Promise<void>;

/** A log of slugs reserved, and reactors on it. */
const createWorld = async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const engine = engineOn(stores, { clock });
  const metadata = { at: '2026-01-01T00:00:00.000Z', actor: someAdmin, requestId: 'r', correlationId: 'c', causationId: 'c' };
  const until = (isDone: () => boolean | Promise<boolean>) => passTimeUntil(clock, async () => isDone());

  return {
    clock,
    stores,
    until,
    /** What the reaction is about; `key` is that of the event. */
    reserve: async (slug: string, key = slug, expected = NO_STREAM) => {
      const event = engine.codec.encode(
        { type: 'SlugReserved', data: { slug, websiteId: key } },
        engine.ids.commandId(),
        metadata,
      );
      await stores.eventStore.append(`slug-${slug}`, [event], expected);
    },
    /** An event of a version that this build does not know yet. */
    reserveInFuture: async (slug: string) => {
      const id = engine.ids.commandId();
      const event = { id, type: 'SlugReserved', schemaVersion: 99, data: { slug, websiteId: slug }, metadata };
      await stores.eventStore.append(`slug-${slug}`, [event], NO_STREAM);
    },
    reactor: (react: React, own: Partial<Stores> = {}, logged: string[] = [], limits: { maxRunning?: number } = {}) => {
      const logger = createLogger({ level: 'warn', destination: { write: (line: string) => void logged.push(line) } });
      return engineOn({ ...stores, ...own }, { clock, logger }).createReactor({
        name: 'test',
        streams: [slugStream],
        on: { SlugReserved: react },
        key: ({ data }) => data.websiteId,
        ...limits,
      });
    },
    stop: async (reactor: { stop(): Promise<void> }) => {
      let isStopped = false;
      void reactor.stop().then(() => (isStopped = true));
      await until(() => isStopped);
    },
    /** The events of reactions that failed. */
    failures: async () => {
      const { events } = await stores.eventStore.readAll({ after: START, filter: { streamPrefixes: ['reaction-'] } });
      return events.map(({ type, data }) => ({ type, ...data }));
    },
    parked: () => listParked(engine),
    retry: async (work: ParkedWork) => {
      await retryParked(engine, work, { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' });
    },
    status: async () =>
      workerStatus(
        [engine.createReactor({ name: 'test', streams: [slugStream], on: { SlugReserved: () => Promise.resolve() } })],
        {
          ...stores,
          records: stores.readModels.records,
          clock,
        },
      ),
    position: () => positionOf(stores.readModels.records, 'test'),
  };
};

const slugOf = ({ data }: SlugReserved): string => data.slug;

const noting =
  (seen: string[]): React =>
  (event) =>
    Promise.resolve(void seen.push(slugOf(event)));

describe('a reactor', () => {
  test('reacts to what was there and to what comes, and a later one goes on where it stopped', async () => {
    const world = await createWorld();
    const seen: string[] = [];
    const see = noting(seen);
    await world.reserve('a');
    const first = world.reactor(see);
    await first.start();
    await world.until(() => seen.length === 1);
    await world.reserve('b');
    await world.until(() => seen.length === 2);
    await world.stop(first);
    await world.reserve('c');
    const second = world.reactor(see);
    await second.start();
    await world.until(() => seen.length === 3);
    expect(seen).toStrictEqual(['a', 'b', 'c']);
    await world.stop(second);
  });

  test('starts while its stores are away, and goes on once they are back', async () => {
    const world = await createWorld();
    let isAway = true;
    const seen: string[] = [];
    const records: RecordStore = {
      ...world.stores.readModels.records,
      get: (...of) =>
        isAway ? Promise.reject(new ReadModelStoreUnavailable('away')) : world.stores.readModels.records.get(...of),
    };
    const reactor = world.reactor(noting(seen), {
      readModels: { ...world.stores.readModels, records },
    });
    await reactor.start();
    await world.reserve('a');
    await world.clock.advance(60_000);
    expect(seen).toStrictEqual([]);
    isAway = false;
    await world.until(() => seen.length === 1);
    await world.stop(reactor);
  });

  test('whose log breaks off follows it again, without gap or repetition', async () => {
    const world = await createWorld();
    const seen: string[] = [];
    const { eventStore } = world.stores;
    async function* subscribe(options: Parameters<EventStore['subscribe']>[0]) {
      for await (const slice of eventStore.subscribe({ ...options, maxBatch: 1 })) {
        yield slice;
        throw new EventStoreUnavailable('dropped');
      }
    }
    const reactor = world.reactor(noting(seen), { eventStore: { ...eventStore, subscribe } });
    for (const slug of ['a', 'b', 'c']) await world.reserve(slug);
    await reactor.start();
    await world.until(() => seen.length === 3);
    expect(seen).toStrictEqual(['a', 'b', 'c']);
    await world.stop(reactor);
  });

  test('repeats a reaction that fails, ever more slowly, and does the others meanwhile', async () => {
    const world = await createWorld();
    const seen: string[] = [];
    const at: number[] = [];
    const reactor = world.reactor((event) => {
      if (slugOf(event) !== 'bad') return Promise.resolve(void seen.push(slugOf(event)));
      at.push(world.clock.now());
      return at.length < 10 ? Promise.reject(new Error('not now')) : Promise.resolve();
    });
    await world.reserve('bad');
    await world.reserve('good');
    await reactor.start();
    await world.until(() => at.length === 10);
    expect(seen).toStrictEqual(['good']);
    const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(pauses[0]).toBeLessThanOrEqual(500);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(7_500);
    expect(pauses.at(-1)).toBeLessThanOrEqual(15_500);
    await world.stop(reactor);
  });

  test('parks one that fails for a day, named, does the others, and tries it again on request', async () => {
    const world = await createWorld();
    const seen: string[] = [];
    let isMended = false;
    const reactor = world.reactor((event) => {
      if (slugOf(event) === 'bad' && !isMended) return Promise.reject(new TypeError('cannot take kim@example.com'));
      return Promise.resolve(void seen.push(slugOf(event)));
    });
    await world.reserve('bad', 'key');
    await world.reserve('good', 'key');
    await reactor.start();
    const parked = async () => (await world.parked()).find(({ state }) => state === 'parked');
    await world.until(async () => (await world.failures()).length === 1);
    await world.clock.advance(60_000);
    expect(await parked()).toBeUndefined();
    world.clock.setTime(world.clock.now() + REACTION_RETRY_MS);
    await world.until(async () => (await parked()) !== undefined);
    await world.until(() => seen.length === 1);
    await world.reserve('later');
    await world.until(async () => (await world.position()) === String(await world.stores.eventStore.lastPosition()));
    expect(seen).toStrictEqual(['good', 'later']);
    const work = await parked();
    expect(work).toMatchObject({
      worker: 'test',
      kind: 'reaction',
      of: { eventType: 'SlugReserved', stream: 'slug-bad', position: '1' },
    });
    expect(work?.reason).toMatch(/^TypeError at reactions\.test\.ts:\d+$/);
    expect(JSON.stringify(await world.failures())).not.toContain('kim@example.com');

    isMended = true;
    if (work !== undefined) await world.retry(work);
    await world.until(() => seen.length === 3);
    expect(seen).toStrictEqual(['good', 'later', 'bad']);
    expect(await world.parked()).toStrictEqual([]);
    await world.stop(reactor);
  });

  test('that has failed counts on after a restart, and is listed no more once it succeeds', async () => {
    const world = await createWorld();
    let isMended = false;
    const react: React = () => (isMended ? Promise.resolve() : Promise.reject(new Error('not now')));
    await world.reserve('bad');
    for (let starts = 0; starts < 2; starts += 1) {
      const reactor = world.reactor(react);
      await reactor.start();
      await world.until(async () => (await world.failures()).length === 1);
      await world.clock.advance(3_600_000);
      await world.stop(reactor);
    }
    expect(await world.parked()).toMatchObject([{ state: 'failing', worker: 'test' }]);
    expect(await world.status()).toMatchObject([{ name: 'test', ms: expect.any(Number) }]);
    expect((await world.status())[0]?.ms).toBeGreaterThanOrEqual(7_200_000);
    isMended = true;
    const reactor = world.reactor(react);
    await reactor.start();
    await world.until(async () => (await world.parked()).length === 0);
    expect((await world.failures()).map(({ type }) => type)).toStrictEqual(['ReactionFailed', 'ReactionRecovered']);
    await world.stop(reactor);
    expect(await world.status()).toMatchObject([{ ms: 0, positions: 0n }]);
  });

  test('waits for stores that are away for days, and parks nothing', async () => {
    const world = await createWorld();
    let tries = 0;
    const reactor = world.reactor(() => {
      tries += 1;
      return tries < 5 ? Promise.reject(new ReadModelStoreUnavailable('away')) : Promise.resolve();
    });
    await world.reserve('a');
    await reactor.start();
    await world.until(() => tries >= 2);
    world.clock.setTime(world.clock.now() + 2 * REACTION_RETRY_MS);
    await world.until(() => tries >= 5);
    expect(await world.failures()).toStrictEqual([]);
    await world.stop(reactor);
  });

  test('names an event that it does not understand, does the others, and takes it up when it does', async () => {
    const world = await createWorld();
    const seen: string[] = [];
    const logged: string[] = [];
    const reactor = world.reactor(noting(seen), {}, logged);
    await world.reserve('a');
    await world.reserveInFuture('b');
    await world.reserve('c');
    await reactor.start();
    await world.until(() => seen.length === 2);
    await world.clock.advance(5_000);
    await world.stop(reactor);
    expect(seen).toStrictEqual(['a', 'c']);
    expect(logged.join('')).toContain('"stream":"slug-b"');
    expect(await world.position()).toBe('1');
  });

  test('does what has the same key in order, one after the other, and the rest at the same time', async () => {
    const world = await createWorld();
    const log: string[] = [];
    const reactor = world.reactor(async (event, context) => {
      log.push(`begin ${slugOf(event)}`);
      await context.pause(10_000);
      log.push(`end ${slugOf(event)}`);
    });
    for (const [slug, key] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
    ] as const) {
      await world.reserve(slug, key);
    }
    await reactor.start();
    await world.until(() => log.length === 6);
    expect(log.slice(0, 3)).toStrictEqual(['begin a1', 'begin b1', 'end a1']);
    expect(log.filter((entry) => entry.includes(' a'))).toStrictEqual(['begin a1', 'end a1', 'begin a2', 'end a2']);
    await world.stop(reactor);
  });

  test('takes the events of a stream for ordered when it names no key', async () => {
    const world = await createWorld();
    const log: string[] = [];
    const reactor = engineOn(world.stores, { clock: world.clock }).createReactor({
      name: 'test',
      streams: [slugStream],
      on: {
        SlugReserved: async ({ data }, context) => {
          log.push(`begin ${data.slug} ${data.websiteId}`);
          await context.pause(10_000);
          log.push(`end ${data.slug} ${data.websiteId}`);
        },
      },
    });
    await world.reserve('a', '1');
    await world.reserve('a', '2', 0n);
    await world.reserve('b', '1');
    await reactor.start();
    await world.until(() => log.length === 6);
    expect(log.slice(0, 2)).toStrictEqual(['begin a 1', 'begin b 1']);
    expect(log.filter((entry) => entry.includes(' a '))).toStrictEqual(['begin a 1', 'end a 1', 'begin a 2', 'end a 2']);
    await world.stop(reactor);
  });

  test.each([
    ['eight', {}, 8],
    ['as many as it says', { maxRunning: 3 }, 3],
  ])('does %s at a time, not counting those that pause', async (_how, limits, expected) => {
    const world = await createWorld();
    let running = 0;
    let most = 0;
    let paused = 0;
    let done = 0;
    const react: React = async (_, context) => {
      running += 1;
      most = Math.max(most, running);
      await nextTurn();
      running -= 1;
      paused += 1;
      await context.pause(60_000);
      done += 1;
    };
    const reactor = world.reactor(react, {}, [], limits);
    await reactor.start();
    await world.clock.advance(1_000);
    for (let count = 0; count < 50; count += 1) void world.reserve(`s${count}`);
    await world.until(() => paused === 50);
    expect(done).toBe(0);
    expect(most).toBe(expected);
    await world.until(() => done === 50);
    await world.stop(reactor);
  });

  test('does tasks of a reaction side by side, a few at a time, not counting those that pause', async () => {
    const world = await createWorld();
    let running = 0;
    let most = 0;
    let paused = 0;
    let done = 0;
    const reactor = world.reactor((_, context) =>
      context.together(
        Array.from({ length: 20 }, () => async (own: TaskContext) => {
          running += 1;
          most = Math.max(most, running);
          await nextTurn();
          running -= 1;
          paused += 1;
          await own.pause(60_000);
          done += 1;
        }),
      ),
    );
    await reactor.start();
    for (const slug of ['a', 'b', 'c']) await world.reserve(slug);
    await world.until(() => paused === 60);
    expect([most, done]).toEqual([8, 0]);
    await world.until(() => done === 60);
    await world.stop(reactor);
  });

  test('repeats a reaction of which a task fails, once the pauses of the others have ended', async () => {
    const world = await createWorld();
    const log: string[] = [];
    const reactor = world.reactor((_, context) =>
      context.together([
        async (own) => {
          log.push('waits');
          await own.pause(86_400_000);
          log.push(own.signal.aborted ? 'ends' : 'is done');
        },
        () => (log.includes('ends') ? Promise.resolve() : Promise.reject(new Error('not now'))),
      ]),
    );
    await world.reserve('a');
    await reactor.start();
    await world.until(() => log.length === 3);
    expect(log).toStrictEqual(['waits', 'ends', 'waits']);
    await world.stop(reactor);
  });

  test('reads on only when there is room, and stops with what it has left to do', async () => {
    const world = await createWorld();
    let begun = 0;
    const reactor = world.reactor(async (_, context) => {
      begun += 1;
      await context.pause(3_600_000);
    });
    for (let count = 0; count < 1_100; count += 1) await world.reserve(`s${count}`);
    await reactor.start();
    await world.until(() => begun >= 1_000);
    await world.clock.advance(10_000);
    expect(begun).toBe(1_000);
    await world.stop(reactor);
    expect(await world.position()).toBe('0');
  });

  test('that has lost its position takes what is new at once, however much of the past is under way', async () => {
    const world = await createWorld();
    const seen: string[] = [];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const reactor = world.reactor(async (event) => {
      if (slugOf(event).startsWith('old')) await released;
      seen.push(slugOf(event));
    });
    // More than run at once: of the last one, with the same key as the new one, nothing has begun.
    for (let count = 0; count < 20; count += 1) await world.reserve(`old${count}`, count === 19 ? 'key' : `old${count}`);
    await reactor.start();
    await world.clock.advance(1_000);
    await world.reserve('new', 'key');
    await world.until(() => seen.length === 1);
    expect(seen).toStrictEqual(['new']);
    expect(await world.position()).toBe('0');
    release();
    await world.until(async () => (await world.position()) === '21');
    expect(seen).toHaveLength(21);
    await world.stop(reactor);
  });

  test('that is stopped in the past goes on there, and leaves out nothing of what has come since', async () => {
    const world = await createWorld();
    const seen: string[] = [];
    let isStuck = true;
    const react: React = async (event, { pause }) => {
      seen.push(slugOf(event));
      if (slugOf(event) === 'c' && isStuck) await pause(3_600_000);
    };
    for (const slug of ['a', 'b', 'c', 'd']) await world.reserve(slug);
    const first = world.reactor(react);
    await first.start();
    await world.until(() => seen.length === 4);
    await world.reserve('new');
    await world.until(() => seen.includes('new'));
    await world.stop(first);
    expect(await world.position()).toBe('2');

    isStuck = false;
    seen.length = 0;
    const second = world.reactor(react);
    await second.start();
    await world.until(async () => (await world.position()) === '5');
    expect(seen).toStrictEqual(['c', 'd', 'new']);
    await world.stop(second);
  });

  test('whose position is beyond the end of the log, as after a restore, handles the log again', async () => {
    const world = await createWorld();
    const seen: string[] = [];
    await world.stores.readModels.records.put(workerPositions, 'test', { position: '7' });
    await world.reserve('a');
    const reactor = world.reactor(noting(seen));
    await reactor.start();
    await world.until(async () => (await world.position()) === '1');
    expect(seen).toStrictEqual(['a']);
    await world.stop(reactor);
  });
});
