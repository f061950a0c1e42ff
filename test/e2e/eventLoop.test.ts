import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { createWebsite, invite, nothingYet, relabel } from '../support/acknowledged.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** Measured beside the service: what a process that does nothing sees of a busy machine. */
const idleDelay = async (signal: AbortSignal): Promise<number> => {
  const program = `
    const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    process.on('SIGTERM', () => { console.log(delay.percentile(99) / 1e6); process.exit(); });
    setInterval(() => {}, 1000);
  `;
  const running = promisify(execFile)(process.execPath, ['--eval', program]);
  signal.addEventListener('abort', () => running.child.kill('SIGTERM'));
  return Number((await running).stdout);
};

test('websites are built and mails are sent without holding the event loop, from the first mail on', async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const server = await startServer(dataDir);
  const api = createApi(server.address, token);
  const done = nothingYet();

  /** In milliseconds, since it was asked before. */
  const delay = async (): Promise<number> => {
    const metrics = await (await fetch(`${server.address}/metrics`)).text();
    return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(metrics)?.[1]) * 1_000;
  };
  const activeWebsites = (count: number): Promise<unknown> =>
    eventually(`${String(count)} active websites`, async () => {
      const active = (await api.get('/websites?status=active')).body as readonly unknown[];
      return active.length === count ? true : undefined;
    });
  // The first one loads the code that builds.
  await createWebsite(api, done, 'first');
  await activeWebsites(1);
  await delay();
  const stop = new AbortController();
  const idle = idleDelay(stop.signal);
  try {
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
  } finally {
    stop.abort();
  }
  // A machine that is busy with other tests delays every process.
  expect(await delay()).toBeLessThan(Math.max(50, 5 * (await idle)));
}, 60_000);
