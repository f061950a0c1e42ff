import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, jest, test } from '@jest/globals';
import {
  AbortError,
  AuthenticationError,
  BadRequestError,
  ConnectionError,
  Doorstep,
  DoorstepError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  TimeoutError,
  type DoorstepOptions,
} from '@doorstep/sdk';
import { eventually } from '../support/eventually.js';
import { half, json, reset, stall, startScripted, text, type ScriptedServer } from './scriptedServer.js';

const token = 'svc_pat_0123456789abcdefghijklmnopqrstuvwxyz01234567';
const website = { id: 'w1', slug: 'corner-bakery' };
/** Repeated at once: the waiting is not what is tested. */
const atOnce = { 'retry-after': '0' };

const open = ({ url }: ScriptedServer, options: Partial<DoorstepOptions> = {}): Doorstep =>
  new Doorstep({ baseUrl: url, token, ...options });

const failureOf = async (call: PromiseLike<unknown>): Promise<DoorstepError> => {
  const outcome = await Promise.resolve(call).then(
    (value) => value,
    (error: unknown) => error,
  );
  if (!(outcome instanceof DoorstepError)) throw new Error(`not a DoorstepError: ${inspect(outcome)}`);
  return outcome;
};

const gaps = ({ asked }: ScriptedServer): number[] => asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));

describe('a failed attempt is repeated', () => {
  test.each([
    ['408', text(408, '', atOnce)],
    ['429', json(429, { error: 'Too many requests' }, atOnce)],
    ['500', json(500, { error: 'Internal error' }, atOnce)],
    ['502, not in JSON', text(502, '<h1>Bad gateway</h1>', { 'content-type': 'text/html', ...atOnce })],
    ['503', text(503, '', atOnce)],
    ['the connection is reset in the body', reset],
    ['the connection is reset before the answer', (response: { destroy(): unknown }) => response.destroy()],
  ])('%s', async (_, fault) => {
    const server = await startScripted(fault, json(200, website));
    expect(await open(server).websites.get('w1')).toEqual(website);
    expect(server.asked).toHaveLength(2);
  });

  test('after 0.5 s to 0.75 s, then after twice as long', async () => {
    const server = await startScripted(text(500, ''), text(500, ''), json(200, website));
    await open(server).websites.get('w1');
    const [first = 0, second = 0] = gaps(server);
    expect(first).toBeGreaterThanOrEqual(499);
    expect(second).toBeGreaterThanOrEqual(999);
  });

  test('after the seconds that `Retry-After` says, which the program is told', async () => {
    const server = await startScripted(json(429, { error: 'Too many requests' }, { 'retry-after': '1' }), json(200, website));
    const waits: unknown[] = [];
    const onRetry = ({ status }: DoorstepError, delayMs: number): unknown => waits.push([status, delayMs]);
    await open(server, { onRetry }).websites.get('w1');
    expect(waits).toEqual([[429, 1_000]]);
    expect(gaps(server)[0]).toBeGreaterThanOrEqual(999);
  });

  test('at the time that `Retry-After` says', async () => {
    const date = new Date(Date.now() + 2_000).toUTCString();
    const server = await startScripted(text(503, '', { 'retry-after': date }), json(200, website));
    await open(server).websites.get('w1');
    expect(server.asked[1]?.at).toBeGreaterThanOrEqual(Date.parse(date));
  });

  test('twice, and as often as the client or the call says', async () => {
    const busy = json(503, { error: 'The service is busy', code: 'busy', details: null }, { 'x-request-id': 'r1', ...atOnce });
    const [first, second, third] = await Promise.all([startScripted(busy), startScripted(busy), startScripted(busy)]);
    const failure = await failureOf(open(first).websites.get('w1'));
    expect(failure).toBeInstanceOf(ServerError);
    expect(failure).toMatchObject({ status: 503, message: 'The service is busy', code: 'busy', requestId: 'r1' });
    await failureOf(open(second, { maxRetries: 3 }).websites.get('w1'));
    await failureOf(open(third, { maxRetries: 3 }).websites.get('w1', { maxRetries: 0 }));
    expect([first, second, third].map(({ asked }) => asked.length)).toEqual([3, 4, 1]);
  });

  test('with one Idempotency-Key for all attempts of a write', async () => {
    const server = await startScripted(reset, text(500, '', atOnce), json(201, website));
    const doorstep = open(server);
    await doorstep.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' });
    await doorstep.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' });
    const [first, second, third, other] = server.asked.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect([second, third]).toEqual([first, first]);
    expect(other).not.toBe(first);
    expect(new Set(server.asked.map(({ body }) => body)).size).toBe(1);
  });
});

