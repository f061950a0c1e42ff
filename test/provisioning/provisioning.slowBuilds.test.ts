import { expect, test } from '@jest/globals';
import { changeWebsite, createWebsite } from '../../src/commands/website/website.handlers.js';
import { websiteProjection, type WebsiteDocument } from '../../src/projections/website/website.projection.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { siteProcess } from '../../src/workers/site/site.process.js';
import { createSiteWorker } from '../../src/workers/site/siteWorker.js';
import { someAdmin } from '../support/given.js';
import { deployingOn } from '../support/process.js';
import { createTestClock } from '../support/testClock.js';
import { engineOn } from '../workers/engines.js';
import { passTimeUntil, stopInVirtualTime } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { createGitHubAndVercel } from '../workers/outside.js';
import { directLine } from '../workers/remote.js';

/** More than the reactions that run at the same time. */
const many = Array.from({ length: 10 }, (_, index) => `slow-${String(index)}`);

/** Websites on Vercel, in virtual time. */
const createWorld = async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const observer = engineOn(stores, { clock });
  const outside = createGitHubAndVercel();
  const { made, slow, projects } = outside.vercel;
  const context = () => ({ commandId: observer.ids.commandId(), actor: someAdmin, requestId: 'r' });
  const read = async (id: string): Promise<WebsiteDocument | null> => (await observer.read(websiteProjection, id)).document;

  return {
    clock,
    slow,
    deployments: made.deployments,
    create: async (slug: string): Promise<string> => {
      const website = { name: slug, slug, templateId: 'site-template', tier: 'starter', collaborators: [] } as const;
      return (await createWebsite(observer, website, context())).websiteId;
    },
    redeploy: async (websiteId: string): Promise<void> => {
      await changeWebsite(observer, { websiteId, name: 'Renamed' }, context());
      await observer.handle(siteProcess, { type: 'QueueRedeploy', websiteId, redeployId: `of ${websiteId}` }, context());
    },
    isActive: async (id: string): Promise<boolean> => (await read(id))?.status === 'active',
    isShown: async (id: string): Promise<boolean> => (await read(id))?.built.name === 'Renamed',
    /** Those that a worker awaits, or will. */
    endBuilds: (): void => {
      for (const { deployments } of projects.values()) for (const deployment of deployments) deployment.building = 0;
    },
    /** Soon enough for a build that takes seconds. */
    soon: (isDone: () => boolean | Promise<boolean>) => passTimeUntil(clock, async () => isDone(), { withinMs: 120_000 }),
    start: async (): Promise<{ readonly stop: () => Promise<void> }> => {
      const providers = outside.providersOn(directLine, clock);
      const parts = { ...providers, ...deployingOn(engineOn(stores, { clock }), providers) };
      const workers = [createProvisioningWorker(parts), createSiteWorker(parts)];
      for (const worker of workers) await worker.start();
      return { stop: () => stopInVirtualTime(clock, ...workers) };
    },
  };
};

const all = async (ids: readonly string[], is: (id: string) => Promise<boolean>): Promise<boolean> =>
  (await Promise.all(ids.map(is))).every(Boolean);

test('builds that take minutes hold up no new website, and a restart awaits each without another', async () => {
  const { clock, slow, deployments, create, isActive, endBuilds, soon, start } = await createWorld();
  const first = await start();
  for (const slug of many) slow.add(slug);
  const websites = await Promise.all(many.map(create));
  await soon(() => deployments.length === many.length);
  const quick = await create('quick');
  await soon(() => isActive(quick));

  const stoppedAt = clock.now();
  await first.stop();
  // Nothing waits for the builds of a provider, which go on.
  expect(clock.now() - stoppedAt).toBeLessThan(8_000);
  const second = await start();
  await passTimeUntil(clock, () => Promise.resolve(clock.now() > stoppedAt + 60_000));
  endBuilds();
  await soon(() => all(websites, isActive));
  expect(deployments).toHaveLength(many.length + 1);
  await second.stop();
});

test('redeployments that take minutes hold up no other', async () => {
  const { slow, deployments, create, redeploy, isActive, isShown, endBuilds, soon, start } = await createWorld();
  const worker = await start();
  const quick = await create('quick');
  const websites = await Promise.all(many.map(create));
  await soon(() => all([quick, ...websites], isActive));

  for (const slug of many) slow.add(slug);
  await Promise.all(websites.map(redeploy));
  await soon(() => deployments.length === 2 * many.length + 1);
  await redeploy(quick);
  await soon(() => isShown(quick));
  expect(await isShown(websites[0] ?? '')).toBe(false);
  endBuilds();
  await soon(() => all(websites, isShown));
  expect(deployments).toHaveLength(2 * (many.length + 1));
  await worker.stop();
});
