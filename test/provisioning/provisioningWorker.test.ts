import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import express from 'express';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import { stepIds } from '../../src/events/provisioning/provisioning.events.js';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';
import { createFetchStatus } from '../../src/integrations/fetchStatus.js';
import { systemClock } from '../../src/platform/clock.js';
import { provisioningJob } from '../../src/projections/provisioning/provisioning.queries.js';
import { websiteProjection, type WebsiteDocument } from '../../src/projections/website/website.projection.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { someAdmin } from '../support/given.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { eventually } from '../support/eventually.js';
import { partsOf, type TestProcess } from '../support/process.js';
import { engineOn, openStores } from '../workers/engines.js';
import { provisioningStream } from '../../src/events/provisioning/provisioning.stream.js';

const templatesFolder = new URL('../../templates', import.meta.url).pathname;

const workers: Worker[] = [];
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const run = async (worker: Worker): Promise<void> => {
  workers.push(worker);
  await worker.start();
};

const embeddedProviders = async (): Promise<{
  sourceHost: SourceHost;
  hosting: Hosting;
  visit: (url: string) => Promise<number>;
}> => {
  const folder = temporaryFolder();
  const app = express();
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = systemClock;
  const hosting = createEmbeddedHosting({
    folder: join(folder, 'sites'),
    publicUrl: () => publicUrl,
    builder: siteBuilder,
    clock,
  });
  app.use('/sites', hosting.handlers.belowSites);
  const sourceHost = createEmbeddedSourceHost({ folder: join(folder, 'repositories'), templatesFolder, clock });
  return { sourceHost, hosting, visit: createFetchStatus({ clock, servedSiteUrl: (url) => url }) };
};

const create = async (engine: TestProcess, slug: string, changes = {}): Promise<WebsiteDocument> => {
  const { websiteId } = await createWebsite(
    engine,
    { name: `Site ${slug}`, slug, templateId: 'business', tier: 'starter', collaborators: [], ...changes },
    { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' },
  );
  return websiteOf(engine, websiteId);
};

const websiteOf = async (engine: TestProcess, id: string): Promise<WebsiteDocument> => {
  const { document } = await engine.read(websiteProjection, id);
  if (document === null) throw new Error(`website ${id} is not there`);
  return document;
};

/** On a busy machine the disk can take its time. */
const timeoutMs = 60_000;
jest.setTimeout(timeoutMs + 10_000);

const ended = (engine: TestProcess, website: WebsiteDocument) =>
  eventually(
    'the end of provisioning',
    async () => {
      const { document: job } = await provisioningJob(engine, website);
      return job.status === 'succeeded' || job.status === 'failed' ? job : undefined;
    },
    timeoutMs,
  );

describe('on the embedded source host and hosting', () => {
  test('a created website becomes active and is served', async () => {
    const engine = engineOn(await openStores());
    await run(createProvisioningWorker({ ...partsOf(engine), ...(await embeddedProviders()) }));
    const website = await create(engine, 'bakery', { brandColor: '#aa3300', collaborators: ['octocat'] });
    expect(website.status).toBe('provisioning');

    const job = await ended(engine, website);
    expect(job).toMatchObject({ id: website.provisioningJobId, websiteId: website.id, status: 'succeeded' });
    expect(job.steps.map(({ id, status, attempts }) => ({ id, status, attempts }))).toStrictEqual(
      stepIds.map((id) => ({ id, status: 'succeeded', attempts: 1 })),
    );
    const active = await websiteOf(engine, website.id);
    expect(active).toMatchObject({ status: 'active', repository: { provider: 'embedded', name: 'bakery' } });
    const page = await fetch(active.url ?? '');
    expect(await page.text()).toContain('Site bakery');
  });

  test('many at once are made by two workers on the same stores, each once', async () => {
    const stores = await openStores();
    const providers = await embeddedProviders();
    const engine = engineOn(stores);
    for (const own of [engineOn(stores), engineOn(stores)])
      await run(createProvisioningWorker({ ...partsOf(own), ...providers }));
    const websites = await Promise.all(Array.from({ length: 4 }, (_, index) => create(engine, `site-${index}`)));
    for (const website of websites) {
      expect(await ended(engine, website)).toMatchObject({ status: 'succeeded' });
      const { hosting } = await websiteOf(engine, website.id);
      expect(await providers.hosting.listDeployments(hosting?.projectId ?? '', 10)).toHaveLength(1);
    }
  });

  test('a slug whose repository belongs to somebody else fails at once, with a reason', async () => {
    const engine = engineOn(await openStores());
    const providers = await embeddedProviders();
    const taken = { name: 'bakery', templateId: 'business', marker: 'somebody else', description: '' };
    await providers.sourceHost.createRepository(taken);
    await run(createProvisioningWorker({ ...partsOf(engine), ...providers }));
    const job = await ended(engine, await create(engine, 'bakery'));
    expect(job).toMatchObject({
      status: 'failed',
      reason: 'github_create_repo: The repository name bakery is already taken',
      steps: [{ status: 'failed', attempts: 1 }, ...Array.from({ length: 5 }, () => ({ status: 'pending', attempts: 0 }))],
    });
  });

  test('what the process does is recorded under the request that created the website', async () => {
    const stores = await openStores();
    const engine = engineOn(stores);
    await run(createProvisioningWorker({ ...partsOf(engine), ...(await embeddedProviders()) }));
    const website = await create(engine, 'bakery');
    await ended(engine, website);
    const { events: created } = await stores.eventStore.readStream(`website-${website.id}`);
    const { events } = await stores.eventStore.readStream(provisioningStream.name({ jobId: website.provisioningJobId }));
    for (const { metadata } of [...events, ...created.slice(1)]) {
      expect(metadata).toMatchObject({
        actor: { subject: 'provisioning', role: 'system', via: 'worker' },
        requestId: 'request-1',
        correlationId: created[0]?.metadata.correlationId,
      });
    }
  });
});
