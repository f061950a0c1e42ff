import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { watchBranches } from '../../src/integrations/sourceHost/branchWatch.js';
import { repositoriesIn } from '../../src/integrations/shardedFolder.js';
import { eventually } from '../support/eventually.js';
import { collectLogs } from '../support/logs.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';

const names = Array.from({ length: 12 }, (_, index) => `shop-${String(index).padStart(2, '0')}`);

let folder: string;
let logger: ReturnType<typeof collectLogs>['logger'];
let lines: ReturnType<typeof collectLogs>['lines'];
let stop: (() => void) | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  ({ logger, lines } = collectLogs());
});
afterEach(() => {
  stop?.();
});

const branchesOf = (name: string): string => join(repositoriesIn(folder).pathOf(name), 'refs/heads');
/** By one rename, as the source host does. */
const make = (name: string): void => {
  const draft = join(folder, '.drafts', name);
  mkdirSync(join(draft, 'refs/heads'), { recursive: true });
  const gitdir = repositoriesIn(folder).pathOf(name);
  mkdirSync(dirname(gitdir), { recursive: true });
  renameSync(draft, gitdir);
};
/** As git does, by one rename in the folder of branches; `secondsAgo`: when. */
const push = (name: string, secondsAgo = 0): void => {
  if (!existsSync(branchesOf(name))) make(name);
  writeFileSync(join(branchesOf(name), 'main.lock'), '');
  renameSync(join(branchesOf(name), 'main.lock'), join(branchesOf(name), 'main'));
  const at = new Date(Date.now() - secondsAgo * 1_000);
  if (secondsAgo > 0) utimesSync(branchesOf(name), at, at);
};

const observe = async (compare: (name: string) => Promise<void> = () => Promise.resolve()) => {
  stop?.();
  const clock = createTestClock();
  const seen = { compared: [] as string[], changed: [] as string[] };
  stop = await watchBranches(
    { folder, clock, logger, maxWatched: 3 },
    {
      compare: async (name) => {
        await compare(name);
        seen.compared.push(name);
      },
      onChange: (name) => {
        seen.changed.push(name);
      },
    },
  );
  // The next comparison is scheduled when this one is over.
  await eventually('the comparison', () => (clock.pending() > 0 ? true : undefined));
  return { ...seen, clock };
};

test('a start compares what has changed since the last comparison, and nothing else', async () => {
  for (const name of names) push(name, 7_200);
  expect((await observe()).compared.sort()).toEqual(names);
  expect((await observe()).compared).toEqual([]);
  push('shop-05', 60);
  // The comparison before began less than a minute ago: that of the first start counts.
  writeFileSync(join(folder, '.compared'), String(Date.now() - 3_600_000));
  expect((await observe()).compared).toEqual(['shop-05']);
});

test('the comparison of many rests in between, and compares all of them', async () => {
  for (const name of names) push(name, 7_200);
  const clock = createTestClock();
  const compared: string[] = [];
  let lookedMs = 0;
  stop = await watchBranches(
    // Each look takes 5 ms.
    { folder, clock: { ...clock, now: () => clock.now() + (lookedMs += 5) }, logger },
    {
      compare: (name) => {
        compared.push(name);
        return Promise.resolve();
      },
      onChange: () => undefined,
    },
  );
  for (const before of [3, 7, 11]) {
    await eventually('a rest', () => (clock.pending() > 0 ? true : undefined));
    expect(compared).toHaveLength(before);
    await clock.advance(60);
  }
  await eventually('all of them', () => (compared.length === names.length ? true : undefined));
});

test('a comparison that fails is made again in whole', async () => {
  for (const name of names) push(name, 7_200);
  let isAway = true;
  const { clock, compared } = await observe((name) =>
    isAway && name === names[7] ? Promise.reject(new Error('the store is away')) : Promise.resolve(),
  );
  expect(compared).not.toContain(names[7]);
  isAway = false;
  compared.length = 0;
  await clock.advance(15_000);
  await eventually('the comparison', () => (clock.pending() > 0 ? true : undefined));
  expect(compared).toHaveLength(names.length);
  expect((await observe()).compared).toEqual([]);
});

test('each repository that cannot be read is logged with its own fault, and not as a lack of watches', async () => {
  make('shop-00');
  await observe();
  for (const name of ['broken-1', 'broken-2']) {
    const path = repositoriesIn(folder).pathOf(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'a file in place of the folder');
  }
  const faults = () => lines().filter((line) => line.includes('ENOTDIR'));
  await eventually('a line for each', () => (new Set(faults()).size >= 2 ? true : undefined));
  expect(faults().filter((line) => line.includes('max_user_watches'))).toEqual([]);
});

test('of many repositories those that changed last are watched, and the others compared again within an hour', async () => {
  for (const [index, name] of names.entries()) push(name, 10_000 - index * 100);
  const { changed, compared, clock } = await observe();
  expect(compared).toHaveLength(names.length);
  const recent = names.at(-1) ?? '';
  push(recent);
  await eventually('the change of a watched one', () => (changed.includes(recent) ? true : undefined));
  push(names[0] ?? '');
  push('made-later');
  await eventually('a new one', () => (changed.includes('made-later') ? true : undefined));
  expect(changed).not.toContain(names[0]);
  await clock.advance(3_600_000);
  await eventually('the comparison of one that is not watched', () => (changed.includes(names[0] ?? '') ? true : undefined));
  expect(compared).toHaveLength(names.length);
});

test('a repository in a subfolder of before is noticed, and watched when it takes the place of another', async () => {
  make('shop-00');
  const shardOf = (name: string): string => dirname(repositoriesIn(folder).pathOf(name));
  const others = Array.from({ length: 5_000 }, (_, index) => `other-${String(index)}`);
  const other = others.find((name) => shardOf(name) === shardOf('shop-00')) ?? '';
  const { changed } = await observe();
  for (const draft of ['one', 'another']) {
    changed.length = 0;
    make(other);
    await eventually('the repository', () => (changed.includes(other) ? true : undefined));
    changed.length = 0;
    push(other);
    await eventually('the push', () => (changed.includes(other) ? true : undefined));
    renameSync(repositoriesIn(folder).pathOf(other), join(folder, '.drafts', draft));
  }
});

/** The folders that this process watches, as Linux lists them. */
const countWatches = (): number =>
  readdirSync('/proc/self/fdinfo')
    .map((file) => join('/proc/self/fdinfo', file))
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').match(/^inotify wd/gm) ?? []).length;

(existsSync('/proc/self/fdinfo') ? test : test.skip)(
  'what was stopped watches nothing, and compares nothing any more',
  async () => {
    for (const name of names.slice(0, 3)) push(name);
    const before = countWatches();
    const { clock } = await observe();
    // Those of the three repositories, of their subfolders, and of the folder of these.
    expect(countWatches() - before).toBe(7);
    stop?.();
    expect(countWatches()).toBe(before);
    expect(clock.pending()).toBe(0);
  },
);
