import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  EventStoreUnavailable,
  type EventStore,
  type LogSlice,
  type NewEvent,
  type SubscribeOptions,
} from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import type { Projector } from '../../src/projections/runner/projector.js';
import { rebuildProjection } from '../../src/projections/runner/rebuild.js';
import { ReadModelDropped, ReadModelStoreUnavailable, type ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { eventually } from '../support/eventually.js';
import { mongoReadModels } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { createTestClock } from '../support/testClock.js';
import {
  added,
  decodeThing,
  expectFolded,
  freshFold,
  labelled,
  liveDocuments,
  modelOf,
  removed,
  thingEvent,
  thingProjection,
  thingWorld,
  untilReached,
  type ThingWorld,
} from '../support/things.js';

const model = modelOf('1');

/** A place where calls wait while it is closed. */
const gate = (): { close(): void; open(): void; pass(): Promise<void> } => {
  let opened = Promise.resolve();
  let open = (): void => undefined;
  return {
    close: () => {
      opened = new Promise((resolve) => (open = resolve));
    },
    open: () => {
      open();
    },
    pass: () => opened,
  };
};

describe('two projectors on the same stores', () => {
  test.each(['getMany', 'apply'] as const)('one that wakes up in %s after a long pause does no damage', async (method) => {
    const { append, projector, readModels, eventStore, openReadModels } = await thingWorld();
    const sleepers = await openReadModels();
    const pause = gate();
    let asleep = 0;
    const sleeping: ReadModelStore = {
      ...sleepers,
      [method]: async (...args: never[]) => {
        asleep += 1;
        await pause.pass();
        return (sleepers[method] as (...args: never[]) => Promise<unknown>)(...args);
      },
    };
    const slow = projector({ readModels: sleeping });
    await slow.start();
    pause.close();
    await append(added('a', 'early'), added('b', 'early'), added('c', 'early'));
    await eventually('the pause', () => (asleep > 0 ? true : undefined));

    const awake = projector();
    await awake.start();
    const position = await append(labelled('a', 'later'), removed('b'), removed('c'), added('c', 'again'));
    await untilReached(thingProjection, readModels, position);
    const expected = await freshFold(thingProjection, eventStore);
    expect(await liveDocuments(thingProjection, readModels)).toEqual(expected);

    pause.open();
    await eventually('the sleeper to catch up', async () => ((await slow.status())[0]?.position === position ? true : undefined));
    expect(await liveDocuments(thingProjection, readModels)).toEqual(expected);

    await awake.stop();
    await untilReached(thingProjection, readModels, await append(labelled('c', 'last')));
    await expectFolded(thingProjection, readModels, eventStore);
  });

  test('one that slept until the tombstones were purged brings nothing back', async () => {
    const { append, projector, readModels, eventStore, openReadModels } = await thingWorld();
    const sleepers = await openReadModels();
    const pause = gate();
    let asleep = 0;
    let awake = false;
    const seen: unknown[] = [];
    const slow = projector({
      readModels: {
        ...sleepers,
        checkpoint: async (target) => {
          asleep += 1;
          await pause.pass();
          return sleepers.checkpoint(target);
        },
        apply: async (target, writes, checkpoint) => {
          await sleepers.apply(target, writes, checkpoint);
          if (awake) seen.push(await sleepers.get(target, 'a'));
        },
      },
    });
    await slow.start();
    await untilReached(thingProjection, readModels, await append(added('first')));
    pause.close();
    asleep = 0;
    await append(added('a', 'early'), labelled('a', 'still early'));
    await eventually('the pause', () => (asleep > 0 ? true : undefined));

    await projector().start();
    const position = await append(removed('a'), added('b'));
    await untilReached(thingProjection, readModels, position);
    await readModels.purgeTombstones(model, position);

    awake = true;
    pause.open();
    await append(added('last'));
    await eventually('the sleeper to catch up', async () =>
      (await slow.status())[0]?.position === position + 1n ? true : undefined,
    );
    await expectFolded(thingProjection, readModels, eventStore);
    expect(seen.filter((document) => document !== null)).toEqual([]);
  });
});

type Step =
  | { readonly do: 'append'; readonly things: readonly { kind: number; thing: number }[] }
  | { readonly do: 'start' | 'stop'; readonly projector: 0 | 1 }
  | { readonly do: 'fail'; readonly projector: 0 | 1; readonly call: number; readonly times: number }
  | { readonly do: 'rebuild'; readonly interrupted: boolean }
  | { readonly do: 'wait'; readonly ms: number };

const anyProjector = fc.constantFrom<0 | 1>(0, 1);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      things: fc.array(fc.record({ kind: fc.nat(5), thing: fc.nat(3) }), { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('start' as const, 'stop' as const), projector: anyProjector }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      projector: anyProjector,
      call: fc.nat(8),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rebuild' as const), interrupted: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 60, 400, 3_700_000) }) },
);

const eventOf = ({ kind, thing }: { kind: number; thing: number }): NewEvent => {
  const type = ['ThingAdded', 'ThingLabelled', 'ThingLabelled', 'ThingLabelled', 'ThingRemoved', 'SomethingElse'][kind];
  return thingEvent(type ?? 'ThingAdded', `t${String(thing)}`, `label ${String(kind)}`);
};

/**
 * Stores that fail on demand: a read-model call before or after its effect, a subscription after a
 * batch.
 */
const failingStores = (readModels: ReadModelStore, eventStore: EventStore) => {
  let calls = 0;
  let failAt = 0;
  let failures = 0;
  const fails = (): boolean => {
    calls += 1;
    return failures > 0 && calls >= failAt && failures-- > 0;
  };
  const failing = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (fails()) throw new ReadModelStoreUnavailable('before');
    const result = await call();
    if (fails()) throw new ReadModelStoreUnavailable('after');
    return result;
  };
  const store: ReadModelStore = {
    ...readModels,
    prepare: (target) => failing(() => readModels.prepare(target)),
    publish: (target) => failing(() => readModels.publish(target)),
    liveVersion: (name) => failing(() => readModels.liveVersion(name)),
    checkpoint: (target) => failing(() => readModels.checkpoint(target)),
    getMany: (target, ids) => failing(() => readModels.getMany(target, ids)),
    apply: (target, writes, checkpoint) => failing(() => readModels.apply(target, writes, checkpoint)),
    purgeTombstones: (target, before) => failing(() => readModels.purgeTombstones(target, before)),
  };
  async function* subscribe(options: SubscribeOptions): AsyncGenerator<LogSlice> {
    for await (const slice of eventStore.subscribe({ ...options, maxBatch: 3 })) {
      yield slice;
      if (fails()) throw new EventStoreUnavailable('the subscription was dropped');
    }
  }
  return {
    failAfter: (count: number, times: number) => {
      failAt = calls + count;
      failures = times;
    },
    readModels: store,
    eventStore: { ...eventStore, subscribe },
  };
};

