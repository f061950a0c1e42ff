import { afterEach, describe, expect, test } from '@jest/globals';
import type { Untimed } from '../../src/commands/decider.js';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { type SeoScanResult } from '../../src/events/seo/seo.events.js';
import { EventStoreUnavailable, type EventFilter } from '../../src/events/store/eventStore.js';
import { overviewProjection } from '../../src/projections/website/overview.projection.js';
import type { WebsiteDocument } from '../../src/projections/website/website.projection.js';
import type { ReadModelStore, StoredDocument } from '../../src/projections/store/readModelStore.js';
import { createCronWorker } from '../../src/workers/cron/cronWorker.js';
import { createSeoRunWorker, scheduledSeoScans } from '../../src/workers/seoRun/seoRunWorker.js';
import { seoScanFold, seoScanProcess, type SeoScanCommand } from '../../src/workers/seo/seo.process.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { partsOf, type TestProcess } from '../support/process.js';
import { engineOn, type Stores } from '../workers/engines.js';
import { createMachine, mishaps, passTimeUntil, stopInVirtualTime, type Machine, type Mishap } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { makeWebsite, siteAddress, startInstallation } from './seoInstallation.js';
import { seoStream } from '../../src/events/seo/seo.stream.js';

const minute = 60_000;
const hour = 60 * minute;

const working: { readonly worker: Pick<Worker, 'stop'>; readonly clock?: TestClock }[] = [];
afterEach(async () => {
  for (const { worker, clock } of working.splice(0)) {
    if (clock === undefined) await worker.stop();
    else await stopInVirtualTime(clock, worker);
  }
});

const logged = async ({ eventStore }: Pick<Stores, 'eventStore'>, filter: EventFilter) =>
  (await eventStore.readAll({ after: 0n, filter })).events;

/** A list of websites that is always up to date. */
const listing = (websites: readonly WebsiteDocument[]): Partial<ReadModelStore> => {
  const stored = websites.map((body): StoredDocument => ({ id: body.id, revision: 0n, position: 0n, body: { website: body } }));
  const newestFirst = stored.sort((one, other) => (one.id < other.id ? 1 : -1));
  return {
    liveVersion: (name) => Promise.resolve(name === 'overview' ? String(overviewProjection.version) : null),
    reached: () => Promise.resolve(true),
    find: (_, { after, limit }) =>
      Promise.resolve(newestFirst.filter(({ id }) => after === undefined || id < after).slice(0, limit)),
  };
};

const result: SeoScanResult = {
  url: 'https://bakery.example/',
  score: 90,
  pages: 3,
  complete: true,
  findings: [],
  probes: { status: 'notConfigured', answers: [] },
};

/**
 * An installation in virtual time whose calendar is due in a minute: `begin` is the cron process,
 * `ask` a worker.
 */
