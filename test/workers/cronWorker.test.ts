import { afterEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '../../src/platform/logger.js';
import { ReadModelStoreUnavailable } from '../../src/projections/store/readModelStore.js';
import { createCronWorker, type CronJob } from '../../src/workers/cron/cronWorker.js';
import { maintenanceJob } from '../../src/workers/cron/maintenance.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { engineOn, openStores } from './engines.js';

const minute = 60_000;
const hour = 60 * minute;
/** A Thursday. */
const start = Date.UTC(2026, 0, 1, 10, 30);
const at = (text: string): number => Date.parse(`2026-01-${text}:00.000Z`);

const working: Worker[] = [];

afterEach(async () => {
  await Promise.all(working.splice(0).map((worker) => worker.stop()));
});

/** Cron processes that share nothing but their stores and the time. */
const newWorld = async (clock: TestClock = createTestClock(start)) => {
  const stores = await openStores(clock);
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    level: 'debug',
    destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const engine = engineOn(stores, { clock, logger });
  const runs: number[] = [];
  const noting = (schedule: string): CronJob => ({
    name: 'note',
    schedule,
    run: (dueAt) => Promise.resolve(void runs.push(dueAt)),
  });
  const cron = async (job: CronJob): Promise<Worker> => {
    const worker = createCronWorker(engineOn(stores, { clock, logger }), [job]);
    working.push(worker);
    await worker.start();
    // The calendar is loaded when it is needed first; its timer is what it then waits by.
    await eventually('the first look', () => (clock.pending() > 0 ? true : undefined));
    return worker;
  };
  /** Minute by minute, so that what a run does with the store is done before the next. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += minute) {
      await clock.advance(Math.min(minute, ms - passed));
      await stores.readModels.ping();
    }
  };
  const messages = (): unknown[] => lines.map(({ msg }) => msg);
  return { clock, stores, engine, runs, lines, messages, noting, cron, pass };
};

describe('a job of the calendar', () => {
  test('runs at the times that its schedule names in UTC, and receives the time', async () => {
    const { noting, cron, pass, runs } = await newWorld();
    await cron(noting('15 4,12 * * 4-5'));
    await pass(48 * hour);
    expect(runs).toEqual([at('01T12:15'), at('02T04:15'), at('02T12:15')]);
  });

  test('runs once in a process for each time', async () => {
    const { noting, cron, pass, runs } = await newWorld();
    await cron(noting('*/10 * * * *'));
    await pass(hour);
    // The last one that was due before the start is made up for; of those before it, none.
    expect(runs).toEqual(['10:30', '10:40', '10:50', '11:00', '11:10', '11:20', '11:30'].map((time) => at(`01T${time}`)));
  });

  test('that was due before the start is made up for within the hour, and not later', async () => {
    const early = await newWorld(createTestClock(at('01T12:59')));
    await early.cron(early.noting('0 12 * * *'));
    await early.pass(minute / 2);
    expect(early.runs).toEqual([at('01T12:00')]);

    const late = await newWorld(createTestClock(at('01T13:00')));
    await late.cron(late.noting('0 12 * * *'));
    await late.pass(hour);
    expect(late.runs).toEqual([]);
  });

  test('runs under the same time again when the clock steps back', async () => {
    const { clock, noting, cron, pass, runs } = await newWorld();
    await cron(noting('0 11 * * *'));
    await pass(hour);
    clock.setTime(start);
    await pass(hour);
    expect(runs).toEqual([at('01T11:00'), at('01T11:00')]);
  });

  test('that throws is run again until it does not', async () => {
    const { noting, cron, pass, runs, lines } = await newWorld();
    const job = noting('0 11 * * *');
    await cron({
      ...job,
      run: async (dueAt, signal) => {
        await job.run(dueAt, signal);
        if (runs.length < 3) throw new ReadModelStoreUnavailable('away');
      },
    });
    await pass(hour);
    expect(runs).toEqual([at('01T11:00'), at('01T11:00'), at('01T11:00')]);
    const failed = { job: 'note', dueAt: '2026-01-01T11:00:00.000Z', err: { message: 'away' } };
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { ...failed, attempt: 0 },
      { ...failed, attempt: 1 },
    ]);
  });

  test('that throws for an hour is given up, and runs when it is due next', async () => {
    const { cron, pass, lines } = await newWorld();
    const tries = new Map<number, number>();
    await cron({
      name: 'broken',
      schedule: '0 11,13 * * *',
      run: (dueAt) => {
        tries.set(dueAt, (tries.get(dueAt) ?? 0) + 1);
        return Promise.reject(new TypeError('not this time'));
      },
    });
    await pass(3 * hour);
    expect([...tries.keys()]).toEqual([at('01T11:00'), at('01T13:00')]);
    // With pauses of half a minute at most, and of a quarter at least.
    expect(tries.get(at('01T11:00'))).toBeGreaterThan(100);
    expect(tries.get(at('01T11:00'))).toBeLessThan(260);
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { job: 'broken', dueAt: '2026-01-01T11:00:00.000Z', msg: 'a job of the calendar is given up until it is due next' },
    ]);
  });

  test('does not run while its last run is under way', async () => {
    const { cron, pass, messages } = await newWorld();
    const begun: number[] = [];
    let finish = (): void => undefined;
    await cron({
      name: 'long',
      schedule: '*/10 * * * *',
      run: (dueAt) => {
        begun.push(dueAt);
        return new Promise((resolve) => (finish = resolve));
      },
    });
    await pass(25 * minute);
    expect(begun).toEqual([at('01T10:30')]);
    expect(messages()).toContain('a job of the calendar is due while its last run is under way');
    finish();
    await pass(10 * minute);
    expect(begun).toEqual([at('01T10:30'), at('01T11:00')]);
    finish();
  });

  test('is aborted when the process stops, which waits for it', async () => {
    const { cron, pass, messages } = await newWorld();
    const worker = await cron({
      name: 'long',
      schedule: '* * * * *',
      run: (_dueAt, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve();
          });
        }),
    });
    await pass(minute);
    expect(messages()).not.toContain('a job of the calendar is done');
    await worker.stop();
    expect(messages()).toContain('a job of the calendar is done');
  });
});

