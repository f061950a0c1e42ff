import { expect, test } from '@jest/globals';
import { probe } from '../../src/workers/seo/probes.js';
import type { Site } from '../../src/workers/seo/crawl.js';
import { createTestClock } from '../support/testClock.js';

const site: Site = {
  url: 'https://bakery.example/',
  pages: [],
  complete: true,
  brokenLinks: [],
  robots: { found: true, blocksHome: false },
  sitemap: { found: true, valid: true, missing: [] },
};

test('a model that is too slow for all questions fails the probes, in time for the scan', async () => {
  const clock = createTestClock();
  let asked = 0;
  const slowly = (): Promise<string> =>
    new Promise((resolve) => {
      asked += 1;
      clock.schedule(90_000, () => {
        resolve('Who bakes? And where? When?\nWhat else?');
      });
    });
  const probing = probe({ provider: 'LLM gateway', ask: slowly }, 'Corner Bakery', site, clock);
  await clock.advance(200_000);
  expect(await probing).toStrictEqual({
    status: 'failed',
    reason: 'LLM gateway did not answer all questions within 200 s',
    answers: [],
  });
  await clock.advance(1_000_000);
  expect([asked, clock.pending()]).toStrictEqual([3, 0]);
});

test('nothing waits once a model has answered', async () => {
  const clock = createTestClock();
  const probes = await probe({ provider: 'LLM gateway', ask: () => Promise.resolve('Who bakes?') }, 'Corner Bakery', site, clock);
  expect([probes.status, clock.pending()]).toStrictEqual(['answered', 0]);
});
