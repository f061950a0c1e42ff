import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { START } from '../../src/events/store/eventStore.js';
import { createVercel } from '../../src/integrations/hosting/vercel.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import { createGitHub } from '../../src/integrations/sourceHost/github.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { createDeployments } from '../../src/workers/deployment/deployments.js';
import { createSiteWorker } from '../../src/workers/site/siteWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';
import { hastyClock } from '../support/provider.js';
import { createGitHubFake } from '../support/providers/gitHubFake.js';
import { createVercelFake, type VercelFake } from '../support/providers/vercelFake.js';
import { serveFake, type ServedFake } from '../support/providers/wire.js';
import { deployingOn } from '../support/process.js';

interface Site {
  readonly api: RunningApi;
  /** Puts a file into the repository; returns the commit. */
  readonly commit: () => Promise<string>;
  readonly token: string;
  readonly websiteId: string;
}

const workers: Worker[] = [];
afterAll(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

interface Pair {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
}

/**
 * A website that has been provisioned on a pair of providers, the embedded ones when there is none.
 */
const startSite = async (pair?: Pair): Promise<Site> => {
  let used: Pair | undefined = pair;
  const api = await startApi({
    routes: (parts) => {
      used = { ...parts, ...pair };
      return createRoutes({ ...parts, ...pair, deployments: createDeployments({ ...parts, ...used }) });
    },
  });
  if (used === undefined) throw new Error('there are no routes');
  const parts = deployingOn(api.engine, used);
  const worker = createProvisioningWorker({ ...parts, visit: () => Promise.resolve(200) });
  const siteWorker = createSiteWorker(parts);
  workers.push(worker, siteWorker);
  await worker.start();
  await siteWorker.start();
  const token = await api.mintToken();
  const { body } = await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'bakery' } });
  const websiteId = (body as { id: string }).id;
  await eventually(
    'an active website',
    async () => {
      const { body: website } = await api.call('GET', `/websites/${websiteId}`, { token });
      return (website as { status: string }).status === 'active' ? true : undefined;
    },
    30_000,
  );
  const { sourceHost } = used;
  const commit = async (): Promise<string> => {
    const { body: website } = await api.call('GET', `/websites/${websiteId}`, { token });
    const { id } = (website as { repository: { id: string } }).repository;
    const { head: parent } = await sourceHost.readFiles(id, []);
    const files = new Map([['NOTES.md', Buffer.from(parent)]]);
    const made = await sourceHost.commitFiles(id, { parent, files, message: 'Note it', assertHeld: () => undefined });
    if (made === null) throw new Error('somebody else commits');
    return made;
  };
  return { api, commit, token, websiteId };
};

/** What the log holds of redeployments, oldest first. */
const redeploysOf = async ({ api }: Site) =>
  (await api.engine.eventStore.readAll({ after: START, filter: { streamPrefixes: ['redeploy-'] } })).events.map(
    ({ type, data, metadata }) => ({ type, data, by: metadata.actor.role }),
  );

