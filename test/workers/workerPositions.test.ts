import { expect, test } from '@jest/globals';
import { NO_STREAM } from '../../src/events/store/eventStore.js';
import type { SlugEvent } from '../../src/events/website/website.events.js';
import { slugStream } from '../../src/events/website/website.stream.js';
import type { ReactionContext } from '../../src/workers/reactionContext.js';
import type { Worker } from '../../src/workers/worker.js';
import { loadPosition, positionKey, workerPositions } from '../../src/workers/workerPositions.js';
import { someAdmin } from '../support/given.js';
import { createTestClock } from '../support/testClock.js';
import { engineOn } from './engines.js';
import { passTimeUntil, stopInVirtualTime } from './machine.js';
import { createMemoryStores } from './memoryStores.js';

const metadata = { at: '2026-01-01T00:00:00.000Z', actor: someAdmin, requestId: 'r', correlationId: 'c', causationId: 'c' };

/** Two builds on one log: the older one does not react to `SlugReleased`, which takes until `finish`. */
const createWorld = async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const { records } = stores.readModels;
  const engine = engineOn(stores, { clock });
  const seen: string[] = [];
  let isFinished = false;

  const see = ({ data: { slug } }: { data: { slug: string } }) => Promise.resolve(void seen.push(slug));
  const work = async (event: { data: { slug: string } }, { pause, signal }: ReactionContext) => {
    await see(event);
    while (!isFinished && !signal.aborted) await pause(60_000);
  };
  const worker = { name: 'test', streams: [slugStream] };
  return {
    seen,
    records,
    older: () => engine.createReactor({ ...worker, on: { SlugReserved: () => Promise.resolve() } }),
    newer: () => engine.createReactor({ ...worker, on: { SlugReserved: see, SlugReleased: work } }),
    next: () => engine.createReactor({ ...worker, on: { SlugReleased: see } }),
    append: async (type: SlugEvent['type'], slug: string) => {
      const event = engine.codec.encode({ type, data: { slug, websiteId: slug } }, engine.ids.commandId(), metadata);
      await stores.eventStore.append(`slug-${slug}`, [event], NO_STREAM);
    },
    finish: () => (isFinished = true),
    until: (isDone: () => boolean | Promise<boolean>) => passTimeUntil(clock, async () => isDone()),
    stop: (...workers: readonly Worker[]) => stopInVirtualTime(clock, ...workers),
    position: ({ name, reactsTo = {} }: Worker) => loadPosition(records, { name, reactsTo }),
  };
};

test('a build that does not react to an event leaves it to a newer one, which goes on with it after a restart', async () => {
  const world = await createWorld();
  const [older, newer] = [world.older(), world.newer()];
  await world.append('SlugReserved', 'a');
  await older.start();
  await newer.start();
  await world.until(async () => (await world.position(older)) === 1n && (await world.position(newer)) === 1n);
  await world.append('SlugReleased', 'b');
  for (const slug of ['c', 'd']) await world.append('SlugReserved', slug);
  await world.until(async () => (await world.position(older)) === 4n);
  await world.stop(newer, older);
  expect(world.seen).toStrictEqual(['a', 'b', 'c', 'd']);

  world.finish();
  const restarted = world.newer();
  await restarted.start();
  await world.until(async () => (await world.position(restarted)) === 4n);
  expect(world.seen.slice(4)).toStrictEqual(['b', 'c', 'd']);
  await world.stop(restarted);
});

test('the next build goes on with what this one, stopped after an older one, is in the middle of', async () => {
  const world = await createWorld();
  const [older, newer] = [world.older(), world.newer()];
  await older.start();
  await newer.start();
  await world.append('SlugReleased', 'a');
  await world.until(() => world.seen.length === 1);
  await world.append('SlugReserved', 'b');
  await world.until(async () => (await world.position(older)) === 2n);
  await world.stop(older);
  await world.stop(newer);
  const next = world.next();
  await next.start();
  await world.until(async () => (await world.position(next)) === 2n);
  expect(world.seen).toStrictEqual(['a', 'b', 'a']);
  await world.stop(next);
});

test('version 0.1.0, started again, goes on where it stood', async () => {
  const world = await createWorld();
  await world.records.put(workerPositions, 'test', { position: '0' });
  await world.append('SlugReserved', 'a');
  const newer = world.newer();
  await newer.start();
  await world.until(async () => (await world.position(newer)) === 1n);
  await world.stop(newer);
  expect(await world.records.get(workerPositions, 'test')).toMatchObject({ position: '0' });
});

test('a build that reacts to more goes on where the one before stood', async () => {
  const world = await createWorld();
  const older = world.older();
  await world.append('SlugReserved', 'a');
  await older.start();
  await world.until(async () => (await world.position(older)) === 1n);
  await world.stop(older);
  await world.append('SlugReserved', 'b');
  const newer = world.newer();
  await newer.start();
  await world.until(async () => (await world.position(newer)) === 2n);
  expect(world.seen).toStrictEqual(['b']);
  await world.stop(newer);
});

test('a build goes on where version 0.1.0 stood at its first start, however far that comes meanwhile', async () => {
  const world = await createWorld();
  const moveOldOne = (position: string) => world.records.put(workerPositions, 'test', { position });
  await world.append('SlugReserved', 'a');
  await moveOldOne('1');
  const first = world.newer();
  await world.append('SlugReleased', 'b');
  await first.start();
  await world.until(() => world.seen.length === 1);
  await moveOldOne('2');
  await world.stop(first);

  world.finish();
  const second = world.newer();
  await second.start();
  await world.until(async () => (await world.position(second)) === 2n);
  expect(world.seen).toStrictEqual(['b', 'b']);
  await world.stop(second);
});

test('the position of a worker does not depend on the order in which its events are named', () => {
  const [one, two] = [
    { streamPrefixes: ['slug-', 'website-'], types: ['SlugReserved', 'SlugReleased'] },
    { streamPrefixes: ['website-', 'slug-'], types: ['SlugReleased', 'SlugReserved'] },
  ];
  const key = (name: string, reactsTo: typeof one) => positionKey({ name, reactsTo });
  expect(key('test', one)).toBe(key('test', two));
  expect(key('other', one)).not.toBe(key('test', one));
  expect(key('test', { ...one, types: ['SlugReserved'] })).not.toBe(key('test', one));
});
