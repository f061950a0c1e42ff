import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createFetchStatus } from '../../src/integrations/fetchStatus.js';
import { deletionFold } from '../../src/workers/deletion/deletion.process.js';
import { createDeletionWorker, createScheduledDeletionWorker } from '../../src/workers/deletion/deletionWorker.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { createSiteWorker } from '../../src/workers/site/siteWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { projectNames, repositoryNames } from '../support/folders.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { deployingOn, partsOf } from '../support/process.js';
import { createShiftedClock } from '../support/shiftedClock.js';

/** On a busy machine the disk can take its time. */
const timeoutMs = 30_000;
jest.setTimeout(2 * timeoutMs);

const clock = createShiftedClock();
let api: RunningApi;
let token: string;
let providers: RouteParts;
const workers: Worker[] = [];
/** What stands between the worker and the hosting provider's first deployment. */
let beforeDeployment: () => Promise<unknown> = () => Promise.resolve();

const start = async (worker: Worker): Promise<void> => {
  workers.push(worker);
  await worker.start();
};

beforeAll(async () => {
  api = await startApi({
    sites: true,
    clock,
    routes: (parts) => {
      providers = parts;
      return createRoutes(parts);
    },
  });
  token = await api.mintToken();
  const parts = deployingOn(api.engine, providers);
  const hosting: RouteParts['hosting'] = {
    ...providers.hosting,
    deploy: async (projectId, marker) => {
      await beforeDeployment();
      return providers.hosting.deploy(projectId, marker);
    },
  };
  await start(createProvisioningWorker({ ...parts, hosting, visit: createFetchStatus({ clock, servedSiteUrl: (url) => url }) }));
  await start(createSiteWorker(parts));
});

afterEach(() => {
  beforeDeployment = () => Promise.resolve();
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
});

const call = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  api.call(method, path, { token, ...(body !== undefined && { body }) });

interface Job {
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
  readonly cleanup?: { readonly status: string };
}

const until = (id: string, isWanted: (job: Job) => boolean): Promise<Job> =>
  eventually(
    'the end of the job',
    async () => {
      const job = (await call('GET', `/websites/${id}/provisioning`)).body as Job;
      return isWanted(job) ? job : undefined;
    },
    timeoutMs,
  );

const hasEnded = ({ status }: Job): boolean => status === 'failed' || status === 'succeeded';

/** A repository, as one that somebody made by hand, or that a former website has left. */
const takeName = (name: string, marker = `other-${name}`) =>
  providers.sourceHost.createRepository({ name, marker, templateId: 'business', description: 'Of somebody else' });

/** A website whose provisioning failed, because there is a repository with the name of its slug. */
const createFailed = async (slug: string): Promise<{ id: string; jobId: string }> => {
  await takeName(slug);
  const { id } = (await call('POST', '/websites', { name: 'Bakery', slug })).body as { id: string };
  const job = await until(id, hasEnded);
  expect(job).toMatchObject({ reason: `github_create_repo: The repository name ${slug} is already taken` });
  return { id, jobId: job.id };
};

const move = async (id: string, slug: string): Promise<void> => {
  expect((await call('PATCH', `/websites/${id}`, { slug })).status).toBe(200);
};

const retry = async (id: string): Promise<Job> => {
  expect((await call('POST', `/websites/${id}/provisioning/retry`)).status).toBe(200);
  return until(id, hasEnded);
};

const receiptsOf = async (id: string) =>
  (await call('GET', `/websites/${id}/provisioning/receipts`)).body as readonly { kind: string; name?: string; now: string }[];

