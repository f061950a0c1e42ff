import { request } from 'node:http';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { mintToken, startServer, type ServerProcess } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * One sender, by more connections than the service takes requests, against everybody else. The
 * sender is a thread of its own, so that its work does not count as slowness of the service.
 */

let server: ServerProcess;
let token: string;
/** How others fare without an attack. */
let before: { readonly p99: number };
const secret = 'shpss_of_the_attacks';

beforeAll(async () => {
  const folder = temporaryFolder();
  server = await startServer(folder, { COMMERCE_WEBHOOK_SECRET: secret });
  token = await mintToken(folder);
  await othersFare();
  before = await othersFare();
});

interface Seen {
  readonly open: number;
  readonly opened: number;
  readonly closed: number;
  readonly retryAfter: number;
  readonly statuses: Readonly<Record<string, number>>;
}

interface Attack {
  readonly seen: () => Promise<Seen>;
}

const attacks: Worker[] = [];
afterEach(async () => {
  await Promise.all(attacks.splice(0).map((worker) => worker.terminate()));
});

const attack = (bytes: string, { count = 2_050, filler = 0 } = {}): Attack => {
  const port = Number(new URL(server.address).port);
  const worker = new Worker(new URL('../support/stalledSenders.mjs', import.meta.url), {
    workerData: { port, localAddress: '127.0.0.1', count, bytes, filler },
  });
  attacks.push(worker);
  return {
    seen: () =>
      new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage('seen');
      }),
  };
};

interface Timed {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

const get = (localAddress: string, path: string): Promise<Timed> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const headers = { authorization: `Bearer ${token}` };
    request(server.address + path, { localAddress, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - startedAt });
      });
    })
      .once('error', reject)
      .end();
  });

/** The slowest of a hundred, of requests by ten other senders, and every status that they got. */
const othersFare = async (): Promise<{ p99: number; statuses: readonly number[] }> => {
  const answers: Timed[] = [];
  for (let round = 0; round < 20; round += 1) {
    const senders = Array.from({ length: 10 }, (_, index) => `127.0.0.${index + 2}`);
    answers.push(...(await Promise.all(senders.map((sender) => get(sender, '/v1/me')))));
  }
  const times = answers.map(({ ms }) => ms).sort((one, other) => one - other);
  return { p99: times[Math.floor(times.length * 0.99)] ?? Infinity, statuses: [...new Set(answers.map(({ status }) => status))] };
};

const metric = async (pattern: RegExp): Promise<number> => {
  const { text } = await get('127.0.0.20', '/metrics');
  return Number(pattern.exec(text)?.[1] ?? Number.NaN);
};
const memory = (): Promise<number> => metric(/^process_resident_memory_bytes (\d+)/m);

const othersStatuses = async (): Promise<readonly number[]> => (await othersFare()).statuses;

const expectOthersFareWell = async (): Promise<void> => {
  const { p99, statuses } = await othersFare();
  expect(statuses).toStrictEqual([200]);
  // A machine that is busy with other things is slow without an attack too.
  expect(p99).toBeLessThan(Math.max(250, 4 * before.p99));
};

const head = (path: string, headers: string): string => `POST ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`;

describe('2,050 connections of one sender', () => {
  test('that each send the head of a request and one byte do not hold others up', async () => {
    const { seen } = attack(`${head('/oidc/token', 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 100')}x`);
    expect(await othersStatuses()).toStrictEqual([200]);
    await eventually('what has no place is closed', async () => ((await seen()).closed >= 1_850 ? true : undefined));
    await expectOthersFareWell();
    const { statuses, retryAfter } = await seen();
    expect(statuses['429']).toBeGreaterThan(1_000);
    expect(retryAfter).toBe(statuses['429']);
    expect(await metric(/^sender_limit_refusals_total\{what="connection"\} (\d+)/m)).toBeGreaterThan(1_000);
  });

  test('that send no request at all neither', async () => {
    const { seen } = attack('');
    expect(await othersStatuses()).toStrictEqual([200]);
    await eventually('no more than have a place', async () => {
      const { opened, open } = await seen();
      return opened >= 2_050 && open <= 200 ? true : undefined;
    });
    await expectOthersFareWell();
  });
});

describe('400 webhooks, each but for its last byte', () => {
  const bodyBytes = 600_000;
  const sent = { count: 400, filler: bodyBytes - 1 };
  const webhook = (signature: string): string =>
    head('/webhooks/commerce?websiteId=w', `${signature}content-length: ${bodyBytes}`);

  test.each([
    ['unsigned', ''],
    ['with an invented signature', `x-shopify-hmac-sha256: ${'A'.repeat(43)}=\r\n`],
  ])('%s, cost little memory', async (_, signature) => {
    const bytesBefore = await memory();
    const { seen } = attack(webhook(signature), sent);
    await eventually('the attack', async () => ((await seen()).opened >= 400 ? true : undefined));
    await eventually('an answer to each', async () => {
      const { statuses, closed } = await seen();
      return closed >= 200 || (statuses['401'] ?? 0) + (statuses['429'] ?? 0) >= 400 ? true : undefined;
    });
    expect((await memory()) - bytesBefore).toBeLessThan(100 * 1_048_576);
  });
});
