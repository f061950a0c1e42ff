import { afterEach, expect, test } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { siteStream } from '../../src/events/site/site.stream.js';
import type { Deployment, Hosting } from '../../src/integrations/hosting/port.js';
import { redeployMarker } from '../../src/workers/deployment/deployment.process.js';
import { siteFold, siteProcess } from '../../src/workers/site/site.process.js';
import { createSiteWorker } from '../../src/workers/site/siteWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { activeWebsite } from '../support/activeWebsite.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { deployingOn } from '../support/process.js';
import { engineOn } from '../workers/engines.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { createRemote, providersOn, transientFault } from '../workers/remote.js';

const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

/** An active website with deployments queued, before its site's worker starts. */
const createWorld = async (redeployIds: readonly string[]) => {
  const stores = await createMemoryStores();
  const engine = engineOn(stores);
  const remote = createRemote();
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const websiteId = await activeWebsite(engine, context);
  for (const redeployId of redeployIds) {
    await engine.handle(siteProcess, { type: 'QueueRedeploy', websiteId, redeployId }, context());
  }
  return {
    remote,
    websiteId,
    archive: () => engine.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId }, context()),
    restore: () => engine.handle(websiteDecider, { type: 'RestoreWebsite', websiteId }, context()),
    rename: (name: string) => engine.handle(websiteDecider, { type: 'ChangeWebsite', websiteId, name }, context()),
    state: async () => (await engine.state(siteFold, { websiteId })).state,
    events: async () =>
      (await stores.eventStore.readStream(siteStream.name({ websiteId }))).events.map(({ type, data }) => ({ type, data })),
    start: async (changed: Partial<Hosting>) => {
      const { sourceHost, hosting } = providersOn(remote);
      const worker = createSiteWorker(deployingOn(engine, { sourceHost, hosting: { ...hosting, ...changed } }));
      workers.push(worker);
      await worker.start();
    },
  };
};

test('a build that fails ends its deployment alone: the next is made, with what was changed meanwhile', async () => {
  const { remote, websiteId, rename, state, events, start } = await createWorld(['one', 'two']);
  const { hosting } = providersOn(remote);
  const failing: Hosting['startDeployment'] = async (projectId, marker) => {
    if (marker !== redeployMarker('one')) return hosting.startDeployment(projectId, marker);
    await rename('Corner Bakery');
    const failed: Deployment = { id: 'd1', status: 'failed', url: '', commit: 'abc', createdAt: '', error: 'No bread' };
    return failed;
  };
  await start({ startDeployment: failing });
  await eventually('the end of the queue', async () => ((await state()).queued.length === 0 ? true : undefined));
  expect(remote.deployments.map(({ marker }) => marker)).toEqual([redeployMarker('two')]);
  expect(remote.variables.get('SITE_NAME')).toBe('Corner Bakery');
  expect((await events()).filter(({ type }) => /^Site(Redeploy|Update)(ed|Failed)$/.test(type))).toEqual([
    {
      type: 'SiteRedeployFailed',
      data: { websiteId, attempt: 1, redeployId: 'one', error: 'The build failed: No bread', transient: false },
    },
    { type: 'SiteRedeployed', data: { websiteId, attempt: 2, redeployId: 'two', deploymentId: 'd1' } },
  ]);
});

test('the site of an archived website is served to nobody, until it is restored', async () => {
  const { remote, rename, archive, restore, state, events, start } = await createWorld(['one']);
  // As with a run that ended after the website was archived.
  await archive();
  await start({});
  await eventually('the end of it', async () => ((await state()).givenUpAt === undefined ? undefined : true));
  expect([remote.serving, remote.deployments, (await state()).lastFault?.error]).toEqual([
    [false],
    [],
    expect.stringContaining('is archived'),
  ]);

  await restore();
  await eventually('the site', () => (remote.serving.length === 2 ? true : undefined));
  await rename('Corner Bakery');
  await eventually('the name', () => (remote.variables.get('SITE_NAME') === 'Corner Bakery' ? true : undefined));
  expect(remote.serving).toEqual([false, true]);
  await archive();
  await eventually('the end of the site', () => (remote.serving.length === 3 ? true : undefined));
  await eventually('the record of it', async () => ((await state()).isServed ? undefined : true));
  expect((await events()).filter(({ type }) => type === 'SiteServingChanged')).toMatchObject(
    [false, true, false].map((isServed) => ({ data: { isServed } })),
  );
});

test('a provider that does not answer is asked again to serve it no more', async () => {
  const { remote, archive, state, start } = await createWorld([]);
  let refusals = 0;
  const { hosting } = providersOn(remote);
  const setServed: Hosting['setServed'] = (projectId, isServed) => {
    refusals += 1;
    return refusals === 1 ? Promise.reject(transientFault()) : hosting.setServed(projectId, isServed);
  };
  await archive();
  await start({ setServed });
  await eventually('the end of the site', async () => ((await state()).isServed ? undefined : true));
  expect([refusals, remote.serving]).toEqual([2, [false]]);
});