describe('it is not repeated', () => {
  test.each([
    [400, BadRequestError],
    [401, AuthenticationError],
    [403, PermissionError],
    [404, NotFoundError],
    [405, DoorstepError],
    [413, DoorstepError],
  ])('%i', async (status, group) => {
    const body = { error: 'Not so', code: 'not_so', details: null };
    const server = await startScripted(json(status, body, { 'x-request-id': 'r7', ...atOnce }));
    const failure = await failureOf(open(server).websites.get('w1'));
    expect(failure.constructor).toBe(group);
    expect(failure).toMatchObject({ status, message: 'Not so', code: 'not_so', body, requestId: 'r7', name: group.name });
    expect(failure.headers?.get('content-type')).toBe('application/json');
    expect(server.asked).toHaveLength(1);
  });

  test('when the service asks for more than 60 s', async () => {
    const server = await startScripted(json(429, { error: 'Too many requests' }, { 'retry-after': '61' }));
    const failure = await failureOf(open(server).websites.get('w1'));
    expect(failure).toBeInstanceOf(RateLimitError);
    expect(failure.headers?.get('retry-after')).toBe('61');
    expect(server.asked).toHaveLength(1);
  });

  test('when the caller aborts while it waits, which ends at once', async () => {
    const server = await startScripted(json(429, { error: 'Too many requests' }, { 'retry-after': '60' }));
    const controller = new AbortController();
    const call = failureOf(open(server).websites.get('w1', { signal: controller.signal }));
    await eventually('the first attempt', () => server.asked[0]);
    const reason = new Error('enough');
    controller.abort(reason);
    const failure = await call;
    expect(failure).toBeInstanceOf(AbortError);
    expect(failure).toMatchObject({ name: 'AbortError', status: undefined, cause: reason });
    expect(server.asked).toHaveLength(1);
  });
});

describe('a mistake of the program is thrown as it is, and not repeated', () => {
  test('in `onProgress`', async () => {
    const server = await startScripted(json(201, { id: 'd1' }));
    const mistake = new Error('no such bar');
    let calls = 0;
    const onProgress = (): never => {
      calls += 1;
      throw mistake;
    };
    const upload = open(server).websites.documents.upload('w1', { file: new Blob(['text']), fileName: 'a' }, { onProgress });
    await expect(upload).rejects.toBe(mistake);
    expect([calls, server.asked]).toEqual([1, []]);
  });

  test('in what gives the file', async () => {
    const server = await startScripted(json(201, { id: 'd1' }));
    const mistake = new Error('the source is gone');
    async function* file(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(new Uint8Array(1));
      throw mistake;
    }
    await expect(open(server).websites.documents.upload('w1', { file: file() })).rejects.toBe(mistake);
  });

  test('an upload without its file', async () => {
    const server = await startScripted(json(201, { id: 'd1' }));
    const upload = open(server).websites.documents.upload('w1', {} as { file: string });
    await expect(upload).rejects.toThrow(new TypeError('`file` is missing'));
    expect(server.asked).toHaveLength(0);
  });

  test('a GET with a body', async () => {
    const server = await startScripted(json(200, website));
    await expect(open(server).request('GET', '/me' as string, { body: {} })).rejects.toMatchObject({ name: 'TypeError' });
    expect(server.asked).toHaveLength(0);
  });
});

describe('the time limit', () => {
  test('covers the body, and the connection is closed', async () => {
    const server = await startScripted(stall);
    const failure = await failureOf(open(server, { timeoutMs: 100 }).websites.get('w1', { maxRetries: 0 }));
    expect(failure).toBeInstanceOf(TimeoutError);
    expect(failure.message).toBe('The service did not answer within 100 ms');
    await eventually('the end of the connection', () => (server.abandoned() === 1 ? true : undefined));
  });

  test('is one of each attempt, and the call may set it', async () => {
    const server = await startScripted(stall, json(200, website));
    expect(await open(server).websites.get('w1', { timeoutMs: 100 })).toEqual(website);
  });
});

