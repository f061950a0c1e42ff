import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { createWebsite } from '../../src/commands/website.handlers.js';
import type { Engine } from '../../src/engine.js';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';
import { systemClock } from '../../src/platform/clock.js';
import { provisioningJob } from '../../src/projections/provisioning.queries.js';
import { websiteProjection, type WebsiteDocument } from '../../src/projections/website.projection.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { someAdmin } from '../support/given.js';
import { temporaryFolder } from '../support/temporary.js';
import { engineOn, eventually, openStores, type Stores } from './engines.js';

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

const embeddedProviders = async (): Promise<{ sourceHost: SourceHost; hosting: Hosting }> => {
  const folder = temporaryFolder();
  const app = express();
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = systemClock;
  const hosting = createEmbeddedHosting({ folder: join(folder, 'sites'), publicUrl: () => publicUrl, clock });
  app.use('/sites', hosting.handler);
  return { sourceHost: createEmbeddedSourceHost({ folder: join(folder, 'repositories'), templatesFolder, clock }), hosting };
};

const create = async (engine: Engine, slug: string, changes = {}): Promise<WebsiteDocument> => {
  const { websiteId } = await createWebsite(
    engine,
    { name: `Site ${slug}`, slug, templateId: 'business', tier: 'starter', collaborators: [], ...changes },
    { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' },
  );
  return websiteOf(engine, websiteId);
};

const websiteOf = async (engine: Engine, id: string): Promise<WebsiteDocument> => {
  const { document } = await engine.read(websiteProjection, id);
  if (document === null) throw new Error(`website ${id} is not there`);
  return document;
};

const jobEnded = async (stores: Stores, engine: Engine, website: WebsiteDocument) =>
  eventually(
    stores,
    async () => (await provisioningJob(engine, website)).document,
    ({ status }) => status === 'succeeded' || status === 'failed',
  );

describe('on the embedded source host and hosting', () => {
  test('a created website becomes active', async () => {
    const stores = await openStores();
    const engine = engineOn(stores);
    const providers = await embeddedProviders();
    await run(createProvisioningWorker({ engine, ...providers }));
    const begun = performance.now();
    const website = await create(engine, 'bakery', { brandColor: '#aa3300', collaborators: ['octocat'] });
    expect(website.status).toBe('provisioning');
    const job = await jobEnded(stores, engine, website);
    console.log('took', performance.now() - begun, JSON.stringify(job, null, 1));
    expect(job.status).toBe('succeeded');
    const active = await websiteOf(engine, website.id);
    expect(active).toMatchObject({ status: 'active', repository: { provider: 'embedded', name: 'bakery' } });
    const page = await fetch(active.url ?? '');
    expect(await page.text()).toContain('Site bakery');
  });
});
