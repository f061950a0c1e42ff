import { get, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDoorstep, type Doorstep } from '../../src/compose.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { startDnsServer, type DnsServer } from '../support/dnsServer.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** A website served here, by two processes on the same files, at domains of its own. */
let dns: DnsServer;
let doorstep: Doorstep;
let other: Doorstep;
let api: Api;
let websiteId: string;
const domain = 'www.bakery.example';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** `fetch` sends no `Host` of the caller's. */
const ask = (host: string, path = '/', headers: Record<string, string> = {}, at = other): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(at.baseUrl);
    get({ host: hostname, port, path, headers: { host, ...headers }, agent: false }, (response) => {
      const { statusCode: status, headers: received } = response;
      text(response).then((body) => {
        resolve({ status, headers: received, text: body });
      }, reject);
    }).on('error', reject);
  });

const verify = async (name: string, id = websiteId): Promise<void> => {
  const added = (await api.post(`/websites/${id}/domains`, { domain: name })).body as {
    records: readonly { name: string; value: string }[];
  };
  const [record] = added.records;
  dns.zone.set(record?.name ?? '', { TXT: [record?.value ?? ''] });
  const verified = await api.post(`/websites/${id}/domains/${name}/verify`);
  expect(verified.body).toMatchObject({ status: 'verified' });
};

beforeAll(async () => {
  dns = await startDnsServer();
  const dataDir = temporaryFolder();
  const start = (extra: Readonly<Record<string, string>> = {}): Promise<Doorstep> =>
    startDoorstep(
      loadSettings({ DATA_DIR: dataDir, PORT: '0', DNS_SERVERS: dns.address, ...extra }),
      createLogger({ level: 'silent' }),
    );
  doorstep = await start();
  other = await start({ PROCESS_ROLES: 'api' });
  api = createApi(doorstep.baseUrl, await mintToken(dataDir));
  websiteId = ((await api.post('/websites', { name: 'Corner Bakery', slug: 'bakery' })).body as { id: string }).id;
  await eventually('the activation', async () => {
    const { status } = (await api.get(`/websites/${websiteId}`)).body as { status: string };
    return status === 'active' ? true : undefined;
  });
});
afterAll(async () => {
  await Promise.all([doorstep.stop(), other.stop()]);
});

test('a domain is served once it is verified, until it is removed, on every process at once', async () => {
  await api.post(`/websites/${websiteId}/domains`, { domain });
  // It is the service's own until then.
  expect((await ask(domain, '/healthz')).status).toBe(200);
  await verify(domain);
  for (const at of [doorstep, other]) {
    const { status, headers, text: html } = await ask(domain, '/', {}, at);
    expect([status, html]).toEqual([200, expect.stringContaining('Corner Bakery')]);
    expect(headers['content-security-policy']).not.toContain('sandbox');
    expect(headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'x-content-type-options': 'nosniff',
    });
  }
  await api.delete(`/websites/${websiteId}/domains/${domain}`);
  for (const at of [doorstep, other]) expect((await ask(domain, '/', {}, at)).text).not.toContain('Corner Bakery');
});

describe('at a verified domain', () => {
  beforeAll(() => verify(domain));

  test.each([`${domain}:8443`, 'WWW.Bakery.example', `${domain}.`])('named %s', async (host) => {
    expect((await ask(host)).text).toContain('Corner Bakery');
  });

  test('nothing of the service is answered', async () => {
    for (const path of [
      '/healthz',
      '/openapi.json',
      '/v1/websites',
      '/app/',
      '/oidc/auth',
      '/git/bakery.git/info/refs',
      '/tls/ask',
    ]) {
      const { status, headers } = await ask(domain, path);
      expect([path, status]).toEqual([path, 404]);
      expect(headers['content-type']).not.toContain('json');
    }
  });

  test('are its own robots.txt, its files, its page for what is not found, and each deployment', async () => {
    expect((await ask(domain, '/robots.txt')).text).toContain('Sitemap');
    const { text: html } = await ask(domain);
    const [, style = ''] = /href="\.\/([^"]+\.css[^"]*)"/.exec(html) ?? [];
    expect((await ask(domain, `/${style}`)).headers['content-type']).toContain('text/css');
    const lost = await ask(domain, '/no/such');
    expect([lost.status, lost.headers['content-type']]).toEqual([404, expect.stringContaining('html')]);
    // The links of that page were made for the address below /sites/.
    expect(await ask(domain, '/sites/bakery/')).toMatchObject({ status: 301, headers: { location: '/' } });
    const [{ id } = { id: '' }] = (await api.get(`/websites/${websiteId}/deployments`)).body as { id: string }[];
    expect((await ask(domain, `/_deployments/${id}/`)).text).toContain('Corner Bakery');
    expect((await ask(domain, '/_deployments/00000001-ffffffffffffffff/')).status).toBe(404);
    expect((await ask(domain, '/%E0%A4')).status).toBe(404);
  });

  test('visitors are counted, by the address that the proxy names', async () => {
    const browser = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0';
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      await ask(domain, '/', { 'user-agent': browser, 'x-forwarded-for': address, referer: `https://${domain}/menu/` }, doorstep);
    }
    const report = await eventually('the views', async () => {
      const { body } = await api.get(`/websites/${websiteId}/analytics`);
      return (body as { pageviews: number }).pageviews >= 2 ? body : undefined;
    });
    expect(report).toMatchObject({ visitors: 2, pageviews: 2, sources: [] });
  });

  test('an archived website is gone, and back once it is restored', async () => {
    await api.post(`/websites/${websiteId}/archive`);
    const { status, headers } = await ask(domain);
    expect([status, headers['cache-control']]).toEqual([410, 'no-store']);
    await api.post(`/websites/${websiteId}/restore`);
    expect((await ask(domain)).status).toBe(200);
  });
});

test('a host that nobody has verified is the service’s own', async () => {
  expect((await ask('elsewhere.example', '/healthz')).status).toBe(200);
  expect((await ask('elsewhere.example', '/nowhere')).status).toBe(404);
});
