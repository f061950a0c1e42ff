import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { createConnection } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { repositoryOf, serveSites } from './hostingSites.js';
import { createShardedFolder } from '../../src/integrations/shardedFolder.js';

const longPage = '<p>The same words again and again.</p>'.repeat(100);
const lostPage = 'Lost '.repeat(300);
const film = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);
const site = {
  'index.html.liquid': '<link href="{{ "site.css" | asset }}">Home',
  'services/index.html': 'Services',
  'about.html': 'About',
  '404.html': lostPage,
  'site.css': 'p { color: red }',
  'mark.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'film.mp4': film,
  'a b/ü & c.txt': 'odd name',
  '.well-known/security.txt': 'Contact: mailto:ada@example.com',
  '_secret/notes.txt': 'not for visitors',
  '.env': 'not for visitors either',
  'script.js': 'alert(1)',
  'long.html': longPage,
  'noise.txt': randomBytes(5_000),
};
const tagOfFile = /^"[0-9a-f]{16}["-]/;
const bareSite = { 'index.html': 'Bare' };

let base = '';
let folder = '';
let deployment = '';

beforeAll(async () => {
  folder = temporaryFolder();
  const hosting = createEmbeddedHosting({ folder, publicUrl: () => base, builder: siteBuilder, clock: createTestClock() });
  base = await serveSites(
    () => hosting.handlers.belowSites,
    () => hosting.handlers.robots,
  );
  for (const [name, files] of Object.entries({ acme: site, bare: bareSite })) {
    const { id } = await hosting.createProject({ name, marker: name, repository: repositoryOf(files) });
    deployment = (await hosting.deploy(id, 'first')).id;
  }
  await hosting.createProject({ name: 'empty', marker: 'empty', repository: repositoryOf(bareSite) });
});

const get = (path: string, options: RequestInit = {}): Promise<Response> =>
  fetch(`${base}/sites/${path}`, { redirect: 'manual', ...options });

/** Sends a request with the address unchanged, which other clients would normalise. */
const raw = async (path: string): Promise<string> => {
  const { hostname, port } = new URL(base);
  const socket = createConnection(Number(port), hostname);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
  return text(socket);
};

describe('what is found', () => {
  test.each([
    ['acme/', 'Home', 'text/html; charset=utf-8'],
    ['acme/index.html', 'Home', 'text/html; charset=utf-8'],
    ['acme/services/', 'Services', 'text/html; charset=utf-8'],
    ['acme/about.html', 'About', 'text/html; charset=utf-8'],
    ['acme/site.css', 'p { color: red }', 'text/css; charset=utf-8'],
    ['acme/mark.svg', '<svg', 'image/svg+xml'],
    ['acme/a%20b/%C3%BC%20%26%20c.txt', 'odd name', 'text/plain; charset=utf-8'],
    ['acme/.well-known/security.txt', 'Contact:', 'text/plain; charset=utf-8'],
  ])('%s', async (path, words, type) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toContain(words);
  });

  test('HEAD answers as GET does, without the content', async () => {
    const [head, whole] = [await get('acme/', { method: 'HEAD' }), await get('acme/')];
    expect(head.status).toBe(200);
    expect(head.headers.get('etag')).toBe(whole.headers.get('etag'));
    expect(head.headers.get('content-length')).toBe(whole.headers.get('content-length'));
    expect(await head.text()).toBe('');
  });

  test('HEAD says how large a file is, whatever range is asked for', async () => {
    const whole = await get('acme/film.mp4');
    for (const range of ['bytes=100-199', 'bytes=1000-1099']) {
      const { status, headers } = await get('acme/film.mp4', { method: 'HEAD', headers: { range } });
      expect([range, status, headers.get('content-length')]).toStrictEqual([range, 200, whole.headers.get('content-length')]);
    }
  });

  test('a range of a file', async () => {
    const response = await get('acme/film.mp4', { headers: { range: 'bytes=100-199' } });
    expect(response.status).toBe(206);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(film.slice(100, 200));
  });

  test.each<[string, number, Record<string, string>, string | null]>([
    ['bytes that there are not', 416, { range: 'bytes=1000-1099' }, 'bytes */1000'],
    ['another file', 412, { 'if-match': '"other"' }, null],
    ['one of before', 412, { 'if-unmodified-since': new Date(0).toUTCString() }, null],
  ])('a request for %s is answered with %i', async (_what, status, headers, range) => {
    const response = await get('acme/film.mp4', { headers });
    expect([response.status, response.headers.get('content-range')]).toStrictEqual([status, range]);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-security-policy')).toMatch(/^sandbox /);
    expect(response.headers.get('etag')).not.toMatch(tagOfFile);
  });

  test.each([
    ['acme', './acme/'],
    ['acme?from=mail', './acme/?from=mail'],
    ['acme/services', './services/'],
  ])('%s leads to the address with a slash', async (path, location) => {
    const response = await get(path);
    expect(response.status).toBe(301);
    expect(response.headers.get('location')).toBe(location);
    expect((await get(path, { redirect: 'follow' })).status).toBe(200);
  });
});