describe('a retry after the repository name was taken', () => {
  test('is made under the slug of now, shows it, and leaves the other repository alone', async () => {
    const { id } = await createFailed('bakery');
    expect(await retry(id)).toMatchObject({ status: 'failed' });
    await move(id, 'corner-bakery');
    expect(await retry(id)).toMatchObject({ status: 'succeeded' });

    const url = `${api.url}/sites/corner-bakery/`;
    const website = (await call('GET', `/websites/${id}`)).body;
    expect(website).toMatchObject({
      status: 'active',
      repository: { name: 'corner-bakery' },
      hosting: { name: 'corner-bakery' },
      url,
    });
    expect(website).not.toHaveProperty('redeployNeeded');
    expect(await (await fetch(url)).text()).toContain(`<link rel="canonical" href="${url}">`);
    expect(await repositoryNames(api.folder)).toEqual(['bakery', 'corner-bakery']);
    expect(await projectNames(api.folder)).toEqual(['corner-bakery']);
    const receipts = await receiptsOf(id);
    expect(receipts.map(({ now }) => now)).toEqual(receipts.map(() => 'exists'));
    expect(receipts).toContainEqual(expect.objectContaining({ kind: 'repository', name: 'corner-bakery' }));
  });

  test('uses what was made under the old slug all the same, and makes no second one', async () => {
    const { id, jobId } = await createFailed('late');
    // The other one goes, and what an attempt had asked for comes after the attempt was given up.
    await providers.sourceHost.deleteRepository({ name: 'late', marker: 'other-late' });
    await takeName('late', jobId);
    await move(id, 'later');
    expect(await retry(id)).toMatchObject({ status: 'succeeded' });

    expect((await call('GET', `/websites/${id}`)).body).toMatchObject({
      status: 'active',
      slug: 'later',
      repository: { name: 'late' },
      hosting: { name: 'later' },
      url: `${api.url}/sites/later/`,
    });
    const names = await repositoryNames(api.folder);
    expect(names.filter((name) => name.startsWith('late'))).toEqual(['late']);
    const receipts = await receiptsOf(id);
    expect(receipts.map(({ now }) => now)).toEqual(receipts.map(() => 'exists'));
  });

  test('is cleaned up under every name that it may have used', async () => {
    const { id, jobId } = await createFailed('first');
    await takeName('second');
    await move(id, 'second');
    expect(await retry(id)).toMatchObject({ status: 'failed', reason: expect.stringContaining('second is already taken') });
    await providers.sourceHost.deleteRepository({ name: 'first', marker: 'other-first' });
    await takeName('first', jobId);
    expect((await call('POST', `/websites/${id}/provisioning/cleanup`)).status).toBe(202);
    await until(id, ({ cleanup }) => cleanup?.status === 'succeeded');
    const names = await repositoryNames(api.folder);
    expect([names.includes('first'), names.includes('second')]).toEqual([false, true]);
  });

  test('is removed with its website', async () => {
    await start(createDeletionWorker({ ...partsOf(api.engine), ...providers }));
    const scheduled = createScheduledDeletionWorker(partsOf(api.engine));
    await scheduled.start();
    const { id } = await createFailed('brief');
    await move(id, 'briefer');
    expect(await retry(id)).toMatchObject({ status: 'succeeded' });
    expect(await repositoryNames(api.folder)).toContain('briefer');
    await move(id, 'briefest');
    await call('POST', `/websites/${id}/archive`);
    expect((await call('DELETE', `/websites/${id}?confirm=briefest`)).status).toBe(202);
    clock.shift(31 * 86_400_000);
    // Timers run on the system's clock: a worker that starts finds what has fallen due.
    await scheduled.stop();
    await start(createScheduledDeletionWorker(partsOf(api.engine)));
    await eventually('the last step', async () => {
      const { state } = await api.engine.state(deletionFold, { websiteId: id });
      return state.done.includes('slugs') ? true : undefined;
    });
    const names = await repositoryNames(api.folder);
    expect(names.filter((name) => name.startsWith('brief'))).toEqual(['brief']);
    expect(await projectNames(api.folder)).not.toContain('briefer');
  });
});

describe('a run whose website changes while it is under way', () => {
  test('is retried with the slug that the variables were set with, and says that the site shows something older', async () => {
    beforeDeployment = () => {
      throw new ProviderFault({ provider: 'embedded', message: 'The build failed', transient: false });
    };
    const { id } = (await call('POST', '/websites', { name: 'Oven', slug: 'oven' })).body as { id: string };
    expect(await until(id, hasEnded)).toMatchObject({ reason: 'vercel_initial_deploy: The build failed' });
    beforeDeployment = () => Promise.resolve();
    await move(id, 'bakehouse');
    expect(await retry(id)).toMatchObject({ status: 'succeeded' });

    const shown = await eventually('the website to be active', async () => {
      const { body } = await call('GET', `/websites/${id}`);
      return (body as { status: string }).status === 'active' ? body : undefined;
    });
    expect(shown).toMatchObject({ slug: 'bakehouse', redeployNeeded: true });
    expect((await fetch(`${api.url}/sites/bakehouse/`)).status).toBe(200);
    expect((await call('POST', `/websites/${id}/redeploy`)).status).toBe(202);
    const url = `${api.url}/sites/bakehouse/`;
    await eventually('the site of the new slug', async () => {
      const page = await (await fetch(url)).text();
      return page.includes(`<link rel="canonical" href="${url}">`) ? true : undefined;
    });
  });

  test('ends also when the website is archived before its address is looked at', async () => {
    const created = (await call('POST', '/websites', { name: 'Brief', slug: 'short-lived' })).body as { id: string };
    beforeDeployment = () => call('POST', `/websites/${created.id}/archive`);
    expect(await until(created.id, hasEnded)).toMatchObject({ status: 'succeeded' });
    expect((await fetch(`${api.url}/sites/short-lived/`)).status).toBe(410);
  });
});

describe('the address of a website without a project', () => {
  test('shows nothing of another website that had the name', async () => {
    const { id: former } = (await call('POST', '/websites', { name: 'Kept', slug: 'kept' })).body as { id: string };
    expect(await until(former, hasEnded)).toMatchObject({ status: 'succeeded' });
    const url = `${api.url}/sites/kept/`;
    expect((await fetch(url)).status).toBe(200);
    await move(former, 'renamed');
    // Until then the address belongs to the former website.
    clock.shift(91 * 86_400_000);
    const { id } = await createFailed('fresh');
    await move(id, 'kept');
    expect((await fetch(url)).status).toBe(404);
    expect(await retry(id)).toMatchObject({ status: 'failed' });
    expect((await fetch(url)).status).toBe(404);
    expect((await fetch(`${api.url}/sites/renamed/`)).status).toBe(200);
  });
});
