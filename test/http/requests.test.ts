import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../src/events/envelope.js';
import { Type } from 'typebox';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';

const portal = 'https://portal.example.com';
let api: RunningApi;
let token: string;

beforeAll(async () => {
  api = await startApi({
    projector: false,
    corsOrigins: [portal],
    mounts: {
      '/sites': (request, response) => {
        response.end(`site ${request.url}`);
      },
    },
    routes: () => [
      probe({ path: '/things' }),
      probe({ method: 'post', path: '/things' }),
      probe({ method: 'put', path: '/only' }),
      probe({ path: '/things/:id', query: Type.Object({ email: Type.Optional(Type.String()) }) }),
      probe({ path: '/broken', answer: () => Promise.reject(new Error('broken')) }),
      probe({
        method: 'post',
        path: '/context',
        answer: ({ context: { actor, requestId } }) => Promise.resolve({ body: { actor, requestId } }),
      }),
    ],
  });
  token = await api.mintToken({ subject: 'ops@example.com' });
});

describe('X-Request-Id', () => {
  test('is taken and returned, and known to the handler', async () => {
    const answer = await api.call('POST', '/context', { token, headers: { 'x-request-id': 'mine-1' } });
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    const { requestId, actor } = answer.body as { requestId: string; actor: Actor };
    expect(requestId).toBe('mine-1');
    expect(actor).toMatchObject({ role: 'admin', via: 'token' });
    // As events hold it.
    expect(actor.subject).toMatch(/^encrypted:/);
    expect(await api.engine.personal.decrypt(actor.subject)).toBe('ops@example.com');
  });

  test.each([
    ['none', undefined],
    ['an empty one', ''],
    ['one that is too long', 'x'.repeat(129)],
    ['one with a blank', 'a b'],
    ['one that is not ASCII', 'caf\u00e9'],
    ['an address', 'ann@example.com'],
    ['an address, encoded', 'ann%40example.com'],
    ['a token', 'svc_pat_0123456789'],
    ['a JWT', 'eyJhbGciOiJFUzI1NiJ9.e30.x'],
  ])('is made for %s, and never the same', async (_what, given) => {
    const headers = given === undefined ? {} : { 'x-request-id': given };
    const ids = [];
    for (let count = 0; count < 2; count += 1)
      ids.push((await api.call('GET', '/nope', { headers })).headers.get('x-request-id'));
    expect(ids[0]).toMatch(/^[\w.-]{10,40}$/);
    expect(ids[0]).not.toBe(ids[1]);
  });
});

describe('the access log', () => {
  const lineOf = (requestId: string): Promise<Readonly<Record<string, unknown>>> =>
    eventually('the line', () => api.log.find((line) => line.requestId === requestId && line.msg === 'request'));

  test('has a line for every request, without anything that names a person', async () => {
    await api.call('GET', '/things/7?email=ann@example.com', { token, headers: { 'x-request-id': 'log-1' } });
    const line = await lineOf('log-1');
    expect(line).toMatchObject({
      level: 'info',
      method: 'GET',
      mode: 'token',
      route: '/things/:id',
      path: '/things/7',
      status: 200,
      role: 'admin',
      durationMs: expect.any(Number) as unknown,
      tokenId: expect.any(String) as unknown,
    });
    expect(JSON.stringify(line)).not.toMatch(/example\.com|svc_pat/);
    expect(line.subject).toMatch(/^[\w-]{12}$/);
  });

  test.each(['/things/ann@example.com', '/things/ann%40example.com'])('shows the pattern for %s', async (path) => {
    const requestId = `log-${path.length}`;
    await api.call('GET', path, { token, headers: { 'x-request-id': requestId } });
    expect(await lineOf(requestId)).toMatchObject({ path: '/things/:id' });
  });

  test('has the whole path of what is mounted', async () => {
    await api.call('GET', '/sites/bakery/', { headers: { 'x-request-id': 'log-3' } });
    expect(await lineOf('log-3')).toMatchObject({ path: '/sites/bakery/' });
  });

  test('has what was refused, and no credential that was tried', async () => {
    await api.call('GET', '/v1/svc_pat_0123456789abcdefghij0123456789abcdefghijABCDEF', { headers: { 'x-request-id': 'log-2' } });
    const line = await lineOf('log-2');
    expect(line).toMatchObject({ status: 404, route: 'none' });
    expect(JSON.stringify(line)).not.toContain('svc_pat_0123');
  });
});

