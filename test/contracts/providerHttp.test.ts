import { describe, expect, test } from '@jest/globals';
import { createCircuitBreaker } from '../../src/integrations/circuitBreaker.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createProviderHttp } from '../../src/integrations/http.js';
import { systemRandom } from '../../src/platform/random.js';
import { collectLogs } from '../support/logs.js';
import { serveFake, type FakeAnswer } from '../support/providers/wire.js';
import { createTestClock } from '../support/testClock.js';
import { passTimeUntil } from '../workers/machine.js';

/** A client whose first request is answered with 429, and every later one with 200. */
const limitedOnce = (headers: Record<string, string>, more: { rateLimitMs?: number } = {}) => {
  const clock = createTestClock();
  let asked = 0;
  const ask = createProviderHttp({
    provider: 'Example',
    clock,
    random: systemRandom,
    logger: collectLogs().logger,
    requestIdHeader: 'x-request-id',
    fetch: () => {
      asked += 1;
      return Promise.resolve(asked === 1 ? new Response('', { status: 429, headers }) : new Response('{}'));
    },
    ...more,
  });
  return { clock, get: () => ask({ method: 'GET', url: 'https://example.com/' }), asked: () => asked };
};

test('a provider that asks to wait for years is tried again after an hour', async () => {
  const { clock, get, asked } = limitedOnce({ 'retry-after': '999999999' });
  await expect(get()).rejects.toMatchObject({ transient: true, retryAfterMs: 3_600_000 });
  await clock.advance(3_590_000);
  await expect(get()).rejects.toMatchObject({ retryAfterMs: 10_000 });
  expect(asked()).toBe(1);
  await clock.advance(10_000);
  expect((await get()).status).toBe(200);
});

test.each([600_000, 86_400_000])('a rate limit ends where the clock was set back meanwhile, by %d ms', async (ms) => {
  const { clock, get } = limitedOnce({ 'retry-after': '60' });
  await expect(get()).rejects.toMatchObject({ retryAfterMs: 60_000 });
  clock.setTime(clock.now() - ms);
  expect((await get()).status).toBe(200);
});

test('a provider that is left alone is asked again at once where the clock was set back meanwhile', async () => {
  const clock = createTestClock();
  const withBreaker = createCircuitBreaker('Example', () => true, clock);
  const down = () =>
    withBreaker(() => Promise.reject(new ProviderFault({ provider: 'Example', message: 'down', transient: true })));
  for (let faults = 0; faults < 8; faults += 1) await expect(down()).rejects.toThrow('down');
  await expect(down()).rejects.toThrow('left alone');
  clock.setTime(clock.now() - 3_600_000);
  expect(await withBreaker(() => Promise.resolve('up'))).toBe('up');
  for (let faults = 0; faults < 8; faults += 1) await expect(down()).rejects.toThrow('down');
  await expect(down()).rejects.toThrow('left alone');
});

test.each([
  ['ahead of', -3_600_000],
  ['behind', 3_600_000],
])('a time that a limit ends at is read by the clock of the provider, which ours is %s', async (_, ahead) => {
  const providerAt = Math.floor((createTestClock().now() + ahead) / 1_000) * 1_000;
  const date = new Date(providerAt).toUTCString();
  const reset = limitedOnce({ date, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(providerAt / 1_000 + 300) });
  await expect(reset.get()).rejects.toMatchObject({ retryAfterMs: 301_000 });
  const retryAt = limitedOnce({ date, 'retry-after': new Date(providerAt + 300_000).toUTCString() });
  await expect(retryAt.get()).rejects.toMatchObject({ retryAfterMs: 300_000 });
});

test('a rate limit that names no time is waited for as long as the provider advises; a read asks again by itself', async () => {
  const { clock, get, asked } = limitedOnce({}, { rateLimitMs: 1_000 });
  const before = clock.now();
  const statuses: number[] = [];
  void get().then(({ status }) => statuses.push(status));
  await passTimeUntil(clock, () => Promise.resolve(statuses.length === 1));
  expect([statuses, asked()]).toEqual([[200], 2]);
  expect(clock.now() - before).toBeGreaterThanOrEqual(1_000);
});

