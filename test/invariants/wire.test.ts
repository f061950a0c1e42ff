import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { checkForm, expectHealthy, timed } from '../support/answerForm.js';
import { pathTo, startEverybody, type Everybody } from '../support/everybody.js';
import { rawRequest, sendRaw, type RawAnswer } from '../support/rawHttp.js';

/** What may come over a connection, byte by byte; every route by every method. */

let everybody: Everybody;

beforeAll(async () => {
  everybody = await startEverybody({ timeouts: { headersMs: 1_000, requestMs: 1_000, checkMs: 100, standstillMs: 30_000 } });
});

afterEach(() => expectHealthy(everybody));

describe('on the wire', () => {
  const exchange = async (text: string, options: { halfClose?: boolean } = {}): Promise<RawAnswer | null> => {
    const answer = await timed(() => sendRaw(everybody.api.url, Buffer.from(text, 'latin1'), options));
    if (answer !== null) checkForm(answer, text.split(' ', 1)[0] ?? '');
    return answer;
  };
  const post = (headers: string, body: string): string =>
    `POST /v1/clients HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${everybody.credentials.admin.token}\r\n${headers}\r\n${body}`;

  test.each([
    ['what follows the last request is not answered', 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n{}', 200],
    [
      'nonsense after a request does not come between it and its answer',
      'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nnonsense\r\n\r\n',
      200,
    ],
    ['another expectation', 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n', 200],
    ['100-continue', 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n', 200],
    ['no host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nhost: x\r\nHost: x\r\nconnection: close\r\n\r\n', 400],
    ['a host that is none', 'GET /healthz HTTP/1.1\r\nhost: a@b/c\r\nconnection: close\r\n\r\n', 400],
    ['an empty host', 'GET /healthz HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n', 200],
    ['an address for a host', 'GET /healthz HTTP/1.1\r\nhost: [::1]:3000\r\nconnection: close\r\n\r\n', 200],
    ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['an unknown method', 'FOO /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
    ['NUL in the path', 'GET /v1/websites/\0 HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['NUL in a header', 'GET /v1/me HTTP/1.1\r\nhost: x\r\nauthorization: \0\r\n\r\n', 400],
    ['no path', 'GET  HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['an address as path', 'GET http://evil.example/healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 200],
    ['an address as path, and no host', 'GET http://x/healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['an address with a name as path', 'GET http://a@x/healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
    ['a path of 20,000 bytes', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
    ['3,000 headers', `GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${'a:1\r\n'.repeat(3_000)}\r\n`, 200],
  ])('%s', async (_what, text, status) => {
    expect(await exchange(text)).toMatchObject({ status });
  });

  test('a tunnel is not dug', async () => {
    expect(await exchange('CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n')).toBeNull();
  });

  test.each([
    [
      'chunks',
      'transfer-encoding: chunked\r\nconnection: close\r\n',
      '2\r\n{}\r\n0\r\n\r\n',
      400,
      'Invalid request body — email: is required',
    ],
    ['a chunk of no size', 'transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n', 400, 'Malformed request'],
    ['a chunk shorter than it says', 'transfer-encoding: chunked\r\n', '5\r\n{}\r\n0\r\n\r\n', 400, 'Malformed request'],
    ['a chunk of 2^64 bytes', 'transfer-encoding: chunked\r\n', '10000000000000000\r\n', 400, 'Malformed request'],
    ['another coding', 'transfer-encoding: gzip\r\n', '{}', 400, 'Malformed request'],
    ['a length below 0', 'content-length: -1\r\n', '{}', 400, 'Malformed request'],
    ['a length that is too short', 'content-length: 1\r\nconnection: close\r\n', '{}', 400, 'Invalid JSON body'],
    ['a length that is too long', 'content-length: 3\r\n', '{}', 408, 'Request timeout'],
    ['a length of more than is taken', 'content-length: 1048577\r\nconnection: close\r\n', '', 413, 'Request body too large'],
  ])('a body in %s', async (_what, headers, body, status, error) => {
    const answer = await exchange(post(headers, body));
    expect(answer?.status).toBe(status);
    expect(JSON.parse(Buffer.from(answer?.rest ?? '', 'latin1').toString())).toMatchObject({ error });
  });

  test('a sender that goes in the middle of a body', async () => {
    expect(await exchange(post('content-length: 3\r\n', '{}'), { halfClose: true })).toMatchObject({ status: 400 });
  });

  test('an answer that needs no body arrives whole, for all the body that comes', async () => {
    const body = 'x'.repeat(1_000_000);
    const request = `POST /v1/clients HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    for (let count = 0; count < 20; count += 1) expect(await exchange(request)).toMatchObject({ status: 401 });
  });

  test('who never sends the body that is not wanted is answered all the same, once', async () => {
    const request = 'POST /v1/clients HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 3\r\n\r\n{';
    expect(await exchange(request)).toMatchObject({ status: 401 });
    expect(everybody.api.log.at(-1)).toMatchObject({ status: 401 });
    expect(everybody.api.log.at(-1)).not.toHaveProperty('aborted');
  });
});

describe('HEAD', () => {
  test('answers as GET does, without the body', async () => {
    const { token } = everybody.credentials.admin;
    for (const route of everybody.routes.filter(({ method }) => method === 'get')) {
      const ask = async (method: string): Promise<unknown> => {
        const headers = [
          ['host', 'x'],
          ['authorization', `Bearer ${token}`],
        ] as const;
        const answer = await sendRaw(everybody.api.url, rawRequest(method, `/v1${pathTo(route.path, everybody)}`, headers));
        if (answer === null) throw new Error('no answer');
        checkForm(answer, method);
        const {
          status,
          headers: { 'content-type': type, etag = '' },
        } = answer;
        // Measurements are others each time.
        return [route.path, status, type, route.path === '/metrics' ? '' : etag];
      };
      expect(await ask('HEAD')).toStrictEqual(await ask('GET'));
    }
  });
});

describe('another method', () => {
  test('is 405, with those that there are', async () => {
    const { token } = everybody.credentials.admin;
    for (const path of new Set(everybody.routes.map((route) => route.path))) {
      const there = everybody.routes.filter((route) => route.path === path).map(({ method }) => method.toUpperCase());
      const allow = [...there, ...(there.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'].filter(
        (name) => !there.includes(name),
      )) {
        const { status, headers } = await everybody.api.call(method, pathTo(path, everybody), { token }).catch(async () => {
          const raw = await sendRaw(everybody.api.url, rawRequest(method, `/v1${pathTo(path, everybody)}`, [['host', 'x']]));
          return { status: raw?.status, headers: new Headers(raw?.headers) };
        });
        expect([method, path, status, headers.get('allow')]).toStrictEqual([method, path, 405, allow]);
      }
    }
  });
});

describe('a cursor that is none', () => {
  test('is refused by every list that there is, also by an empty one', async () => {
    const { token } = everybody.credentials.admin;
    const refused = { status: 400, body: { code: 'invalid_query', details: [{ field: 'cursor' }] } };
    for (const { path } of everybody.routes.filter(({ query }) => query?.properties.cursor !== undefined)) {
      const answer = await everybody.api.call('GET', `${pathTo(path, everybody)}?cursor=!!!`, { token });
      if (answer.status !== 404) expect({ path, ...answer }).toMatchObject({ path, ...refused });
    }
  });
});