const createWorld = async (count: number) => {
  const clock = createTestClock(Date.UTC(2026, 0, 5, 3, 59));
  const memory = await createMemoryStores();
  const websites = Array.from({ length: count }, (_, index): WebsiteDocument => {
    const id = `w${String(index).padStart(4, '0')}`;
    const hosting = { provider: 'embedded', projectId: id, name: id };
    return { id, features: ['seo'], hosting } as Partial<WebsiteDocument> as WebsiteDocument;
  });
  const stores: Stores = { ...memory, readModels: { ...memory.readModels, ...listing(websites) } };
  const engine = engineOn(stores, { clock });
  const machine = (plan: ReadonlyMap<number, Mishap>, changed: Partial<Stores> = {}) =>
    createMachine({ ...stores, ...changed }, { world: clock, own: clock }, plan);
  const start = async (worker: Worker): Promise<void> => {
    working.push({ worker, clock });
    await worker.start();
  };
  const begin = async (on: TestProcess = engine, schedule = '0 4 * * *'): Promise<void> => {
    const before = clock.pending();
    await start(createCronWorker(on, [scheduledSeoScans(on, schedule)]));
    await eventually('the calendar', () => (clock.pending() > before ? true : undefined));
  };
  const ofRuns = async () => (await logged(stores, { streamPrefixes: ['seo-run-'] })).map(({ type, data }) => ({ type, data }));
  const say = (command: Untimed<SeoScanCommand>) =>
    engine.handle(seoScanProcess, command, {
      commandId: engine.ids.commandId(),
      actor: someAdmin,
      requestId: 'r',
    });
  const scan = async (websiteId: string, scanId: string): Promise<void> => {
    await say({ type: 'StartAttempt', websiteId, scanId, attempt: 1, worker: 'other' });
    await say({ type: 'RecordResult', websiteId, scanId, attempt: 1, result });
  };
  const requests = async () => (await logged(stores, { types: ['SeoScanRequested'] })).map(({ data }) => data);
  return {
    clock,
    stores,
    websites: websites.map(({ id }) => id),
    machine,
    begin,
    ask: (on: TestProcess = engine) => start(createSeoRunWorker({ ...partsOf(on), siteAddress })),
    ofRuns,
    /** Websites as the calendar has asked for them. */
    asked: async () => (await requests()).filter(({ trigger }) => trigger === 'schedule').map(({ websiteId }) => websiteId),
    completed: async () => (await ofRuns()).filter(({ type }) => type === 'SeoRunCompleted').map(({ data }) => data.dueAt),
    /** Every scan that was asked for is made, and then another one on somebody's request. */
    scanAll: async () => {
      for (const websiteId of new Set((await requests()).map((data) => data.websiteId as string))) {
        const { state } = await engine.state(seoScanFold, { websiteId });
        if (state.stage === 'open') await scan(websiteId, state.scanId);
        const scanId = 'by hand';
        await say({ type: 'RequestScan', websiteId, scanId, url: result.url, trigger: 'request' });
        await scan(websiteId, scanId);
      }
    },
  };
};

const first = '2026-01-05T04:00:00.000Z';
/** What a machine does that makes a run for three websites. */
const actsOfRun = [
  'append SeoRunStarted',
  'append SeoScanRequested',
  'append SeoScanRequested',
  'append SeoScanRequested',
  'append SeoRunCompleted',
];

describe.each(mishaps)('when a machine %s', (mishap) => {
  test.each(actsOfRun.map((act, at) => [at, act] as const))(
    'at act %i of a run, %s, each website is asked for once',
    async (at, act) => {
      const world = await createWorld(3);
      await world.begin();
      await world.clock.advance(minute);
      const machine = world.machine(new Map([[at, mishap]]));
      await world.ask(machine.engine);
      await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > at));
      expect(machine.acts[at]).toBe(act);
      // The last scan of a website is no longer the calendar's.
      await world.scanAll();
      await world.ask(world.machine(new Map()).engine);
      await passTimeUntil(world.clock, async () => (await world.completed()).length > 0);
      expect(await world.completed()).toStrictEqual([first]);
      expect((await world.asked()).sort()).toStrictEqual(world.websites);
    },
  );

  test('while the calendar asks, the run is made all the same, once', async () => {
    const world = await createWorld(1);
    const machine = world.machine(new Map([[0, mishap]]));
    await world.begin(machine.engine);
    await world.begin();
    await world.ask();
    await passTimeUntil(world.clock, async () => (await world.completed()).length > 0);
    expect(machine.acts[0]).toBe('append SeoRunDue');
    expect((await world.ofRuns()).map(({ type }) => type)).toStrictEqual(['SeoRunDue', 'SeoRunStarted', 'SeoRunCompleted']);
    expect(await world.asked()).toStrictEqual(world.websites);
  });
});

test('a cron process that dies right before it asks is made up for when it is started again', async () => {
  const world = await createWorld(2);
  await world.begin(world.machine(new Map([[0, 'dies before']])).engine);
  await world.ask();
  await world.clock.advance(40 * minute);
  expect(await world.ofRuns()).toStrictEqual([]);
  await world.begin();
  await passTimeUntil(world.clock, async () => (await world.completed()).length > 0);
  expect(await world.completed()).toStrictEqual([first]);
  expect((await world.asked()).sort()).toStrictEqual(world.websites);
});

