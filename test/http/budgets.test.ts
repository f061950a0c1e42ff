import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createBudgets } from '../../src/http/budgets.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';
import { createShiftedClock } from '../support/shiftedClock.js';

const clock = createShiftedClock();
let api: RunningApi;
let tokens: string[];

beforeAll(async () => {
  api = await startApi({
    clock,
    projector: false,
    environment: { RATE_LIMIT: '3/s' },
    routes: () => [
      probe({ path: '/things' }),
      probe({ method: 'post', path: '/things' }),
      probe({ path: '/open', access: 'public' }),
      probe({ path: '/vital', access: 'public', vital: true }),
    ],
  });
  tokens = [await api.mintToken(), await api.mintToken()];
});

// A second without requests fills every budget.
beforeEach(() => {
  clock.shift(1_000);
});

const times = async (count: number, ask: () => Promise<ApiAnswer>): Promise<readonly ApiAnswer[]> => {
  const answers: ApiAnswer[] = [];
  for (let index = 0; index < count; index += 1) answers.push(await ask());
  return answers;
};
const statuses = (answers: readonly ApiAnswer[]): readonly number[] => answers.map(({ status }) => status);
const read = (token = tokens[0] ?? '', method = 'GET') => api.call(method, '/things', { token });

describe('RATE_LIMIT', () => {
  test('beyond it: 429, which says when to come back; a second later there is room again', async () => {
    // The clock runs on: enough requests for more than one budget.
    const answers = await times(40, read);
    const refused = answers.find(({ status }) => status === 429);
    expect(statuses(answers.slice(0, 3))).toStrictEqual([200, 200, 200]);
    expect(refused?.body).toStrictEqual({
      error: 'Too many requests: at most 3 a second',
      code: 'rate_limit_exceeded',
      details: null,
    });
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(refused?.headers.get('ratelimit')).toMatch(/^"caller";r=0;t=1$/);
    clock.shift(1_000);
    expect((await read()).status).toBe(200);
  });

  test('repositories are counted too, with a token and with a wrong one', async () => {
    for (const token of [tokens[0] ?? '', 'svc_pat_wrong']) {
      clock.shift(1_000);
      const path = '/git/none.git/info/refs?service=git-upload-pack';
      const answers = await times(40, () => api.call('GET', path, { headers: { authorization: `Bearer ${token}` } }));
      const first = token === tokens[0] ? 404 : 401;
      expect(statuses(answers.slice(0, 3))).toStrictEqual([first, first, first]);
      expect(answers[0]?.headers.get('ratelimit')).toBe('"caller";r=2;t=1');
      expect(statuses(answers)).toContain(429);
    }
  });

  test('every answer says what there is and what is left', async () => {
    const [first] = await times(1, read);
    expect(first?.headers.get('ratelimit-policy')).toBe('"caller";q=3;w=1');
    expect(first?.headers.get('ratelimit')).toBe('"caller";r=2;t=1');
  });

  test('each token has its own, and what has no valid credential that of its sender', async () => {
    expect(statuses(await times(40, read))).toContain(429);
    expect((await read(tokens[1])).status).toBe(200);
    const anonymous = await times(40, () => read('nonsense'));
    expect(anonymous[0]?.status).toBe(401);
    expect(statuses(anonymous)).toContain(429);
    expect((await api.call('GET', '/open')).headers.get('ratelimit')).toMatch(/^"caller";r=[01];/);
  });

  test('an admin who asks as somebody else spends their own', async () => {
    const email = 'owner@budget.example';
    const theirs = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
    const viewed = await times(40, () => api.call('GET', `/things?as=${email}`, { token: tokens[0] ?? '' }));
    expect(statuses(viewed.slice(0, 3))).toStrictEqual([200, 200, 200]);
    expect(statuses(viewed)).toContain(429);
    expect((await read()).headers.get('ratelimit')).toMatch(/^"caller";r=[01];/);
    expect((await read(theirs)).headers.get('ratelimit')).toBe('"caller";r=2;t=1');
  });

  test('health and metrics are not counted', async () => {
    const answers = await times(20, () => api.call('GET', '/vital'));
    expect([...new Set(statuses(answers))]).toStrictEqual([200]);
    expect(answers[0]?.headers.get('ratelimit')).toBeNull();
  });

  test('there is none by default', async () => {
    const free = await startApi({ projector: false, routes: () => [probe({ path: '/open', access: 'public' })] });
    expect((await free.call('GET', '/open')).headers.get('ratelimit')).toBeNull();
  });
});

describe('a budget', () => {
  test('fills with time, and never beyond its size, also when the clock is set back', () => {
    let now = 0;
    const spend = createBudgets({ now: () => now }, 2);
    const left = (): string | undefined => spend('a').headers.ratelimit;
    expect([left(), left(), spend('a').isExceeded]).toStrictEqual(['"caller";r=1;t=1', '"caller";r=0;t=1', true]);
    now = 500;
    expect([spend('a').isExceeded, spend('a').isExceeded]).toStrictEqual([false, true]);
    now = 0;
    expect(spend('a').isExceeded).toBe(true);
    now = 60_000;
    expect([left(), left(), spend('a').isExceeded]).toStrictEqual(['"caller";r=1;t=1', '"caller";r=0;t=1', true]);
  });
});