/** Ids of a list, page by page. */
const pagesOf = async ({ api, token, websiteId }: Site, list: string, limit: number): Promise<readonly string[][]> => {
  const pages: string[][] = [];
  for (let path: string | undefined = `/websites/${websiteId}/${list}?limit=${limit}`; path !== undefined;) {
    const { status, body, headers } = await api.call('GET', path, { token });
    expect(status).toBe(200);
    pages.push((body as { id: string }[]).map(({ id }) => id));
    path = /\/v1([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return pages;
};

const deployment = {
  id: expect.any(String),
  status: 'ready',
  url: expect.stringMatching(/^https?:\/\//),
  commit: expect.stringMatching(/^[0-9a-f]{40}$/),
  createdAt: expect.stringMatching(/Z$/),
};

describe('on the embedded pair', () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
  }, 60_000);
  const call = (method: string, path: string, headers = {}) =>
    site.api.call(method, `/websites/${site.websiteId}${path}`, { token: site.token, headers });

  test('GET /deployments and /commits tell what is there', async () => {
    expect(await call('GET', '/deployments')).toMatchObject({ status: 200, body: [deployment] });
    const commit = {
      id: expect.stringMatching(/^[0-9a-f]{40}$/),
      message: 'Start bakery from the business template',
      author: 'Doorstep',
      committedAt: expect.stringMatching(/Z$/),
    };
    expect((await call('GET', '/commits?limit=5')).body).toEqual([commit]);
  });

  test('POST /redeploy when nothing has changed: 202 with the newest deployment, and nothing is made or recorded', async () => {
    const [newest] = (await call('GET', '/deployments')).body as unknown[];
    for (const headers of [{}, {}, { 'idempotency-key': 'unchanged' }, { 'idempotency-key': 'unchanged' }]) {
      expect(await call('POST', '/redeploy', headers)).toMatchObject({ status: 202, body: newest });
    }
    expect(await call('POST', '/redeploy?dryRun=1')).toMatchObject({ status: 200, body: { events: [] } });
    expect((await call('GET', '/deployments')).body).toEqual([newest]);
    expect(await redeploysOf(site)).toEqual([]);
  });

  test('POST /redeploy: 202, once for a key, and not for a dry run', async () => {
    const sha = await site.commit();
    const request = { websiteId: site.websiteId, provider: 'embedded', projectId: 'bakery', redeployId: expect.any(String) };
    expect(await call('POST', '/redeploy?dryRun=1')).toMatchObject({
      status: 200,
      body: { events: [{ type: 'RedeployRequested', data: request }] },
    });
    expect(await redeploysOf(site)).toEqual([]);
    const headers = { 'idempotency-key': 'again' };
    const first = await call('POST', '/redeploy', headers);
    expect(first).toMatchObject({ status: 202, body: { ...deployment, commit: sha } });
    expect((await call('POST', '/redeploy', headers)).body).toEqual(first.body);
    expect((await call('GET', '/deployments')).body).toHaveLength(2);
    expect((await call('GET', '/deployments?limit=1')).body).toEqual([first.body]);
    const { id: deploymentId } = first.body as { id: string };
    expect(await redeploysOf(site)).toEqual([
      { type: 'RedeployRequested', data: request, by: 'admin' },
      {
        type: 'RedeployStarted',
        data: { websiteId: site.websiteId, redeployId: expect.any(String), deploymentId },
        by: 'admin',
      },
    ]);
  });

  test('what a deployment shows is recorded before its start, after which no worker looks for it', async () => {
    const { api, token, websiteId } = site;
    const renamed = await api.call('PATCH', `/websites/${websiteId}`, { token, body: { name: 'Corner Bakery' } });
    expect(renamed.body).toMatchObject({ redeployNeeded: true });
    expect((await call('POST', '/redeploy')).status).toBe(202);
    const filter = { streamPrefixes: ['redeploy-', `website-${websiteId}`] };
    const { events } = await api.engine.eventStore.readAll({ after: START, filter });
    expect(events.slice(-3).map(({ type }) => type)).toEqual(['RedeployRequested', 'WebsiteDeployed', 'RedeployStarted']);
    expect((await api.call('GET', `/websites/${websiteId}`, { token })).body).not.toHaveProperty('redeployNeeded');
  });

  test('many POSTs to /redeploy at a time: 202, one deployment', async () => {
    const before = (await call('GET', '/deployments')).body as unknown[];
    const commit = await site.commit();
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '/redeploy')));
    const now = (await call('GET', '/deployments')).body as unknown[];
    expect(now.slice(1)).toEqual(before);
    expect(now[0]).toMatchObject({ commit });
    for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 202, body: now[0] });
  });

  test('many POSTs to /redeploy at two processes: one deployment for each commit, and never two at a time', async () => {
    const building = { now: 0, most: 0, begun: 0 };
    const counted = (hosting: Hosting): Hosting => ({
      ...hosting,
      startDeployment: async (...asked) => {
        building.begun += 1;
        building.most = Math.max(building.most, (building.now += 1));
        return hosting.startDeployment(...asked).finally(() => (building.now -= 1));
      },
    });
    const { folder, url } = site.api;
    const routes = (parts: RouteParts) =>
      createRoutes({ ...parts, deployments: createDeployments({ ...parts, hosting: counted(parts.hosting) }) });
    const start = () => startApi({ folder, environment: { BASE_URL: url }, projector: false, routes });
    const processes = [await start(), await start()];
    const redeploy = (api: RunningApi) => api.call('POST', `/websites/${site.websiteId}/redeploy`, { token: site.token });
    for (const round of [1, 2]) {
      const commit = await site.commit();
      const answers = await Promise.all([...processes, ...processes, ...processes, ...processes].map(redeploy));
      const [newest] = (await call('GET', '/deployments')).body as unknown[];
      expect(newest).toMatchObject({ commit });
      for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 202, body: newest });
      expect(building).toEqual({ now: 0, most: 1, begun: round });
    }
    await Promise.all(processes.map((api) => api.stop()));
  });

  test('their addresses are for clients only while the preview is shown', async () => {
    const { api, token } = site;
    const email = 'editor@example.com';
    await api.call('POST', '/clients', { token, body: { email } });
    const link = { token, body: { email, role: 'editor' } };
    expect((await api.call('POST', `/websites/${site.websiteId}/clients`, link)).status).toBe(201);
    const editor = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
    const asEditor = (method: string, path: string) => api.call(method, `/websites/${site.websiteId}${path}`, { token: editor });
    const { url: _, ...withoutAddress } = deployment;
    const show = (showPreviewUrl: boolean) =>
      api.call('PUT', `/websites/${site.websiteId}/delivery`, {
        token,
        body: { showPreviewUrl, estimatedCompletionAt: '2027-01-01T12:00:00Z' },
      });

    const before = await asEditor('GET', '/deployments?limit=1');
    expect(before).toMatchObject({ status: 200, body: [withoutAddress] });
    expect(before.text).not.toContain('"url"');
    expect((await show(true)).status).toBe(200);
    expect((await asEditor('GET', '/deployments?limit=1')).body).toEqual([deployment]);
    expect((await show(false)).status).toBe(200);
    expect((await asEditor('GET', '/deployments?limit=1')).text).not.toContain('"url"');
    const redeployed = await asEditor('POST', '/redeploy');
    expect(redeployed).toMatchObject({ status: 202, body: withoutAddress });
    expect(redeployed.text).not.toContain('"url"');
    // The address of the site itself is public.
    expect(await asEditor('GET', '')).toMatchObject({ status: 200, body: { url: expect.any(String) } });
  });

  test('an archived website is not redeployed, and nothing is recorded', async () => {
    const before = await redeploysOf(site);
    expect((await call('POST', '/archive')).status).toBe(200);
    const error = `Website ${site.websiteId} is archived`;
    expect(await call('POST', '/redeploy')).toMatchObject({ status: 400, body: { error } });
    expect((await call('POST', '/restore')).status).toBe(200);
    expect(await redeploysOf(site)).toEqual(before);
  });

  test('lists come in pages, and a made-up cursor is refused', async () => {
    await site.commit();
    await call('POST', '/redeploy');
    const [all = []] = await pagesOf(site, 'deployments', 200);
    expect(all.length).toBeGreaterThan(1);
    expect(await pagesOf(site, 'deployments', 1)).toEqual(all.map((id) => [id]));
    expect((await pagesOf(site, 'commits', 1)).flat()).toEqual((await pagesOf(site, 'commits', 200)).flat());
    const first = await call('GET', '/commits?limit=1');
    const older = (await pagesOf(site, 'commits', 200)).flat().slice(1);
    await site.commit();
    const next = /\/commits[^>]+/.exec(first.headers.get('link') ?? '')?.[0] ?? '';
    expect((await call('GET', next.replace('limit=1', 'limit=200'))).body).toMatchObject(older.map((id) => ({ id })));
    const unknown = Buffer.from(`${'f'.repeat(40)}.1`).toString('base64url');
    expect(await call('GET', `/commits?cursor=${unknown}`)).toMatchObject({ status: 400 });
    for (const list of ['deployments', 'commits']) {
      const cursor = Buffer.from('made-up').toString('base64url');
      expect(await call('GET', `/${list}?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { error: 'Invalid query — cursor: is not a cursor of this list' },
      });
    }
  });

  test('before the first deployment: empty lists, and a redeployment is refused', async () => {
    const { api, token } = site;
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    const { body } = await api.call('POST', '/websites', { token, body: { name: 'New', slug: 'new' } });
    const { id } = body as { id: string };
    expect((await api.call('GET', `/websites/${id}/deployments`, { token })).body).toEqual([]);
    expect((await api.call('GET', `/websites/${id}/commits`, { token })).body).toEqual([]);
    expect(await api.call('POST', `/websites/${id}/redeploy`, { token })).toMatchObject({
      status: 400,
      body: { error: `Website ${id} has not been provisioned yet` },
    });
  });
});

describe('on GitHub and Vercel', () => {
  /** Waits a hundredth of what it is told to. */
  const hasty = hastyClock(100);
  let site: Site;
  let vercelServed: ServedFake;
  let gitHubServed: ServedFake;
  let commit: (words: string | null) => string;
  let token: string;
  let vercel: VercelFake;
  beforeAll(async () => {
    const gitHub = createGitHubFake();
    vercel = createVercelFake({ repositoryOf: (name) => gitHub.repositories.get(name.split('/')[1] ?? '') });
    [gitHubServed, vercelServed] = [await serveFake(gitHub.provider), await serveFake(vercel.provider)];
    commit = (words) => gitHub.commit('bakery', words);
    ({ token } = vercel);
    const { owner, template } = gitHub;
    const common = { clock: hasty, random: systemRandom, logger: createLogger({ level: 'silent' }), timeoutMs: 100_000 };
    site = await startSite({
      sourceHost: createGitHub({
        ...common,
        settings: { token: gitHub.token, owner, template: { owner, name: template }, apiUrl: gitHubServed.url },
        paced: false,
      }),
      hosting: createVercel({
        ...common,
        settings: { token, teamId: vercel.teamId, apiUrl: vercelServed.url },
        fetchStatus: (url) => Promise.resolve(vercel.visit(url).status),
      }),
    });
  }, 60_000);
  const call = (method: string, path: string, headers = {}) =>
    site.api.call(method, `/websites/${site.websiteId}${path}`, { token: site.token, headers });

  const change = (body: object) => site.api.call('PATCH', `/websites/${site.websiteId}`, { token: site.token, body });
  const project = () => vercel.projects.get('bakery');
  const read = async () => (await call('GET', '')).body;

  test('a template need not be named; deployments and commits are asked for at each call', async () => {
    expect(await call('GET', '/deployments')).toMatchObject({ status: 200, body: [deployment] });
    const sha = commit('New bread');
    expect(await call('GET', '/commits')).toMatchObject({
      status: 200,
      body: [{ id: sha, url: expect.stringContaining(sha), author: 'Ada Lovelace' }, {}],
    });
  });

  test('POST /redeploy answers while it builds, without an address, and the newest commit is served in the end', async () => {
    const sha = commit('More bread');
    const { status, body } = await call('POST', '/redeploy');
    expect(status).toBe(202);
    expect(body).toEqual({ id: expect.any(String), status: 'building', commit: sha, createdAt: expect.any(String) });
    const newest = await eventually('a deployment that is ready', async () => {
      const [first] = (await call('GET', '/deployments')).body as { status: string }[];
      return first?.status === 'ready' ? first : undefined;
    });
    expect(newest).toMatchObject({ ...deployment, commit: sha });
  });

  test('why a build failed: the provider’s words for admins, a plain note for clients', async () => {
    commit(null);
    await call('POST', '/redeploy');
    const failed = await eventually('a deployment that failed', async () => {
      const [first] = (await call('GET', '/deployments')).body as { status: string }[];
      return first?.status === 'failed' ? first : undefined;
    });
    expect(failed).toMatchObject({ error: 'Command "npm run build" exited with 1' });
    const { body } = await site.api.call('POST', '/clients', { token: site.token, body: { email: 'owner@example.com' } });
    const { id: clientId } = body as { id: string };
    await site.api.call('PATCH', `/websites/${site.websiteId}`, { token: site.token, body: { clientId } });
    const owner = await site.api.mintToken({ role: 'client', subject: 'o', verifiedEmail: 'owner@example.com' });
    const seen = await site.api.call('GET', `/websites/${site.websiteId}/deployments?limit=1`, { token: owner });
    expect(seen).toMatchObject({ status: 200, body: [{ error: 'The build failed. Ask the agency to look into it.' }] });
    commit('Bread that bakes');
    await call('POST', '/redeploy');
  });

  test('lists come in pages of any size, whatever the size of the provider’s', async () => {
    const commits = Array.from({ length: 230 }, (_, index) => commit(`Bread ${index}`)).reverse();
    const [first = [], rest = [], ...none] = await pagesOf(site, 'commits', 200);
    expect([first.length, none]).toEqual([200, []]);
    expect([...first, ...rest].slice(0, 230)).toEqual(commits);
    for (const limit of [70, 100, 150]) expect((await pagesOf(site, 'commits', limit)).flat()).toEqual([...first, ...rest]);
    const [all = []] = await pagesOf(site, 'deployments', 200);
    expect(all.length).toBeGreaterThan(1);
    expect(await pagesOf(site, 'deployments', 1)).toEqual(all.map((id) => [id]));
  });

  test('when nothing has changed since the newest deployment, it is the answer, also while it is built', async () => {
    const deployments = vercel.made.deployments.length;
    const before = await redeploysOf(site);
    const sha = commit('The last bread');
    const first = await call('POST', '/redeploy');
    expect(first).toMatchObject({ status: 202, body: { commit: sha } });
    expect(await call('POST', '/redeploy')).toMatchObject({ status: 202, body: { id: (first.body as { id: string }).id } });
    expect(vercel.made.deployments).toHaveLength(deployments + 1);
    expect(await redeploysOf(site)).toHaveLength(before.length + 2);
    await eventually('a deployment that is ready', async () => {
      const [newest] = (await call('GET', '/deployments')).body as { status: string }[];
      return newest?.status === 'ready' ? true : undefined;
    });
    expect(await call('POST', '/redeploy')).toMatchObject({ status: 202, body: { id: (first.body as { id: string }).id } });
    expect(vercel.made.deployments).toHaveLength(deployments + 1);
  });

  test('a provider that is down is named: 503, or 504 when it is silent', async () => {
    vercelServed.trouble(() => ({ when: 'before', what: '500' }));
    expect(await call('GET', '/deployments')).toMatchObject({ status: 503, body: { error: 'Vercel cannot be asked right now' } });
    vercelServed.trouble(() => ({ when: 'before', what: 'silence' }));
    expect(await call('GET', '/deployments')).toMatchObject({ status: 504, body: { error: 'Vercel did not answer in time' } });
    vercelServed.trouble();
    gitHubServed.trouble(() => ({ when: 'before', what: '429' }));
    const limited = await call('GET', '/commits');
    expect(limited).toMatchObject({ status: 503, body: { error: 'GitHub cannot be asked right now' } });
    expect(limited.headers.get('retry-after')).toBe('7');
    gitHubServed.trouble();
    expect(JSON.stringify(site.api.log)).not.toContain(token);
  });

  test.each([
    ['before', '500', 503],
    ['after', '500', 503],
    ['after', 'reset', 503],
    ['after', 'silence', 504],
    ['after', 'page', 503],
  ] as const)(
    'a redeployment is asked for, and %s it was begun comes %s: %i, and with its key it is one',
    async (when, what, status) => {
      commit(`Bread ${when} ${what}`);
      const before = await redeploysOf(site);
      const deployments = (await call('GET', '/deployments?limit=100')).body as { id: string }[];
      const headers = { 'idempotency-key': `${when}-${what}` };
      vercelServed.trouble(({ method }) => (method === 'POST' ? { when, what } : undefined));
      expect((await call('POST', '/redeploy', headers)).status).toBe(status);
      vercelServed.trouble();
      const asked = (await redeploysOf(site)).slice(before.length);
      expect(asked).toMatchObject([{ type: 'RedeployRequested', data: { websiteId: site.websiteId }, by: 'admin' }]);

      const again = await call('POST', '/redeploy', headers);
      expect(again.status).toBe(202);
      const { id: deploymentId } = again.body as { id: string };
      expect((await redeploysOf(site)).slice(before.length)).toMatchObject([
        { type: 'RedeployRequested' },
        { type: 'RedeployStarted', data: { deploymentId } },
      ]);
      const now = (await call('GET', '/deployments?limit=100')).body as { id: string }[];
      expect(now.map(({ id }) => id)).toEqual([deploymentId, ...deployments.map(({ id }) => id)]);
    },
  );

  test('a website that lives elsewhere than the service is set up for: 502', async () => {
    const other = await startApi({ folder: site.api.folder, projector: false });
    const email = 'owner@example.com';
    const owner = await site.api.mintToken({ role: 'client', subject: 'o', verifiedEmail: email });
    const forAdmins = / refused: The service is set up for another provider$/;
    const forClients = / refused\. Ask the agency to look into it\.$/;
    for (const path of ['deployments', 'commits']) {
      for (const [reader, query, error] of [
        [site.token, '', forAdmins],
        [owner, '', forClients],
        [site.token, `?as=${email}`, forClients],
      ] as const) {
        const answer = await other.call('GET', `/websites/${site.websiteId}/${path}${query}`, { token: reader });
        expect(answer).toMatchObject({ status: 502, body: { error: expect.stringMatching(error) } });
      }
    }
    await other.stop();
  });

  test('a change reaches the variables, also when Vercel was down, and a redeploy builds with them', async () => {
    // Of each request, also the repeated ones, until it is up again.
    vercelServed.trouble(({ path }) => (path.endsWith('/env') ? { when: 'before', what: '500' } : undefined));
    expect(await change({ name: 'Bread', brandColor: '#112233' })).toMatchObject({ status: 200, body: { redeployNeeded: true } });
    const failures = () => site.api.log.filter(({ msg }) => msg === 'a site could not be brought up to date');
    await eventually('an attempt while Vercel is down', () => (failures().length > 0 ? true : undefined));
    vercelServed.trouble();
    expect((await call('POST', '/redeploy')).status).toBe(202);
    expect(project()?.deployments[0]?.variables).toMatchObject({ SITE_NAME: 'Bread', SITE_COLOR: '#112233' });
    await eventually('the end of the build', async () => ('redeployNeeded' in ((await read()) as object) ? undefined : true));
    expect(vercelServed.complaints).toEqual([]);
  });

  test('a change with `redeploy` is built and shown without another request', async () => {
    const before = vercel.made.deployments.length;
    expect((await change({ name: 'Rolls', brandColor: null, redeploy: true })).status).toBe(200);
    await eventually('a new deployment', async () => ('redeployNeeded' in ((await read()) as object) ? undefined : true));
    expect(vercel.made.deployments).toHaveLength(before + 1);
    expect(project()?.deployments[0]?.variables).toMatchObject({ SITE_NAME: 'Rolls', SITE_COLOR: '' });
  });

  test('what Vercel refuses is given up, told by a redeploy, and tried again by it', async () => {
    vercel.forbidden.add('SITE_NAME');
    await change({ name: 'Cakes' });
    expect(await call('POST', '/redeploy')).toMatchObject({
      status: 502,
      body: { error: expect.stringContaining('This name is reserved') },
    });
    vercel.forbidden.clear();
    expect((await call('POST', '/redeploy')).status).toBe(202);
    expect(project()?.deployments[0]?.variables).toMatchObject({ SITE_NAME: 'Cakes' });
    await eventually('the end of the build', async () => ('redeployNeeded' in ((await read()) as object) ? undefined : true));
    await change({ name: 'Bakery', redeploy: true });
    await eventually('the first name again', async () => ('redeployNeeded' in ((await read()) as object) ? undefined : true));
  });
});
