import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TooManyConflicts } from '../../src/commands/handleCommand.js';
import { deletionSteps } from '../../src/events/deletion/deletion.events.js';
import { deletionStream } from '../../src/events/deletion/deletion.stream.js';
import { sleep, type Clock } from '../../src/platform/clock.js';
import { ReadModelStoreUnavailable, type RecordStore } from '../../src/projections/store/readModelStore.js';
import {
  deletionFold,
  deletionProcess,
  type DeletionOutcome,
  type DeletionState,
} from '../../src/workers/deletion/deletion.process.js';
import { runLeasedTask, type LeasedTask } from '../../src/workers/leasedTask.js';
import { createLeaseRecords } from '../../src/workers/leaseRecords.js';
import { inStorm } from '../support/storm.js';
import { someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { engineOn, type Stores } from './engines.js';
import { passTimeUntil } from './machine.js';
import { createMemoryStores } from './memoryStores.js';

const websiteId = 'w1';
const stream = deletionStream.name({ websiteId });
/** Level and message of each line. */
let logged: string[] = [];
const logger = {
  child: () => logger,
  debug: (_: unknown, message: string) => logged.push(`debug: ${message}`),
  warn: (_: unknown, message: string) => logged.push(`warn: ${message}`),
} as never;
beforeEach(() => {
  logged = [];
});

interface Plan {
  /** How far its wall clock is ahead, in milliseconds. */
  readonly offsetMs: number;
  /** How long each step takes it, in milliseconds. */
  readonly stepMs: number;
  /** Its acts, by number, before which it stands still for so long; for ever when it dies. */
  readonly stops: ReadonlyMap<number, number>;
  /** Its accesses to records, by number, that fail; `after`: although they were carried out. */
  readonly faults: ReadonlyMap<number, 'before' | 'after'>;
}

const smooth: Plan = { offsetMs: 0, stepMs: 1_000, stops: new Map(), faults: new Map() };

interface Acted {
  readonly attempt: number;
  readonly step: string;
}

/** A machine with stores, timers and a clock of its own, which all stand still when it does. */
const createWorker = (world: { clock: TestClock; stores: Stores; acted: Acted[]; signal: AbortSignal }, plan: Plan) => {
  const { clock, stores, acted, signal } = world;
  let awake: Promise<unknown> = Promise.resolve();
  let acts = 0;
  const act = async <Result>(carryOut: () => Promise<Result>): Promise<Result> => {
    await awake;
    const stopMs = plan.stops.get((acts += 1));
    if (stopMs !== undefined) awake = Number.isFinite(stopMs) ? sleep(clock, stopMs) : new Promise(() => undefined);
    await awake;
    const result = await carryOut();
    await awake;
    return result;
  };
  const ownClock: Clock = {
    now: () => clock.now() + plan.offsetMs,
    schedule: (ms, task) => clock.schedule(ms, () => void awake.then(task)),
  };
  let accesses = 0;
  const faulty = <Result>(carryOut: () => Promise<Result>): Promise<Result> =>
    act(async () => {
      const fault = plan.faults.get((accesses += 1));
      if (fault === 'before') throw new ReadModelStoreUnavailable('away');
      const result = await carryOut();
      if (fault === 'after') throw new ReadModelStoreUnavailable('no answer');
      return result;
    });
  const { records: shared } = stores.readModels;
  const records: RecordStore = {
    ...shared,
    get: (...of) => faulty(() => shared.get(...of)),
    insert: (...of) => faulty(() => shared.insert(...of)),
    replace: (...of) => faulty(() => shared.replace(...of)),
  };
  const { eventStore } = stores;
  const engine = engineOn(
    {
      ...stores,
      eventStore: {
        ...eventStore,
        append: (...of) => act(() => eventStore.append(...of)),
        readStream: (...of) => act(() => eventStore.readStream(...of)),
      },
    },
    { clock: ownClock },
  );
  const openIn = (state: DeletionState): DeletionState | null =>
    deletionSteps.every((step) => state.done.includes(step)) ? null : state;
  const task: LeasedTask<DeletionState, DeletionOutcome> = {
    worker: engine.ids.commandId(),
    logger: () => logger,
    load: async () => openIn((await engine.state(deletionFold, { websiteId })).state),
    handle: async (command) => {
      const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' };
      return openIn((await engine.handle(deletionProcess, { websiteId, ...command }, context)).state);
    },
    timeoutMs: () => 3_600_000,
    execute: async ({ done, attempts: { attempt } }, lease) => {
      for (const step of deletionSteps.filter((each) => !done.includes(each))) {
        await sleep(ownClock, plan.stepMs);
        lease.assertHeld();
        acted.push({ attempt, step });
        await lease.record({ type: 'RecordStep', step, removed: 0 });
      }
      return null;
    },
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const pause = (ms: number): Promise<void> => sleep(ownClock, ms, signal);
        await runLeasedTask(engine, { signal, pause, leases: createLeaseRecords(records, ownClock) }, task);
        return;
      } catch (error) {
        // As a reaction is repeated.
        if (!(error instanceof ReadModelStoreUnavailable || error instanceof TooManyConflicts)) throw error;
        await sleep(ownClock, 1_000, signal);
      }
    }
  };
  return { run };
};

