import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { START, type EventStore, type SubscribeOptions } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { readinessChecks } from '../../src/compose/readiness.js';
import type { AnyProjection } from '../../src/projections/projection.js';
import { ProjectionFailed } from '../../src/projections/runner/foldDocuments.js';
import { readList } from '../../src/projections/runner/readList.js';
import { createCatchUp } from '../../src/projections/runner/catchUp.js';
import { rebuildProjection, type RebuildParts, type RebuildProgress } from '../../src/projections/runner/rebuild.js';
import { projectionStatus } from '../../src/projections/runner/status.js';
import { liveModel, ProjectionBehind, readLive } from '../../src/projections/runner/versions.js';
import {
  ReadModelDropped,
  ReadModelStoreUnavailable,
  type ReadModel,
  type ReadModelQuery,
  type ReadModelStore,
} from '../../src/projections/store/readModelStore.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import { writingProgram } from '../../src/programs.js';
import { eventually } from '../support/eventually.js';
import { createTestClock } from '../support/testClock.js';
import {
  decodeThing,
  freshFold,
  liveDocuments,
  thingEvent,
  thingProjection,
  thingWorld,
  untilReached,
  type ThingWorld,
} from '../support/things.js';

const added = (id: string, label = id) => thingEvent('ThingAdded', id, label);
const labelled = (id: string, label: string) => thingEvent('ThingLabelled', id, label);
const modelOf = (version: string): ReadModel => ({ name: 'thing', version, indexes: thingProjection.indexes });

/** The next version of the projection: labels in capitals. */
const louder: AnyProjection = {
  ...thingProjection,
  version: 2,
  evolve: (document: never, event: Parameters<typeof thingProjection.evolve>[1]) => {
    const next = thingProjection.evolve(document, event);
    return next === null ? null : { ...next, label: next.label.toUpperCase() };
  },
};

const rebuild = (world: ThingWorld, parts: Partial<RebuildParts> = {}) =>
  rebuildProjection('thing', {
    projections: [thingProjection],
    eventStore: world.eventStore,
    readModels: world.readModels,
    decode: decodeThing,
    clock: systemClock,
    random: systemRandom,
    ...parts,
  });

const everything = { order: 'ascending', limit: 100 } as const;

/** An event store that gives nothing to the subscriptions that are `held` until it is released. */
const heldBack = (eventStore: EventStore, held: (options: SubscribeOptions) => boolean = () => true) => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const slow: EventStore = {
    ...eventStore,
    async *subscribe(options) {
      if (held(options)) await released;
      yield* eventStore.subscribe(options);
    },
  };
  return {
    slow,
    release: (): void => {
      release();
    },
  };
};

