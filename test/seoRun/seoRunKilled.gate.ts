import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, jest, test } from '@jest/globals';
import { START } from '../../src/events/store/eventStore.js';
import { eventually } from '../support/eventually.js';
import { onFolder } from '../support/onFolder.js';
import { temporaryFolder } from '../support/temporary.js';
import { makeWebsite } from './seoInstallation.js';

jest.setTimeout(90_000);

const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const children = new Set<ChildProcess>();
const kill = async (child: ChildProcess): Promise<void> => {
  if (!children.delete(child) || child.exitCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'close');
};
afterAll(async () => {
  await Promise.all([...children].map(kill));
});

/**
 * In a zone that no whole hour leads to from UTC, so that a schedule read in local time names no
 * time within the last hour.
 */
const launch = (dataDir: string, schedule: string): ChildProcess => {
  const child = spawn(
    process.execPath,
    ['--import', beside('../support/eventStoreTypescript.mjs'), beside('../support/seoRunProcess.ts'), dataDir, schedule],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, TZ: 'Asia/Kathmandu' } },
  );
  children.add(child);
  return child;
};

test('killed in the middle of a run, the calendar asks for each website once', async () => {
  const dataDir = temporaryFolder();
  await onFolder(dataDir, async (engine) => {
    const slugs = Array.from({ length: 300 }, (_, index) => `site-${String(index)}`);
    const websites = await Promise.all(slugs.map((slug) => makeWebsite(engine, slug)));
    const of = async (types: readonly string[]) =>
      (await engine.eventStore.readAll({ after: START, max: 2_000, filter: { types } })).events;
    const asked = async () => (await of(['SeoScanRequested'])).map(({ data }) => data.websiteId);
    const isOver = async () => (await of(['SeoRunCompleted'])).length > 0;

    const now = new Date(Date.now() - 60_000);
    const schedule = `${String(now.getUTCMinutes())} ${String(now.getUTCHours())} * * *`;
    const first = launch(dataDir, schedule);
    await eventually('requests', async () => ((await asked()).length >= 50 ? true : undefined));
    await kill(first);
    expect(await isOver()).toBe(false);

    const last = launch(dataDir, schedule);
    await eventually('the end of the run', async () => ((await isOver()) ? true : undefined));
    await kill(last);
    expect((await asked()).sort()).toStrictEqual(websites.sort());
    expect((await of(['SeoRunDue', 'SeoRunCompleted'])).map(({ type }) => type)).toStrictEqual(['SeoRunDue', 'SeoRunCompleted']);
    expect((await of(['SeoRunStarted'])).map(({ data }) => data.attempt)).toStrictEqual([1, 2]);
  });
});