test('maintenance gives back the room of expired records', async () => {
  const { clock, stores, engine, lines, cron, pass } = await newWorld();
  const { records } = stores.readModels;
  const old = Array.from({ length: 100 }, (_, n) => `old ${n}`);
  await Promise.all(old.map((key) => records.put('answers', key, {}, clock.now() + minute)));
  await cron(maintenanceJob(engine));
  await pass(hour);
  // Each write clears some away by itself.
  const purges = lines.filter(({ msg }) => msg === 'expired records are removed');
  // Idle work is no news.
  expect(purges.map(({ level }) => level)).toEqual(['debug', 'info']);
  const purged = purges.map(({ records: count }) => count);
  expect(purged).toEqual([0, expect.any(Number)]);
  expect(purged[1]).toBeGreaterThan(50);
  expect(await records.purgeExpired()).toBe(0);
});

test('a fault of one part of the maintenance keeps no other from running, and each is logged', async () => {
  const { engine, lines, cron, pass } = await newWorld();
  const done: string[] = [];
  const part = (name: string, fault?: string) => (): Promise<number> => {
    done.push(name);
    return fault === undefined ? Promise.resolve(1) : Promise.reject(new Error(fault));
  };
  await cron(
    maintenanceJob({
      previews: { removeEnded: part('previews', 'the disk fails') },
      records: { ...engine.records, purgeExpired: part('records') },
      vault: { ...engine.vault, purgeSecrets: part('secrets', 'the vault is away') },
      mails: { removeOld: part('mails') },
      logger: engine.logger,
    }),
  );
  await pass(30 * minute);
  await eventually('a run', () => lines.find(({ msg }) => msg === 'a job of the calendar failed; trying again'));
  expect(done.slice(0, 4)).toEqual(['previews', 'records', 'secrets', 'mails']);
  const [failed] = lines.filter(({ msg }) => msg === 'a job of the calendar failed; trying again');
  const { aggregateErrors } = failed?.['err'] as { aggregateErrors: { message: string }[] };
  expect(aggregateErrors.map(({ message }) => message)).toEqual(['the disk fails', 'the vault is away']);
});
