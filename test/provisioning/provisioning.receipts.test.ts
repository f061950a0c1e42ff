import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProvisioningEvent, StepId } from '../../src/events/provisioning/provisioning.events.js';
import { provisioningReceiptsFold } from '../../src/events/provisioning/provisioning.receipts.js';
import { createRoutes } from '../../src/http/routes/index.js';
import { createVercel } from '../../src/integrations/hosting/vercel.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import { createGitHub } from '../../src/integrations/sourceHost/github.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { recorded, stateAfter } from '../support/given.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';
import { hastyClock } from '../support/provider.js';
import { createGitHubFake, type GitHubFake } from '../support/providers/gitHubFake.js';
import { createVercelFake, type VercelFake } from '../support/providers/vercelFake.js';
import { permanentFault } from '../workers/remote.js';
import { serveFake, type ServedFake } from '../support/providers/wire.js';

describe('the receipts of a job', () => {
  const job = { jobId: 'j1', websiteId: 'w1' };
  const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;
  const started = (step: StepId, attempt = 1): ProvisioningEvent => ({
    type: 'ProvisioningStepStarted',
    data: { ...job, step, attempt, worker: 'A', leaseUntil: at(59) },
  });
  const request = (id: string, method = 'POST') => ({
    provider: 'GitHub',
    id,
    method,
    path: '/x',
    status: 201,
    at: at(0),
    durationMs: 5,
  });
  const answered = (step: StepId, ...ids: readonly string[]): ProvisioningEvent => ({
    type: 'ProvisioningRequestsAnswered',
    data: { ...job, step, attempt: 1, requests: ids.map((id) => request(id)) },
  });
  const repository = { provider: 'github', id: 'agency/bakery', name: 'bakery', defaultBranch: 'main', cloneUrl: 'https://x/' };
  const made: ProvisioningEvent = {
    type: 'ProvisioningStepSucceeded',
    data: { ...job, attempt: 2, step: 'github_create_repo', output: repository },
  };
  const failed: ProvisioningEvent = { type: 'ProvisioningFailed', data: { ...job, step: 'github_create_repo', reason: 'No' } };
  const removed = (found: boolean): ProvisioningEvent => ({
    type: 'ProvisioningLeftoverRemoved',
    data: { ...job, attempt: 3, what: 'repository', name: 'bakery', found },
  });
  const receiptsAfter = (...events: readonly ProvisioningEvent[]) =>
    stateAfter(
      provisioningReceiptsFold,
      events.map((event, revision) => recorded(event, { revision, at: at(revision) })),
    ).receipts;

  test('count the time and the requests of all attempts', () => {
    const first = [started('github_create_repo'), answered('github_create_repo', 'r1')];
    const second = [started('github_create_repo', 2), answered('github_create_repo', 'r2')];
    expect(receiptsAfter(...first, ...second, made)).toEqual([
      {
        kind: 'repository',
        step: 'github_create_repo',
        outcome: 'made',
        provider: 'github',
        id: 'agency/bakery',
        name: 'bakery',
        startedAt: at(0),
        finishedAt: at(4),
        attempts: 2,
        requests: [request('r1'), request('r2')],
        requestId: 'request',
      },
    ]);
  });

  test('name what a step that failed may have left, until a later run has found it', () => {
    const first = [started('github_create_repo'), answered('github_create_repo', 'r1'), failed];
    expect(receiptsAfter(...first)).toMatchObject([
      { kind: 'repository', outcome: 'uncertain', startedAt: at(0), requests: [{ id: 'r1' }] },
    ]);
    expect(receiptsAfter(...first, started('github_create_repo', 2), made)).toMatchObject([
      { outcome: 'made', startedAt: at(0), finishedAt: at(4), requests: [{ id: 'r1' }] },
    ]);
  });

  test('say what a clean-up removed, and forget what it found not to be there', () => {
    expect(receiptsAfter(started('github_create_repo'), made, removed(true))).toMatchObject([{ removedAt: at(2) }]);
    expect(receiptsAfter(started('github_create_repo'), failed, removed(true))).toMatchObject([
      { outcome: 'uncertain', removedAt: at(2) },
    ]);
    expect(receiptsAfter(started('github_create_repo'), failed, removed(false))).toEqual([]);
    const again = receiptsAfter(started('github_create_repo'), made, removed(true), started('github_create_repo', 3), made);
    expect(again.map(({ removedAt }) => removedAt)).toEqual([at(2), undefined]);
  });
});

interface Pair {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
}

interface Site {
  readonly api: RunningApi;
  readonly token: string;
  readonly path: string;
}

interface Receipt {
  readonly kind: string;
  readonly id?: string;
  readonly now: string;
  readonly nowReason?: string;
  readonly requestId: string;
  readonly requests: readonly { readonly id: string; readonly method: string; readonly path: string }[];
}