describe('a new version of a projection', () => {
  test('is built beside the live one, which answers reads until it has caught up', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    const old = projector();
    await old.start();
    await untilReached(thingProjection, readModels, await append(added('a'), labelled('a', 'one'), added('b')));
    await old.stop();

    const { slow, release } = heldBack(eventStore);
    const working = projector({ projections: [louder], eventStore: slow });
    await working.start();
    expect((await working.status())[0]).toMatchObject({ state: 'building', writes: '2', version: 2, lag: { positions: 3n } });
    expect(await readModels.liveVersion('thing')).toBe('1');
    expect((await liveDocuments(thingProjection, readModels)).get('a')).toMatchObject({ label: 'one' });
    expect(await projectionStatus([louder], { ...world, clock: systemClock })).toMatchObject([
      { state: 'building', liveVersion: '1' },
    ]);

    release();
    await eventually('the swap', async () => ((await readModels.liveVersion('thing')) === '2' ? true : undefined));
    expect(await liveDocuments(louder, readModels)).toEqual(await freshFold(louder, eventStore));
    expect((await liveDocuments(louder, readModels)).get('a')).toMatchObject({ label: 'ONE' });
    await expect(readModels.get(modelOf('1'), 'a')).rejects.toThrow(ReadModelDropped);

    await untilReached(louder, readModels, await append(labelled('b', 'two')));
    expect((await working.status())[0]?.state).toBe('following');
    expect(await liveDocuments(louder, readModels)).toEqual(await freshFold(louder, eventStore));
  });

  test('goes on with an older one that it understands, which answers lists until it is built', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    const old = projector();
    await old.start();
    await untilReached(thingProjection, readModels, await append(added('a'), labelled('a', 'one')));
    await old.stop();

    const { slow, release } = heldBack(eventStore, ({ after }) => after === START);
    /** Finds things by what version 1 had no index for. */
    const indexed = {
      ...thingProjection,
      version: 2,
      readsFrom: 1,
      indexes: [...thingProjection.indexes, { field: 'label', sorts: true, since: 2 }],
    } as const;
    const parts = { eventStore, readModels, clock: systemClock };
    const labels = async (query: Partial<ReadModelQuery> = {}) =>
      (await readList(indexed, { ...everything, ...query }, parts)).map(({ body }) => body.label);
    const working = projector({ projections: [indexed], eventStore: slow });
    await working.start();
    expect((await working.status())[0]).toMatchObject({ state: 'building', writes: '2' });
    expect(await labels()).toEqual(['one']);
    for (const label of ['b', 'c', 'd']) {
      await append(added(label));
      expect(await labels()).toContain(label);
    }
    await expect(labels({ sort: { field: 'label' } })).rejects.toThrow(ProjectionBehind);
    expect(await readModels.liveVersion('thing')).toBe('1');
    const checks = readinessChecks(parts, [indexed, louder], () => projectionStatus([indexed], parts));
    expect(await Promise.all(checks.slice(2).map(({ problem }) => problem()))).toEqual([
      null,
      'version 1 is live, this process reads version 2, which is still being built',
    ]);

    release();
    await eventually('the swap', async () => ((await readModels.liveVersion('thing')) === '2' ? true : undefined));
    await untilReached(indexed, readModels, await append(labelled('b', 'e')));
    expect(await labels({ sort: { field: 'label' } })).toEqual(['c', 'd', 'e', 'one']);
    expect(await liveDocuments(indexed, readModels)).toEqual(await freshFold(indexed, eventStore));
    expect((await working.status())[0]).toMatchObject({ state: 'following', writes: '2' });
  });

  test('is published while something is always written', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    const old = projector();
    await old.start();
    await untilReached(thingProjection, readModels, await append(added('a')));
    await old.stop();

    let written = 0;
    const busy: EventStore = {
      ...eventStore,
      // Whenever the end is asked for, it is further on.
      lastPosition: async (filter) => {
        written += 1;
        await append(added(`more-${String(written)}`));
        return eventStore.lastPosition(filter);
      },
    };
    await projector({ projections: [louder], eventStore: busy }).start();
    await eventually('the swap', async () => ((await readModels.liveVersion('thing')) === '2' ? true : undefined));
    await untilReached(louder, readModels, await append(labelled('a', 'last')));
    expect(await liveDocuments(louder, readModels)).toEqual(await freshFold(louder, eventStore));
  });

  test('that fails leaves the older one, which this build goes on with, at work', async () => {
    const clock = createTestClock();
    const world = await thingWorld(clock);
    const { append, projector, readModels, eventStore, lines } = world;
    const old = projector();
    await old.start();
    await untilReached(thingProjection, readModels, await append(added('a'), labelled('a', 'poison')));
    await old.stop();

    const failing: AnyProjection & typeof thingProjection = {
      ...thingProjection,
      version: 2,
      readsFrom: 1,
      evolve: (document, event) => {
        if (event.data.label === 'poison') throw new TypeError('poison');
        return thingProjection.evolve(document, event);
      },
    };
    let isAway = false;
    const faulty: ReadModelStore = {
      ...readModels,
      apply: (...args) => {
        if (!isAway) return readModels.apply(...args);
        isAway = false;
        return Promise.reject(new ReadModelStoreUnavailable('away'));
      },
    };
    const working = projector({ projections: [failing], readModels: faulty });
    await working.start();
    const parts = { eventStore, readModels, clock: systemClock };
    const labels = async () => (await readList(failing, everything, parts)).map(({ body }) => body.label);
    const hasFailed = { state: 'failed', writes: '2', failure: { position: 2n, eventType: 'ThingLabelled' } };
    await eventually('the failure', async () => (await working.status())[0]?.state === 'failed' || undefined);
    expect((await working.status())[0]).toMatchObject(hasFailed);
    await append(added('b'));
    expect(await labels()).toEqual(['poison', 'b']);
    expect(await projectionStatus([failing], parts)).toMatchObject([
      { state: 'building', liveVersion: '1', failure: { position: 2n } },
    ]);

    // A store that fails in between changes nothing in that.
    isAway = true;
    await append(added('c'));
    await eventually('the older version to go on', async () => {
      await clock.advance(100);
      return (await liveDocuments(thingProjection, readModels)).has('c') || undefined;
    });
    expect(lines.filter(({ message }) => message.startsWith('a store failed'))).toHaveLength(1);
    expect((await working.status())[0]).toMatchObject(hasFailed);
    expect(lines.filter(({ message }) => message.includes('projection failed at'))).toHaveLength(1);
    await working.stop();
  });

  test('does not hold up another projection that has little to catch up with', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    const old = projector();
    await old.start();
    await untilReached(
      thingProjection,
      readModels,
      await append(...Array.from({ length: 40 }, (_, index) => added(`t${String(index)}`))),
    );
    await old.stop();
    const through = await append(added('last'));
    await readModels.prepare(modelOf('2'));

    const { run } = createCatchUp({ eventStore, readModels, decode: decodeThing, clock: systemClock });
    const done: string[] = [];
    const catchingUp = (version: string) =>
      run({ projection: thingProjection, model: modelOf(version), through }).then((events) =>
        done.push(`${version}: ${String(events)}`),
      );
    await Promise.all([catchingUp('2'), catchingUp('1')]);
    expect(done).toEqual(['1: 1', '2: 41']);
  });

  test('a rebuild that has ended no longer listens to its signal', async () => {
    const world = await thingWorld(createTestClock());
    await world.append(added('a'), added('b'));
    const { signal } = new AbortController();
    await rebuild(world, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('an older build does not swap back, and goes on when its version is published again', async () => {
    const clock = createTestClock();
    const world = await thingWorld(clock);
    const { append, projector, readModels, eventStore } = world;
    const old = projector();
    await old.start();
    await untilReached(thingProjection, readModels, await append(added('a')));
    const next = projector({ projections: [louder] });
    await next.start();
    await eventually('the swap', async () => ((await readModels.liveVersion('thing')) === '2' ? true : undefined));

    const stateOf = async (projectorOf: typeof old) => (await projectorOf.status())[0]?.state;
    await eventually('the older build to notice', async () => {
      await clock.advance(1_000);
      return (await stateOf(old)) === 'superseded' ? true : undefined;
    });
    await untilReached(louder, readModels, await append(added('b')));
    expect(await readModels.liveVersion('thing')).toBe('2');
    await next.stop();

    // A rebuild with the older build is the explicit way back to it.
    await rebuild(world);
    await eventually('the older build to go on', async () => {
      await clock.advance(1_000);
      return (await stateOf(old)) === 'following' ? true : undefined;
    });
    await untilReached(thingProjection, readModels, await append(added('c')));
    expect(await liveDocuments(thingProjection, readModels)).toEqual(await freshFold(thingProjection, eventStore));
  });
});

describe('a rebuild', () => {
  test('replaces the live version, and running projectors go on with it', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    const working = projector({ readModels: await world.openReadModels() });
    await working.start();
    await untilReached(thingProjection, readModels, await append(added('a'), labelled('a', 'one'), added('b')));
    // The read model differs from the log, which is what a rebuild is for.
    await readModels.apply(modelOf('1'), [{ id: 'b', revision: 9n, position: 99n, body: { label: 'wrong' } }], 0n);

    const result = await rebuild(world);
    expect(result).toEqual({ version: expect.stringMatching(/^1-r/), events: 3, resumed: false });
    expect(await readModels.liveVersion('thing')).toBe(result.version);
    expect(await liveDocuments(thingProjection, readModels)).toEqual(await freshFold(thingProjection, eventStore));

    await untilReached(thingProjection, readModels, await append(labelled('b', 'two'), labelled('a', 'three')));
    expect(await liveDocuments(thingProjection, readModels)).toEqual(await freshFold(thingProjection, eventStore));
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
    await rebuild(world, { readModels: slow, catchUp });
    expect(await liveDocuments(thingProjection, readModels)).toEqual(await freshFold(thingProjection, eventStore));
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
    await expect(rebuild(world, { readModels: failing, catchUp })).rejects.toThrow('it is away');
    const result = await rebuild(world, { readModels: failing, catchUp });
    expect(result.resumed).toBe(true);
    expect(result.events).toBeLessThan(120);
    expect(await liveDocuments(thingProjection, readModels)).toEqual(await freshFold(thingProjection, eventStore));
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
      await rebuild(world, { ...parts, catchUp: createCatchUp(parts, { bulkLength }) });
      expect(new Set(inBulk)).toEqual(new Set([isLong]));
      expect(await liveDocuments(thingProjection, readModels)).toEqual(await freshFold(thingProjection, eventStore));
    }
  });

  test('an idle projector notices as well', async () => {
    const clock = createTestClock();
    const world = await thingWorld(clock);
    const { projector } = world;
    const working = projector();
    await working.start();
    const { version } = await rebuild(world);
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
    const { version } = await rebuild(world, { readModels: late });
    expect(await readModels.checkpoint(modelOf(version))).toBeGreaterThanOrEqual(position);
    expect(await liveDocuments(thingProjection, readModels)).toEqual(await freshFold(thingProjection, eventStore));
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
    const inSmallBatches: EventStore = {
      ...eventStore,
      subscribe: (options) => eventStore.subscribe({ ...options, maxBatch: 10 }),
    };
    let batches = 0;
    const decode: typeof decodeThing = (stored) => {
      batches += 1;
      if (batches === 15) abort.abort(new Error('the machine goes down'));
      return decodeThing(stored);
    };
    await expect(rebuild(world, { eventStore: inSmallBatches, decode, signal: abort.signal })).rejects.toThrow(
      'the machine goes down',
    );
    expect(await readModels.liveVersion('thing')).toBe('1');

    const progress: RebuildProgress[] = [];
    const result = await rebuild(world, { onProgress: (step) => progress.push(step) });
    expect(result.resumed).toBe(true);
    expect(result.events).toBe(20);
    expect(progress.at(-1)).toEqual({ events: 20, position: 40n, target: 40n });
    expect(await readModels.liveVersion('thing')).toBe(result.version);
    expect(await liveDocuments(thingProjection, readModels)).toEqual(await freshFold(thingProjection, eventStore));
    expect((await rebuild(world)).resumed).toBe(false);
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
    await expect(rebuild(world, { decode, clock })).rejects.toThrow(ProjectionFailed);
    await expect(rebuild(world, { decode, clock })).rejects.toThrow('failed at position 2 over ThingLabelled: TypeError at');
    expect(await readModels.liveVersion('thing')).toBe('1');
    expect((await liveDocuments(thingProjection, readModels)).size).toBe(2);
    expect(await rebuild(world, { clock })).toMatchObject({ resumed: false, events: 3 });
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

  test('of a projection that does not exist is refused', async () => {
    const world = await thingWorld();
    await expect(
      rebuildProjection('nothing', { projections: [], ...world, decode: decodeThing, clock: systemClock, random: systemRandom }),
    ).rejects.toThrow('nothing');
  });
});

describe('reading from the live version', () => {
  test('there is none before the first is published, or while that of another build is live', async () => {
    const { readModels } = await thingWorld();
    expect(await liveModel(thingProjection, readModels)).toBeNull();
    await readModels.prepare(modelOf('1'));
    await readModels.publish(modelOf('1'));
    expect(await liveModel(thingProjection, readModels)).toEqual(modelOf('1'));
    expect(await liveModel(louder, readModels)).toBeNull();
    expect(await readLive(louder, readModels, (model) => Promise.resolve(model))).toBeNull();
  });

  test('caches the live version, and never answers from one that another process has dropped', async () => {
    const world = await thingWorld();
    const { readModels } = world;
    const other = await world.openReadModels();
    await readModels.prepare(modelOf('1'));
    await readModels.publish(modelOf('1'));
    await readModels.apply(modelOf('1'), [{ id: 'a', revision: 0n, position: 1n, body: { label: 'old' } }], 1n);

    let asked = 0;
    const counting: ReadModelStore = {
      ...readModels,
      liveVersion: (name) => {
        asked += 1;
        return readModels.liveVersion(name);
      },
    };
    const label = () =>
      readLive(thingProjection, counting, async (model) =>
        model === null ? null : (await counting.get(model, 'a'))?.body['label'],
      );
    expect([await label(), await label(), await label(), asked]).toEqual(['old', 'old', 'old', 1]);

    for (const [rounds, version] of ['1-r1', '1-r2', '1-r3'].entries()) {
      await other.prepare(modelOf(version));
      await other.apply(modelOf(version), [{ id: 'a', revision: 0n, position: 1n, body: { label: version } }], 1n);
      expect(await label()).toBe(rounds === 0 ? 'old' : `1-r${String(rounds)}`);
      await other.publish(modelOf(version));
      expect([await label(), await label(), asked]).toEqual([version, version, rounds + 2]);
    }

    // A newer build published it: this build may not understand its documents.
    await other.prepare(modelOf('2'));
    await other.publish(modelOf('2'));
    expect(await label()).toBeNull();
  });

  test('runs again when the version is dropped during a read', async () => {
    const world = await thingWorld();
    const { readModels } = world;
    const other = await world.openReadModels();
    await readModels.prepare(modelOf('1'));
    await readModels.publish(modelOf('1'));
    const versions: (string | undefined)[] = [];
    const found = await readLive(thingProjection, readModels, async (model) => {
      versions.push(model?.version);
      if (versions.length === 1) {
        await other.prepare(modelOf('1-r1'));
        await other.apply(modelOf('1-r1'), [{ id: 'a', revision: 0n, position: 1n, body: { label: 'new' } }], 1n);
        await other.publish(modelOf('1-r1'));
      }
      return model === null ? null : readModels.get(model, 'a');
    });
    expect(versions).toEqual(['1', '1-r1']);
    expect(found?.body).toEqual({ label: 'new' });
  });

  test('other faults are not hidden', async () => {
    const { readModels } = await thingWorld();
    await expect(readLive(thingProjection, readModels, () => Promise.reject(new RangeError('mine')))).rejects.toThrow(RangeError);
  });
});

describe('a list', () => {
  test('reflects everything that was committed before the call', async () => {
    const { append, projector, readModels, eventStore } = await thingWorld();
    await projector().start();
    for (let index = 0; index < 20; index += 1) {
      await append(added(`t${String(index).padStart(2, '0')}`, 'listed'));
      const found = await readList(
        thingProjection,
        { ...everything, where: { label: 'listed' } },
        { eventStore, readModels, clock: systemClock },
      );
      expect(found).toHaveLength(index + 1);
      expect(found.at(-1)?.body.revisions).toEqual([0]);
    }
  });

  test('fails when the projection has not caught up within 2 s', async () => {
    const clock = createTestClock();
    const { append, projector, readModels, eventStore } = await thingWorld(clock);
    const working = projector();
    await working.start();
    await working.stop();
    await append(added('a'));
    const list = readList(thingProjection, everything, { eventStore, readModels, clock }).then(
      () => 'answered',
      (fault: unknown) => fault,
    );
    await eventually('the waiting', () => (clock.pending() >= 2 ? true : undefined));
    await clock.advance(1_999);
    expect(await Promise.race([list, Promise.resolve('waiting')])).toBe('waiting');
    await clock.advance(1);
    const fault = await list;
    expect(fault).toBeInstanceOf(ProjectionBehind);
    expect(fault).toMatchObject({ projection: 'thing', retryAfterSeconds: 1 });
    expect(clock.pending()).toBe(0);
  });

  test('fails while no version is published', async () => {
    const { readModels, eventStore } = await thingWorld();
    await expect(readList(thingProjection, everything, { eventStore, readModels, clock: systemClock })).rejects.toThrow(
      ProjectionBehind,
    );
  });

  test('keeps waiting across a swap', async () => {
    const world = await thingWorld();
    const { append, projector, eventStore } = world;
    const working = projector();
    await working.start();
    await working.stop();
    await append(added('a'));
    const list = readList(thingProjection, everything, {
      eventStore,
      readModels: await world.openReadModels(),
      clock: createTestClock(),
    });
    await rebuild(world);
    expect((await list).map(({ id }) => id)).toEqual(['a']);
  });
});

describe('the status', () => {
  test('distinguishes live, unpublished and superseded, and has the lag', async () => {
    const clock = createTestClock(Date.now() + 3_600_000);
    const world = await thingWorld(clock);
    const { append, projector, readModels } = world;
    const status = () => projectionStatus([thingProjection], { ...world, clock });
    await append(added('a'));
    expect(await status()).toEqual([
      { name: 'thing', version: 1, liveVersion: null, state: 'unpublished', lag: null, failure: null, parked: [] },
    ]);

    const working = projector();
    await working.start();
    await untilReached(thingProjection, readModels, 1n);
    expect(await status()).toEqual([
      {
        name: 'thing',
        version: 1,
        liveVersion: '1',
        state: 'live',
        lag: { position: 1n, positions: 0n, ms: 0 },
        failure: null,
        parked: [],
      },
    ]);

    await working.stop();
    await append(added('b'), thingEvent('SomethingElse', 'x'), added('c'));
    const [behind] = await status();
    expect(behind?.lag).toMatchObject({ position: 1n, positions: 3n });
    // The oldest missing event was recorded just now, by a clock an hour behind this one.
    expect(behind?.lag?.ms).toBeGreaterThan(3_000_000);
    expect(behind?.lag?.ms).toBeLessThanOrEqual(3_600_000);

    await readModels.prepare(modelOf('7'));
    await readModels.publish(modelOf('7'));
    expect(await status()).toMatchObject([{ liveVersion: '7', state: 'superseded', lag: null }]);
  });
});
