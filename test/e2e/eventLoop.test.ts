import { expect, test } from '@jest/globals';
import { createWebsite, invite, nothingYet, relabel } from '../support/acknowledged.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { inStorm } from '../support/storm.js';
import { temporaryFolder } from '../support/temporary.js';

/** In milliseconds. Other tests on the same cores delay the service too; `long` runs alone. */
const maxP99 = inStorm({ short: 400, gate: 400, long: 50 });
/** Compiling the first mail took 2,500. */
const maxDelay = 1_000;

test('websites are built and mails are sent without holding the event loop, from the first mail on', async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const server = await startServer(dataDir);
  const api = createApi(server.address, token);
  const done = nothingYet();

  /** In milliseconds, since it was asked before. */
  const delays = async (): Promise<{ readonly p99: number; readonly max: number }> => {
    const metrics = await (await fetch(`${server.address}/metrics`)).text();
    const read = (name: string): number =>
      Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(metrics)?.[1]) * 1_000;
    return { p99: read('p99'), max: read('max') };
  };
  const activeWebsites = (count: number): Promise<unknown> =>
    eventually(`${String(count)} active websites`, async () => {
      const active = (await api.get('/websites?status=active')).body as readonly unknown[];
      return active.length === count ? true : undefined;
    });
  // The first one loads the code that builds.
  await createWebsite(api, done, 'first');
  await activeWebsites(1);
  await delays();
  await Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      await createWebsite(api, done, `lane-${String(lane)}`);
      const website = done.websites.get(`site-lane-${String(lane)}`);
      for (let step = 0; step < 25; step += 1) {
        const unique = `${String(lane)}-${String(step)}`;
        await invite(api, done, website?.id ?? '', unique);
        await relabel(api, done, website?.id ?? '', unique);
      }
    }),
  );
  await activeWebsites(5);
  await eventually('all mails', async () => {
    const mails = (await api.get('/outbox?limit=200')).body as readonly unknown[];
    return mails.length === 100 ? true : undefined;
  });
  const { p99, max } = await delays();
  expect(p99).toBeLessThan(maxP99);
  expect(max).toBeLessThan(maxDelay);
}, 60_000);