describe('CORS', () => {
  const call = (method: string, origin: string | undefined, headers = {}, path = '/things') =>
    api.call(method, path, { headers: { ...(origin !== undefined && { origin }), ...headers } });

  test('a named origin may read answers, errors too', async () => {
    for (const [path, status] of [
      ['/things', 401],
      ['/nope', 404],
    ] as const) {
      const { status: seen, headers } = await call('GET', portal, {}, path);
      expect([seen, headers.get('access-control-allow-origin')]).toStrictEqual([status, portal]);
      expect(headers.get('access-control-expose-headers')).toContain('etag');
      expect(headers.get('vary')).toContain('origin');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
    expect((await api.call('GET', '/things', { token, headers: { origin: portal } })).headers.get('vary')).toBe(
      'origin, authorization',
    );
  });

  test('a named origin is told what it may send', async () => {
    const { status, headers } = await call('OPTIONS', portal, { 'access-control-request-method': 'POST' });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS, POST');
    expect(headers.get('access-control-allow-headers')).toContain('idempotency-key');
  });

  test.each(['https://evil.example.com', `${portal}.evil.example`, 'null', undefined])(
    '%s is allowed nothing',
    async (origin) => {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await call(method, origin, { 'access-control-request-method': 'GET' });
        expect(headers.get('access-control-allow-origin')).toBeNull();
        expect(headers.get('access-control-allow-methods')).toBeNull();
        expect(headers.get('vary')).toContain('origin');
      }
    },
  );

  test('OPTIONS on a known path says what there is, on an unknown one 404', async () => {
    const { status, headers } = await call('OPTIONS', undefined, {}, '/only');
    expect([status, headers.get('allow')]).toStrictEqual([204, 'OPTIONS, PUT']);
    expect((await call('OPTIONS', undefined, {}, '/nope')).status).toBe(404);
  });

  test('is off when no origin is named', async () => {
    const closed = await startApi({ projector: false, routes: () => [probe({ path: '/things' })] });
    const { headers } = await closed.call('GET', '/things', { headers: { origin: portal } });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('vary')).toBeNull();
  });
});

describe('every answer', () => {
  test.each([
    ['200', '/things', true],
    ['401', '/things', false],
    ['404', '/nope', true],
    ['500', '/broken', true],
  ])('%s says that it is data and nothing else', async (_status, path, known) => {
    const { headers } = await api.call('GET', path, known ? { token } : {});
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('strict-transport-security')).toContain('max-age=');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-powered-by')).toBeNull();
  });
});

describe('both entry modes', () => {
  test('serve the same routes; the prefix is stripped once', async () => {
    expect((await api.call('GET', '/v1/things', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    expect((await api.call('GET', '/things', { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    expect((await api.call('GET', '/v1/v1/things', { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
    expect((await api.call('GET', '/V1/things', { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
    expect((await api.call('GET', '/v1things', { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
  });

  test('paths are known by their letters, with or without a slash at the end', async () => {
    expect((await api.call('GET', '/Things', { token })).status).toBe(404);
    expect((await api.call('GET', '/things/', { token })).status).toBe(200);
  });

  test('other handlers get what is theirs', async () => {
    expect((await api.call('GET', '/sites/bakery/')).text).toBe('site /bakery/');
  });

  test('under /v1 there is nothing but the API', async () => {
    for (const path of ['/v1/sites/bakery/', '/v1/git/bakery.git/info/refs', '/v1/mcp', '/v1/']) {
      expect([path, (await api.call('GET', path)).body]).toMatchObject([path, { code: 'not_found' }]);
    }
  });
});

describe('?dryRun', () => {
  test.each(['1', 'true'])('%s on a write', async (value) => {
    const { body, headers } = await api.call('POST', `/things?dryRun=${value}`, { token });
    expect(body).toStrictEqual({ events: [] });
    expect(headers.get('content-type')).toBe('application/vnd.doorstep.dry-run+json');
  });

  test.each(['0', 'false'])('%s is no dry run', async (value) => {
    expect((await api.call('POST', `/things?dryRun=${value}`, { token })).body).toStrictEqual({ params: {}, query: {} });
  });

  test.each(['yes', '', '2'])('%j: 400', async (value) => {
    expect((await api.call('POST', `/things?dryRun=${value}`, { token })).body).toMatchObject({
      error: 'Invalid query — dryRun: must be 1 or true',
    });
  });
});