test.each([
  ['a small body', '{}', 10],
  ['a body of 3 MB', 'x'.repeat(3_000_000), 16],
])('an answer is waited for as long as a slow line needs to send %s, and ten seconds', async (_, body, seconds) => {
  const clock = createTestClock();
  const send = createProviderHttp({
    provider: 'Example',
    clock,
    random: systemRandom,
    logger: collectLogs().logger,
    requestIdHeader: 'x-request-id',
    fetch: (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => {
          reject(new DOMException('aborted', 'AbortError'));
        });
      }),
  });
  const faults: unknown[] = [];
  void send({ method: 'POST', url: 'https://example.com/', body }).catch((error: unknown) => faults.push(error));
  await clock.advance(seconds * 1_000 - 1);
  expect(faults).toEqual([]);
  await clock.advance(1);
  expect(faults).toMatchObject([{ transient: true, message: `Example did not answer within ${String(seconds)} s` }]);
});

describe('a redirect', () => {
  const statuses = [301, 302, 303, 307, 308];
  const body = '{"name":"Bakery"}';

  /** Sends to `/old` of a server that answers it as `answer` says, and anything else with 200. */
  const open = async (answer: () => FakeAnswer, followRedirects: boolean) => {
    const served = await serveFake(({ path }) => (path === '/old' ? answer() : { status: 200, body: {} }));
    const ask = createProviderHttp({
      provider: 'Example',
      clock: createTestClock(),
      random: systemRandom,
      logger: collectLogs().logger,
      requestIdHeader: 'x-request-id',
      followRedirects,
    });
    const send = (method: string) =>
      ask({
        method,
        url: `${served.url}/old`,
        headers: { 'x-access-token': 'canary', 'content-type': 'application/json' },
        ...(method !== 'GET' && { body }),
        retryable: true,
      });
    return { served, send };
  };

  test.each(statuses)('of status %i leads no secret elsewhere, and is a permanent fault that says where to', async (status) => {
    const other = await serveFake(() => ({ status: 200, body: {} }));
    for (const followRedirects of [false, true]) {
      const location = `${other.url.replace('http://', 'http://user:pass@')}/new?token=canary`;
      const { send, served } = await open(() => ({ status, headers: { location } }), followRedirects);
      for (const method of ['GET', 'POST']) {
        const message = `Example redirects to ${other.url}, where its credentials are not sent`;
        await expect(send(method)).rejects.toMatchObject({ name: 'ProviderFault', transient: false, message });
      }
      expect(served.requests).toHaveLength(2);
    }
    expect(other.requests).toEqual([]);
  });

  test.each([...statuses.map((status) => ['GET', status] as const), ['POST', 307] as const, ['DELETE', 308] as const])(
    'of a %s with status %i is followed at the same origin, where that is allowed',
    async (method, status) => {
      const { send, served } = await open(() => ({ status, headers: { location: '/new' } }), true);
      expect((await send(method)).status).toBe(200);
      const [asked, followed] = served.requests;
      expect(followed).toMatchObject({ method, path: '/new', body: asked?.body });
      expect(followed?.headers.get('x-access-token')).toBe('canary');
    },
  );

  test.each([301, 302, 303])('of a POST with status %i is not followed, because it asks for a GET', async (status) => {
    const { send, served } = await open(() => ({ status, headers: { location: '/new' } }), true);
    await expect(send('POST')).rejects.toMatchObject({ transient: false });
    expect(served.requests).toHaveLength(1);
  });

  test('is not followed where that is not allowed, and the breaker stays closed', async () => {
    const { send } = await open(() => ({ status: 301, headers: { location: '/new' } }), false);
    for (let count = 0; count < 9; count += 1) await expect(send('GET')).rejects.toMatchObject({ transient: false });
  });

  test('in a circle ends', async () => {
    const { send, served } = await open(() => ({ status: 307, headers: { location: '/old' } }), true);
    await expect(send('GET')).rejects.toMatchObject({ transient: false });
    expect(served.requests).toHaveLength(4);
  });
});