/** Runs the task on machines with these plans; resolves with what was done and what is in the log. */
const runAll = async (plans: readonly Plan[]): Promise<{ acted: readonly Acted[]; types: readonly string[] }> => {
  const stopped = new AbortController();
  const world = { clock: createTestClock(), stores: await createMemoryStores(), acted: [] as Acted[], signal: stopped.signal };
  for (const plan of plans) void createWorker(world, plan).run();
  const observer = engineOn(world.stores, { clock: world.clock });
  await passTimeUntil(world.clock, async () => {
    const { state } = await observer.state(deletionFold, { websiteId });
    return deletionSteps.every((step) => state.done.includes(step));
  });
  // Sleepers wake up and may do harm.
  await world.clock.advance(60_000);
  stopped.abort();
  const { events } = await world.stores.eventStore.readStream(stream);
  return { acted: world.acted, types: events.map(({ type }) => type) };
};

/** Nobody acts in an attempt once a later one has acted. */
const expectFenced = (acted: readonly Acted[]): void => {
  const attempts = acted.map(({ attempt }) => attempt);
  expect(attempts).toStrictEqual([...attempts].sort((one, other) => one - other));
};

describe('a lease', () => {
  test('of a long attempt costs the log no event, and nobody takes it over', async () => {
    const { acted, types } = await runAll([{ ...smooth, stepMs: 60_000 }, smooth, { ...smooth, offsetMs: 3_600_000 }]);
    expect(types).toStrictEqual(['DeletionStarted', ...deletionSteps.map(() => 'DeletionStepDone')]);
    expect(acted).toHaveLength(deletionSteps.length);
  });

  test('that cannot be renewed while a store is away is no line of its own: the outage is one', async () => {
    await runAll([{ ...smooth, stepMs: 12_000, faults: new Map([1, 2, 3, 4, 5].map((access) => [access, 'before'])) }]);
    expect(logged).toContain('debug: the lease could not be renewed beside the log, so an event renews it');
    expect(logged.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  test('of a worker that dies lapses, and another continues', async () => {
    const { acted, types } = await runAll([{ ...smooth, stepMs: 30_000, stops: new Map([[12, Infinity]]) }, smooth]);
    expectFenced(acted);
    expect(types.filter((type) => type === 'DeletionStarted')).toHaveLength(2);
    expect(types).not.toContain('DeletionLeaseRenewed');
  });

  test.each(['before', 'after'] as const)('is renewed in the log while its record cannot be written (%s)', async (fault) => {
    const faults = new Map(Array.from({ length: 50 }, (_, index) => [index + 1, fault] as const));
    const { acted, types } = await runAll([{ ...smooth, stepMs: 10_000, faults }, smooth]);
    expect(types).toContain('DeletionLeaseRenewed');
    expect(types.filter((type) => type === 'DeletionStarted')).toHaveLength(1);
    expectFenced(acted);
  });

  const plan = fc.record({
    offsetMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
    stepMs: fc.constantFrom(100, 1_500, 3_000, 9_000, 25_000),
    stops: fc
      .array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1_000, 3_500, 5_900, 6_100, 20_000)), { maxLength: 6 })
      .map((entries) => new Map(entries)),
    faults: fc
      .array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom('before' as const, 'after' as const)), { maxLength: 5 })
      .map((entries) => new Map(entries)),
  });

  test('is held by one worker at a time, whatever befalls them, and the work is done', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 2, maxLength: 3 }), async (plans) => {
        const { acted } = await runAll(plans);
        expectFenced(acted);
        expect(new Set(acted.map(({ step }) => step)).size).toBe(deletionSteps.length);
      }),
      { numRuns: inStorm({ short: 15, gate: 200, long: 3_000 }), interruptAfterTimeLimit: 30_000, markInterruptAsFailure: false },
    );
  }, 60_000);
});
