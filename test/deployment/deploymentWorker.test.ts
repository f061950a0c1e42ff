import { afterEach, describe, expect, test } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { type RedeployEvent } from '../../src/events/deployment/deployment.events.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import { websiteProjection } from '../../src/projections/website/website.projection.js';
import { redeployFold, redeployMarker, redeployProcess } from '../../src/workers/deployment/deployment.process.js';
import { createRedeployWorker } from '../../src/workers/deployment/deploymentWorker.js';
import { publicationProcess } from '../../src/workers/publication/publication.process.js';
import { createSiteWorker } from '../../src/workers/site/siteWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { activeWebsite } from '../support/activeWebsite.js';
import { expectRepeatable, given, someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { deployingOn, partsOf } from '../support/process.js';
import { engineOn } from '../workers/engines.js';
import { createMachine, mishaps, passTimeUntil, stopInVirtualTime, type Mishap } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { createRemote, directLine, permanentFault, providersOn, transientFault, type Line } from '../workers/remote.js';
import { redeployStream } from '../../src/events/deployment/deployment.stream.js';

const redeploy = { redeployId: 'r1', websiteId: 'w1' };
const publication = { publicationId: redeploy.redeployId, websiteId: redeploy.websiteId };
const stream = redeployStream.name({ redeployId: 'r1' });
const request = { type: 'RequestRedeploy', ...redeploy, provider: 'remote', projectId: 'p1' } as const;
const started = { type: 'RecordStart', ...redeploy, deploymentId: 'd1' } as const;
const nothing = { type: 'RecordNoStart', ...redeploy, reason: 'None' } as const;

describe('a redeployment', () => {
  const requested: RedeployEvent = { type: 'RedeployRequested', data: { ...redeploy, provider: 'remote', projectId: 'p1' } };
  const begun: RedeployEvent = { type: 'RedeployStarted', data: { ...redeploy, deploymentId: 'd1' } };
  const none: RedeployEvent = { type: 'RedeployNotStarted', data: { ...redeploy, reason: 'None' } };

  test.each([
    ['is asked for', [], request, [requested]],
    ['is begun', [requested], started, [begun]],
    ['is not begun', [requested], nothing, [none]],
    ['is begun after all, asked for again with its key', [requested, none], started, [begun]],
  ] as const)('%s, once', (_, events, command, outcome) => {
    given(redeployProcess, events).when(command).then(outcome);
    expectRepeatable(redeployProcess, events, command);
  });

  test.each([
    ['asked for', [requested, begun], request],
    ['asked for', [requested, none], request],
    ['begun before it was asked for', [], started],
    ['not begun when it is', [requested, begun], nothing],
    ['not begun before it was asked for', [], nothing],
  ] as const)('is not %s: %#', (_, events, command) => {
    given(redeployProcess, events).when(command).then([]);
  });
});

const working: { readonly worker: Worker; readonly clock: TestClock }[] = [];
afterEach(async () => {
  for (const { worker, clock } of working.splice(0)) await stopInVirtualTime(clock, worker);
});

/**
 * A redeployment that was asked for two minutes ago at the earliest, and of which nothing more was
 * heard.
 */
const createWorld = async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const engine = engineOn(stores, { clock });
  const remote = createRemote();
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const say = (command: typeof request | typeof started) => engine.handle(redeployProcess, command, context());
  await say(request);
  const run = async (on: typeof engine, line: Line, changed: Partial<Hosting> = {}): Promise<void> => {
    const worker = createRedeployWorker({ ...partsOf(on), hosting: { ...providersOn(remote, line).hosting, ...changed } });
    working.push({ worker, clock });
    await worker.start();
  };
  const events = async () => (await stores.eventStore.readStream(stream)).events;
  return {
    clock,
    say,
    requestPublication: () => engine.handle(publicationProcess, { type: 'RequestPublication', ...publication }, context()),
    failPublication: async () => {
      await engine.handle(publicationProcess, { type: 'StartAttempt', ...publication, attempt: 1, worker: 'a' }, context());
      const fault = { error: 'No', transient: false, retryAfterMs: 0 };
      await engine.handle(publicationProcess, { type: 'RecordFailure', ...publication, attempt: 1, fault, jitter: 0 }, context());
    },
    events,
    begin: () => providersOn(remote).hosting.startDeployment('p1', redeployMarker('r1')),
    start: (line: Line = directLine, changed: Partial<Hosting> = {}) => run(engine, line, changed),
    startMachine: async (plan: ReadonlyMap<number, Mishap>) => {
      const machine = createMachine(stores, { world: clock, own: clock }, plan);
      await run(machine.engine, machine.line);
      return machine;
    },
    untilSettled: () => passTimeUntil(clock, async () => (await events()).length > 1),
  };
};

