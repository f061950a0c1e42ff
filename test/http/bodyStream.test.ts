import { request as httpRequest } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createRoutes } from '../../src/http/routes/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { eventually } from '../support/eventually.js';
import { createHeldReader } from '../support/heldReader.js';
import { startApi, type RunningApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';
import { createTestClock } from '../support/testClock.js';

let api: RunningApi;
let token: string;
/** What the next answer sends. */
let parts: () => AsyncGenerator<string | Uint8Array, void>;
/** How many parts were asked for, and whether the last answer has given them back. */
let asked = 0;
let returned = false;
const timers = createTestClock();
const held = createHeldReader();

const start = (): Promise<RunningApi> =>
  startApi({
    projector: false,
    mounts: { '/': held.mount },
    clock: {
      now: () => systemClock.now(),
      schedule: (ms, task) => (ms === 60_000 ? timers.schedule(ms, task) : systemClock.schedule(ms, task)),
    },
    routes: (all) => [
      ...createRoutes(all),
      probe({
        path: '/parts',
        answer: () => Promise.resolve({ parts: parts(), headers: { 'content-type': 'text/csv; charset=utf-8' } }),
      }),
    ],
  });

beforeAll(async () => {
  api = await start();
  token = await api.mintToken();
});

const part = 'x'.repeat(50_000);

/** Goes on for ever, or until `before` a part says that it fails. */
const endless = async function* (before: () => Promise<void> = () => Promise.resolve()): AsyncGenerator<string, void> {
  try {
    for (asked = 0, returned = false; ; asked += 1) {
      await before();
      yield part;
    }
  } finally {
    returned = true;
  }
};

/** A reader who takes what comes only when asked to. */
const open = (at = api, by = token): Promise<{ take: () => Promise<string>; leave: () => void }> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(`${at.url}/v1/parts`, { headers: { authorization: `Bearer ${by}` } }, (response) => {
      response.pause().on('error', () => undefined);
      const closed = new Promise<string>((end) => {
        response.once('close', () => {
          end(response.complete ? 'ended' : 'cut off');
        });
      });
      resolve({
        take: () => {
          response.resume();
          return closed;
        },
        leave: () => response.destroy(),
      });
    });
    request.once('error', reject);
    request.end();
  });

/** Goes on for ever, for a reader who takes nothing any more from the fourth part on. */
const endlessHeld = () => endless(() => (asked === 3 ? held.hold() : Promise.resolve()));

describe('a body in parts', () => {
  test('is sent whole, and nobody keeps it', async () => {
    parts = async function* () {
      yield await Promise.resolve('ä,b\r\n');
      yield Buffer.from('c,d\r\n');
    };
    const { status, headers, text } = await api.call('GET', '/parts', { token });
    expect([status, text]).toEqual([200, 'ä,b\r\nc,d\r\n']);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-request-id')).not.toBeNull();
    expect(headers.get('etag')).toBeNull();
    await eventually('no more timers', () => (timers.pending() === 0 ? true : undefined));
  });

  test('of nothing is empty', async () => {
    parts = async function* () {
      yield* await Promise.resolve([]);
    };
    expect(await api.call('GET', '/parts', { token })).toMatchObject({ status: 200, text: '' });
  });

  test('comes compressed to who asks for it', async () => {
    parts = async function* () {
      for (let index = 0; index < 100; index += 1) yield await Promise.resolve(part);
    };
    const body = await new Promise<Buffer>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'br' };
      httpRequest(`${api.url}/v1/parts`, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => {
          resolve(Buffer.concat(chunks));
        });
      })
        .once('error', reject)
        .end();
    });
    expect(body.length).toBeLessThan(100_000);
    expect(brotliDecompressSync(body).toString()).toBe(part.repeat(100));
  });

  test('waits for a reader who is slow, and gives up one who takes nothing for a minute', async () => {
    parts = endlessHeld;
    const reader = await open();
    await held.full();
    const askedBefore = asked;
    await timers.advance(59_000);
    expect(returned).toBe(false);
    await timers.advance(1_000);
    await eventually('the end', () => (returned ? true : undefined));
    expect(await reader.take()).toBe('cut off');
    // One part is kept ready for when the reader goes on.
    expect(asked - askedBefore).toBeLessThanOrEqual(1);
    expect(timers.pending()).toBe(0);
  });

  test('ends for the handler when the reader goes', async () => {
    parts = endlessHeld;
    const reader = await open();
    await held.full();
    reader.leave();
    await eventually('the end', () => (returned ? true : undefined));
  });

  test('is cut off when the token is revoked', async () => {
    const key = (await api.call('POST', '/api-keys', { token, body: { name: 'own' } })).body as { id: string; token: string };
    parts = () =>
      endless(async () => {
        if (asked === 3) expect((await api.call('DELETE', `/api-keys/${key.id}`, { token })).status).toBe(204);
      });
    const reader = await open(api, key.token);
    expect(await reader.take()).toBe('cut off');
    await eventually('the end', () => (returned ? true : undefined));
    // The part under way when the key was revoked is not sent.
    expect(asked).toBe(3);
  });

  test('is cut off when the service stops', async () => {
    const stopping = await start();
    parts = endlessHeld;
    const reader = await open(stopping, await stopping.mintToken());
    await held.full();
    const taken = reader.take();
    await stopping.stop();
    expect(await taken).toBe('cut off');
    expect(returned).toBe(true);
  });

  test('that cannot go on is cut off, and it is logged', async () => {
    parts = () => endless(() => (asked === 2 ? Promise.reject(new Error('the log cannot be read')) : Promise.resolve()));
    const reader = await open();
    expect(await reader.take()).toBe('cut off');
    expect(api.log).toContainEqual(
      expect.objectContaining({ level: 'error', err: expect.objectContaining({ message: 'the log cannot be read' }) }),
    );
  });

  test('is not sent for HEAD', async () => {
    parts = endless;
    const { status, headers, text } = await api.call('HEAD', '/parts', { token });
    expect([status, headers.get('content-type'), text]).toStrictEqual([200, 'text/csv; charset=utf-8', '']);
  });
});
