import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAddress } from '../../src/compose/address.js';
import { createFetchStatus } from '../../src/integrations/fetchStatus.js';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import { createSiteUrls } from '../../src/integrations/hosting/siteUrls.js';
import { systemClock } from '../../src/platform/clock.js';
import type { Environment } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { filesAt, startWebsite } from '../workers/websites.js';
import { commitTo, repositoryOf } from './hostingSites.js';

/** Websites at origins of their own, as `SITES_URL` asks for them. */
const portal = 'https://doorstep.example.com';
const files = {
  'index.html.liquid': 'Home <link rel="canonical" href="{{ page.url }}">',
  'services/index.html': 'Services',
  '404.html.liquid': 'Lost <a href="{{ page.root }}">',
  'script.js': 'alert(1)',
  'mark.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
};
const folder = temporaryFolder();
const options = { folder, publicUrl: () => portal, builder: siteBuilder, clock: createTestClock() };
const hosting = createEmbeddedHosting({ ...options, sitesUrl: 'https://sites.example.net' });
const earlier = createEmbeddedHosting(options);
const repository = repositoryOf(files);
let current: string;
let previous: string;

const app = express();
app.use(hosting.handlers.atSiteHost);
app.use('/sites', hosting.handlers.belowSites);
app.use((_request, response) => response.send('the service'));
const server = createServer(app);
const port = (): number => (server.address() as AddressInfo).port;

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** `fetch` sends no `Host` of the caller's. */
const ask = (host: string, path: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    get({ port: port(), host: '127.0.0.1', path, headers: { host }, agent: false }, (response) => {
      const { statusCode: status, headers } = response;
      text(response).then((body) => {
        resolve({ status, headers, text: body });
      }, reject);
    }).on('error', reject);
  });

beforeAll(async () => {
  await earlier.createProject({ name: 'acme', marker: 'm', repository });
  // Before `SITES_URL` was set.
  previous = (await earlier.deploy('acme', 'first')).id;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
});

describe('a deployment from before', () => {
  test('is served at the new address, and the former one leads there', async () => {
    expect((await ask('acme.sites.example.net', '/')).text).toContain(`href="${portal}/sites/acme/"`);
    const { status, headers } = await ask('doorstep.example.com', '/sites/acme/services/?from=mail');
    expect([status, headers.location]).toEqual([301, 'https://acme.sites.example.net/services/?from=mail']);
    expect((await ask('doorstep.example.com', '/sites/acme')).headers.location).toBe('https://acme.sites.example.net/');
    const deployment = `_deployments/${previous}/`;
    expect((await ask('doorstep.example.com', `/sites/acme/${deployment}`)).headers.location).toBe(
      `https://acme.sites.example.net/${deployment}`,
    );
  });

  test('has a page for what is not found whose links still lead into the site', async () => {
    expect((await ask('acme.sites.example.net', '/no/such')).text).toBe('Lost <a href="/sites/acme/">');
    for (const [path, location] of [
      ['/sites/acme/', '/'],
      ['/sites/acme/services/?a=b', '/services/?a=b'],
      ['/sites/acme///evil.example/', '/evil.example/'],
    ] as const) {
      const { status, headers } = await ask('acme.sites.example.net', path);
      expect([path, status, headers.location]).toEqual([path, 301, location]);
    }
    expect((await ask('acme.sites.example.net', '/sites/other/')).status).toBe(404);
  });

  test('is built again with the new address', async () => {
    commitTo(repository, files);
    const { id, url } = await hosting.deploy('acme', 'second');
    current = id;
    expect(url).toBe(`https://acme.sites.example.net/_deployments/${id}/`);
    expect((await ask('acme.sites.example.net', '/')).text).toBe(
      'Home <link rel="canonical" href="https://acme.sites.example.net/">',
    );
    expect((await ask('acme.sites.example.net', '/no/such')).text).toBe('Lost <a href="/">');
  });
});

describe('the host of a website', () => {
  test.each(['acme.sites.example.net', 'ACME.sites.example.net.', 'acme.sites.example.net:8443'])('%s', async (host) => {
    const { status, headers } = await ask(host, '/');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-security-policy']).toContain(`frame-ancestors 'self' ${portal}`);
    expect(headers['content-security-policy']).not.toContain('sandbox');
    expect((await ask(host, '/script.js')).headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'public, max-age=300',
    });
    expect((await ask(host, '/mark.svg')).headers['cross-origin-resource-policy']).toBe('cross-origin');
    expect((await ask(host, `/_deployments/${current}/`)).headers['x-robots-tag']).toBe('noindex');
    expect((await ask(host, '/services')).headers.location).toBe('./services/');
  });

  test.each(['unknown.sites.example.net', 'a.acme.sites.example.net', '.sites.example.net', '%2e.sites.example.net'])(
    'at %s nothing is answered, not the service either',
    async (host) => {
      for (const path of ['/', '/me', '/oidc/authorize', '/v1/me', '/sites/acme/']) {
        const { status, text: body } = await ask(host, path);
        expect([path, status, body]).toEqual([path, 404, 'Not found']);
      }
    },
  );

  test.each(['/me', '/v1/me', '/oidc/authorize', '/healthz'])('has nothing of the service at %s', async (path) => {
    expect((await ask('acme.sites.example.net', path)).text).not.toContain('the service');
  });

  test.each([
    'doorstep.example.com',
    'sites.example.net',
    'acme.sites.localhost',
    'acme.sites.example.net.evil.example',
    'localhost',
    '',
  ])('%j is the service itself', async (host) => {
    expect((await ask(host, '/me')).text).toBe('the service');
  });

  test('is below sites.localhost too while the service is on loopback', () => {
    const urls = createSiteUrls(() => 'http://127.0.0.1:3000', undefined);
    expect(urls.urlOf('acme')).toBe('http://127.0.0.1:3000/sites/acme/');
    expect(urls.nameAt('acme.sites.localhost:3000')).toBe('acme');
    expect(createSiteUrls(() => portal, undefined).nameAt('acme.sites.localhost')).toBeNull();
    // The service's own name wins.
    expect(createSiteUrls(() => 'http://portal.sites.localhost', undefined).nameAt('portal.sites.localhost')).toBeNull();
  });
});

