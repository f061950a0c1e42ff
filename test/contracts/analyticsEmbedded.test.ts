import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { createPageCounter, type PageCounter } from '../../src/integrations/analytics/embedded.js';
import { openTallies } from '../../src/integrations/analytics/tallies.js';
import type { PageRequest } from '../../src/integrations/analytics/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock, type TestClock } from '../support/testClock.js';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1';
const logger = createLogger({ level: 'silent' });
const dayMs = 86_400_000;

let file: string;
let clock: TestClock;
let counter: PageCounter;
const counters: PageCounter[] = [];

const openCounter = (): PageCounter => {
  const opened = createPageCounter({ file, clock, random: systemRandom, logger });
  counters.push(opened);
  return opened;
};

beforeEach(() => {
  file = join(temporaryFolder(), 'analytics.db');
  clock = createTestClock(Date.UTC(2026, 2, 1, 12));
  counter = openCounter();
});
afterEach(() => {
  for (const opened of counters.splice(0)) opened.close();
});

const visit = (view: Partial<PageRequest> & { agent?: string; referer?: string } = {}, by = counter): void => {
  const { agent = firefox, referer, headers = {}, ...request } = view;
  const all = { host: 'bakery.example', 'user-agent': agent, ...(referer !== undefined && { referer }), ...headers };
  by.count({ project: 'bakery', path: '/', query: '', peer: '93.184.216.7', ...request, headers: all });
};

const report = (from = '2026-03-01', to = from, project = 'bakery', by = counter) =>
  by.report({ site: { url: 'http://localhost/sites/bakery/', project }, from, to });

const tables = (sql: string): unknown[] => {
  const database = new DatabaseSync(file);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
};

