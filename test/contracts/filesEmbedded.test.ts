import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createEmbeddedFiles } from '../../src/integrations/files/embedded.js';
import { systemRandom } from '../../src/platform/random.js';
import { temporaryFolder } from '../support/temporary.js';
import { filesContract, inPieces } from './files.contract.js';

const open = (folder = temporaryFolder()) => ({ folder, files: createEmbeddedFiles({ folder, random: systemRandom }) });

filesContract('folder', () => {
  const { folder, files } = open(join(temporaryFolder(), 'files'));
  return Promise.resolve({
    files,
    names: async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    },
  });
});

test('only this user can read the files', async () => {
  const { folder, files } = open();
  await files.store('site/one', inPieces(Buffer.from('private')), 100);
  expect((await stat(join(folder, 'site/one'))).mode & 0o777).toBe(0o600);
});

test('what a killed upload has left is no file, and is removed once it is old', async () => {
  const { folder, files } = open();
  await mkdir(join(folder, '.drafts'), { recursive: true });
  const [old, young] = [join(folder, '.drafts', 'old'), join(folder, '.drafts', 'young')];
  for (const path of [old, young]) await writeFile(path, 'half');
  await utimes(old, 1_000, 1_000);
  for await (const file of files.list('')) throw new Error(`${file.key} is listed`);
  expect(await files.removeDrafts(2_000_000)).toBe(1);
  expect(await readdir(join(folder, '.drafts'))).toEqual(['young']);
});

test('it has no addresses of its own', async () => {
  const { files } = open();
  const download = { expiresInS: 300, contentType: 'application/pdf', disposition: 'inline' };
  expect(await files.signedUrl('site/one', download)).toBeNull();
});

test('a folder that cannot be used is a transient fault that names no path', async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'in-the-way'), '');
  const { files } = open(join(folder, 'in-the-way'));
  const refusal = { name: 'ProviderFault', transient: true, message: 'The data folder cannot be used (ENOTDIR)' };
  await expect(files.store('site/one', inPieces(Buffer.from('x')), 100)).rejects.toMatchObject(refusal);
});