/**
 * Rebuilds the projection; an interrupted rebuild leaves a version for the next one to continue.
 */
const rebuild = async ({ eventStore, readModels }: ThingWorld, interrupted: boolean): Promise<void> => {
  const abort = new AbortController();
  const parts = { projections: [thingProjection], eventStore, readModels, decode: decodeThing, clock: systemClock };
  const inSmallBatches: EventStore = {
    ...eventStore,
    async *subscribe(options) {
      for await (const slice of eventStore.subscribe({ ...options, maxBatch: 4 })) {
        if (interrupted && slice.position > 3n) abort.abort(new ReadModelStoreUnavailable('interrupted'));
        yield slice;
      }
    },
  };
  try {
    await rebuildProjection('thing', { ...parts, random: systemRandom, eventStore: inSmallBatches, signal: abort.signal });
  } catch (fault) {
    if (!(fault instanceof ReadModelStoreUnavailable) && !(fault instanceof ReadModelDropped)) throw fault;
  }
};

/** Runs random schedules on stores that `openStore` opens. */
const checkSchedules = (numRuns: number, openStore?: Parameters<typeof thingWorld>[1]): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 20 }), async (steps) => {
      const clock = createTestClock();
      const world = await thingWorld(clock, openStore);
      const { eventStore, readModels, projector, append, openReadModels } = world;
      const stores = [failingStores(readModels, eventStore), failingStores(await openReadModels(), eventStore)] as const;
      const running: [Projector | null, Projector | null] = [null, null];

      for (const step of steps) {
        if (step.do === 'append') await append(...step.things.map(eventOf));
        else if (step.do === 'fail') stores[step.projector].failAfter(step.call, step.times);
        else if (step.do === 'rebuild') await rebuild(world, step.interrupted);
        else if (step.do === 'wait') await clock.advance(step.ms);
        else if (step.do === 'start') {
          const { readModels: failing, eventStore: breaking } = stores[step.projector];
          running[step.projector] ??= projector({ readModels: failing, eventStore: breaking });
          await running[step.projector]?.start();
        } else {
          await running[step.projector]?.stop();
          running[step.projector] = null;
        }
      }

      // In the end one projector runs and nothing fails.
      for (const { failAfter } of stores) failAfter(0, 0);
      const last = projector();
      await last.start();
      const position = await append(added('end'));
      await eventually('catching up', async () => {
        await clock.advance(1_000);
        const version = (await readModels.liveVersion('thing')) ?? '';
        return (await readModels.checkpoint({ ...model, version })) >= position ? true : undefined;
      });
      await expectFolded(thingProjection, readModels, eventStore);
      for (const working of [...running, last]) await working?.stop();
      await expectFolded(thingProjection, readModels, eventStore);
      await eventStore.close();
      await readModels.close();
    }),
    { numRuns },
  );

const equalsTheFold = 'whatever the schedule, the faults and the rebuilds: the read model equals the fresh fold of the log';

test(equalsTheFold, () => checkSchedules(25), 60_000);

forEachReadModelServer((server) => {
  test(`${equalsTheFold}: ${server.name}`, () => checkSchedules(8, mongoReadModels(server)), 60_000);
});
