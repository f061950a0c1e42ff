import { afterEach, describe, expect, test } from '@jest/globals';
import { createWebsite } from '../../src/commands/website.handlers.js';
import { websiteStream } from '../../src/commands/website.commands.js';
import { websiteDecider } from '../../src/commands/website.decider.js';
import { seoStream, type SeoScanResult } from '../../src/events/seo.events.js';
import type { Feature } from '../../src/events/website.events.js';
import type { SiteAddress } from '../../src/integrations/hosting/port.js';
import { projections } from '../../src/projections/catalogue.js';
import { createProjector } from '../../src/projections/runner/projector.js';
import { createCronWorker } from '../../src/workers/cron/cronWorker.js';
import { seoScanProcess } from '../../src/workers/seoScan/seoScan.process.js';
import { createSeoScanWorker, scheduledSeoScans } from '../../src/workers/seoScan/seoScanWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { engineOn, openStores, type Stores } from './engines.js';
import { createMachine, mishaps, passTimeUntil, type Mishap } from './machine.js';
import { createMemoryStores } from './memoryStores.js';
import { permanentFault, transientFault, directLine, type Line } from './remote.js';

const url = 'https://bakery.example/';
const siteAddress: SiteAddress = ({ hosting }) => hosting && `https://now.example/${hosting.projectId}/`;
const result: SeoScanResult = {
  url,
  score: 90,
  pages: 3,
  complete: true,
  findings: [],
  probes: { status: 'notConfigured', answers: [] },
};

const working: { readonly worker: Pick<Worker, 'stop'>; readonly clock?: TestClock }[] = [];
afterEach(async () => {
  for (const { worker, clock } of working.splice(0)) {
    let isStopped = false;
    const stopped = worker.stop().then(() => (isStopped = true));
    if (clock === undefined) await stopped;
    else await passTimeUntil(clock, () => Promise.resolve(isStopped));
  }
});

/** A website whose scans are made in virtual time. */
const createWorld = async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores(clock);
  const engine = engineOn(stores, { clock });
  const scans: string[] = [];
  const run = async (machineEngine: typeof engine, line: Line): Promise<void> => {
    const scan = ({ url: asked, name }: { url: string; name: string }) =>
      line('scan', () => {
        scans.push(`${asked} ${name}`);
        return result;
      });
    const worker = createSeoScanWorker({ engine: machineEngine, scan, siteAddress });
    working.push({ worker, clock });
    await worker.start();
  };
  const websiteId = 'w1';
  return {
    clock,
    scans,
    request: (scanId = 's1') =>
      engine.handle(
        seoScanProcess,
        seoStream(websiteId),
        { type: 'RequestScan', websiteId, scanId, url, trigger: 'request' },
        { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' },
      ),
    types: async () => (await stores.eventStore.readStream(seoStream(websiteId))).events.map(({ type }) => type),
    events: async () => (await stores.eventStore.readStream(seoStream(websiteId))).events,
    start: (line: Line = directLine) => run(engine, line),
    startMachine: async (plan: ReadonlyMap<number, Mishap>) => {
      const machine = createMachine(stores, { world: clock, own: clock }, plan);
      await run(machine.engine, machine.line);
      return machine;
    },
  };
};
type World = Awaited<ReturnType<typeof createWorld>>;

const untilEnded = (world: World, options?: { stepMs: number }) =>
  passTimeUntil(world.clock, async () => /Completed|SeoScanFailed/.test((await world.types()).at(-1) ?? ''), options);

describe('a scan that is asked for', () => {
  test('is made once, and its result recorded', async () => {
    const world = await createWorld();
    await world.start();
    await world.start();
    await world.request();
    await untilEnded(world);
    expect(world.scans).toStrictEqual([`${url} bakery.example`]);
    expect((await world.events()).at(-1)).toMatchObject({ type: 'SeoScanCompleted', data: { scanId: 's1', score: 90 } });
  });

  test('of a site that is away for a while is tried again', async () => {
    const world = await createWorld();
    const faults = [transientFault(), transientFault()];
    await world.start((_, act) => {
      const fault = faults.shift();
      return fault === undefined ? Promise.resolve(act()) : Promise.reject(fault);
    });
    await world.request();
    await untilEnded(world);
    expect((await world.types()).filter((type) => type === 'SeoScanAttemptFailed')).toHaveLength(2);
    expect((await world.types()).at(-1)).toBe('SeoScanCompleted');
  });

  test('of a site that is gone fails with the reason, and the next one is made all the same', async () => {
    const world = await createWorld();
    const faults = [permanentFault('https://bakery.example/ answers with status 404')];
    await world.start((_, act) => {
      const fault = faults.shift();
      return fault === undefined ? Promise.resolve(act()) : Promise.reject(fault);
    });
    await world.request();
    await untilEnded(world);
    const reason = 'https://bakery.example/ answers with status 404';
    expect((await world.events()).at(-1)).toMatchObject({ type: 'SeoScanFailed', data: { reason } });
    await world.request('s2');
    await untilEnded(world);
    expect((await world.events()).at(-1)).toMatchObject({ type: 'SeoScanCompleted', data: { scanId: 's2' } });
  });

  test('that never ends is given up in time', async () => {
    const world = await createWorld();
    const never = new Promise<never>(() => undefined);
    await world.start(() => never);
    await world.request();
    await untilEnded(world, { stepMs: 2_000 });
    expect((await world.events()).at(-1)).toMatchObject({ type: 'SeoScanFailed', data: { reason: 'No answer within 300 s' } });
  });
});

