import { describe, expect, test } from '@jest/globals';
import { START, type EventStore, type NewEvent, type SubscribeOptions } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { readinessChecks } from '../../src/compose/readiness.js';
import type { AnyProjection } from '../../src/projections/projection.js';
import { readList } from '../../src/projections/runner/readList.js';
import { createCatchUp } from '../../src/projections/runner/catchUp.js';
import { projectionStatus } from '../../src/projections/runner/status.js';
import { liveModel, ProjectionBehind, readLive } from '../../src/projections/runner/versions.js';
import {
  ReadModelDropped,
  ReadModelStoreUnavailable,
  type ReadModelQuery,
  type ReadModelStore,
} from '../../src/projections/store/readModelStore.js';
import { eventually } from '../support/eventually.js';
import { createTestClock } from '../support/testClock.js';
import {
  added,
  decodeThing,
  expectFolded,
  labelled,
  liveDocuments,
  modelOf,
  rebuildThings,
  thingProjection,
  thingWorld,
  untilReached,
  type ThingWorld,
} from '../support/things.js';

/** The next version of the projection: labels in capitals. */
const louder: AnyProjection = {
  ...thingProjection,
  version: 2,
  evolve: (document: never, event: Parameters<typeof thingProjection.evolve>[1]) => {
    const next = thingProjection.evolve(document, event);
    return next === null ? null : { ...next, label: next.label.toUpperCase() };
  },
};

/** Leaves version 1 live, with these events, and without its projector. */
const buildVersion1 = async ({ append, projector, readModels }: ThingWorld, ...events: readonly NewEvent[]): Promise<void> => {
  const old = projector();
  await old.start();
  await untilReached(thingProjection, readModels, await append(...events));
  await old.stop();
};

const untilVersion2 = (readModels: ReadModelStore) =>
  eventually('version 2 to be published', async () => (await readModels.liveVersion('thing')) === '2' || undefined);

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
    await buildVersion1(world, added('a'), labelled('a', 'one'), added('b'));

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
    await untilVersion2(readModels);
    await expectFolded(louder, readModels, eventStore);
    expect((await liveDocuments(louder, readModels)).get('a')).toMatchObject({ label: 'ONE' });
    await expect(readModels.get(modelOf('1'), 'a')).rejects.toThrow(ReadModelDropped);

    await untilReached(louder, readModels, await append(labelled('b', 'two')));
    expect((await working.status())[0]?.state).toBe('following');
    await expectFolded(louder, readModels, eventStore);
  });

  test('goes on with an older one that it understands, which answers lists until it is built', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    await buildVersion1(world, added('a'), labelled('a', 'one'));

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
    await untilVersion2(readModels);
    await untilReached(indexed, readModels, await append(labelled('b', 'e')));
    expect(await labels({ sort: { field: 'label' } })).toEqual(['c', 'd', 'e', 'one']);
    await expectFolded(indexed, readModels, eventStore);
    expect((await working.status())[0]).toMatchObject({ state: 'following', writes: '2' });
  });

  test('is published while something is always written', async () => {
    const world = await thingWorld();
    const { append, projector, readModels, eventStore } = world;
    await buildVersion1(world, added('a'));

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
    await untilVersion2(readModels);
    await untilReached(louder, readModels, await append(labelled('a', 'last')));
    await expectFolded(louder, readModels, eventStore);
  });

  test('that fails leaves the older one, which this build goes on with, at work', async () => {
    const clock = createTestClock();
    const world = await thingWorld(clock);
    const { append, projector, readModels, eventStore, lines } = world;
    await buildVersion1(world, added('a'), labelled('a', 'poison'));

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
    const { append, readModels, eventStore } = world;
    await buildVersion1(world, ...Array.from({ length: 40 }, (_, index) => added(`t${String(index)}`)));
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

  test('an older build does not swap back, and goes on when its version is published again', async () => {
    const clock = createTestClock();
    const world = await thingWorld(clock);
    const { append, projector, readModels, eventStore } = world;
    const old = projector();
    await old.start();
    await untilReached(thingProjection, readModels, await append(added('a')));
    const next = projector({ projections: [louder] });
    await next.start();
    await untilVersion2(readModels);

    const stateOf = async (projectorOf: typeof old) => (await projectorOf.status())[0]?.state;
    await eventually('the older build to notice', async () => {
      await clock.advance(1_000);
      return (await stateOf(old)) === 'superseded' ? true : undefined;
    });
    await untilReached(louder, readModels, await append(added('b')));
    expect(await readModels.liveVersion('thing')).toBe('2');
    await next.stop();

    // A rebuild with the older build is the explicit way back to it.
    await rebuildThings(world);
    await eventually('the older build to go on', async () => {
      await clock.advance(1_000);
      return (await stateOf(old)) === 'following' ? true : undefined;
    });
    await untilReached(thingProjection, readModels, await append(added('c')));
    await expectFolded(thingProjection, readModels, eventStore);
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