describe('the counter of page views', () => {
  test('counts every view, and each visitor once a day', async () => {
    visit();
    visit({ path: '/prices/' });
    visit({ path: '/prices/', agent: safari });
    visit({ path: '/prices/', peer: '93.184.216.8' });
    await clock.advance(dayMs);
    visit();
    expect(await report('2026-02-28', '2026-03-02')).toStrictEqual({
      visitors: 4,
      pageviews: 5,
      series: [
        { date: '2026-02-28', visitors: 0, pageviews: 0 },
        { date: '2026-03-01', visitors: 3, pageviews: 4 },
        { date: '2026-03-02', visitors: 1, pageviews: 1 },
      ],
      topPages: [
        { page: '/prices/', visitors: 3, pageviews: 3 },
        { page: '/', visitors: 2, pageviews: 2 },
      ],
      sources: [{ source: 'Direct / None', visitors: 4 }],
    });
  });

  test('counts each site separately', async () => {
    visit();
    visit({ project: 'butcher' });
    expect((await report()).pageviews).toBe(1);
    expect((await report('2026-03-01', '2026-03-01', 'baker')).pageviews).toBe(0);
  });

  test('forgets the visitors of one site, those not yet written too', async () => {
    visit();
    await report();
    visit({ path: '/prices/' });
    visit({ project: 'butcher' });
    await counter.forget('bakery');
    expect(await report()).toMatchObject({ visitors: 0, pageviews: 0, topPages: [], sources: [] });
    expect((await report('2026-03-01', '2026-03-01', 'butcher')).pageviews).toBe(1);
    // Who came to the former site is a new visitor of the next one.
    visit();
    expect(await report()).toMatchObject({ visitors: 1, pageviews: 1 });
    await counter.forget('bakery');
    await counter.forget('bakery');
    expect(tables("SELECT 1 FROM tally WHERE site = 'bakery' UNION ALL SELECT 1 FROM seen WHERE site = 'bakery'")).toEqual([]);
  });

  test('forgets a site with more pages than one transaction deletes', async () => {
    for (let page = 0; page < 1_500; page += 1)
      visit({ path: `/${String(page)}/`, peer: `93.184.${String(page >> 8)}.${String(page & 255)}` });
    await counter.forget('bakery');
    expect(await report()).toMatchObject({ visitors: 0, pageviews: 0 });
  });

  test.each([
    ['a link that names itself', { query: 'utm_source=newsletter&x=1', referer: 'https://www.google.com/' }, 'newsletter'],
    ['the referring site', { referer: 'https://www.google.com/search?q=bread' }, 'google.com'],
    ['nothing', {}, 'Direct / None'],
    ['an invalid referrer', { referer: 'android-app://com.example' }, 'Direct / None'],
    ['a page of the same site', { referer: 'http://bakery.example/prices' }, undefined],
  ])('finds the source of a visitor by %s', async (_, view, source) => {
    visit(view);
    expect((await report()).sources).toStrictEqual(source === undefined ? [] : [{ source, visitors: 1 }]);
  });

  test.each([
    ['Googlebot', { agent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }],
    ['a program', { agent: 'curl/8.0' }],
    ['an empty user agent', { agent: '' }],
    ['a headless browser', { agent: `${firefox} HeadlessChrome/130.0` }],
    ['a prefetch', { headers: { 'sec-purpose': 'prefetch;prerender' } }],
  ])('does not count %s', async (_, view) => {
    visit(view);
    expect((await report()).pageviews).toBe(0);
  });

  test('distinguishes visitors behind our own proxy, and ignores the header of others', async () => {
    const via = (address: string) => ({ headers: { 'x-forwarded-for': `8.8.8.8, ${address}` } });
    visit({ peer: '::ffff:10.0.0.1', ...via('93.184.216.1') });
    visit({ peer: '127.0.0.1', ...via('93.184.216.2') });
    visit({ peer: '93.184.216.9', ...via('93.184.216.3') });
    visit({ peer: '93.184.216.9', ...via('93.184.216.4') });
    expect(await report()).toMatchObject({ visitors: 3, pageviews: 4 });
  });

  test('writes views after a second, and has them after a restart', async () => {
    visit();
    await clock.advance(1_000);
    expect(tables("SELECT visitors FROM tally WHERE kind = 'day'")).toEqual([{ visitors: 1 }]);
    counters.splice(0).forEach((each) => {
      each.close();
    });
    counter = openCounter();
    visit();
    expect(await report()).toMatchObject({ visitors: 1, pageviews: 2 });
  });

  test('counts a visitor of two processes once', async () => {
    const other = openCounter();
    visit();
    visit({}, other);
    await clock.advance(1_000);
    expect(await report()).toMatchObject({ visitors: 1, pageviews: 2 });
  });

  test('deletes salts and hashes after the day', async () => {
    for (let index = 0; index < 1_100; index += 1) visit({ peer: `93.184.${index >> 8}.${index & 255}` });
    await report();
    expect(tables('SELECT count(*) AS salts FROM salt')).toEqual([{ salts: 1 }]);
    await clock.advance(dayMs);
    // The rest is deleted in batches.
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(0);
    expect(tables('SELECT count(*) AS salts FROM salt')).toEqual([{ salts: 0 }]);
    expect(tables('SELECT count(*) AS hashes FROM seen')).toEqual([{ hashes: 0 }]);
    expect(await report()).toMatchObject({ visitors: 1_100, pageviews: 1_100 });
  });

  test('deletes counts after two years, of any number of sites, a bounded part at a time', () => {
    const tallies = openTallies(file, systemRandom);
    const view = (project: string, day: string, page: number) => ({ project, day, page: `/${page}/`, visitor: 'v' });
    const pages = Array.from({ length: 1_100 }, (_, page) => page);
    const old = [...pages.map((page) => view('bakery', '2024-02-01', page)), view('butcher', '2024-02-01', 0)];
    tallies.add([...old, ...['bakery', 'butcher', 'cobbler'].map((project) => view(project, '2026-02-01', 0))]);
    // Only the counts are looked at.
    const counts = () => (tables('SELECT count(*) AS counts FROM tally') as [{ counts: number }])[0].counts;
    const left = [counts()];
    while (tallies.deleteExpired('2026-03-01')) left.push(counts());
    tallies.close();
    const deleted = left.map((count, index) => (left[index - 1] ?? count) - count);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(1_000);
    expect(tables('SELECT site FROM tally GROUP BY site, day')).toEqual([
      { site: 'bakery' },
      { site: 'butcher' },
      { site: 'cobbler' },
    ]);
    expect(tables('SELECT DISTINCT day FROM tally')).toEqual([{ day: '2026-02-01' }]);
  });

  test('never stores an address or a user agent', async () => {
    visit({ peer: '93.184.216.77', agent: `${firefox} canary` });
    await report();
    const bytes = Buffer.concat([readFileSync(file), readFileSync(`${file}-wal`)]).toString('latin1');
    expect(bytes).toContain('bakery');
    expect(bytes).not.toContain('93.184.216.77');
    expect(bytes).not.toContain('canary');
  });

  test('lists a limited number of pages, and counts the rest together', async () => {
    for (let index = 0; index < 1_050; index += 1) visit({ path: `/${index}`, agent: `${firefox} ${index}` });
    const { topPages, pageviews } = await report();
    expect(pageviews).toBe(1_050);
    expect(topPages).toHaveLength(20);
    expect(topPages[0]).toStrictEqual({ page: '(other)', visitors: 50, pageviews: 50 });
  });

  test('lets others work while a report writes what is pending', async () => {
    await report();
    for (let index = 0; index < 1_000; index += 1) visit();
    const written: number[] = [];
    let isReported = false;
    const look = (): void => {
      if (isReported) return;
      const [row] = tables("SELECT pageviews FROM tally WHERE kind = 'day'") as { pageviews: number }[];
      written.push(row?.pageviews ?? 0);
      setImmediate(look);
    };
    setImmediate(look);
    expect((await report()).pageviews).toBe(1_000);
    isReported = true;
    const steps = written.map((count, index) => count - (written[index - 1] ?? 0));
    expect(Math.max(...steps)).toBe(100);
  });

  test('goes on counting, and reports, while another process locks the file, and writes later', async () => {
    visit();
    await report();
    const holder = new DatabaseSync(file);
    holder.exec('BEGIN IMMEDIATE');
    visit();
    await clock.advance(1_000);
    expect((await report()).pageviews).toBe(1);
    holder.exec('COMMIT');
    holder.close();
    expect((await report()).pageviews).toBe(2);
  });

  test('does not get slower with the number of views', () => {
    const begun = process.cpuUsage();
    for (let index = 0; index < 10_000; index += 1) visit({ path: `/${randomBytes(4).toString('hex')}` });
    const { user, system } = process.cpuUsage(begun);
    // Microseconds per view; serving a page takes hundreds.
    expect((user + system) / 10_000).toBeLessThan(100);
  });
});