describe('the caller’s signal', () => {
  test('ends a call that has not begun', async () => {
    const server = await startScripted(json(200, website));
    expect(await failureOf(open(server).websites.get('w1', { signal: AbortSignal.abort() }))).toBeInstanceOf(AbortError);
    expect(server.asked).toHaveLength(0);
  });

  test('ends a call in the middle of the body, and the connection is closed', async () => {
    const server = await startScripted(stall);
    const controller = new AbortController();
    const call = failureOf(open(server).websites.get('w1', { signal: controller.signal }));
    await eventually('the request', () => server.asked[0]);
    controller.abort();
    expect(await call).toBeInstanceOf(AbortError);
    await eventually('the end of the connection', () => (server.abandoned() === 1 ? true : undefined));
  });

  test('closes the connection also after memory was collected', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const server = await startScripted(stall);
    const controller = new AbortController();
    let isThere = false;
    const doorstep = open(server, {
      fetch: async (request, init) => {
        const response = await fetch(request, init);
        isThere = true;
        return response;
      },
    });
    const call = failureOf(doorstep.websites.get('w1', { signal: controller.signal }));
    await eventually('the head of the answer', () => isThere || undefined);
    for (let times = 0; times < 3; times += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    controller.abort();
    expect(await call).toBeInstanceOf(AbortError);
    await eventually('the end of the connection', () => (server.abandoned() === 1 ? true : undefined));
  });

  test('ends a stream that was asked for', async () => {
    const server = await startScripted(half(() => undefined));
    const controller = new AbortController();
    const body = (await open(server).request('GET', '/exports', {
      parseAs: 'stream',
      signal: controller.signal,
    })) as ReadableStream;
    const reader = body.getReader();
    expect((await reader.read()).done).toBe(false);
    controller.abort();
    await expect(reader.read()).rejects.toBeInstanceOf(AbortError);
  });
});

describe('an answer that is not the API’s', () => {
  test.each([
    ['an empty error', text(418, ''), { message: "The service answered 418 I'm a Teapot", body: undefined, code: undefined }],
    [
      'an error page',
      text(418, '<h1>No</h1>', { 'content-type': 'text/html' }),
      { message: "The service answered 418 I'm a Teapot", body: '<h1>No</h1>' },
    ],
    [
      'an error of other JSON',
      json(418, { error: { text: 'no' } }),
      { message: "The service answered 418 I'm a Teapot", body: { error: { text: 'no' } } },
    ],
    [
      'a page',
      text(200, '<h1>Hello</h1>', { 'content-type': 'text/html' }),
      { message: 'The answer is not JSON, but text/html: is the service at this address?', status: 200, body: '<h1>Hello</h1>' },
    ],
    ['half of JSON', text(200, '{"id":', { 'content-type': 'application/json' }), { status: 200, body: '{"id":' }],
  ])('%s', async (_, answer, expected) => {
    const server = await startScripted(answer);
    expect(await failureOf(open(server).websites.get('w1'))).toMatchObject(expected);
    expect(server.asked).toHaveLength(1);
  });

  test('is given as it is where the program itself says what it accepts', async () => {
    const server = await startScripted(text(200, '{"id":"w1"}', { 'content-type': 'application/json' }));
    const path: string = '/me';
    const answer = await open(server).request('GET', path, { parseAs: 'stream', headers: { accept: 'text/plain' } });
    expect(await new Response(answer as ReadableStream).text()).toBe('{"id":"w1"}');
  });

  test('a page in place of an export', async () => {
    const server = await startScripted(text(200, '<h1>Hello</h1>', { 'content-type': 'text/html' }));
    expect(await failureOf(open(server).audit.export('csv'))).toMatchObject({
      message: 'The answer is not text/csv, but text/html: is the service at this address?',
      status: 200,
    });
  });
});

