import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { pageQuery } from '../../src/http/paging.js';
import type { Route } from '../../src/http/route.js';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';

const open = async (api: RunningApi): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  // What the other side does to a connection is what is tried here.
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  return { socket, received: () => text, closed };
};

/** Status and body of the one answer in `text`. */
const answerIn = (text: string): { status: number; body: unknown } => ({
  status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]),
  body: JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as unknown,
});

const timeouts = { headersMs: 300, requestMs: 500, checkMs: 50, standstillMs: 600 };

/** A route that answers when the test says so, and tells when it was called. */
const createGate = (): { readonly route: Route; readonly called: Promise<void>; open(): void } => {
  let tell = (): void => undefined;
  let unlock = (): void => undefined;
  const called = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    unlock = resolve;
  });
  return {
    route: probe({
      path: '/wait',
      answer: async () => {
        tell();
        await opened;
        return { body: 'done' };
      },
    }),
    called,
    open: () => {
      unlock();
    },
  };
};

describe('what is not HTTP as it should be', () => {
  let api: RunningApi;

  beforeAll(async () => {
    api = await startApi({ routes: () => [], projector: false });
  });

  test.each([
    ['nonsense', 'nonsense\r\n\r\n', 400, 'malformed_request', 'Malformed request'],
    [
      'two lengths',
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
      400,
      'malformed_request',
      'Malformed request',
    ],
    [
      'a length and pieces',
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'malformed_request',
      'Malformed request',
    ],
    ['a broken header', 'GET / HTTP/1.1\r\nhost: x\r\nbad header: 1\r\n\r\n', 400, 'malformed_request', 'Malformed request'],
    [
      'headers over 16 KiB',
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`,
      431,
      'headers_too_large',
      'Request header fields too large',
    ],
  ])('%s', async (_what, text, status, code, error) => {
    const { socket, received, closed } = await open(api);
    socket.write(text);
    await closed;
    expect(answerIn(received())).toStrictEqual({ status, body: { error, code, details: null } });
    expect(received()).toContain('x-content-type-options: nosniff');
    expect(received()).toMatch(/^x-request-id: [\w.-]+\r$/m);
  });

  test('has an id of its own', async () => {
    const ids: string[] = [];
    while (ids.length < 2) {
      const { socket, received, closed } = await open(api);
      socket.write('nonsense\r\n\r\n');
      await closed;
      ids.push(/^x-request-id: (.*)\r$/m.exec(received())?.[1] ?? '');
    }
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) {
      const line = api.log.find(({ requestId }) => requestId === id);
      expect(line).toMatchObject({ msg: 'request', route: 'none', status: 400, code: 'malformed_request' });
    }
  });
});

describe('a target that is a whole address', () => {
  let api: RunningApi;
  let token: string;

  beforeAll(async () => {
    api = await startApi({
      routes: () => [
        probe({
          path: '/things',
          paging: true,
          query: Type.Object(pageQuery),
          answer: () => Promise.resolve({ body: [], next: 'c1' }),
        }),
        probe({ path: '/open', access: 'public', query: Type.Object({ q: Type.String() }) }),
      ],
      mounts: {
        // As those of the websites, it has its own for every other host.
        '/': (request, response, next) => {
          if (request.headers.host === 'site.example:80') response.json([request.url, request.originalUrl]);
          else next();
        },
        '/below': (request, response) => {
          response.json([request.url, request.originalUrl]);
        },
      },
      projector: false,
    });
    token = await api.mintToken();
  });

  const ask = async (target: string, headers = ''): Promise<string> => {
    const { socket, received, closed } = await open(api);
    socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\n${headers}connection: close\r\n\r\n`);
    await closed;
    return received();
  };

  test('is that of a path and its host', async () => {
    const listed = await ask('http://localhost/v1/things?limit=2', `authorization: Bearer ${token}\r\n`);
    expect(answerIn(listed)).toEqual({ status: 200, body: [] });
    expect(listed).toContain(`link: <${api.url}/v1/things?limit=2&cursor=c1>; rel="next"`);
    expect(answerIn(await ask('HTTP://localhost:1/open?q=/v1/'))).toMatchObject({ status: 200, body: { query: { q: '/v1/' } } });
    expect(answerIn(await ask('https://localhost/below/a?b'))).toEqual({ status: 200, body: ['/a?b', '/below/a?b'] });
    expect(answerIn(await ask('http://site.example:80/v1/a?b'))).toEqual({ status: 200, body: ['/a?b', '/v1/a?b'] });
    expect(answerIn(await ask('http://site.example:80?b'))).toEqual({ status: 200, body: ['/?b', '/?b'] });
    expect(await ask('http://localhost')).toMatch(/^HTTP\/1\.1 302 .*^location: \/app\/\r$/ms);
  });
});

describe('slow senders', () => {
  const routes = () => [probe({ path: '/things' }), probe({ method: 'post', path: '/things', body: Type.Object({}) })];
  let api: RunningApi;
  let token: string;

  beforeAll(async () => {
    api = await startApi({ routes, projector: false, timeouts });
    token = await api.mintToken();
  });

  test('of headers are cut off with 408', async () => {
    const { socket, received, closed } = await open(api);
    socket.write('POST /v1/things HTTP/1.1\r\nhost: x\r\n');
    await closed;
    expect(answerIn(received())).toStrictEqual({
      status: 408,
      body: { error: 'Request timeout', code: 'request_timeout', details: null },
    });
  });

  test('of nothing at all are cut off', async () => {
    const { closed, received } = await open(api);
    await closed;
    expect(answerIn(received())).toMatchObject({ status: 408 });
  });

  test('of bodies are cut off with 408, and others are answered meanwhile', async () => {
    const slow = await open(api);
    const headers = `authorization: Bearer ${token}\r\nx-request-id: slow\r\ncontent-length: 100`;
    slow.socket.write(`POST /v1/things HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n{`);
    // On a machine that is busy with other things they may be slow as well.
    await eventually('an answer', async () => ((await api.call('GET', '/things', { token })).status === 200 ? true : undefined));
    await slow.closed;
    expect(answerIn(slow.received())).toMatchObject({ status: 408 });
    expect(slow.received()).toContain('x-request-id: slow\r\n');
    expect(api.log.filter(({ level }) => level === 'error')).toStrictEqual([]);
  });

  test('of bodies that were answered before get no second answer', async () => {
    const { socket, received, closed } = await open(api);
    socket.write('POST /nope HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nx');
    await closed;
    expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
  });

  test('who go away in the middle of a body leave nothing behind', async () => {
    const patient = await startApi({ routes, projector: false });
    const bearer = await patient.mintToken();
    const { socket } = await open(patient);
    const headers = `authorization: Bearer ${bearer}\r\nx-request-id: gone\r\ncontent-length: 100`;
    socket.write(`POST /v1/things HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n{`);
    // By the time that another one is answered, this one has arrived.
    await patient.call('GET', '/things', { token: bearer });
    socket.destroy();
    const line = await eventually('the line', () => patient.log.find(({ requestId }) => requestId === 'gone'));
    expect(line).toMatchObject({ level: 'info', msg: 'request', aborted: true });
  });
});

test('who is answered before a long body was sent may send it before the connection closes', async () => {
  const api = await startApi({ routes: () => [], projector: false });
  const { socket, received, closed } = await open(api);
  const body = Buffer.alloc(8_000_000);
  socket.write(`POST /nope HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`);
  await eventually('the answer', () => (received().includes('not_found') ? true : undefined));
  const fault = new Promise<unknown>((resolve) => {
    socket.write(body, resolve);
  });
  expect([(await fault) ?? 'none', await closed]).toEqual(['none', [false]]);
});

test('a reader who never reads is cut off', async () => {
  const big = probe({
    path: '/big',
    access: 'public',
    answer: () => Promise.resolve({ body: Buffer.alloc(32 * 1_024 * 1_024) }),
  });
  const api = await startApi({ routes: () => [big], timeouts, projector: false });
  const { socket, closed } = await open(api);
  socket.pause().write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n');
  const lineOf = () => api.log.find(({ path }) => path === '/big');
  expect(await eventually('the end of the answer', lineOf)).toMatchObject({ status: 200 });
  socket.resume();
  await closed;
});

describe('too much to do', () => {
  test('more requests than can be under way: 503, but not for those who ask how it is', async () => {
    const gate = createGate();
    const api = await startApi({
      routes: () => [gate.route, probe({ path: '/healthz', access: 'public', vital: true })],
      projector: false,
      limits: { maxUnderWay: 2, maxLagMs: 60_000 },
    });
    const token = await api.mintToken();
    const under = [api.call('GET', '/wait', { token }), api.call('GET', '/wait', { token })];
    // The two may arrive after the third: asked until it is turned away.
    const refused = await eventually('a refusal', async () => {
      const answer = await api.call('GET', '/nope');
      return answer.status === 503 ? answer : undefined;
    });
    expect(refused.body).toStrictEqual({ error: 'Too many requests are under way', code: 'busy', details: null });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await api.call('GET', '/healthz')).status).toBe(200);
    gate.open();
    expect((await Promise.all(under)).map(({ status }) => status)).toStrictEqual([200, 200]);
    expect((await api.call('GET', '/nope')).status).toBe(404);
    await api.stop();
  });

  test('an event loop that is late: 503 until it has caught up', async () => {
    const gate = createGate();
    const api = await startApi({ routes: () => [gate.route], projector: false, limits: { maxUnderWay: 100, maxLagMs: 300 } });
    const under = api.call('GET', '/wait', { token: await api.mintToken() });
    await gate.called;
    const until = Date.now() + 900;
    while (Date.now() < until);
    const statusOf = async (): Promise<number> => (await api.call('GET', '/nope')).status;
    await eventually('a refusal', async () => ((await statusOf()) === 503 ? true : undefined));
    await eventually('an answer', async () => ((await statusOf()) === 404 ? true : undefined));
    gate.open();
    await under;
    await api.stop();
  });
});