describe.each(mishaps)('when a machine %s', (mishap) => {
  test('at any act, the scan comes to its end', async () => {
    for (const [at, act] of ['append SeoScanStarted', 'scan', 'append SeoScanCompleted'].entries()) {
      const world = await createWorld();
      await world.request();
      const machine = await world.startMachine(new Map([[at, mishap]]));
      await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > 0));
      await world.startMachine(new Map());
      await untilEnded(world);
      expect(machine.acts[at]).toBe(act);
      const isRefused = mishap === 'is refused' && act === 'scan';
      const types = await world.types();
      expect(types.filter((type) => /Completed|SeoScanFailed/.test(type))).toStrictEqual([
        isRefused ? 'SeoScanFailed' : 'SeoScanCompleted',
      ]);
    }
  });
});

test('a scan that was asked for at an address of before looks for the website where it is now', async () => {
  const { engine, context, website } = await startInstallation();
  const websiteId = await website('bakery', undefined);
  const command = { type: 'RequestScan', websiteId, scanId: 's1', url, trigger: 'request' } as const;
  await engine.handle(seoScanProcess, seoStream(websiteId), command, context());
  const asked: unknown[] = [];
  const scan = (what: { url: string; name: string }) => {
    asked.push(what);
    return Promise.resolve(result);
  };
  const worker = createSeoScanWorker({ engine, scan, siteAddress });
  working.push({ worker });
  await worker.start();
  await eventually('the scan', () => asked[0]);
  expect(asked).toStrictEqual([{ url: 'https://now.example/bakery/', name: 'bakery' }]);
});

/** Websites in real stores, as cron processes find them. */
const startInstallation = async () => {
  const clock = createTestClock(Date.UTC(2026, 0, 5, 3, 58));
  const stores: Stores = await openStores(clock);
  const engine = engineOn(stores, { clock });
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' });
  const website = async (slug: string, features: readonly Feature[] | undefined, isActive = true): Promise<string> => {
    const wish = { name: slug, slug, templateId: 'business', tier: 'growth' as const, collaborators: [], features };
    const { websiteId } = await createWebsite(engine, wish, context());
    const repository = { provider: 'embedded', id: slug, name: slug, cloneUrl: 'file:///x' };
    const hosting = { provider: 'embedded', projectId: slug, name: slug };
    const activation = { type: 'ActivateWebsite', websiteId, repository, hosting, url: `https://${slug}.example/` } as const;
    if (isActive) await engine.handle(websiteDecider, websiteStream(websiteId), activation, context());
    return websiteId;
  };
  const projector = createProjector({ ...engine, projections, decode: (stored) => engine.codec.decode(stored) });
  working.push({ worker: projector });
  const requests = async () => {
    const { events } = await stores.eventStore.readAll({ after: 0n, filter: { types: ['SeoScanRequested'] } });
    return events.map(({ data }) => data.websiteId);
  };
  const addresses = async () => {
    const { events } = await stores.eventStore.readAll({ after: 0n, filter: { types: ['SeoScanRequested'] } });
    return events.map(({ data }) => data.url);
  };
  const cron = async (): Promise<void> => {
    const own = engineOn(stores, { clock });
    const worker = createCronWorker(own, [scheduledSeoScans(own, siteAddress, '0 4 * * 1')]);
    working.push({ worker });
    await worker.start();
  };
  return { clock, engine, context, website, projector, requests, addresses, cron };
};

describe('the schedule', () => {
  test('asks once for a scan of each active website that has the feature, however many cron processes there are', async () => {
    const { clock, engine, context, website, projector, requests, addresses, cron } = await startInstallation();
    const bakery = await website('bakery', undefined);
    await website('plain', ['content']);
    await website('early', undefined, false);
    const archived = await website('old', undefined);
    await engine.handle(websiteDecider, websiteStream(archived), { type: 'ArchiveWebsite', websiteId: archived }, context());
    const butcher = await website('butcher', undefined);
    await projector.start();
    for (let index = 0; index < 5; index += 1) await cron();
    await eventually('the calendars', () => (clock.pending() >= 5 ? true : undefined));
    await clock.advance(3 * 60_000);
    await eventually('the requests', async () => ((await requests()).length >= 2 ? true : undefined));
    await clock.advance(3 * 60_000);
    expect((await requests()).sort()).toStrictEqual([bakery, butcher].sort());
    expect((await addresses()).sort()).toStrictEqual(['https://now.example/bakery/', 'https://now.example/butcher/']);
  });

  test('waits for the list of websites when nobody keeps it yet', async () => {
    const { clock, website, projector, requests, cron } = await startInstallation();
    const bakery = await website('bakery', undefined);
    await cron();
    await eventually('the calendar', () => (clock.pending() > 0 ? true : undefined));
    await clock.advance(3 * 60_000);
    expect(await requests()).toStrictEqual([]);
    await projector.start();
    await eventually('the request', async () => {
      await clock.advance(5_000);
      return (await requests()).length > 0 ? true : undefined;
    });
    expect(await requests()).toStrictEqual([bakery]);
  });
});
