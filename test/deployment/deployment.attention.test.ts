import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { ProjectionBehind } from '../../src/projections/runner/versions.js';
import { isListedAsFailed } from '../../src/projections/website/website.queries.js';
import { redeployProcess } from '../../src/workers/deployment/deployment.process.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { siteFold } from '../../src/workers/site/site.process.js';
import { createPublicationWorker } from '../../src/workers/publication/publicationWorker.js';
import { createSiteWorker } from '../../src/workers/site/siteWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { startApi, type RunningApi } from '../support/http.js';
import { deployingOn } from '../support/process.js';

let api: RunningApi;
let token: string;
let websiteId: string;
let routeParts: RouteParts;
const workers: Worker[] = [];

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { token, ...(body !== undefined && { body }) });
const read = async () => (await call('GET', `/websites/${websiteId}`)).body as { status: string; repository: { id: string } };

beforeAll(async () => {
  api = await startApi({
    routes: (parts) => {
      routeParts = parts;
      return createRoutes(parts);
    },
  });
  const parts = { ...routeParts, ...deployingOn(api.engine, routeParts) };
  workers.push(createProvisioningWorker({ ...parts, visit: () => Promise.resolve(200) }));
  workers.push(createSiteWorker(parts), createPublicationWorker(parts));
  for (const worker of workers) await worker.start();
  token = await api.mintToken();
  websiteId = ((await call('POST', '/websites', { name: 'Bakery', slug: 'bakery' })).body as { id: string }).id;
  await eventually('an active website', async () => ((await read()).status === 'active' ? true : undefined));
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
});

/** Puts a page into the repository. */
const commitPage = async (text: string): Promise<void> => {
  const { id } = (await read()).repository;
  const { head: parent } = await routeParts.sourceHost.readFiles(id, []);
  const files = new Map([['more.html.liquid', Buffer.from(text)]]);
  await routeParts.sourceHost.commitFiles(id, { parent, files, message: 'More', assertHeld: () => undefined });
};
const redeploy = async () => (await call('POST', `/websites/${websiteId}/redeploy`)).body;
const needsSomebody = async () => ((await call('GET', '/websites?attention=failed')).body as unknown[]).length === 1;

test('a build that fails, asked for by itself or with a change, needs somebody until one succeeds', async () => {
  expect(await needsSomebody()).toBe(false);
  await commitPage('{% nonsense %}');
  expect(await redeploy()).toMatchObject({ status: 'failed' });
  expect(await needsSomebody()).toBe(true);

  await commitPage('Good');
  expect(await redeploy()).toMatchObject({ status: 'ready' });
  expect(await needsSomebody()).toBe(false);

  await commitPage('{% nonsense %}');
  await call('PATCH', `/websites/${websiteId}`, { name: 'Corner Bakery', redeploy: true });
  await eventually('the failure', async () => ((await needsSomebody()) ? true : undefined));

  await commitPage('Better');
  await call('PATCH', `/websites/${websiteId}`, { name: 'Bakery & Sons', redeploy: true });
  const isMade = async () => (await api.engine.state(siteFold, { websiteId })).state.queued.length === 0;
  await eventually('the deployment', async () => ((await isMade()) ? true : undefined));
  expect(await needsSomebody()).toBe(false);
});

test.each(['redeploy', 'content/publish'])(
  '%s that finds the site up to date ends the failure of one that was not begun',
  async (path) => {
    const { engine } = api;
    const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r1' });
    const one = { redeployId: `lost before ${path}`, websiteId };
    await engine.handle(
      redeployProcess,
      { type: 'RequestRedeploy', ...one, provider: 'embedded', projectId: 'bakery' },
      context(),
    );
    await engine.handle(redeployProcess, { type: 'RecordNoStart', ...one, reason: 'The provider has begun none' }, context());
    expect(await needsSomebody()).toBe(true);

    const { body: before } = await call('GET', `/websites/${websiteId}/deployments`);
    expect((await call('POST', `/websites/${websiteId}/${path}`)).body).toEqual((before as unknown[])[0]);
    expect(await needsSomebody()).toBe(false);
    expect((await call('GET', `/websites/${websiteId}/deployments`)).body).toEqual(before);
  },
);

test('whoever deploys needs no list', async () => {
  const list = () => Promise.reject(new ProjectionBehind('overview'));
  expect(await isListedAsFailed({ ...routeParts.reader, list }, websiteId)).toBe(false);
});