test('who takes over goes on behind the last website that is known to be dealt with', async () => {
  const world = await createWorld(450);
  await world.begin();
  await world.clock.advance(minute);
  const dying: Machine = world.machine(new Map([[400, 'dies before']]));
  await world.ask(dying.engine);
  await passTimeUntil(world.clock, () => Promise.resolve(dying.isDead()));
  const renewals = (await world.ofRuns()).filter(({ type }) => type === 'SeoRunLeaseRenewed');
  expect(renewals.at(-1)?.data).toMatchObject({ after: expect.stringMatching(/^w\d+$/) });

  const read = new Set<string>();
  const { eventStore } = world.stores;
  const watched: Stores['eventStore'] = {
    ...eventStore,
    readStream: (stream, options) => {
      read.add(stream);
      return eventStore.readStream(stream, options);
    },
  };
  await world.ask(world.machine(new Map(), { eventStore: watched }).engine);
  await passTimeUntil(world.clock, async () => (await world.completed()).length > 0);
  const after = renewals.at(-1)?.data.after as string;
  expect([...read].filter((stream) => /^seo-(?!run-)/.test(stream)).sort()).toStrictEqual(
    world.websites.filter((id) => id < after).map((websiteId) => seoStream.name({ websiteId })),
  );
  expect((await world.asked()).sort()).toStrictEqual(world.websites);
});

test('of several workers one asks at a time, and the others stand by', async () => {
  const world = await createWorld(20);
  const machines = Array.from({ length: 3 }, () => world.machine(new Map()));
  for (const { engine } of machines) await world.ask(engine);
  await world.begin();
  await passTimeUntil(world.clock, async () => (await world.completed()).length > 0);
  expect((await world.ofRuns()).map(({ type }) => type)).toStrictEqual(['SeoRunDue', 'SeoRunStarted', 'SeoRunCompleted']);
  const asking = machines.filter(({ acts }) => acts.includes('append SeoScanRequested'));
  expect(asking).toHaveLength(1);
});

test('a worker that stops leaves the rest to the next one', async () => {
  const world = await createWorld(300);
  const machine = world.machine(new Map());
  await world.begin();
  await world.clock.advance(minute);
  const worker = createSeoRunWorker({ ...partsOf(machine.engine), siteAddress });
  await worker.start();
  await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > 20), { stepMs: 0 });
  const stopped = worker.stop();
  await passTimeUntil(world.clock, async () => stopped.then(() => true));
  const asked = (await world.asked()).length;
  expect(asked).toBeLessThan(300);
  await world.ask();
  await passTimeUntil(world.clock, async () => (await world.completed()).length > 0);
  expect((await world.asked()).sort()).toStrictEqual(world.websites);
});

test('a website that cannot be asked for stops no run', async () => {
  const world = await createWorld(3);
  const { eventStore } = world.stores;
  const broken: Stores['eventStore'] = {
    ...eventStore,
    readStream: (stream, options) =>
      stream === seoStream.name({ websiteId: 'w0001' })
        ? Promise.reject(new TypeError('not to be read'))
        : eventStore.readStream(stream, options),
  };
  await world.begin();
  await world.ask(world.machine(new Map(), { eventStore: broken }).engine);
  await passTimeUntil(world.clock, async () => (await world.completed()).length > 0);
  expect((await world.asked()).sort()).toStrictEqual(['w0000', 'w0002']);
});

test('a store that goes away in a run is waited for', async () => {
  const world = await createWorld(3);
  const { eventStore } = world.stores;
  let isAway = true;
  const shaky: Stores['eventStore'] = {
    ...eventStore,
    readStream: (stream, options) =>
      isAway && stream === seoStream.name({ websiteId: 'w0001' })
        ? Promise.reject(new EventStoreUnavailable('away'))
        : eventStore.readStream(stream, options),
  };
  await world.begin();
  await world.ask(world.machine(new Map(), { eventStore: shaky }).engine);
  await world.clock.advance(5 * minute);
  expect(await world.asked()).toStrictEqual(['w0002']);
  isAway = false;
  await passTimeUntil(world.clock, async () => (await world.completed()).length > 0);
  expect((await world.asked()).sort()).toStrictEqual(world.websites);
});