describe('what is not found', () => {
  test.each(['nothing', 'services/nothing', '_secret/notes.txt', '.env', 'site.css/', '%00', 'services/index.html/'])(
    "the site's own page answers for %s",
    async (path) => {
      const response = await get(`acme/${path}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await response.text()).toBe(lostPage);
    },
  );

  test('a range request gets the whole 404 page', async () => {
    expect((await get('acme/nothing', { headers: { range: 'bytes=0-1' } })).status).toBe(404);
  });

  test('a condition says nothing of the 404 page', async () => {
    expect((await get('acme/nothing', { headers: { 'if-match': '"other"' } })).status).toBe(404);
  });

  test('a plain text answers when the site has no 404 page', async () => {
    const response = await get('bare/nothing');
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(/^sandbox /);
  });

  test.each([
    '',
    'unknown/',
    'empty/',
    'ACME/',
    '.acme/',
    'acme%2f..%2facme/',
    'bare/_deployments/00000001-0123456789abcdef/',
    'bare/_deployments/nothing/',
  ])('what belongs to no site is left to the application: %j', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('Cannot GET');
  });

  test.each([
    '/sites/acme/../../project.json',
    '/sites/acme/%2e%2e/%2e%2e/project.json',
    '/sites/acme/..%2f..%2f..%2fproject.json',
    '/sites/acme/..%5c..%5cproject.json',
    '/sites/acme//etc/passwd',
    '/sites/acme/%2fetc%2fpasswd',
    '/sites/../sites/acme/../project.json',
    '/sites/acme/deployments/',
    '/sites/acme/project.json',
    '/sites/acme/__proto__',
    '/sites/acme/%zz',
    '/sites/%zz/',
  ])('%s leads nowhere', async (path) => {
    const answer = await raw(path);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).not.toMatch(/marker|root:/);
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is refused', async (method) => {
    const response = await get('acme/', { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('a deployment by itself', () => {
  test('has an address that search engines do not index', async () => {
    const response = await get(`bare/_deployments/${deployment}/`);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-robots-tag')).toBe('noindex');
    expect((await get('bare/')).headers.get('x-robots-tag')).toBeNull();
  });

  test('leads to its address with a slash', async () => {
    const response = await get(`bare/_deployments/${deployment}`);
    expect(response.status).toBe(301);
    expect(response.headers.get('location')).toBe(`./${deployment}/`);
  });
});

test('the service itself lets search engines into the sites alone', async () => {
  const asked = async (path: string) => {
    const response = await fetch(`${base}${path}`);
    return [response.status, response.headers.get('cross-origin-resource-policy'), await response.text()];
  };
  expect(await asked('/robots.txt')).toEqual([200, 'cross-origin', 'User-agent: *\nAllow: /sites/\nDisallow: /\n']);
  expect((await asked('/robots.txt/more'))[0]).toBe(404);
  const { status, headers } = await fetch(`${base}/robots.txt`, { method: 'POST' });
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

describe('headers', () => {
  test.each(['acme/', 'acme/site.css', 'acme/mark.svg', 'acme/script.js', 'acme/nothing', 'acme', 'bare/nothing'])(
    '%s has an opaque origin and is what it says it is',
    async (path) => {
      const { headers } = await get(path);
      const [sandbox = '', ...policy] = (headers.get('content-security-policy') ?? '').split('; ');
      expect(sandbox).toMatch(/^sandbox .*allow-scripts allow-forms/);
      expect(sandbox).not.toMatch(/allow-same-origin|allow-top-navigation/);
      expect(policy).toEqual(expect.arrayContaining(["object-src 'none'", `frame-ancestors 'self' ${base}`]));
      expect(headers.get('cross-origin-opener-policy')).toBeNull();
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin');
    },
  );

  test.each<[string, string, Record<string, string>, string, string | null]>([
    // Browsers send no Referer from a page without an origin.
    ['a page of its own', 'script.js', {}, 'cross-origin', null],
    ['a module script of its own', 'script.js', { origin: 'null' }, 'cross-origin', 'null'],
    ['a style sheet of its own', 'font.woff2', { origin: 'null', referer: '/sites/acme/site.css' }, 'cross-origin', 'null'],
    ['a page of the portal', 'script.js', { referer: '/app/' }, 'same-origin', null],
    ['a page of another site', 'site.css', { referer: '/sites/acme-2/', origin: 'null' }, 'same-origin', null],
    ['a page elsewhere', 'script.js', { origin: 'https://elsewhere.example' }, 'same-origin', null],
    ['a page elsewhere', 'script.js', { referer: 'https://elsewhere.example/sites/acme/' }, 'same-origin', null],
    ['a page elsewhere', 'mark.svg', { referer: 'https://elsewhere.example/' }, 'cross-origin', null],
  ])('%s asks for %s: %j', async (_who, path, { referer, ...headers }, policy, allowed) => {
    const from = referer === undefined ? {} : { referer: new URL(referer, base).href };
    const response = await get(`acme/${path}`, { headers: { ...headers, ...from } });
    expect(response.headers.get('cross-origin-resource-policy')).toBe(policy);
    expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
    expect(response.headers.get('vary')).toContain('Referer');
  });

  test.each(['script', 'style', 'worker', 'serviceworker', 'embed'])(
    'no page of the portal loads a %s from a site',
    async (dest) => {
      const ask = (from: string) => get('acme/script.js', { headers: { 'sec-fetch-site': from, 'sec-fetch-dest': dest } });
      expect((await ask('same-origin')).status).toBe(403);
      expect((await ask('cross-site')).status).toBe(200);
    },
  );

  test('pages are revalidated each time, versioned files are cached for a year', async () => {
    const page = await get('acme/');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const asset = /href="\.\/(.*?)"/.exec(await page.text())?.[1] ?? '';
    expect((await get(`acme/${asset}`)).headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    for (const path of ['acme/site.css', 'acme/site.css?v=0123456789abcdef'])
      expect((await get(path)).headers.get('cache-control')).toBe('private, max-age=300');
  });

  test('an unchanged file is answered with 304', async () => {
    const etag = (await get('acme/site.css')).headers.get('etag') ?? '';
    expect(etag).toMatch(tagOfFile);
    // Otherwise fetch sends no-cache, which disables revalidation.
    const always = { 'cache-control': 'max-age=0' };
    for (const known of [etag, `"other", ${etag}`, '*'])
      expect((await get('acme/site.css', { headers: { ...always, 'if-none-match': known } })).status).toBe(304);
    expect((await get('acme/site.css', { headers: { ...always, 'if-none-match': '"other"' } })).status).toBe(200);
  });
});

describe('compressed forms', () => {
  interface Asked {
    readonly status: number | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  }
  /** Without `fetch`, which decompresses what it gets. */
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Asked> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(`${base}/sites/acme/${path}`, { headers, method }, (response) => {
        const { statusCode: status } = response;
        buffer(response).then((body) => {
          resolve({ status, headers: response.headers, body });
        }, reject);
      });
      sent.on('error', reject).end();
    });
  const decoded = ({ headers, body }: Asked): string => {
    if (headers['content-encoding'] === 'br') return brotliDecompressSync(body).toString();
    return (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
  };

  test.each<[string | undefined, string | undefined]>([
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br; q=0.8, gzip;q=0.8', 'br'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0.5, identity', undefined],
    ['identity;q=1, *;q=0', undefined],
    ['br;q=0, gzip;q=0', undefined],
    ['br;q=x', undefined],
    ['deflate, zstd', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('Accept-Encoding %j gets %j', async (accepted, encoding) => {
    const got = await ask('long.html', accepted === undefined ? {} : { 'accept-encoding': accepted });
    expect([got.status, got.headers['content-encoding']]).toEqual([200, encoding]);
    expect(decoded(got)).toBe(longPage);
    expect(got.headers['content-length']).toBe(String(got.body.length));
    expect(got.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(got.headers.vary).toBe('Origin, Referer, Sec-Fetch-Site, Accept-Encoding');
    if (encoding !== undefined) expect(got.body.length).toBeLessThan(200);
  });

  test('each form has a tag of its own', async () => {
    const forms = await Promise.all(['br', 'gzip', 'identity'].map((name) => ask('long.html', { 'accept-encoding': name })));
    const tags = forms.map(({ headers }) => headers.etag ?? '');
    expect(new Set(tags).size).toBe(3);
    const [br = '', gzip = ''] = tags;
    const again = async (known: string) => {
      const { status, headers, body } = await ask('long.html', { 'accept-encoding': 'br', 'if-none-match': known });
      expect(headers).toMatchObject({ etag: br, vary: expect.stringContaining('Accept-Encoding') });
      return [status, body.length > 0];
    };
    expect(await again(br)).toEqual([304, false]);
    expect(await again(gzip)).toEqual([200, true]);
  });

  test('HEAD answers as GET does', async () => {
    const [head, whole] = [
      await ask('long.html', { 'accept-encoding': 'br' }, 'HEAD'),
      await ask('long.html', { 'accept-encoding': 'br' }),
    ];
    const { date: _, ...expected } = whole.headers;
    expect(head.headers).toMatchObject(expected);
    expect(head.body).toHaveLength(0);
  });

  test('a range is one of the form that was asked for', async () => {
    const whole = await ask('long.html', { 'accept-encoding': 'br' });
    const range = { 'accept-encoding': 'br', range: 'bytes=10-19' };
    const part = await ask('long.html', range);
    expect([part.status, part.headers['content-encoding']]).toEqual([206, 'br']);
    expect(part.headers['content-range']).toBe(`bytes 10-19/${String(whole.body.length)}`);
    expect(part.body).toEqual(whole.body.subarray(10, 20));
    const plain = await ask('long.html', { range: 'bytes=0-2' });
    expect([plain.status, plain.body.toString(), plain.headers['content-encoding']]).toEqual([206, '<p>', undefined]);
    // What was begun in another form cannot go on.
    const { headers } = await ask('long.html', { 'accept-encoding': 'gzip' });
    expect((await ask('long.html', { ...range, 'if-range': headers.etag ?? '' })).status).toBe(200);
    const beyond = await ask('long.html', { ...range, range: 'bytes=9999-' });
    expect([beyond.status, beyond.headers['content-encoding']]).toStrictEqual([416, undefined]);
    expect(beyond.headers.etag).not.toMatch(tagOfFile);
    expect(beyond.headers['content-range']).toBe(`bytes */${String(whole.body.length)}`);
    expect(beyond.body.toString()).toBe('The file has no such bytes');
  });

  test.each(['site.css', 'film.mp4', 'noise.txt'])('%s has none: it is small, or would not be smaller', async (path) => {
    const { headers } = await ask(path, { 'accept-encoding': 'br, gzip' });
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers.vary).not.toContain('Accept-Encoding');
  });

  test('the page for what is not found has them too', async () => {
    const got = await ask('nothing', { 'accept-encoding': 'br' });
    expect([got.status, got.headers['content-encoding'], decoded(got)]).toEqual([404, 'br', lostPage]);
  });

  test('they cannot be asked for by their names', async () => {
    const { headers } = await ask('long.html');
    const hash = (headers.etag ?? '').replaceAll('"', '');
    for (const path of [`${hash}.br`, `../compressed/${hash}.br`, 'long.html.br']) expect((await ask(path)).status).toBe(404);
  });
});

test('what is missing on disk is not found, and the process goes on', async () => {
  const deploymentsOf = (name: string): string => join(createShardedFolder({ folder }).pathOf(name), 'deployments');
  await rm(join(deploymentsOf('bare'), deployment, 'site'), { recursive: true });
  const missing = await get('bare/');
  expect([missing.status, await missing.text()]).toStrictEqual([404, 'Not found']);
  expect(missing.headers.get('etag')).not.toMatch(tagOfFile);
  expect((await get('acme/')).status).toBe(200);
  await rm(deploymentsOf('acme'), { recursive: true });
  expect((await get('acme/')).status).toBe(404);
});