const workers: Worker[] = [];
afterAll(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

/** A website whose provisioning has ended, on a pair of providers, the embedded ones when there is none. */
const startSite = async (pair?: Pair, isClosed = false): Promise<Site> => {
  let used: Pair | undefined = pair;
  const api = await startApi({
    routes: (parts) => {
      used = { ...parts, ...pair };
      return createRoutes({ ...parts, ...pair });
    },
  });
  if (used === undefined) throw new Error('there are no routes');
  // The job of a site that is closed for good fails in its last step, with everything made.
  const visit = (): Promise<number> => (isClosed ? Promise.reject(permanentFault('It is closed')) : Promise.resolve(200));
  const worker = createProvisioningWorker({ ...partsOf(api.engine), ...used, visit });
  workers.push(worker);
  await worker.start();
  const token = await api.mintToken();
  const made = await api.call('POST', '/websites', {
    token,
    body: { name: 'Bakery', slug: 'bakery', collaborators: ['octocat'] },
    headers: { 'x-request-id': 'the-creation' },
  });
  return { api, token, path: `/websites/${(made.body as { id: string }).id}` };
};

const ended = ({ api, token, path }: Site): Promise<string> =>
  eventually(
    'a job that has ended',
    async () => {
      const { status } = (await api.call('GET', `${path}/provisioning`, { token })).body as { status: string };
      return ['succeeded', 'failed'].includes(status) ? status : undefined;
    },
    30_000,
  );

const read = async ({ api, token, path }: Site, query = ''): Promise<ApiAnswer & { readonly receipts: readonly Receipt[] }> => {
  const answer = await api.call('GET', `${path}/provisioning/receipts${query}`, { token });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return { ...answer, receipts: answer.body as readonly Receipt[] };
};
const nowOf = (receipts: readonly Receipt[]): readonly unknown[] => receipts.map(({ kind, now }) => [kind, now]);

const every = ['repository', 'collaborator', 'project', 'variables', 'deployment'];
const allAre = (now: string) => every.map((kind) => [kind, now]);
const times = {
  startedAt: expect.stringMatching(/Z$/),
  finishedAt: expect.stringMatching(/Z$/),
  durationMs: expect.any(Number),
  attempts: 1,
};

describe('on the embedded pair', () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
    expect(await ended(site)).toBe('succeeded');
  }, 60_000);

  test('each thing has its id, its time, and the request to us that led to it; all are there', async () => {
    const { receipts } = await read(site);
    const own = { provider: 'embedded', outcome: 'made', requestId: 'the-creation', requests: [], now: 'exists', ...times };
    expect(receipts).toEqual([
      { ...own, kind: 'repository', step: 'github_create_repo', id: expect.any(String), name: 'bakery' },
      { ...own, kind: 'collaborator', step: 'github_invite_collaborator', id: 'octocat' },
      { ...own, kind: 'project', step: 'vercel_create_project', id: 'bakery', name: 'bakery', url: expect.any(String) },
      {
        ...own,
        kind: 'variables',
        step: 'vercel_set_env_vars',
        id: 'bakery',
        names: ['SITE_NAME', 'SITE_SLUG', 'SITE_URL'],
      },
      { ...own, kind: 'deployment', step: 'vercel_initial_deploy', id: expect.any(String), url: expect.any(String) },
    ]);
  });

  test('in pages, with a validator; nothing before the first step', async () => {
    const first = await read(site, '?limit=2&count=true');
    expect(first.receipts.map(({ kind }) => kind)).toEqual(['repository', 'collaborator']);
    expect(first.headers.get('total-count')).toBe('5');
    const next = /\/receipts(\?[^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect((await read(site, next)).receipts.map(({ kind }) => kind)).toEqual(['project', 'variables']);
    expect(first.headers.get('etag')).toMatch(/^"/);
    const idle = await startApi();
    const token = await idle.mintToken();
    const { id } = (await idle.call('POST', '/websites', { token, body: { name: 'A', slug: 'a' } })).body as { id: string };
    expect((await idle.call('GET', `/websites/${id}/provisioning/receipts`, { token })).body).toEqual([]);
  });

  test('what somebody deleted on the disk is gone, each with the reason', async () => {
    await rm(join(site.api.folder, 'repositories'), { recursive: true });
    expect(nowOf((await read(site)).receipts).slice(0, 2)).toEqual([
      ['repository', 'gone'],
      ['collaborator', 'gone'],
    ]);
    await rm(join(site.api.folder, 'sites'), { recursive: true });
    const { receipts } = await read(site);
    expect(nowOf(receipts)).toEqual(allAre('gone'));
    expect(receipts.every(({ nowReason = '' }) => /^[A-Z].{5,}\.$/.test(nowReason))).toBe(true);
  });
});

describe('on GitHub and Vercel', () => {
  let gitHub: GitHubFake;
  let vercel: VercelFake;
  let served: { gitHub: ServedFake; vercel: ServedFake };

  const newPair = async (): Promise<Pair> => {
    gitHub = createGitHubFake();
    vercel = createVercelFake({ repositoryOf: (name) => gitHub.repositories.get(name.split('/')[1] ?? '') });
    served = { gitHub: await serveFake(gitHub.provider), vercel: await serveFake(vercel.provider) };
    const { owner, template, token } = gitHub;
    const common = {
      clock: hastyClock(100),
      random: systemRandom,
      logger: createLogger({ level: 'silent' }),
      timeoutMs: 100_000,
    };
    return {
      sourceHost: createGitHub({
        ...common,
        settings: { token, owner, template: { owner, name: template }, apiUrl: served.gitHub.url },
      }),
      hosting: createVercel({
        ...common,
        settings: { token: vercel.token, teamId: vercel.teamId, apiUrl: served.vercel.url },
        fetchStatus: (url) => Promise.resolve(vercel.visit(url).status),
      }),
    };
  };

  test('each thing has the provider’s id of the request that made it', async () => {
    const site = await startSite(await newPair());
    expect(await ended(site)).toBe('succeeded');
    const { receipts, text } = await read(site);
    expect(nowOf(receipts)).toEqual(allAre('exists'));
    const making = receipts.map(({ kind, requestId, requests }) => {
      const { method, path } = requests.find(({ id }) => id === requestId) ?? {};
      return [kind, `${method ?? ''} ${path ?? ''}`];
    });
    expect(making).toEqual([
      ['repository', 'POST /repos/agency/site-template/generate'],
      ['collaborator', 'PUT /repos/agency/bakery/collaborators/octocat'],
      ['project', 'POST /v11/projects'],
      ['variables', 'POST /v10/projects/prj_1/env'],
      ['deployment', 'POST /v13/deployments'],
    ]);
    const ids = receipts.flatMap(({ requests }) => requests.map(({ id }) => id));
    expect(ids.every((id) => /^(F00D:|fra1::)\d+$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    for (const secret of [gitHub.token, vercel.token, 'Bakery']) expect(text).not.toContain(secret);
  }, 60_000);

  test('a project that has lost its marker is still there', async () => {
    const site = await startSite(await newPair());
    expect(await ended(site)).toBe('succeeded');
    vercel.projects.get('bakery')?.variables.shift();
    expect(nowOf((await read(site)).receipts)).toEqual(allAre('exists'));
  }, 60_000);

  test('a provider that is away makes its things unknown, and says so; the other’s are answered', async () => {
    const site = await startSite(await newPair());
    expect(await ended(site)).toBe('succeeded');
    served.gitHub.trouble(() => ({ when: 'before', what: '500' }));
    const { receipts } = await read(site);
    expect(receipts.map(({ now, nowReason }) => [now, nowReason])).toEqual([
      ['unknown', 'GitHub answered with status 500'],
      ['unknown', 'GitHub answered with status 500'],
      ['exists', undefined],
      ['exists', undefined],
      ['exists', undefined],
    ]);
    served.gitHub.trouble();
    served.vercel.trouble(() => ({ when: 'before', what: 'silence' }));
    const late = (await read(site)).receipts;
    expect(late.slice(2).map(({ now, nowReason }) => [now, nowReason])).toEqual([
      ['unknown', expect.stringMatching(/did not answer/)],
      ['unknown', expect.stringMatching(/did not answer/)],
      ['unknown', expect.stringMatching(/did not answer/)],
    ]);
    served.vercel.trouble();
  }, 60_000);

  test('what a clean-up removed says so, and is not asked for', async () => {
    const site = await startSite(await newPair(), true);
    expect(await ended(site)).toBe('failed');
    expect(nowOf((await read(site)).receipts)).toEqual(allAre('exists'));
    await site.api.call('POST', `${site.path}/provisioning/cleanup`, { token: site.token });
    await eventually('an end of the clean-up', async () => {
      const { body } = await site.api.call('GET', `${site.path}/provisioning`, { token: site.token });
      return (body as { cleanup?: { status: string } }).cleanup?.status === 'succeeded' ? true : undefined;
    });
    const asked = served.gitHub.requests.length + served.vercel.requests.length;
    const { receipts } = await read(site);
    expect(receipts.map(({ now, nowReason }) => [now, nowReason])).toEqual(every.map(() => ['gone', 'A clean-up removed it.']));
    expect(receipts).toMatchObject(every.map((kind) => ({ kind, removedAt: expect.any(String) })));
    expect(served.gitHub.requests.length + served.vercel.requests.length).toBe(asked);
  }, 60_000);

  test('things made at another provider than the one of now are unknown', async () => {
    const site = await startSite(await newPair());
    expect(await ended(site)).toBe('succeeded');
    await site.api.stop();
    const later = await startApi({ folder: site.api.folder });
    const { receipts } = await read({ ...site, api: later });
    expect(receipts[0]).toMatchObject({
      now: 'unknown',
      nowReason: 'It was made at github, and the service is set up for embedded by now.',
    });
    expect(nowOf(receipts)).toEqual(allAre('unknown'));
  }, 60_000);
});
