import { once } from 'node:events';
import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { createShopify } from '../../src/integrations/commerce/shopify.js';
import { systemClock } from '../../src/platform/clock.js';
import type { Route } from '../../src/http/route.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiOptions, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { createTestOutbox } from '../support/outbox.js';
import { probe } from '../support/probeRoutes.js';
import { hastyClock } from '../support/provider.js';
import { temporaryFolder } from '../support/temporary.js';

/** What one sender may have at a time; the attacks themselves are in `test/attacks`. */

const portOf = (api: RunningApi): number => Number(new URL(api.url).port);

interface Opened {
  readonly socket: Socket;
  readonly received: () => string;
  readonly isClosed: () => boolean;
}

const open = async (api: RunningApi, bytes = '', localAddress = '127.0.0.1'): Promise<Opened> => {
  const socket = connect({ port: portOf(api), host: '127.0.0.1', localAddress });
  let text = '';
  let isClosed = false;
  socket.on('data', (chunk) => (text += String(chunk)));
  // What the other side does to a connection is what is tried here.
  socket.on('error', () => undefined);
  socket.once('close', () => (isClosed = true));
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, received: () => text, isClosed: () => isClosed };
};

const statusIn = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
const statusOf = ({ received }: Opened): Promise<number> =>
  eventually('an answer', () => (received().includes('\r\n\r\n') ? statusIn(received()) : undefined));
const closedOf = ({ isClosed }: Opened): Promise<boolean> => eventually('the end', () => (isClosed() ? true : undefined));

const post = (path: string, headers = ''): string => `POST ${path} HTTP/1.1\r\nhost: x\r\n${headers}content-length: 100\r\n\r\nx`;
const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;

const things: readonly Route[] = [
  probe({ path: '/open', access: 'public' }),
  probe({ path: '/healthz', access: 'public', vital: true }),
  probe({ method: 'post', path: '/open', access: 'public', body: Type.Object({}) }),
  probe({ method: 'post', path: '/things', body: Type.Object({}) }),
];

const start = (options: ApiOptions = {}): Promise<RunningApi> =>
  startApi({
    routes: () => things,
    projector: false,
    timeoutClock: hastyClock(),
    limits: { maxUnderWay: 100, maxOfSender: 2, maxLagMs: 60_000 },
    ...options,
  });

describe('beyond what one sender may have', () => {
  test('a connection is refused with 429 and closed; other senders and those who ask how it is are answered', async () => {
    const api = await start({ timeoutClock: systemClock });
    await Promise.all([open(api, post('/open')), open(api, post('/open'))]);
    const third = await open(api, get('/open'));
    expect(await statusOf(third)).toBe(429);
    expect(third.received()).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(third.received()).toContain('"code":"too_many_requests"');
    await closedOf(third);
    expect(await statusOf(await open(api, get('/open'), '127.0.0.2'))).toBe(200);
    expect(await statusOf(await open(api, get('/healthz')))).toBe(200);
  });

  test('one that sends nothing is closed', async () => {
    const api = await start();
    const [one, other] = await Promise.all([open(api), open(api)]);
    await closedOf(await open(api));
    expect([one.isClosed(), other.isClosed()]).toStrictEqual([false, false]);
  });

  test('requests on one connection count too', async () => {
    const api = await start();
    const { received } = await open(api, get('/open').repeat(20));
    await eventually('a refusal', () => (received().includes('HTTP/1.1 429') ? true : undefined));
  });

  test('an idle connection gives way to a new one', async () => {
    const api = await start();
    const [busy, idle] = [await open(api, post('/open')), await open(api, get('/open'))];
    expect(await statusOf(idle)).toBe(200);
    expect(await statusOf(await open(api, get('/open')))).toBe(200);
    await closedOf(idle);
    expect(busy.isClosed()).toBe(false);
  });

  test('bodies that are not whole are refused', async () => {
    const api = await start({ limits: { maxUnderWay: 100, maxOfSender: 100, maxLagMs: 60_000 }, timeoutClock: systemClock });
    const head = 'POST /open HTTP/1.1\r\nhost: x\r\ncontent-length: 1048576\r\n\r\n';
    const opened = await Promise.all(Array.from({ length: 36 }, () => open(api, head)));
    for (const { socket } of opened) socket.write(Buffer.alloc(1_048_575, ' '));
    await eventually('refusals', () =>
      opened.filter(({ received }) => statusIn(received()) === 429).length >= 4 ? true : undefined,
    );
    const answered = opened.filter(({ received }) => received() !== '');
    expect(answered.length).toBeLessThan(10);
    // What they held is given back when they go, also while the sender is known by another connection.
    await open(api);
    for (const { socket } of opened) socket.destroy();
    await eventually('room again', async () =>
      (await api.call('POST', '/open', { body: {} })).status === 200 ? true : undefined,
    );
  });
});

