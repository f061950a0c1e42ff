import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.js';
import { createDurableRecords } from '../../src/projections/store/embedded/durableRecords.js';
import { temporaryFolder } from '../support/temporary.js';

const canary = 'canary'.repeat(20);

const filesWith = (folder: string, text: string): readonly string[] =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text));

test('a deleted record is in no file any more, although others read and write meanwhile', async () => {
  const folder = temporaryFolder();
  const open = () => createDurableRecords({ file: join(folder, 'vault.db'), clock: systemClock });
  const [records, other] = [await open(), await open()];
  for (let index = 0; index < 50; index += 1) await records.insert('keys', `k${index}`, { wrapped: `${canary}${index}.` });
  expect(filesWith(folder, `${canary}7.`)).not.toEqual([]);
  const deleted = new AbortController();
  const busy = (async () => {
    for (let index = 0; !deleted.signal.aborted; index += 1) {
      await other.put('keys', 'other', { wrapped: String(index) });
      await other.get('keys', 'k7');
    }
  })();
  await records.delete('keys', 'k7');
  deleted.abort();
  await busy;
  expect(filesWith(folder, `${canary}7.`)).toEqual([]);
  expect(filesWith(folder, `${canary}8.`)).not.toEqual([]);
  expect(await other.get('keys', 'k7')).toBeNull();
  for (let index = 0; index < 50; index += 1) await other.delete('keys', `k${index}`);
  await records.close();
  await other.close();
  expect(filesWith(folder, canary)).toEqual([]);
});

test('a damaged file is named, with the reason', async () => {
  const file = join(temporaryFolder(), 'vault.db');
  const open = () => createDurableRecords({ file, clock: systemClock });
  const records = await open();
  for (let index = 0; index < 50; index += 1) await records.insert('keys', `k${index}`, { wrapped: canary });
  // It takes everything out of the write-ahead log.
  await records.delete('keys', 'k0');
  await records.close();
  // The first page has the schema, so that the file opens.
  const pageBytes = 4096;
  const pages = readFileSync(file);
  writeFileSync(file, pages.fill(0xff, pageBytes));
  const damaged = await open();
  await expect(damaged.get('keys', 'k7')).rejects.toThrow(`${file} cannot be used: database disk image is malformed`);
  await damaged.close();
});
