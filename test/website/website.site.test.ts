import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { deletionFold, type DeletionState } from '../../src/workers/deletion/deletion.process.js';
import {
  createDeletionWorker,
  createScheduledDeletionWorker,
  createSlugReleaseWorker,
} from '../../src/workers/deletion/deletionWorker.js';
import { createSiteWorker } from '../../src/workers/site/siteWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { createShiftedClock } from '../support/shiftedClock.js';
import { someAdmin } from '../support/given.js';
import { deployingOn, partsOf } from '../support/process.js';
import { slugFold } from '../../src/events/website/website.state.js';
import { siteFold, siteProcess } from '../../src/workers/site/site.process.js';
import { projectNames, repositoryNames } from '../support/folders.js';

let api: RunningApi;
let token: string;
let routeParts: RouteParts;
const clock = createShiftedClock();
const workers: Worker[] = [];

beforeAll(async () => {
  api = await startApi({
    sites: true,
    clock,
    routes: (parts) => {
      routeParts = parts;
      return createRoutes(parts);
    },
  });
  const parts = deployingOn(api.engine, routeParts);
  workers.push(createProvisioningWorker({ ...parts, visit: async (url) => (await fetch(url)).status }));
  workers.push(createSiteWorker(parts));
  for (const worker of workers) await worker.start();
  token = await api.mintToken();
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
});

const call = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  api.call(method, path, { token, ...(body !== undefined && { body }) });

/** A website that has been provisioned; its id. */
const createSite = async (slug: string, name = 'Bakery'): Promise<string> => {
  const { body } = await call('POST', '/websites', { name, slug });
  const { id } = body as { id: string };
  await eventually('an active website', async () => {
    const { body: website } = await call('GET', `/websites/${id}`);
    return (website as { status: string }).status === 'active' ? true : undefined;
  });
  return id;
};

