import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import type { AnyProjection } from '../../src/projections/projection.js';
import { ProjectionFailed } from '../../src/projections/runner/foldDocuments.js';
import { createCatchUp } from '../../src/projections/runner/catchUp.js';
import { rebuildProjection, type RebuildProgress } from '../../src/projections/runner/rebuild.js';
import { ReadModelStoreUnavailable, type ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import { writingProgram } from '../../src/programs.js';
import { eventually } from '../support/eventually.js';
import { createTestClock } from '../support/testClock.js';
import {
  added,
  decodeThing,
  expectFolded,
  freshFold,
  labelled,
  liveDocuments,
  modelOf,
  rebuildThings,
  thingProjection,
  thingWorld,
  untilReached,
} from '../support/things.js';

describe('a rebuild', () => {
  test('replaces the live version, and running projectors go on with it', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    const working = projector({ readModels: await world.openReadModels() });
    await working.start();
    await untilReached(thingProjection, readModels, await append(added('a'), labelled('a', 'one'), added('b')));
    // The read model differs from the log, which is what a rebuild is for.
    await readModels.apply(modelOf('1'), [{ id: 'b', revision: 9n, position: 99n, body: { label: 'wrong' } }], 0n);

    const result = await rebuildThings(world);
    expect(result).toEqual({ version: expect.stringMatching(/^1-r/), events: 3, resumed: false });
    expect(await readModels.liveVersion('thing')).toBe(result.version);
    await expectFolded(thingProjection, readModels, eventStore);

    await untilReached(thingProjection, readModels, await append(labelled('b', 'two'), labelled('a', 'three')));
    await expectFolded(thingProjection, readModels, eventStore);
    const { state, writes } = (await working.status())[0] ?? {};
    expect({ state, writes }).toEqual({ state: 'following', writes: result.version });
  });

  const inSlicesOf = (eventStore: EventStore, maxBatch: number): EventStore => ({
    ...eventStore,
    subscribe: (options) => eventStore.subscribe({ ...options, maxBatch }),
  });
  const manyChanges = Array.from({ length: 120 }, (_, index) =>
    index < 80 ? added(`t${String(index)}`) : labelled(`t${String(index % 7)}`, String(index)),
  );

  test('folds on while documents are being written, one write after the other', async () => {
    const world = await thingWorld();
    const { append, readModels, eventStore } = world;
    await append(...manyChanges);
    let decoded = 0;
    let underWay = 0;
    const seen: { decodedMeanwhile: number; underWay: number }[] = [];
    const counting: typeof decodeThing = (stored) => {
      decoded += 1;
      return decodeThing(stored);
    };
    const slow: ReadModelStore = {
      ...readModels,
      apply: async (...args) => {
        underWay += 1;
        const before = decoded;
        // As long as something is left that may be folded without the end of this write.
        if (before < 80) await eventually('folding to go on', () => Promise.resolve(decoded > before ? true : undefined));
        seen.push({ decodedMeanwhile: decoded - before, underWay });
        await readModels.apply(...args);
        underWay -= 1;
      },
    };
    const catchUp = createCatchUp(
      { readModels: slow, eventStore: inSlicesOf(eventStore, 10), decode: counting, clock: systemClock },
      { documentsPerWrite: 20 },
    );
    await rebuildThings(world, { readModels: slow, catchUp });
    await expectFolded(thingProjection, readModels, eventStore);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen[0]?.decodedMeanwhile).toBeGreaterThan(0);
    expect(Math.max(...seen.map((one) => one.underWay))).toBe(1);
  });

  test('ends with the fault of a write during which it folded on, and continues when called again', async () => {
    const world = await thingWorld();
    const { append, readModels, eventStore } = world;
    await append(...manyChanges);
    let writes = 0;
    const failing: ReadModelStore = {
      ...readModels,
      apply: async (...args) => {
        writes += 1;
        if (writes === 3) throw new ReadModelStoreUnavailable('it is away');
        await readModels.apply(...args);
      },
    };
    const catchUp = createCatchUp(
      { readModels: failing, eventStore: inSlicesOf(eventStore, 10), decode: decodeThing, clock: systemClock },
      { documentsPerWrite: 20 },
    );
    await expect(rebuildThings(world, { readModels: failing, catchUp })).rejects.toThrow('it is away');
    const result = await rebuildThings(world, { readModels: failing, catchUp });
    expect(result.resumed).toBe(true);
    expect(result.events).toBeLessThan(120);
    await expectFolded(thingProjection, readModels, eventStore);
  });

  test('of a long log writes in bulk, of a short one does not', async () => {
    const world = await thingWorld(systemClock, (folder, clock) =>
      createEmbeddedReadModelStore({ file: join(folder, 'readModels.sqlite'), clock, writingProgram }),
    );
    const { append, readModels, eventStore } = world;
    const inBulk: boolean[] = [];
    const observed: ReadModelStore = {
      ...readModels,
      apply: async (model, writes, checkpoint, options) => {
        inBulk.push(options?.inBulk ?? false);
        await readModels.apply(model, writes, checkpoint, options);
      },
    };
    await append(...manyChanges);
    for (const [bulkLength, isLong] of [
      [121n, false],
      [120n, true],
    ] as const) {
      inBulk.length = 0;
      const parts = { readModels: observed, eventStore, decode: decodeThing, clock: systemClock };
      await rebuildThings(world, { ...parts, catchUp: createCatchUp(parts, { bulkLength }) });
      expect(new Set(inBulk)).toEqual(new Set([isLong]));
      await expectFolded(thingProjection, readModels, eventStore);
    }
  });

  test('an idle projector notices as well', async () => {
    const clock = createTestClock();
    const world = await thingWorld(clock);
    const { projector } = world;
    const working = projector();
    await working.start();
    const { version } = await rebuildThings(world);
    await eventually('the projector to notice', async () => {
      await clock.advance(1_000);
      return (await working.status())[0]?.writes === version ? true : undefined;
    });
    expect((await working.status())[0]?.state).toBe('following');
  });

  test('does not lose an event that a projector wrote to the dropped version', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    const working = projector();
    await working.start();
    await untilReached(thingProjection, readModels, await append(added('a')));

    let position = 0n;
    const late: ReadModelStore = {
      ...readModels,
      publish: async (model) => {
        position = await append(labelled('a', 'late'), added('b'));
        await untilReached(thingProjection, readModels, position);
        await working.stop();
        await readModels.publish(model);
      },
    };
    const { version } = await rebuildThings(world, { readModels: late });
    expect(await readModels.checkpoint(modelOf(version))).toBeGreaterThanOrEqual(position);
    await expectFolded(thingProjection, readModels, eventStore);
  });

  test('keeps the live version when interrupted, and continues when called again', async () => {
    const world = await thingWorld();
    const { append, readModels, eventStore, projector } = world;
    await append(
      ...Array.from({ length: 40 }, (_, index) =>
        index < 4 ? added(`t${String(index)}`) : labelled(`t${String(index % 4)}`, String(index)),
      ),
    );
    const working = projector();
    await working.start();
    await untilReached(thingProjection, readModels, 40n);

    const abort = new AbortController();
    let batches = 0;
    const decode: typeof decodeThing = (stored) => {
      batches += 1;
      if (batches === 15) abort.abort(new Error('the machine goes down'));
      return decodeThing(stored);
    };
    await expect(rebuildThings(world, { eventStore: inSlicesOf(eventStore, 10), decode, signal: abort.signal })).rejects.toThrow(
      'the machine goes down',
    );
    expect(await readModels.liveVersion('thing')).toBe('1');

    const progress: RebuildProgress[] = [];
    const result = await rebuildThings(world, { onProgress: (step) => progress.push(step) });
    expect(result.resumed).toBe(true);
    expect(result.events).toBe(20);
    expect(progress.at(-1)).toEqual({ events: 20, position: 40n, target: 40n });
    expect(await readModels.liveVersion('thing')).toBe(result.version);
    await expectFolded(thingProjection, readModels, eventStore);
    expect((await rebuildThings(world)).resumed).toBe(false);
  });

  test('ends over an event that the projection cannot take, and the live version stays', async () => {
    const world = await thingWorld();
    const { append, projector, readModels } = world;
    await projector().start();
    await untilReached(thingProjection, readModels, await append(added('a'), labelled('a', 'poison'), added('b')));
    const decode: typeof decodeThing = (stored) => {
      if (stored.data['label'] === 'poison') throw new TypeError('poison');
      return decodeThing(stored);
    };
    // In one millisecond: what each left is not taken up by the next one.
    const clock = createTestClock();
    await expect(rebuildThings(world, { decode, clock })).rejects.toThrow(ProjectionFailed);
    await expect(rebuildThings(world, { decode, clock })).rejects.toThrow(
      'failed at position 2 over ThingLabelled: TypeError at',
    );
    expect(await readModels.liveVersion('thing')).toBe('1');
    expect((await liveDocuments(thingProjection, readModels)).size).toBe(2);
    expect(await rebuildThings(world, { clock })).toMatchObject({ resumed: false, events: 3 });
  });

  test('of several at once reads and decodes the log once', async () => {
    const world = await thingWorld();
    const { append, eventStore, readModels } = world;
    for (let index = 0; index < 30; index += 1) await append(added(`t${String(index)}`), labelled(`t${String(index)}`, 'x'));
    let [read, decoded] = [0, 0];
    const counted: EventStore = {
      ...eventStore,
      async *subscribe(options) {
        for await (const slice of eventStore.subscribe({ ...options, maxBatch: 7 })) {
          read += slice.events.length;
          yield slice;
        }
      },
    };
    const names = Array.from({ length: 10 }, (_, index) => `thing${String(index)}`);
    const projections = names.map((name) => ({ ...thingProjection, name }));
    const decode: typeof decodeThing = (stored) => {
      decoded += 1;
      return decodeThing(stored);
    };
    const parts = { eventStore: counted, readModels, decode, clock: systemClock, random: systemRandom };
    const catchUp = createCatchUp(parts);
    const results = await Promise.all(names.map((name) => rebuildProjection(name, { ...parts, projections, catchUp })));
    expect(results.map(({ events }) => events)).toEqual(names.map(() => 60));
    expect([read, decoded]).toEqual([60, 60]);
    const folded = await freshFold(thingProjection, eventStore);
    for (const projection of projections) expect(await liveDocuments(projection, readModels)).toEqual(folded);
  });

  test('no longer listens to its signal once it has ended', async () => {
    const world = await thingWorld(createTestClock());
    await world.append(added('a'), added('b'));
    const { signal } = new AbortController();
    await rebuildThings(world, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('reports no place beyond its last event when one beside it reads on', async () => {
    const world = await thingWorld();
    await world.append(added('a'), labelled('a', 'x'), labelled('a', 'y'));
    const short: AnyProjection = { ...thingProjection, name: 'short', handles: ['ThingAdded'] };
    const parts = { ...world, decode: decodeThing, clock: systemClock, random: systemRandom };
    const shared = { ...parts, projections: [thingProjection, short], catchUp: createCatchUp(parts) };
    const progress: RebuildProgress[] = [];
    const onProgress = (step: RebuildProgress): unknown => progress.push(step);
    await Promise.all([rebuildProjection('thing', shared), rebuildProjection('short', { ...shared, onProgress })]);
    expect(progress.at(-1)).toEqual({ events: 1, position: 1n, target: 1n });
  });

  test('of a projection that does not exist is refused', async () => {
    const world = await thingWorld();
    await expect(
      rebuildProjection('nothing', { projections: [], ...world, decode: decodeThing, clock: systemClock, random: systemRandom }),
    ).rejects.toThrow('nothing');
  });
});
