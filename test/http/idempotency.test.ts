import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { Type } from 'typebox';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { PersonalText } from '../../src/http/personalFields.js';
import type { RouteRequest } from '../../src/http/route.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type ApiOptions, type RunningApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';
import { createShiftedClock } from '../support/shiftedClock.js';
import { createTestClock } from '../support/testClock.js';

/** What the handler was called with, call by call. */
const calls: { commandId: string; secret: string }[] = [];
/** What the next calls do instead of answering. */
const surprises: (() => Promise<void>)[] = [];

const clock = createShiftedClock();

const once = async (request: RouteRequest): Promise<{ status: number; body: unknown }> => {
  const { context, secret, body } = request;
  const number = calls.push({ commandId: context.commandId, secret: Buffer.from(secret).toString('hex') });
  await surprises.shift()?.();
  return { status: 201, body: { number, body } };
};

const options: ApiOptions = {
  clock,
  projector: false,
  routes: () => [
    probe({
      method: 'post',
      path: '/orders',
      body: Type.Object({ item: Type.String() }),
      refusals: ['slug_taken'],
      answer: once,
    }),
    probe({ method: 'post', path: '/other-orders', body: Type.Object({ item: Type.String() }), answer: once }),
    probe({ method: 'post', path: '/orders/:id/cancel', answer: once }),
    probe({ method: 'put', path: '/orders', ifMatch: 'honoured', body: Type.Object({ item: Type.String() }), answer: once }),
    probe({ method: 'patch', path: '/orders', body: Type.Object({ item: Type.String() }), answer: once }),
    probe({ method: 'delete', path: '/orders', answer: once }),
    probe({
      method: 'post',
      path: '/secrets',
      body: Type.Object({ item: Type.String() }),
      answer: async (request) => ({ ...(await once(request)), body: { token: 'canary-77' } }),
    }),
    probe({
      method: 'post',
      path: '/unstorable',
      body: Type.Object({ item: Type.String() }),
      answers: { 201: { description: 'Done.', schema: Type.Object({ text: PersonalText }) } },
      // The text is not among the answer's `people`.
      answer: async (request) => ({ ...(await once(request)), body: { text: 'For Ada' } }),
    }),
  ],
};

let api: RunningApi;
let token: string;

beforeAll(async () => {
  api = await startApi(options);
  token = await api.mintToken();
});

beforeEach(() => {
  calls.length = 0;
  surprises.length = 0;
});

let keys = 0;
const newKey = (): string => `key-${(keys += 1)}`;

const order = (key: string, item = 'bread', { path = '/orders', as = token, at = api } = {}): Promise<ApiAnswer> =>
  at.call('POST', path, { token: as, body: { item }, headers: { 'idempotency-key': key } });

/** A promise that a test settles. */
const gate = (): { readonly opened: Promise<void>; readonly open: () => void } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    open: () => {
      open();
    },
  };
};

/** Renewals of a lease, and looks at those of others, happen when a test lets time pass. */
const timers = createTestClock(clock.now());
const timed = (aheadMs = 0): Clock => ({
  now: () => timers.now() + aheadMs,
  schedule: (ms, task) => (ms === 1_500 || ms === 100 ? timers : systemClock).schedule(ms, task),
});

/** Lets 100 ms pass, once `count` processes that renew or look are waiting. */
const pass = async (count: number): Promise<void> => {
  await eventually(`${String(count)} that wait`, () => (timers.pending() === count ? true : undefined));
  await timers.advance(100);
};

// Timers run a hundred times as fast, so that whoever waits looks at the clock again soon.
const hurried: Clock = { now: () => clock.now(), schedule: (ms, task) => systemClock.schedule(ms / 100, task) };

const storedCommands = (): readonly string[] => {
  const file = new DatabaseSync(join(api.folder, 'records.db'), { readOnly: true });
  try {
    const rows = file.prepare("SELECT value FROM record WHERE collection = 'idempotency'").all() as { value: string }[];
    return rows.map(({ value }) => value);
  } finally {
    file.close();
  }
};

