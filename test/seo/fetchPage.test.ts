import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createFetchPage, type FetchParts } from '../../src/workers/seo/fetchPage.js';
import { hastyClock } from '../support/provider.js';
import { filesAt, startWebsite, type ServePage } from '../workers/websites.js';

/** Stands for an address of the public Internet; every other one is private. No other test has a server there. */
const publicAddress = '127.0.9.2';
const family = 4;

const fetchWith = (parts: Partial<FetchParts> = {}) => {
  const fetchPage = createFetchPage({
    clock: hastyClock(),
    servedSiteUrl: () => null,
    resolve: (hostname) => Promise.resolve([{ address: hostname === 'inside.example' ? '127.0.0.1' : publicAddress, family }]),
    isPublic: (address) => address === publicAddress,
    ...parts,
  });
  return (url: string) => fetchPage(url, new AbortController().signal);
};

const faultOf = async (work: Promise<unknown>): Promise<ProviderFault> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof ProviderFault) return error;
    throw error;
  }
  throw new Error('it was fetched');
};

const outside = (serve: ServePage) => startWebsite(serve, publicAddress);

describe('a page', () => {
  test('is fetched with where it was found, after redirects', async () => {
    const { port } = await outside(filesAt({ '/': { status: 301, headers: { location: '/home' } }, '/home': '<h1>Bread</h1>' }));
    const page = await fetchWith()(`http://bakery.example:${port}/`);
    expect(page).toMatchObject({
      url: `http://bakery.example:${port}/home`,
      status: 200,
      text: '<h1>Bread</h1>',
      truncated: false,
    });
  });

  test('may be packed, and in another character set', async () => {
    const body = gzipSync(Buffer.from('<h1>Br\xf6tchen</h1>', 'latin1'));
    const headers = { 'content-type': 'text/html; charset=iso-8859-1', 'content-encoding': 'gzip' };
    const { port } = await outside((_, response) => response.writeHead(200, headers).end(body));
    expect((await fetchWith()(`http://bakery.example:${port}/`)).text).toBe('<h1>Brötchen</h1>');
  });

  test('is read no further than 2 MiB, also when it was packed small', async () => {
    const body = gzipSync(Buffer.alloc(200 * 1_024 * 1_024, ' '));
    const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
    const { port } = await outside((_, response) => response.writeHead(200, headers).end(body));
    const { text, truncated } = await fetchWith()(`http://bakery.example:${port}/`);
    expect([text.length, truncated]).toStrictEqual([2 * 1_024 * 1_024, true]);
  });

  test('packed in a way that is unknown is read as it is', async () => {
    const headers = { 'content-type': 'text/html', 'content-encoding': 'constructor' };
    const { port } = await outside((_, response) => response.writeHead(200, headers).end('<h1>Bread</h1>'));
    expect((await fetchWith()(`http://bakery.example:${port}/`)).text).toBe('<h1>Bread</h1>');
  });

  test('that is none is not read', async () => {
    const { port } = await outside(filesAt({ '/film': { headers: { 'content-type': 'video/mp4' }, body: 'x' } }));
    expect((await fetchWith()(`http://bakery.example:${port}/film`)).text).toBe('');
  });

  test.each<[string, ServePage]>([
    ['never comes', () => undefined],
    ['comes in drips', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).write('<')],
    ['breaks off', (request) => request.socket.destroy()],
    [
      'is packed badly',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end('x'),
    ],
  ])('that %s is a fault for now', async (_, serve) => {
    const { port } = await outside(serve);
    expect(await faultOf(fetchWith()(`http://bakery.example:${port}/`))).toMatchObject({ transient: true });
  });

  test('that redirects for ever is a fault for good', async () => {
    const { port, asked } = await outside((_, response) => response.writeHead(302, { location: '/again' }).end());
    expect(await faultOf(fetchWith()(`http://bakery.example:${port}/`))).toMatchObject({ transient: false });
    expect(asked).toHaveLength(6);
  });
});

