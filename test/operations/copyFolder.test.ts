import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { copyFolder, inCopyOrder } from '../../src/operations/copyFolder.js';
import { temporaryFolder } from '../support/temporary.js';

test('of a repository, branches are copied before what they lead to, and packs last', () => {
  const names = (...all: string[]) => inCopyOrder(all.map((name) => ({ name }))).map(({ name }) => name);
  expect(names('HEAD', 'objects', 'packed-refs', 'refs')).toEqual(['HEAD', 'refs', 'packed-refs', 'objects']);
  expect(names('0a', 'info', 'pack', 'ff')).toEqual(['0a', 'info', 'ff', 'pack']);
});

test('of a repository, what is under way is left out; a website may have files of such names', async () => {
  const [folder, target] = [temporaryFolder(), join(temporaryFolder(), 'copy')];
  const draft = 'main.0123456789abcdef.new';
  const files = ['HEAD', 'refs/heads/main', 'refs/heads/topic.new'].map((name) => `_14/acme.git/${name}`);
  const site = ['yarn.lock', draft, 'tmp_objdir-x/a'].map((name) => `_14/acme/${name}`);
  const underWay = [
    '.drafts/a',
    '_14/acme.git/packed-refs.lock',
    `_14/acme.git/${draft}`,
    '_14/acme.git/objects/tmp_objdir-incoming-a/b',
  ];
  for (const file of [...files, ...site, ...underWay]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  symlinkSync(draft, join(folder, '_14/acme.git/refs/heads/main.lock'));
  expect(await copyFolder(folder, target)).toBe(files.length + site.length);
  const copied = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(copied.map(({ parentPath, name }) => join(parentPath, name).slice(target.length + 1)).sort()).toEqual(
    [...files, ...site].sort(),
  );
});
