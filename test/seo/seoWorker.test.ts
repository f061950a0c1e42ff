import { afterEach, describe, expect, test } from '@jest/globals';
import { type SeoScanResult } from '../../src/events/seo/seo.events.js';
import { seoScanProcess } from '../../src/workers/seo/seo.process.js';
import { createSeoScanWorker } from '../../src/workers/seo/seoWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { partsOf } from '../support/process.js';
import { engineOn } from '../workers/engines.js';
import { createMachine, mishaps, passTimeUntil, stopInVirtualTime, type Mishap } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { permanentFault, transientFault, directLine, type Line } from '../workers/remote.js';
import { makeWebsite, siteAddress, startInstallation } from '../seoRun/seoInstallation.js';
import { seoStream } from '../../src/events/seo/seo.stream.js';

const url = 'https://bakery.example/';
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
    if (clock === undefined) await worker.stop();
    else await stopInVirtualTime(clock, worker);
  }
});

/** A website whose scans are made in virtual time. */
const createWorld = async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const engine = engineOn(stores, { clock });
  const scans: string[] = [];
  const run = async (machineEngine: typeof engine, line: Line): Promise<void> => {
    const scan = ({ url: asked, name }: { url: string; name: string }) =>
      line('scan', () => {
        scans.push(`${asked} ${name}`);
        return result;
      });
    const worker = createSeoScanWorker({ ...partsOf(machineEngine), scan, siteAddress });
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
        { type: 'RequestScan', websiteId, scanId, url, trigger: 'request' },
        { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' },
      ),
    types: async () => (await stores.eventStore.readStream(seoStream.name({ websiteId }))).events.map(({ type }) => type),
    events: async () => (await stores.eventStore.readStream(seoStream.name({ websiteId }))).events,
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

test('a scan that was requested at an earlier address loads the website at its current one', async () => {
  const { engine } = await startInstallation();
  const websiteId = await makeWebsite(engine, 'bakery');
  const command = { type: 'RequestScan', websiteId, scanId: 's1', url, trigger: 'request' } as const;
  const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' };
  await engine.handle(seoScanProcess, command, context);
  const asked: unknown[] = [];
  const scan = (what: { url: string; name: string }) => {
    asked.push(what);
    return Promise.resolve(result);
  };
  const worker = createSeoScanWorker({ ...partsOf(engine), scan, siteAddress });
  working.push({ worker });
  await worker.start();
  await eventually('the scan', () => asked[0]);
  expect(asked).toStrictEqual([{ url: 'https://now.example/bakery/', name: 'bakery' }]);
});