describe('the same request with the same key', () => {
  test('gets the first answer again, and runs once', async () => {
    const key = newKey();
    const first = await order(key);
    const second = await order(key);
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect([second.status, second.text]).toStrictEqual([first.status, first.text]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(calls).toHaveLength(1);
  });

  test('ten times at once: one runs, all get its answer', async () => {
    // Who waits for another request of this process schedules the end of its waiting.
    const scheduled: number[] = [];
    const at = await startApi({
      ...options,
      folder: api.folder,
      clock: {
        now: () => clock.now(),
        schedule: (ms, task) => {
          scheduled.push(ms);
          return clock.schedule(ms, task);
        },
      },
    });
    const inserted: string[] = [];
    const { durableRecords: records } = at.engine.readModels;
    const insert = records.insert.bind(records);
    records.insert = (collection, ...record) => {
      inserted.push(collection);
      return insert(collection, ...record);
    };
    const key = newKey();
    const { opened, open } = gate();
    surprises.push(() => opened);
    const answers = Array.from({ length: 10 }, () => order(key, 'bread', { at }));
    await eventually('nine that wait', () =>
      scheduled.filter((ms) => ms > 9_000 && ms <= 10_000).length >= 9 ? true : undefined,
    );
    // They ask nothing of the store meanwhile.
    expect([calls.length, inserted]).toStrictEqual([1, ['idempotency']]);
    open();
    const texts = new Set((await Promise.all(answers)).map(({ status, text }) => `${status} ${text}`));
    expect([...texts]).toStrictEqual(['201 {"number":1,"body":{"item":"bread"}}']);
    expect(calls).toHaveLength(1);
    await at.stop();
  });

  test('on another instance gets the first answer, also while the first is still under way', async () => {
    const other = await startApi({ ...options, folder: api.folder });
    const key = newKey();
    const { opened, open } = gate();
    surprises.push(() => opened);
    const first = order(key);
    await eventually('the first call', () => (calls.length === 1 ? true : undefined));
    const second = order(key, 'bread', { at: other });
    open();
    expect((await first).text).toBe((await second).text);
    expect((await second).headers.get('idempotent-replayed')).toBe('true');
    expect(calls).toHaveLength(1);
    await other.stop();
  });

  test('gets the same refusal again', async () => {
    const key = newKey();
    surprises.push(() => Promise.reject(new Refused(refusals.slugTaken())));
    const first = await order(key);
    const second = await order(key);
    expect(first.body).toStrictEqual({
      error: 'slug already exists',
      code: 'slug_taken',
      details: [{ field: 'slug', issue: 'already exists' }],
    });
    expect([second.status, second.text]).toStrictEqual([400, first.text]);
    expect(calls).toHaveLength(1);
  });

  test('after a fault runs again, as the same command with the same secret', async () => {
    const key = newKey();
    surprises.push(() => Promise.reject(new Error('broken')));
    expect((await order(key)).status).toBe(500);
    const second = await order(key);
    expect(second.status).toBe(201);
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    expect(calls).toHaveLength(2);
    expect(calls[1]).toStrictEqual(calls[0]);
    expect((await order(key)).headers.get('idempotent-replayed')).toBe('true');
  });

  test('after an answer that could not be stored runs again at once, as the same command', async () => {
    const key = newKey();
    for (let count = 0; count < 2; count += 1) {
      const { status, headers } = await order(key, 'bread', { path: '/unstorable' });
      expect([status, headers.get('idempotent-replayed')]).toStrictEqual([201, null]);
    }
    expect(calls).toHaveLength(2);
    expect(calls[1]).toStrictEqual(calls[0]);
    expect(api.log.filter(({ msg }) => msg === 'an answer could not be stored for its Idempotency-Key')).toHaveLength(2);
  });

  test('after its instance fell asleep runs again, as the same command, and the sleeper’s answer is not kept', async () => {
    // Nothing that it put off for later happens.
    const asleep: Clock = { now: () => clock.now(), schedule: () => () => undefined };
    const sleeper = await startApi({ ...options, folder: api.folder, clock: asleep });
    const key = newKey();
    const { opened, open } = gate();
    surprises.push(() => opened);
    const first = order(key, 'bread', { at: sleeper });
    await eventually('the first call', () => (calls.length === 1 ? true : undefined));
    const awake = await startApi({ ...options, folder: api.folder, clock: timed() });
    const answered = order(key, 'bread', { at: awake });
    for (let passed = 0; passed < 5_000; passed += 100) {
      expect(calls).toHaveLength(1);
      await pass(1);
    }
    const second = await answered;
    expect(second).toMatchObject({ status: 201, body: { number: 2 } });
    expect(calls[1]).toStrictEqual(calls[0]);

    open();
    expect((await first).text).toBe(second.text);
    expect((await first).headers.get('idempotent-replayed')).toBe('true');
    expect((await order(key)).text).toBe(second.text);
    expect(calls).toHaveLength(2);
    await awake.stop();
    await sleeper.stop();
  });

  test.each([
    ['the same', 0],
    ['an hour ahead', 3_600_000],
    ['an hour behind', -3_600_000],
  ])('that takes long is not run meanwhile by another instance whose clock is %s', async (_what, aheadMs) => {
    const [at, other] = await Promise.all(
      [0, aheadMs].map((ms) => startApi({ ...options, folder: api.folder, clock: timed(ms) })),
    );
    const key = newKey();
    const { opened, open } = gate();
    surprises.push(() => opened);
    const first = order(key, 'bread', { at });
    await eventually('the first call', () => (calls.length === 1 ? true : undefined));
    for (let passed = 0; passed < 20_000; passed += 100) await pass(1);
    const second = order(key, 'bread', { at: other });
    for (let passed = 0; passed < 9_000; passed += 100) await pass(2);
    open();
    const { text } = await first;
    await pass(1);
    expect((await second).text).toBe(text);
    expect((await second).headers.get('idempotent-replayed')).toBe('true');
    expect(calls).toHaveLength(1);
    await at?.stop();
    await other?.stop();
  });

  test('gives up waiting for one that takes too long: 503', async () => {
    const at = await startApi({ ...options, folder: api.folder, clock: hurried });
    const key = newKey();
    const { opened, open } = gate();
    surprises.push(() => opened);
    const first = order(key, 'bread', { at });
    await eventually('the first call', () => (calls.length === 1 ? true : undefined));
    let second: ApiAnswer | undefined;
    const waiting = order(key, 'bread', { at }).then((answer) => {
      second = answer;
    });
    await eventually('the second answer', () => {
      clock.shift(1_000);
      return second;
    });
    expect(second?.status).toBe(503);
    expect(second?.headers.get('retry-after')).toBe('1');
    expect(calls).toHaveLength(1);
    open();
    expect((await first).status).toBe(201);
    await waiting;
    await at.stop();
  });

  test('after 24 hours is a new one', async () => {
    const key = newKey();
    await order(key);
    clock.shift(86_400_000 - 1_000);
    expect((await order(key)).headers.get('idempotent-replayed')).toBe('true');
    clock.shift(2_000);
    expect((await order(key)).headers.get('idempotent-replayed')).toBeNull();
    expect(calls).toHaveLength(2);
  });
});

describe('the key', () => {
  test('with another body: 400', async () => {
    const key = newKey();
    await order(key);
    const answer = await order(key, 'cake');
    expect(answer.status).toBe(400);
    expect(answer.body).toStrictEqual({
      error: 'Idempotency-Key was used with a different request',
      code: 'idempotency_key_reused',
      details: null,
    });
    expect(calls).toHaveLength(1);
  });

  test('with another query: 400', async () => {
    const key = newKey();
    await order(key);
    expect((await order(key, 'bread', { path: '/orders?x=1' })).status).toBe(400);
  });

  test('of another caller, or on another path, is another key', async () => {
    const key = newKey();
    await order(key);
    const somebody = await api.mintToken({ subject: 'somebody' });
    const client = await api.mintToken({ role: 'client' });
    for (const input of [{ as: somebody }, { as: client }, { path: '/other-orders' }]) {
      expect((await order(key, 'bread', input)).headers.get('idempotent-replayed')).toBeNull();
    }
    expect(calls).toHaveLength(4);
  });

  test.each(['PUT', 'PATCH', 'DELETE'])('works with %s', async (method) => {
    const headers = { 'idempotency-key': newKey() };
    const send = (): Promise<ApiAnswer> =>
      api.call(method, '/orders', { token, headers, ...(method !== 'DELETE' && { body: { item: 'x' } }) });
    const [first, second] = [await send(), await send()];
    expect([second.status, second.text]).toStrictEqual([first.status, first.text]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(calls).toHaveLength(1);
  });

  test('gets the first answer again whatever its If-Match', async () => {
    const key = newKey();
    const send = (ifMatch: string): Promise<ApiAnswer> =>
      api.call('PUT', '/orders', { token, body: { item: 'x' }, headers: { 'idempotency-key': key, 'if-match': ifMatch } });
    expect((await send('"1-a"')).text).toBe((await send('"2-b"')).text);
    expect(calls).toHaveLength(1);
  });

  test('is not used up by a request that was wrong, nor by a dry run', async () => {
    const key = newKey();
    const headers = { 'idempotency-key': key };
    expect((await api.call('POST', '/orders', { token, body: { item: 1 }, headers })).status).toBe(400);
    expect((await api.call('POST', '/orders?dryRun=1', { token, body: { item: 'x' }, headers })).body).toStrictEqual({
      events: [],
    });
    expect((await order(key)).status).toBe(201);
  });

  test('works without a body', async () => {
    const headers = { 'idempotency-key': newKey() };
    const cancel = (): Promise<ApiAnswer> => api.call('POST', '/orders/1/cancel', { token, headers });
    expect((await cancel()).text).toBe((await cancel()).text);
    expect(calls).toHaveLength(1);
  });

  test.each([
    ['empty', ''],
    ['of 256 characters', 'x'.repeat(256)],
    ['with a letter that is not ASCII', 'cl\u00e9'],
  ])('%s: 400', async (_what, key) => {
    const answer = await order(key);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: 'Invalid headers — Idempotency-Key: must be 1 to 255 printable ASCII characters',
    });
  });

  test.each([
    ['of 255 characters', 'x'.repeat(255)],
    ['with a blank', '"the first order"'],
  ])('%s is taken', async (_what, key) => {
    expect((await order(key)).status).toBe(201);
    expect((await order(key)).headers.get('idempotent-replayed')).toBe('true');
  });
});

test('without a key every request is another command with another secret', async () => {
  for (let count = 0; count < 2; count += 1) await api.call('POST', '/orders', { token, body: { item: 'x' } });
  expect(calls).toHaveLength(2);
  expect(calls[0]?.commandId).not.toBe(calls[1]?.commandId);
  expect(calls[0]?.secret).not.toBe(calls[1]?.secret);
});

test('a kept answer is not readable where it is kept', async () => {
  const key = newKey();
  const answers = [await order(key, 'bread', { path: '/secrets' }), await order(key, 'bread', { path: '/secrets' })];
  expect(answers.map(({ text }) => text)).toStrictEqual(['{"token":"canary-77"}', '{"token":"canary-77"}']);
  const kept = storedCommands().join();
  expect(kept).toContain('"reply":');
  expect(kept).not.toContain('canary-77');
  expect(kept).not.toContain(Buffer.from('canary-77').toString('base64').slice(0, 10));
});