describe('of which nothing more was heard', () => {
  test('and that was begun: the deployment is recorded', async () => {
    const world = await createWorld();
    const { id: deploymentId } = await world.begin();
    await world.start();
    await world.start();
    await world.untilSettled();
    expect((await world.events()).slice(1)).toMatchObject([
      { type: 'RedeployStarted', data: { ...redeploy, deploymentId }, metadata: { actor: { subject: 'redeploy' } } },
    ]);
  });

  test.each([
    ['of which the provider knows nothing', directLine, {}, 'The provider has begun none'],
    [
      'that the provider refuses to report',
      () => Promise.reject(permanentFault('The account is closed')),
      {},
      'The account is closed',
    ],
    ['at a provider of before', directLine, { provider: 'another' }, 'The service is set up for another provider'],
  ] as const)('%s: recorded as not begun, with the reason', async (_, line: Line, changed, reason) => {
    const world = await createWorld();
    await world.start(line, changed);
    await world.untilSettled();
    expect((await world.events()).slice(1)).toMatchObject([{ type: 'RedeployNotStarted', data: { ...redeploy, reason } }]);
  });

  test('while the provider is down: asked again until it answers', async () => {
    const world = await createWorld();
    const { id: deploymentId } = await world.begin();
    let isDown = true;
    await world.start((_, act) => (isDown ? Promise.reject(transientFault()) : Promise.resolve(act())));
    await world.clock.advance(3_600_000);
    expect(await world.events()).toHaveLength(1);
    isDown = false;
    await world.untilSettled();
    expect((await world.events()).slice(1)).toMatchObject([{ type: 'RedeployStarted', data: { deploymentId } }]);
  });

  test('for less than two minutes: left to the request itself', async () => {
    const world = await createWorld();
    const calls: string[] = [];
    await world.start((call, act) => {
      calls.push(call);
      return Promise.resolve(act());
    });
    await world.clock.advance(119_000);
    expect(calls).toStrictEqual([]);
    await world.say(started);
    await world.clock.advance(3_600_000);
    expect(calls).toStrictEqual([]);
    expect(await world.events()).toHaveLength(2);
  });

  test('while the publication that begins it is under way: left to that, however long it takes', async () => {
    const world = await createWorld();
    await world.requestPublication();
    await world.start();
    const until = world.clock.now() + 1_800_000;
    await passTimeUntil(world.clock, () => Promise.resolve(world.clock.now() >= until), { stepMs: 10_000 });
    expect(await world.events()).toHaveLength(1);
    await world.failPublication();
    await world.untilSettled();
    expect((await world.events()).slice(1)).toMatchObject([
      { type: 'RedeployNotStarted', data: { reason: 'The provider has begun none' } },
    ]);
  });

  test.each(mishaps)('when the machine that looks %s, at any act: settled once', async (mishap) => {
    for (const [at, act] of ['findDeployment', 'append RedeployStarted'].entries()) {
      const world = await createWorld();
      await world.begin();
      const machine = await world.startMachine(new Map([[at, mishap]]));
      await passTimeUntil(world.clock, () => Promise.resolve(machine.acts.length > at), { stepMs: 5_000 });
      expect(machine.acts[at]).toBe(act);
      await world.startMachine(new Map());
      await world.untilSettled();
      await world.clock.advance(600_000);
      const isRefused = mishap === 'is refused' && act === 'findDeployment';
      expect((await world.events()).map(({ type }) => type)).toStrictEqual([
        'RedeployRequested',
        isRefused ? 'RedeployNotStarted' : 'RedeployStarted',
      ]);
    }
  });
});

test('the process died before it recorded what the site shows: the worker finds out', async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const engine = engineOn(stores, { clock });
  const remote = createRemote();
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const websiteId = await activeWebsite(engine, context);
  const siteWorker = createSiteWorker(deployingOn(engine, providersOn(remote)));
  await siteWorker.start();
  await engine.handle(websiteDecider, { type: 'ChangeWebsite', websiteId, name: 'Corner Bakery' }, context());
  await passTimeUntil(clock, () => Promise.resolve(remote.variables.get('SITE_NAME') === 'Corner Bakery'));
  await engine.handle(redeployProcess, { ...request, websiteId }, context());
  await providersOn(remote).hosting.startDeployment('p1', redeployMarker('r1'));
  // Dead: neither the start nor what the site shows is recorded.
  const worker = createRedeployWorker({ ...partsOf(engine), hosting: providersOn(remote).hosting });
  await worker.start();
  working.push({ worker, clock }, { worker: siteWorker, clock });

  const built = async () => (await engine.read(websiteProjection, websiteId)).document?.built;
  await passTimeUntil(clock, async () => (await built())?.name === 'Corner Bakery');
  expect((await engine.state(redeployFold, { redeployId: 'r1' })).state.stage).toBe('started');
});
