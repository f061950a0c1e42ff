import { expect, test } from '@jest/globals';
import { createProviderHttp } from '../../src/integrations/http.js';
import { systemRandom } from '../../src/platform/random.js';
import { collectLogs } from '../support/logs.js';
import { createTestClock } from '../support/testClock.js';

test('a provider that asks to wait for years is tried again after an hour', async () => {
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
      const answer =
        asked === 1 ? new Response('', { status: 429, headers: { 'retry-after': '999999999' } }) : new Response('{}');
      return Promise.resolve(answer);
    },
  });
  const get = () => ask({ method: 'GET', url: 'https://example.com/' });
  await expect(get()).rejects.toMatchObject({ transient: true, retryAfterMs: 3_600_000 });
  await clock.advance(3_590_000);
  await expect(get()).rejects.toMatchObject({ retryAfterMs: 10_000 });
  expect(asked).toBe(1);
  await clock.advance(10_000);
  expect((await get()).status).toBe(200);
});