test('a service that does not speak TLS is said in a line', async () => {
  const { url } = await startScripted(json(200, website));
  const doorstep = new Doorstep({ baseUrl: url.replace('http:', 'https:'), token, maxRetries: 0 });
  expect((await failureOf(doorstep.websites.get('w1'))).message).toMatch(/^The connection to [\d.:]+ failed: TLS: [a-z ]+$/);
});

describe('the token', () => {
  test('stands in no error and in no view of the client', async () => {
    const server = await startScripted((response) => response.destroy());
    const doorstep = open(server, { maxRetries: 0 });
    const failure = await failureOf(doorstep.websites.get('w1'));
    expect(failure).toBeInstanceOf(ConnectionError);
    expect(failure.message).toBe(`The connection to ${new URL(server.url).host} failed: other side closed`);
    const views = [failure, doorstep, doorstep.websites, doorstep.websites.get('w1').catch(() => undefined)].flatMap((value) => [
      inspect(value, { depth: Infinity, showHidden: true }),
      JSON.stringify(value),
    ]);
    expect(views.join('\n')).not.toContain(token.slice(8));
  });

  test.each([
    ['a line break', `${token}\n`],
    ['a letter of another script', `${token}й`],
  ])('is refused with %s, without being said', async (_, broken) => {
    const server = await startScripted(json(200, website));
    const failure = await failureOf(open(server, { token: broken }).websites.get('w1'));
    expect(failure.message).toBe('The token is empty, or has characters that no token has');
    expect(inspect(failure, { depth: Infinity })).not.toContain(token.slice(8));
    expect(server.asked).toHaveLength(0);
  });

  test('comes from a function before each attempt; its kind says which paths are called', async () => {
    const server = await startScripted(text(500, '', atOnce), json(200, website));
    const tokens = ['header.payload.signature', Promise.resolve(token)];
    await open(server, { token: () => tokens.shift() ?? '' }).websites.get('w1');
    expect(server.asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/websites/w1', 'Bearer header.payload.signature'],
      ['/v1/websites/w1', `Bearer ${token}`],
    ]);
  });

  test('or its failure is the call’s', async () => {
    const server = await startScripted(json(200, website));
    const failure = new Error('signed out');
    const source = (): Promise<string> => Promise.reject(failure);
    await expect(open(server, { token: source }).websites.get('w1')).rejects.toBe(failure);
  });
});