describe('an address that is not public', () => {
  const secret = filesAt({
    '/': 'secret',
    '/sites/bakery/': 'Bread',
    '/sites/bakery/out': { status: 302, headers: { location: '/' } },
  });

  test.each([
    ['this machine', 'http://127.0.0.1:PORT/'],
    ['a name of this machine', 'http://inside.example:PORT/'],
    ['this machine, in one number', 'http://2130706433:PORT/'],
    ['this machine, in hexadecimals', 'http://0x7f.1:PORT/'],
    ['this machine, in IPv6', 'http://[::1]:PORT/'],
    ['this machine, within IPv6', 'http://[::ffff:127.0.0.1]:PORT/'],
    ['a metadata service', 'http://169.254.169.254/latest/meta-data/'],
    ['somebody who signs in', 'http://user:pass@bakery.example:PORT/'],
    ['a file', 'file:///etc/passwd'],
  ])('is not asked: %s', async (_, url) => {
    const { port, asked } = await startWebsite(secret);
    const target = url.replace('PORT', String(port));
    expect(await faultOf(fetchWith()(target))).toMatchObject({ transient: false });

    // Nor when another page leads there.
    const { port: outsidePort } = await outside((__, response) => response.writeHead(302, { location: target }).end());
    const fault = await faultOf(fetchWith()(`http://bakery.example:${outsidePort}/`));
    expect(fault).toMatchObject({ transient: false });
    expect(fault.message).toContain('is not an address of the public Internet');
    expect(asked).toStrictEqual([]);
  });

  test('is not asked when it is one of several of a name', async () => {
    const { port, asked } = await startWebsite(secret);
    const both = [publicAddress, '127.0.0.1'].map((address) => ({ address, family }));
    const fault = await faultOf(fetchWith({ resolve: () => Promise.resolve(both) })(`http://bakery.example:${port}/`));
    expect(fault.transient).toBe(false);
    expect(asked).toStrictEqual([]);
  });

  test('is not asked when a name changes its address: the connection goes to the address that was checked', async () => {
    const { port, asked } = await startWebsite(secret);
    const answers = [publicAddress, '127.0.0.1', '127.0.0.1'];
    let lookups = 0;
    const fetchPage = fetchWith({ resolve: () => Promise.resolve([{ address: answers[lookups++] ?? '', family }]) });
    // Nobody is at the first address on this port, and nobody turns to the second one.
    expect(await faultOf(fetchPage(`http://bakery.example:${port}/`))).toMatchObject({ transient: true });
    expect(lookups).toBe(1);
    expect(await faultOf(fetchPage(`http://bakery.example:${port}/`))).toMatchObject({ transient: false });
    expect(asked).toStrictEqual([]);
  });

  test('is asked for a site that is served here, and for nothing else there', async () => {
    const { port, asked } = await startWebsite(secret);
    const base = 'https://doorstep.example';
    const fetchPage = fetchWith({
      servedSiteUrl: ({ href }) =>
        href.startsWith(`${base}/sites/`) ? new URL(href.replace(base, `http://127.0.0.1:${port}`)) : null,
      resolve: () => Promise.resolve([{ address: '127.0.0.1', family }]),
    });
    expect(await fetchPage(`${base}/sites/bakery/`)).toMatchObject({ url: `${base}/sites/bakery/`, text: 'Bread' });
    expect((await faultOf(fetchPage(`${base}/sites/bakery/out`))).transient).toBe(false);
    expect((await faultOf(fetchPage(`${base}/sites/../`))).transient).toBe(false);
    expect(asked.map((address) => address.replace(/^[^/]*/, ''))).toStrictEqual(['/sites/bakery/', '/sites/bakery/out']);
  });

  test('by the real rules, is any of this machine', async () => {
    const { port, asked } = await startWebsite(secret);
    const fetchPage = createFetchPage({ clock: hastyClock(), servedSiteUrl: () => null });
    const { signal } = new AbortController();
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect((await faultOf(fetchPage(`http://${host}:${port}/`, signal))).transient).toBe(false);
    }
    expect(asked).toStrictEqual([]);
  });
});