interface Visited {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const visit = async (path: string, init: RequestInit = {}): Promise<Visited> => {
  const response = await fetch(`${api.url}${path}`, { redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

/** As browsers ask that find the website at an origin of its own: `fetch` does not send that `Host`. */
const visitHost = (
  host: string,
  path: string,
): Promise<{ readonly status: number; readonly location?: string; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    request({ hostname, port, path, headers: { host: `${host}.sites.localhost:${port}` } }, (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((page) => {
        resolve({ status, ...(headers.location !== undefined && { location: headers.location }), text: page });
      }, reject);
    })
      .on('error', reject)
      .end();
  });

describe('an archived website', () => {
  test('is shown to no visitor, at neither address, until it is restored', async () => {
    const id = await createSite('closed');
    const open = await visit('/sites/closed/');
    const { url: deployment } = ((await call('GET', `/websites/${id}/deployments`)).body as { url: string }[])[0] ?? { url: '' };
    expect([open.status, (await visitHost('closed', '/')).status, (await fetch(deployment)).status]).toEqual([200, 200, 200]);

    expect((await call('POST', `/websites/${id}/archive`)).status).toBe(200);
    const seen = { 'if-none-match': open.headers.get('etag') ?? '' };
    for (const path of ['/sites/closed/', '/sites/closed/no/such', '/sites/closed', new URL(deployment).pathname]) {
      const gone = await visit(path, { headers: seen });
      expect([path, gone.status, gone.headers.get('cache-control')]).toEqual([path, 410, 'no-store']);
      expect(gone.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(gone.text).toContain('This website is closed');
      expect(gone.text).not.toContain('Bakery');
    }
    expect(await visit('/sites/closed/', { method: 'HEAD' })).toMatchObject({ status: 410, text: '' });
    expect(await visitHost('closed', '/')).toMatchObject({ status: 410, text: expect.stringContaining('closed') });

    expect((await call('POST', `/websites/${id}/restore`)).status).toBe(200);
    expect(await visit('/sites/closed/')).toMatchObject({ status: 200, text: open.text });
    expect(await visitHost('closed', '/')).toMatchObject({ status: 200 });
  });

  test('loses access and offers of it, and takes no other write', async () => {
    const { id } = (await call('POST', '/websites', { name: 'Left', slug: 'left' })).body as { id: string };
    const { id: clientId } = (await call('POST', '/clients', { email: 'anna@example.com' })).body as { id: string };
    const anna = await api.mintToken({ role: 'client', subject: 'anna@example.com', verifiedEmail: 'anna@example.com' });
    const add = (email: string) => call('POST', `/websites/${id}/clients`, { email, role: 'viewer' });
    await add('anna@example.com');
    const invited = (await add('berta@example.com')).body as { invitation: { id: string } };
    const offered = (await call('POST', `/websites/${id}/transfers`, { email: 'clara@example.com' })).body as { id: string };
    await call('POST', `/websites/${id}/archive`);

    const refused = { status: 400, body: { error: `Website ${id} is archived`, code: 'website_archived' } };
    expect(await add('dora@example.com')).toMatchObject(refused);
    expect(await call('PATCH', `/websites/${id}/clients/${clientId}`, { role: 'editor' })).toMatchObject(refused);
    expect(await call('PATCH', `/websites/${id}`, { name: 'Other' })).toMatchObject(refused);
    expect(await call('PUT', `/websites/${id}/delivery`, {})).toMatchObject(refused);
    const read = () => api.call('GET', `/websites/${id}`, { token: anna });
    expect((await read()).status).toBe(200);

    for (const path of [`clients/${clientId}`, `client-invitations/${invited.invitation.id}`, `transfers/${offered.id}`]) {
      expect([path, (await call('DELETE', `/websites/${id}/${path}`)).status]).toEqual([path, 204]);
    }
    expect((await read()).status).toBe(403);
    expect((await call('GET', `/websites/${id}/clients`)).body).toMatchObject({ links: [], invitations: [] });
    expect((await call('GET', `/websites/${id}/transfers`)).body).toEqual([]);
  });
});

describe('a change of what the site shows', () => {
  const read = async (id: string) => (await call('GET', `/websites/${id}`)).body as { redeployNeeded?: true };
  const shown = async (slug: string, words: string) =>
    eventually('a site that shows it', async () => ((await visit(`/sites/${slug}/`)).text.includes(words) ? true : undefined));

  test('needs a redeploy, and a redeploy that comes directly after it shows it', async () => {
    const id = await createSite('renamed');
    expect(await read(id)).not.toHaveProperty('redeployNeeded');
    const changed = await call('PATCH', `/websites/${id}`, { name: 'Corner & Sons' });
    const redeployed = await call('POST', `/websites/${id}/redeploy`);
    expect(changed).toMatchObject({ status: 200, body: { name: 'Corner & Sons', redeployNeeded: true } });
    expect(redeployed).toMatchObject({ status: 202, body: { status: 'ready' } });
    expect((await visit('/sites/renamed/')).text).toContain('Corner &amp; Sons');
    expect(await read(id)).not.toHaveProperty('redeployNeeded');
  });

  test('is built at once when asked for; a colour may be taken away', async () => {
    const id = await createSite('coloured');
    const plan = await call('PATCH', `/websites/${id}?dryRun=1`, { brandColor: '#fff59d', redeploy: true });
    expect(plan.body).toMatchObject({ events: [{ type: 'WebsiteBrandColorChanged' }, { type: 'SiteRedeployQueued' }] });
    const theme = async () => (await visit('/sites/coloured/assets/theme.css')).text;
    const plain = await theme();

    expect(await call('PATCH', `/websites/${id}`, { brandColor: '#fff59d', redeploy: true })).toMatchObject({ status: 200 });
    await eventually('the colour', async () => ((await theme()).includes('--brand: #fff59d;') ? true : undefined));
    await eventually('the record of it', async () => ((await read(id)).redeployNeeded === undefined ? true : undefined));

    const taken = await call('PATCH', `/websites/${id}`, { brandColor: null, redeploy: true });
    expect(taken).toMatchObject({ status: 200, body: expect.not.objectContaining({ brandColor: expect.anything() }) });
    await eventually("the template's colour", async () => ((await theme()) === plain ? true : undefined));
  });

  test('before the first deployment is shown after it', async () => {
    const { id } = (await call('POST', '/websites', { name: 'Early', slug: 'early' })).body as { id: string };
    await call('PATCH', `/websites/${id}`, { name: 'Later', redeploy: true });
    await shown('early', 'Later');
    const page = await visit('/sites/early/');
    expect(page.text).toContain('Later');
    expect(page.text).not.toContain('Early');
  });

  test('of an archived website deploys nothing, neither then nor when it is restored', async () => {
    const id = await createSite('frozen');
    await call('POST', `/websites/${id}/archive`);
    const context = { commandId: api.engine.ids.commandId(), actor: someAdmin, requestId: 'r1' };
    await api.engine.handle(siteProcess, { type: 'QueueRedeploy', websiteId: id, redeployId: 'late' }, context);
    const dropped = await eventually('the end of it', async () => {
      const { state } = await api.engine.state(siteFold, { websiteId: id });
      return state.givenUpAt === undefined ? undefined : state;
    });
    expect(dropped).toMatchObject({ queued: [], lastFault: { error: `Website ${id} is archived` } });
    await call('POST', `/websites/${id}/restore`);
    await call('PATCH', `/websites/${id}`, { name: 'Thawed', redeploy: true });
    await shown('frozen', 'Thawed');
    expect((await call('GET', `/websites/${id}/deployments`)).body).toHaveLength(2);
  });
});

describe('another slug', () => {
  const dayMs = 86_400_000;

  test('moves the site; the former address leads there for 90 days, and may be taken back', async () => {
    const id = await createSite('old-bakery');
    const port = new URL(api.url).port;
    const move = (slug: string) => call('PATCH', `/websites/${id}`, { slug });
    expect((await call('PATCH', `/websites/${id}?dryRun=1`, { slug: 'new-bakery' })).body).toMatchObject({
      events: [
        { type: 'SlugReserved' },
        { type: 'WebsiteSlugChanged', data: { slug: 'new-bakery', previousSlug: 'old-bakery' } },
      ],
    });
    expect(await move('new-bakery')).toMatchObject({
      status: 200,
      body: { slug: 'new-bakery', url: `${api.url}/sites/new-bakery/`, redeployNeeded: true },
    });

    expect((await visit('/sites/new-bakery/')).status).toBe(200);
    expect((await visitHost('new-bakery', '/')).status).toBe(200);
    for (const method of ['GET', 'HEAD']) {
      const led = await visit('/sites/old-bakery/services/?from=mail&x=1', { method });
      expect([led.status, led.headers.get('location')]).toEqual([308, `${api.url}/sites/new-bakery/services/?from=mail&x=1`]);
    }
    expect((await visit('/sites/old-bakery', { redirect: 'follow' })).status).toBe(200);
    expect((await visit('/sites/old-bakery/', { method: 'POST' })).status).toBe(405);
    expect(await visitHost('old-bakery', '/services/?x=1')).toMatchObject({
      status: 308,
      location: `//new-bakery.sites.localhost:${port}/services/?x=1`,
    });

    const taken = { status: 400, body: { error: 'slug already exists' } };
    expect(await call('POST', '/websites', { name: 'Other', slug: 'old-bakery' })).toMatchObject(taken);
    const { id: other } = (await call('POST', '/websites', { name: 'Other', slug: 'other-bakery' })).body as { id: string };
    for (const slug of ['old-bakery', 'new-bakery']) {
      expect(await call('PATCH', `/websites/${other}`, { slug })).toMatchObject(taken);
    }
    expect(await move('other-bakery')).toMatchObject(taken);

    expect((await call('POST', `/websites/${id}/redeploy`)).body).toMatchObject({
      url: expect.stringContaining(`${api.url}/sites/new-bakery/_deployments/`),
    });
    expect((await visit('/sites/new-bakery/')).text).toContain(`<link rel="canonical" href="${api.url}/sites/new-bakery/">`);

    expect(await move('old-bakery')).toMatchObject({ status: 200, body: { slug: 'old-bakery' } });
    expect((await visit('/sites/old-bakery/')).status).toBe(200);
    expect((await visit('/sites/new-bakery/')).headers.get('location')).toBe(`${api.url}/sites/old-bakery/`);

    await eventually('the release of the former slug', async () => {
      const { state } = await api.engine.state(slugFold, { slug: 'new-bakery' });
      return state.stage === 'released' ? true : undefined;
    });
    clock.shift(91 * dayMs);
    expect((await visit('/sites/new-bakery/')).status).toBe(404);
    expect((await call('PATCH', `/websites/${other}`, { slug: 'new-bakery' })).status).toBe(200);
    expect((await visit('/sites/old-bakery/')).status).toBe(200);
  });

  test('frees the one before for new websites only when nothing at the providers is named by it', async () => {
    const id = await createSite('named-bakery');
    const before = `/websites/${id}`;
    for (const slug of ['passing-bakery', 'last-bakery']) await call('PATCH', before, { slug });
    for (const slug of ['named-bakery', 'passing-bakery']) {
      await eventually('the release of a former slug', async () => {
        const { state } = await api.engine.state(slugFold, { slug });
        return state.stage === 'released' ? true : undefined;
      });
    }
    clock.shift(91 * dayMs);
    const create = (slug: string, body: object = {}) => call('POST', '/websites', { name: 'Next', slug, ...body });
    const taken = { status: 400, body: { error: 'slug already exists' } };
    expect(await create('named-bakery')).toMatchObject(taken);
    expect(await create('named-bakery', { brandColor: 'red' })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('slug already exists') },
    });
    await createSite('passing-bakery');
  });
});

/** The sites whose visitors are stored. */
const countedSites = (folder: string): readonly string[] => {
  const database = new DatabaseSync(join(folder, 'analytics.db'), { readOnly: true });
  try {
    const rows = database.prepare('SELECT DISTINCT site FROM tally ORDER BY site').all() as { site: string }[];
    return rows.map(({ site }) => site);
  } finally {
    database.close();
  }
};

describe('a deletion', () => {
  const dayMs = 86_400_000;
  let deleting: readonly Worker[] = [];
  const stop = () => Promise.all(deleting.map((worker) => worker.stop()));
  const start = async (parts: Partial<RouteParts> = {}): Promise<void> => {
    const core = partsOf(api.engine);
    deleting = [
      createScheduledDeletionWorker(core),
      createDeletionWorker({ ...core, ...routeParts, ...parts }),
      createSlugReleaseWorker(core),
    ];
    for (const worker of deleting) await worker.start();
  };
  beforeAll(() => start());
  afterAll(stop);

  const archive = (id: string) => call('POST', `/websites/${id}/archive`);
  const remove = (id: string, query: string) => call('DELETE', `/websites/${id}?${query}`);
  /** Timers run on the system's clock: a worker that starts finds what has fallen due. */
  const inDays = async (days: number, parts: Partial<RouteParts> = {}): Promise<void> => {
    clock.shift(days * dayMs);
    await stop();
    await start(parts);
  };
  const isGone = (id: string) =>
    eventually('the end of the website', async () => ((await call('GET', `/websites/${id}`)).status === 404 ? true : undefined));
  const lastStep = (id: string) =>
    eventually('the last step', async () => {
      const { state } = await api.engine.state(deletionFold, { websiteId: id });
      return state.done.includes('slugs') ? state : undefined;
    });

  test('needs an archived website and its slug, and is cancelled by restoring it', async () => {
    const id = await createSite('careful');
    expect(await remove(id, 'confirm=careful')).toMatchObject({
      status: 400,
      body: { error: `Website ${id} is not archived: archive it first`, code: 'website_not_archived' },
    });
    await archive(id);
    for (const query of ['', 'confirm=other', 'confirm=careful&keep=everything']) {
      expect([query, (await remove(id, query)).status]).toEqual([query, 400]);
    }
    expect(await remove(id, 'confirm=careful&dryRun=1')).toMatchObject({
      body: { events: [{ type: 'WebsiteDeletionScheduled' }] },
    });

    const scheduled = await remove(id, 'confirm=careful');
    const { purgeAt } = scheduled.body as { purgeAt: string };
    expect(scheduled).toMatchObject({ status: 202, body: { id, archivedAt: expect.any(String) } });
    expect(Math.abs(Date.parse(purgeAt) - clock.now() - 30 * dayMs)).toBeLessThan(60_000);
    for (const [query, keep] of [
      ['', []],
      ['&keep=hosting', ['hosting']],
      ['', ['hosting']],
      ['&keep=', []],
      ['&keep=hosting,repository', ['repository', 'hosting']],
    ] as const) {
      expect((await remove(id, `confirm=careful${query}`)).body).toMatchObject({ purgeAt, keep });
    }
    expect((await call('GET', `/websites/${id}`)).body).toMatchObject({ keep: ['repository', 'hosting'] });

    const restored = await call('POST', `/websites/${id}/restore`);
    expect(restored).toMatchObject({ status: 200, body: expect.not.objectContaining({ purgeAt: expect.anything() }) });
    expect(restored.body).not.toHaveProperty('keep');
    await inDays(31);
    expect((await call('GET', `/websites/${id}`)).status).toBe(200);
    expect((await visit('/sites/careful/')).status).toBe(200);
  });

  test('removes the website and what was made for it, and frees its slugs', async () => {
    const id = await createSite('farewell');
    const neighbour = await createSite('neighbour');
    const firefox = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
    for (const slug of ['farewell', 'neighbour']) await visit(`/sites/${slug}/`, { headers: firefox });
    const visitors = async (website: string, query: string) =>
      ((await call('GET', `/websites/${website}/analytics${query}`)).body as { visitors: number }).visitors;
    expect([await visitors(id, ''), await visitors(neighbour, '')]).toEqual([1, 1]);
    const before = new Date(clock.now()).toISOString();
    await call('PATCH', `/websites/${id}`, { slug: 'goodbye', tier: 'scale' });
    const { id: clientId } = (await call('POST', '/clients', { email: 'kim@example.com' })).body as { id: string };
    const kim = await api.mintToken({ role: 'client', subject: 'kim@example.com', verifiedEmail: 'kim@example.com' });
    for (const website of [id, neighbour]) {
      await call('POST', `/websites/${website}/clients`, { email: 'kim@example.com', role: 'viewer' });
    }
    await call('POST', `/websites/${id}/clients`, { email: 'lee@example.com', role: 'viewer' });
    await call('POST', `/websites/${id}/transfers`, { email: 'max@example.com' });
    const secrets = { adminToken: 'shpat_secret' };
    const attached = await call('POST', `/websites/${id}/services`, {
      kind: 'commerce',
      shopDomain: 'bye.myshopify.com',
      secrets,
    });
    const { id: serviceId } = attached.body as { id: string };
    expect([attached.status, await api.engine.vault.secret(serviceId)]).toEqual([201, expect.anything()]);

    await archive(id);
    expect((await remove(id, 'confirm=goodbye')).status).toBe(202);
    await inDays(31);
    await isGone(id);
    const { done } = await lastStep(id);
    expect(done).toEqual(['access', 'services', 'project', 'repository', 'slugs']);

    expect((await call('GET', '/websites?archived=true')).body).not.toContainEqual(expect.objectContaining({ id }));
    expect((await api.call('GET', `/websites/${id}`, { token: kim })).status).toBe(404);
    expect((await api.call('GET', '/me', { token: kim })).body).toMatchObject({ websites: [{ id: neighbour }] });
    expect((await call('GET', `/clients/${clientId}`)).status).toBe(200);
    expect(await api.engine.vault.secret(serviceId)).toBeNull();
    expect(await projectNames(api.folder)).not.toContain('farewell');
    expect(await repositoryNames(api.folder)).not.toContain('farewell');
    for (const path of ['/sites/goodbye/', '/sites/farewell/']) expect([path, (await visit(path)).status]).toEqual([path, 404]);
    expect((await visit('/sites/neighbour/')).status).toBe(200);

    await createSite('goodbye');
    const next = await createSite('farewell');
    expect((await visit('/sites/farewell/')).status).toBe(200);
    const since = `?from=${before}`;
    expect([await visitors(next, since), await visitors(neighbour, since)]).toEqual([0, 1]);
    expect(countedSites(api.folder)).toEqual(['neighbour']);
  });

  const refusing = (retryAfterMs?: number): Partial<RouteParts> => ({
    hosting: {
      ...routeParts.hosting,
      deleteProject: () =>
        Promise.reject(
          new ProviderFault({ provider: 'embedded', message: 'No', transient: true, ...(retryAfterMs && { retryAfterMs }) }),
        ),
    },
  });
  const failure = (id: string, isWanted: (state: DeletionState) => boolean) =>
    eventually('the refusal', async () => {
      const { state } = await api.engine.state(deletionFold, { websiteId: id });
      return isWanted(state) ? state : undefined;
    });
  const takeSlug = (slug: string) => call('POST', '/websites', { name: 'Next', slug });

  test('keeps the slug while the provider refuses, and frees it with what is left', async () => {
    const id = await createSite('reluctant');
    await archive(id);
    await remove(id, 'confirm=reluctant');
    await inDays(31, refusing());
    await isGone(id);
    await failure(id, ({ attempts }) => attempts.pause !== undefined);
    expect(await takeSlug('reluctant')).toMatchObject({ status: 400, body: { error: 'slug already exists' } });
    await inDays(1);
    await lastStep(id);
    expect((await takeSlug('reluctant')).status).toBe(201);
  });

  test('frees the slug also when it is given up', async () => {
    const id = await createSite('hopeless');
    await archive(id);
    await remove(id, 'confirm=hopeless');
    await inDays(31, refusing(31 * dayMs));
    await failure(id, ({ isGivenUp }) => isGivenUp);
    await eventually('the free slug', async () => ((await takeSlug('hopeless')).status === 201 ? true : undefined));
  });

  test.each(['hosting', 'sourceHost'] as const)('waits while the service is set up for another provider: %s', async (port) => {
    const slug = `moved-${port.toLowerCase()}`;
    const id = await createSite(slug);
    await archive(id);
    await remove(id, `confirm=${slug}`);
    await inDays(31, { [port]: { ...routeParts[port], provider: 'elsewhere' } });
    await isGone(id);
    await failure(id, ({ attempts }) => attempts.pause !== undefined);
    const fault = { message: expect.stringMatching(`${slug} is at embedded.*elsewhere`) };
    expect(api.log).toContainEqual(expect.objectContaining({ websiteId: id, err: expect.objectContaining(fault) }));
    // What can be removed is.
    const left = async () =>
      [await projectNames(api.folder), await repositoryNames(api.folder)].map((names) => names.includes(slug));
    expect(await left()).toEqual([port === 'hosting', port === 'sourceHost']);
    expect((await takeSlug(slug)).status).toBe(400);
    await inDays(1);
    await lastStep(id);
    expect([await projectNames(api.folder), await repositoryNames(api.folder)].flat()).not.toContain(slug);
  });

  test('finds at the provider what has another name by now', async () => {
    const id = await createSite('relabelled');
    await archive(id);
    await remove(id, 'confirm=relabelled');
    const asked: object[] = [];
    const renamed: RouteParts['hosting'] = {
      ...routeParts.hosting,
      // As at a provider where it was renamed.
      deleteProject: (project) => {
        asked.push(project);
        return project.id === undefined ? Promise.resolve(false) : routeParts.hosting.deleteProject(project);
      },
    };
    await inDays(31, { hosting: renamed });
    await lastStep(id);
    expect(asked).toMatchObject([{ name: 'relabelled' }, { name: 'relabelled', id: 'relabelled' }]);
    expect(await projectNames(api.folder)).not.toContain('relabelled');
  });

  test('leaves at the providers what is to be kept', async () => {
    const id = await createSite('kept');
    await archive(id);
    await remove(id, 'confirm=kept&keep=repository,hosting');
    await inDays(31);
    await isGone(id);
    await lastStep(id);
    expect(await projectNames(api.folder)).toContain('kept');
    expect(await repositoryNames(api.folder)).toContain('kept');
    expect((await visit('/sites/kept/')).status).toBe(404);
  });
});