describe('a client', () => {
  test.each([
    ['no token', { baseUrl: 'http://127.0.0.1:3000', token: '' }, '`token` is missing'],
    ['no address', { baseUrl: '', token }, '`baseUrl` is no address'],
    ['an address without its scheme', { baseUrl: 'localhost:3000', token }, '`baseUrl` is no address'],
    ['a password in its address', { baseUrl: 'http://ada:secret@127.0.0.1:3000', token }, '`baseUrl` must not hold a user name'],
  ])('with %s is refused', (_, options, message) => {
    expect(() => new Doorstep(options)).toThrow(message);
  });

  test.each(['', '/', '/v1', '/v1/', '/below/it', '/below/it/v1', '?x=1', '/v1#top', '/ '])(
    'takes an address that ends with %j',
    async (end) => {
      const server = await startScripted(json(200, website));
      await new Doorstep({ baseUrl: `${server.url.replace('http', 'HTTP')}${end}`, token }).websites.get('w1');
      expect(server.asked[0]?.url).toBe(`${end.includes('below') ? '/below/it' : ''}/v1/websites/w1`);
    },
  );

  test('says what it is, after who uses it', async () => {
    const server = await startScripted(json(200, website));
    await open(server, { userAgent: 'agency-tool/2' }).websites.get('w1');
    expect(server.asked[0]?.headers['user-agent']).toBe('agency-tool/2 doorstep-sdk');
  });

  test('sends by the `fetch` that it is given', async () => {
    const server = await startScripted(json(200, website));
    const sent: string[] = [];
    const doorstep = open(server, {
      fetch: (request) => {
        sent.push(request.url);
        return fetch(request);
      },
    });
    await doorstep.websites.get('w1');
    expect(sent).toEqual([`${server.url}/v1/websites/w1`]);
  });

  test.each(['', '.', '..'])('refuses %j as a part of a path, which would make it another one', async (part) => {
    const server = await startScripted(text(204, ''));
    await expect(open(server).websites.clients.remove('w1', part)).rejects.toThrow('`clientId` must not be');
    expect(server.asked).toHaveLength(0);
  });

  test('refuses a path without one of its parts', async () => {
    const server = await startScripted(json(200, website));
    const path: string = '/websites/{id}';
    await expect(open(server).request('GET', path)).rejects.toThrow('`id` must not be ""');
    expect(server.asked).toHaveLength(0);
  });

  test('keeps what belongs to a part of a path within it', async () => {
    const server = await startScripted(json(200, website));
    await open(server).websites.get('../clients?x=1#y');
    expect(server.asked[0]?.url).toBe('/v1/websites/..%2Fclients%3Fx%3D1%23y');
  });

  test('refuses a path that would lead to another host', async () => {
    const server = await startScripted(json(200, website));
    expect(() => open(server).request('GET', '@elsewhere.example/websites')).toThrow('`path` must begin with /');
  });

  test('follows no redirection with a write, which would become a read', async () => {
    const server = await startScripted(text(301, '', { location: '/v1/websites' }), json(200, [website]));
    const failure = await failureOf(open(server).websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' }));
    expect(failure).toMatchObject({ status: 301, message: 'The service answered 301 Moved Permanently' });
    expect(server.asked).toHaveLength(1);
  });

  test('adds to the query of a path', async () => {
    const server = await startScripted(json(200, website));
    await open(server).request('get', '/websites?limit=1&q=a%26b', { as: 'ada@example.com' });
    expect(server.asked[0]?.url).toBe('/v1/websites?limit=1&q=a%26b&as=ada%40example.com');
    expect(server.asked[0]?.headers['idempotency-key']).toBeUndefined();
  });

  test('sends each of several values in the query of a path, but those that the call names anew', async () => {
    const server = await startScripted(json(200, website));
    await open(server).request('GET', '/websites?tag=a&tag=b&limit=1&limit=2', { params: { query: { limit: 3 } } });
    expect(server.asked[0]?.url).toBe('/v1/websites?tag=a&tag=b&limit=3');
  });

  test('sends a `Date` in a query too, as programs without types do', async () => {
    const server = await startScripted(json(200, []));
    const from = new Date('2026-11-22T12:00:00Z') as unknown as string;
    await open(server).audit.list({ from, actor: 'ada' });
    expect(server.asked[0]?.url).toBe('/v1/audit?from=2026-11-22T12%3A00%3A00.000Z&actor=ada');
  });

  test('reads where the platform has no `crypto.randomUUID`, as pages without TLS, and writes there', async () => {
    const server = await startScripted(json(200, website));
    const randomUUID = jest.spyOn(crypto, 'randomUUID').mockImplementation(() => {
      throw new TypeError('crypto.randomUUID is not a function');
    });
    await open(server).websites.get('w1');
    await open(server).websites.update('w1', { name: 'B' });
    await open(server).websites.documents.upload('w1', { file: new Blob(['text']) });
    expect(server.asked.map(({ headers }) => (headers['idempotency-key'] ?? '').length)).toEqual([0, 32, 32]);
    randomUUID.mockRestore();
  });

  test('puts the options of a call where the service reads them', async () => {
    const server = await startScripted(json(200, website));
    const doorstep = open(server);
    await doorstep.websites.get('w1', { as: 'ada@example.com', ifNoneMatch: '"1"', headers: { 'x-request-id': 'mine' } });
    await doorstep.websites.update('w1', { name: 'B' }, { ifMatch: '"2"', idempotencyKey: 'key-1' });
    await doorstep.websites.update('w1', { name: 'B' }, { dryRun: true });
    const [read, write, dry] = server.asked;
    expect(read?.url).toBe('/v1/websites/w1?as=ada%40example.com');
    expect(read?.headers).toMatchObject({ 'if-none-match': '"1"', 'x-request-id': 'mine' });
    expect(read?.headers['idempotency-key']).toBeUndefined();
    expect(write?.headers).toMatchObject({ 'if-match': '"2"', 'idempotency-key': 'key-1', 'content-type': 'application/json' });
    expect(dry?.url).toBe('/v1/websites/w1?dryRun=1');
    expect(dry?.headers['idempotency-key']).toBeUndefined();
  });
});