describe('behind a proxy', () => {
  const agent = new Agent({ keepAlive: true });
  const ask = (api: RunningApi, sender: string): Promise<{ status: number; headers: IncomingHttpHeaders }> =>
    new Promise((resolve, reject) => {
      request(`${api.url}/open`, { agent, headers: { 'x-forwarded-for': `10.9.8.7, ${sender}` } }, (response) => {
        response.resume().once('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers });
        });
      })
        .once('error', reject)
        .end();
    });

  test('a sender is whom the proxy names, and the proxy may have connections for all of them', async () => {
    const api = await start();
    const stalled = post('/open', 'x-forwarded-for: 93.184.216.1\r\n');
    await Promise.all([open(api, stalled), open(api, stalled)]);
    await eventually('both to be there', async () => ((await ask(api, '93.184.216.1')).status === 429 ? true : undefined));
    const others = Array.from({ length: 20 }, (_, index) => ask(api, `93.184.217.${index}`));
    expect(new Set((await Promise.all(others)).map(({ status }) => status))).toStrictEqual(new Set([200]));
    agent.destroy();
  });
});

describe('the body of a stranger', () => {
  test('has 5 s on a public route, that of a caller longer', async () => {
    const api = await start();
    const token = await api.mintToken();
    const caller = await open(api, post('/v1/things', `authorization: Bearer ${token}\r\n`), '127.0.0.2');
    const stranger = await open(api, post('/open'));
    expect(await statusOf(stranger)).toBe(408);
    await closedOf(stranger);
    expect(caller.received()).toBe('');
    caller.socket.write(' '.repeat(99));
    expect(await statusOf(caller)).toBe(400);
    expect(caller.received()).toContain('invalid_json');
  });

  test('has 5 s where nobody reads it', async () => {
    const api = await start();
    const stranger = await open(api, post('/v1/things'));
    expect(await statusOf(stranger)).toBe(401);
    await closedOf(stranger);
  });
});

describe('refused before the body', () => {
  test('a sign-in form without the cookie of an attempt', async () => {
    const clock = systemClock;
    const outbox = createTestOutbox({ folder: temporaryFolder(), clock });
    const api = await start({
      signIn: (engine, baseUrl) => createTestIdentity(engine, { email: outbox, baseUrl }),
      timeoutClock: systemClock,
    });
    for (const path of ['', '/code', '/link']) {
      const form = 'content-type: application/x-www-form-urlencoded\r\n';
      const sent = await open(api, post(`/oidc/sign-in/somebody${path}`, form), `127.0.0.${3 + path.length}`);
      expect(await statusOf(sent)).toBe(400);
    }
  });

  const hook = '/webhooks/commerce?websiteId=w';
  test('a webhook without a signature', async () => {
    const api = await startApi({ projector: false });
    expect(await statusOf(await open(api, post(hook)))).toBe(401);
  });

  test('a webhook where no secret is configured', async () => {
    const { random, logger } = (await start()).engine;
    const commerce = createShopify({ webhookSecrets: [], apiVersion: '2026-01', clock: systemClock, random, logger });
    const api = await startApi({ commerce, projector: false });
    expect(await statusOf(await open(api, post(hook, 'x-shopify-hmac-sha256: x\r\n')))).toBe(503);
  });
});

test('an event stream takes no place among the requests under way', async () => {
  const endless = async function* (signal: AbortSignal): AsyncGenerator<readonly { data: unknown }[]> {
    yield [{ data: 1 }];
    await once(signal, 'abort');
  };
  const events = probe({
    path: '/events',
    access: 'public',
    answers: { 200: { description: 'Events.', contentType: 'text/event-stream' } },
    answer: ({ signal }) => Promise.resolve({ events: endless(signal) }),
  });
  const api = await start({ routes: () => [...things, events], limits: { maxUnderWay: 2, maxOfSender: 10, maxLagMs: 60_000 } });
  const streams = await Promise.all([1, 2, 3].map(() => open(api, get('/events'))));
  for (const { received } of streams) await eventually('an event', () => (received().includes('data: 1') ? true : undefined));
  expect((await api.call('GET', '/open')).status).toBe(200);
});
