import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { startDoorstep, type Doorstep } from '../../src/compose.js';
import { createLogger } from '../../src/platform/logger.js';
import type { Environment } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/fleet.js';
import { createApi, mintToken, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const dataDir = temporaryFolder();
const running = new Set<Doorstep>();

const stop = async (doorstep: Doorstep): Promise<void> => {
  running.delete(doorstep);
  await doorstep.stop();
};
afterEach(async () => {
  for (const doorstep of running) await stop(doorstep);
});

/** On a new free port each time, unless `extra` sets one. */
const start = async (extra: Environment = {}): Promise<Doorstep> => {
  const settings = loadSettings({ DATA_DIR: dataDir, PORT: '0', ...extra });
  const doorstep = await startDoorstep(settings, createLogger({ level: 'silent' }));
  running.add(doorstep);
  return doorstep;
};

type Website = Readonly<{ id: string; status: string; url?: string }>;

const websiteOf = async (api: Api, id: string): Promise<Website> => (await api.get(`/websites/${id}`)).body as Website;

const textAt = async (address: string | undefined): Promise<string> => {
  const response = await fetch(address ?? '');
  expect(response.status).toBe(200);
  return response.text();
};

test('after a start at another address, every response has the new address of a website served here', async () => {
  const email = 'ada@example.com';
  const before = await start();
  const admin = await mintToken(dataDir);
  const client = await mintToken(dataDir, 'client', email);
  const first = createApi(before.baseUrl, admin);
  const owner = (await first.post('/clients', { email, name: 'Ada' })).body as { id: string };
  const input = { name: 'Corner Bakery', slug: 'bakery', tier: 'growth', clientId: owner.id };
  const { id } = (await first.post('/websites', input)).body as Website;
  await eventually('the activation', async () => ((await websiteOf(first, id)).status === 'active' ? true : undefined));
  expect((await websiteOf(first, id)).url).toBe(`${before.baseUrl}/sites/bakery/`);
  const delivery = { estimatedCompletionAt: '2031-01-01T00:00:00Z', showPreviewUrl: true };
  await first.put(`/websites/${id}/delivery`, delivery);
  await stop(before);

  // Another program may listen on the previous port now.
  const after = await start();
  expect(after.baseUrl).not.toBe(before.baseUrl);
  const url = `${after.baseUrl}/sites/bakery/`;
  const api = createApi(after.baseUrl, admin);
  expect(await websiteOf(api, id)).toMatchObject({ url });
  expect((await api.get('/websites')).body).toMatchObject([{ id, url }]);
  expect((await createApi(after.baseUrl, client).get('/me')).body).toMatchObject({ websites: [{ id, url, via: 'owner' }] });
  expect((await api.patch(`/websites/${id}`, { name: 'The Corner Bakery' })).body).toMatchObject({ url });
  expect(await textAt(url)).toContain('Corner Bakery');

  const [deployment] = (await api.get(`/websites/${id}/deployments`)).body as readonly { url: string }[];
  const { previewUrl } = (await api.get(`/websites/${id}/delivery`)).body as { previewUrl: string };
  expect(previewUrl).toBe(deployment?.url);
  await textAt(previewUrl);

  expect((await api.post(`/websites/${id}/seo/scans`)).body).toMatchObject({ url });
  const scan = await eventually('the scan', async () => {
    const { latest } = (await api.get(`/websites/${id}/seo`)).body as { latest: { status: string } };
    return latest.status === 'completed' ? latest : undefined;
  });
  expect(scan).toMatchObject({ url });

  // Addresses inside pages are fixed at build time: a deployment updates them.
  expect(await textAt(url)).toContain(`<link rel="canonical" href="${before.baseUrl}/sites/bakery/"`);
  await api.post(`/websites/${id}/redeploy`);
  await eventually('the deployment', async () =>
    (await textAt(url)).includes(`<link rel="canonical" href="${url}"`) ? true : undefined,
  );
  expect(await textAt(`${url}sitemap.xml`)).not.toContain(before.baseUrl);
});

/** Node's resolver does not know names below `localhost`. */
const atHost = (baseUrl: string, address: string): Promise<{ status: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    const { host, pathname } = new URL(address);
    get(new URL(pathname, baseUrl), { headers: { host }, agent: false }, (response) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode, text: body });
      }, reject);
    }).on('error', reject);
  });

test('with SITES_URL every website has an origin of its own, those from before included', async () => {
  const port = await freePort();
  const sites = `http://sites.localhost:${String(port)}`;
  const doorstep = await start({ PORT: String(port), SITES_URL: sites });
  const api = createApi(doorstep.baseUrl, await mintToken(dataDir));
  const urlOf = (slug: string): string => `http://${slug}.sites.localhost:${String(port)}/`;

  const [bakery] = (await api.get('/websites?q=bakery')).body as readonly Website[];
  expect(bakery?.url).toBe(urlOf('bakery'));
  expect((await atHost(doorstep.baseUrl, urlOf('bakery'))).status).toBe(200);
  const former = await fetch(`${doorstep.baseUrl}/sites/bakery/`, { redirect: 'manual' });
  expect([former.status, former.headers.get('location')]).toEqual([301, urlOf('bakery')]);

  const { id } = (await api.post('/websites', { name: 'Corner Butcher', slug: 'butcher', tier: 'growth' })).body as Website;
  // Its last step visits the address.
  const active = await eventually('the activation', async () => {
    const website = await websiteOf(api, id);
    return website.status === 'active' ? website : undefined;
  });
  const url = urlOf('butcher');
  expect(active.url).toBe(url);
  const home = await atHost(doorstep.baseUrl, url);
  expect(home.text).toContain(`<link rel="canonical" href="${url}"`);
  expect((await atHost(doorstep.baseUrl, `${url}sitemap.xml`)).text).toContain(`<loc>${url}</loc>`);
  expect((await atHost(doorstep.baseUrl, `${url}robots.txt`)).text).toContain(`Sitemap: ${url}sitemap.xml`);
  expect((await atHost(doorstep.baseUrl, `${url}no/such`)).text).toMatch(/href="\/assets\//);

  expect((await api.post(`/websites/${id}/seo/scans`)).body).toMatchObject({ url });
  const scan = await eventually('the scan', async () => {
    const { latest } = (await api.get(`/websites/${id}/seo`)).body as { latest: { status: string } };
    return latest.status === 'completed' ? latest : undefined;
  });
  // It was never edited.
  const { pages, findings } = scan as unknown as { pages: number; findings: readonly { rule: string; affected: number }[] };
  expect(scan).toMatchObject({ url });
  expect(findings.map(({ rule, affected }) => [rule, affected])).toEqual([
    ['noindex', pages],
    ['placeholder', pages],
  ]);

  await api.put(`/websites/${id}/delivery`, { estimatedCompletionAt: '2031-01-01T00:00:00Z', showPreviewUrl: true });
  const { previewUrl } = (await api.get(`/websites/${id}/delivery`)).body as { previewUrl: string };
  expect(previewUrl).toMatch(new RegExp(`^${url}_deployments/`));
  expect((await atHost(doorstep.baseUrl, previewUrl)).status).toBe(200);
});
