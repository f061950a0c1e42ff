import { utimesSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createFolderReads } from '../../src/integrations/hosting/folderReads.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';

/** Two processes on one folder, in which each file was last changed as long ago as a test wants. */
const start = () => {
  const folder = temporaryFolder();
  const clock = createTestClock();
  const fileOf = (name: string): string => join(folder, name);
  const write = (name: string, text: string, agoMs: number): void => {
    writeFileSync(fileOf(name), text);
    const at = (clock.now() - agoMs) / 1_000;
    utimesSync(fileOf(name), at, at);
  };
  const openProcess = () => {
    const reads = createFolderReads({ changesFile: join(folder, '.changes'), clock });
    let count = 0;
    const read = reads.cached(
      (name) => Promise.resolve([fileOf(name)]),
      (name) => {
        count += 1;
        return Promise.resolve(readFileSync(fileOf(name), 'utf8'));
      },
    );
    return { read, addChange: () => reads.addChange(), count: () => count };
  };
  return { clock, write, one: openProcess(), other: openProcess() };
};

test('what is not new is read once', async () => {
  const { write, one } = start();
  write('site', 'first', 10_000);
  expect([await one.read('site'), await one.read('site')]).toEqual(['first', 'first']);
  expect(one.count()).toBe(1);
});

test('what changed just now is read again, since it may change with the same time', async () => {
  const { write, one } = start();
  write('site', 'first', 1_000);
  await one.read('site');
  await one.read('site');
  expect(one.count()).toBe(2);
});

test('a change is seen by every read after it was added, in each process', async () => {
  const { write, one, other } = start();
  write('site', 'first', 10_000);
  write('shop', 'shop', 10_000);
  for (const { read } of [one, other]) for (const name of ['site', 'shop']) await read(name);
  write('site', 'second', 9_000);
  await one.addChange();
  expect([await one.read('site'), await other.read('site')]).toEqual(['second', 'second']);
  // The other one's own files have not changed.
  expect([await one.read('shop'), one.count()]).toEqual(['shop', 3]);
});

test('a change that was not added, since its process was killed, is seen a second later', async () => {
  const { clock, write, one } = start();
  write('site', 'first', 10_000);
  await one.read('site');
  write('site', 'second', 9_000);
  await clock.advance(1_000);
  expect(await one.read('site')).toBe('second');
});