test('cron processes whose clocks are an hour apart ask once for each time', async () => {
  const world = await createWorld(1);
  const ahead = createTestClock(world.clock.now() + hour);
  const later = engineOn(world.stores, { clock: ahead });
  const before = ahead.pending();
  const worker = createCronWorker(later, [scheduledSeoScans(later, '0 * * * *')]);
  working.push({ worker });
  await worker.start();
  await eventually('the calendar', () => (ahead.pending() > before ? true : undefined));
  await world.begin(undefined, '0 * * * *');
  for (let passed = 0; passed < 3 * hour; passed += minute) {
    await ahead.advance(minute);
    await world.clock.advance(minute);
  }
  // Each made up for the last time that was due when it was started.
  const dueAt = ['03', '04', '05', '06', '07'].map((time) => `2026-01-05T${time}:00:00.000Z`);
  const asked = (await world.ofRuns()).map(({ type, data }) => `${type} ${data.dueAt as string}`);
  expect(asked.sort()).toStrictEqual(dueAt.map((time) => `SeoRunDue ${time}`));
});

test('a schedule that comes round before its scans are made asks for no second of them', async () => {
  const world = await createWorld(3);
  await world.begin(undefined, '* * * * *');
  await world.ask();
  await passTimeUntil(world.clock, async () => (await world.completed()).length >= 5);
  expect((await world.asked()).sort()).toStrictEqual(world.websites);
});

describe('the schedule', () => {
  const start = async () => {
    const { clock, stores, engine, projector } = await startInstallation();
    working.push({ worker: projector });
    const requests = async () => (await logged(stores, { types: ['SeoScanRequested'] })).map(({ data }) => data);
    const process = async (): Promise<void> => {
      const own = engineOn(stores, { clock });
      for (const worker of [
        createSeoRunWorker({ ...partsOf(own), siteAddress }),
        createCronWorker(own, [scheduledSeoScans(own, '0 4 * * 1')]),
      ]) {
        working.push({ worker });
        await worker.start();
      }
    };
    const until = async (count: number): Promise<void> => {
      await eventually('the requests', async () => {
        await clock.advance(5_000);
        return (await requests()).length >= count ? true : undefined;
      });
    };
    return { clock, engine, projector, requests, process, until };
  };

  test('asks once for a scan of each active website that has the feature, however many processes there are', async () => {
    const { clock, engine, projector, requests, process, until } = await start();
    const bakery = await makeWebsite(engine, 'bakery');
    await makeWebsite(engine, 'plain', { features: ['content'] });
    await makeWebsite(engine, 'early', { isActive: false });
    const archived = await makeWebsite(engine, 'old');
    const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' };
    await engine.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId: archived }, context);
    const butcher = await makeWebsite(engine, 'butcher');
    await projector.start();
    for (let index = 0; index < 5; index += 1) await process();
    await until(2);
    for (let passed = 0; passed < 3; passed += 1) await clock.advance(minute);
    const asked = (await requests()).map(({ websiteId, url, trigger }) => ({ websiteId, url, trigger }));
    const wanted = [
      { websiteId: bakery, url: 'https://now.example/bakery/', trigger: 'schedule' },
      { websiteId: butcher, url: 'https://now.example/butcher/', trigger: 'schedule' },
    ];
    expect(asked).toHaveLength(2);
    expect(asked).toEqual(expect.arrayContaining(wanted));
  });

  test('waits for the list of websites when no projector runs yet, and appends nothing repeatedly meanwhile', async () => {
    const { clock, engine, projector, requests, process, until } = await start();
    const bakery = await makeWebsite(engine, 'bakery');
    await process();
    for (let passed = 0; passed < 10; passed += 1) await clock.advance(minute);
    const types = (await logged(engine, { streamPrefixes: ['seo-run-'] })).map(({ type }) => type);
    expect(types).toStrictEqual(['SeoRunDue']);
    await projector.start();
    await until(1);
    expect((await requests()).map(({ websiteId }) => websiteId)).toStrictEqual([bakery]);
  });
});
