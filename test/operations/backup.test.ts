import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { mintToken, operate } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

let data: string;
beforeEach(async () => {
  data = temporaryFolder();
  await mintToken(data);
});

test('a backup into the data folder, which would go on into itself, is refused', async () => {
  const [link, before] = [join(temporaryFolder(), 'link'), readdirSync(data)];
  symlinkSync(data, link);
  for (const target of [data, join(data, 'backup'), join(link, 'a', 'b')]) {
    await expect(operate(data, 'backup', [target])).rejects.toThrow('must be outside the data folder');
  }
  expect(readdirSync(data)).toEqual(before);
});

test('a mistyped data folder is no empty backup', async () => {
  const target = join(temporaryFolder(), 'backup');
  const empty = temporaryFolder();
  for (const folder of [empty, join(empty, 'missing')]) {
    await expect(operate(data, 'backup', [target], { DATA_DIR: folder })).rejects.toThrow(`there is no events.db in ${folder}`);
  }
  expect(existsSync(target)).toBe(false);
});

test('an option is not taken for a folder', async () => {
  await expect(operate(data, 'backup', ['--dry-run'])).rejects.toThrow('Usage: npm run --silent backup');
  expect(existsSync(join(data, '--dry-run'))).toBe(false);
});

test('a backup that cannot be completed says so', async () => {
  const target = join(temporaryFolder(), 'backup');
  // It cannot be read as a database.
  mkdirSync(join(data, 'ledger.db'));
  await expect(operate(data, 'backup', [target])).rejects.toThrow(/The backup in .* is incomplete: .*\. Remove that folder/);
});