describe('where the service itself asks for a website', () => {
  const local = (environment: Environment, url: string, listensAt?: string): string | undefined => {
    const address = createAddress(loadSettings({ SMTP_URL: 'smtps://mail.example.com', ...environment }));
    if (listensAt !== undefined) address.listensAt(listensAt);
    return address.toLocalUrl(new URL(url))?.href;
  };
  const outside = { BASE_URL: portal, SITES_URL: 'https://sites.example.net' };
  const own = 'https://acme.sites.example.net/a?b=c';

  test.each<[string, Environment, string, string | undefined, string | undefined]>([
    ['where it listens', outside, own, 'http://0.0.0.0:3000', 'http://0.0.0.0:3000/a?b=c'],
    ['at INTERNAL_URL', { ...outside, INTERNAL_URL: 'http://api:3000' }, own, undefined, 'http://api:3000/a?b=c'],
    ['at its public name, without either', outside, own, undefined, own],
    [
      'at the base address',
      { BASE_URL: 'http://localhost:3000', SITES_URL: 'http://sites.localhost:3000' },
      'http://acme.sites.localhost:3000/',
      undefined,
      'http://localhost:3000/',
    ],
    [
      'below /sites/',
      { BASE_URL: `${portal}/app` },
      `${portal}/app/sites/acme/`,
      'http://127.0.0.1:1',
      'http://127.0.0.1:1/sites/acme/',
    ],
    ['nowhere: another port', outside, 'https://acme.sites.example.net:8443/', 'http://127.0.0.1:1', undefined],
    ['nowhere: another scheme', outside, 'http://acme.sites.example.net/', 'http://127.0.0.1:1', undefined],
    ['nowhere: the API', { BASE_URL: portal }, `${portal}/me`, 'http://127.0.0.1:1', undefined],
    ['nowhere: somebody else', outside, 'https://evil-sites.example.net/', 'http://127.0.0.1:1', undefined],
  ])('%s', (_where, environment, url, listensAt, expected) => {
    expect(local(environment, url, listensAt)).toBe(expected);
  });

  test('names the website as the host', async () => {
    const status = createFetchStatus({
      clock: systemClock,
      servedSiteUrl: ({ pathname }) => new URL(pathname, `http://127.0.0.1:${String(port())}`),
    });
    expect(await status('https://acme.sites.example.net/services/')).toBe(200);
    expect(await status('https://unknown.sites.example.net/')).toBe(404);
  });

  test('a page that leads into this network is not followed there', async () => {
    // Stands for an address of the public Internet; every other one is private. No other test has a server there.
    const publicAddress = '127.0.9.3';
    const inside = await startWebsite(filesAt({}));
    const leadingTo = (location: string) => ({ status: 302, headers: { location } });
    const away = leadingTo(`http://127.0.0.1:${String(inside.port)}/`);
    const mail = leadingTo('mailto:ada@example.com');
    const pages = { '/': leadingTo('/home'), '/home': '', '/away': away, '/mail': mail };
    const website = await startWebsite(filesAt(pages), publicAddress);
    const site = `http://bakery.example:${String(website.port)}/`;
    const status = createFetchStatus({
      clock: systemClock,
      servedSiteUrl: () => null,
      resolve: () => Promise.resolve([{ address: publicAddress, family: 4 }]),
      isPublic: (address) => address === publicAddress,
    });
    expect(await status(site)).toBe(200);
    await expect(status(`${site}away`)).rejects.toMatchObject({
      transient: true,
      message: `127.0.0.1:${String(inside.port)} is not an address of the public Internet`,
    });
    await expect(status(`${site}mail`)).rejects.toThrow('mailto: is not an address of the public Internet');
    expect(inside.asked).toStrictEqual([]);
  });

  test('what is no address will not answer later either', async () => {
    const status = createFetchStatus({ clock: systemClock, servedSiteUrl: () => null });
    const url = 'https://xn--a.sites.example.net/';
    await expect(status(url)).rejects.toMatchObject({ transient: false, message: `${url} is not an address` });
  });
});