describe('stop', () => {
  test('finishes what is under way, takes nothing new, closes idle connections', async () => {
    const gate = createGate();
    const api = await startApi({ routes: () => [gate.route], projector: false });
    const token = await api.mintToken();
    const idle = await open(api);
    const under = api.call('GET', '/wait', { token });
    await gate.called;
    let stopped = false;
    const stopping = api.server.stop().then(() => {
      stopped = true;
    });
    await idle.closed;
    await expect(fetch(`${api.url}/healthz`)).rejects.toThrow();
    expect(stopped).toBe(false);
    gate.open();
    expect((await under).status).toBe(200);
    await stopping;
    await api.stop();
  });

  test('cuts off what does not finish in time', async () => {
    const gate = createGate();
    const api = await startApi({ routes: () => [gate.route], projector: false });
    const under = api.call('GET', '/wait', { token: await api.mintToken() }).catch(() => 'cut off');
    await gate.called;
    await api.server.stop(100);
    expect(await under).toBe('cut off');
    await api.stop();
  });

  test('a port that is taken is said so', async () => {
    const api = await startApi({ routes: () => [], projector: false });
    const other = await startApi({ routes: () => [], projector: false });
    await other.server.stop();
    await expect(other.server.listen('127.0.0.1', Number(new URL(api.url).port))).rejects.toThrow(/EADDRINUSE/);
  });
});
