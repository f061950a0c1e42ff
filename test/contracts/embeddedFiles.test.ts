import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { replaceFile } from '../../src/integrations/embeddedFiles.js';
import { temporaryFolder } from '../support/temporary.js';

test('of processes that replace a file at the same time one wins, whatever their ids, and none leaves a draft', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'file');
  const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
  // Writers of one process, as of two containers, have the same process id.
  await Promise.all(contents.map((content) => replaceFile(path, content)));
  expect(contents).toContain(readFileSync(path, 'utf8'));
  expect(readdirSync(folder)).toEqual(['file']);
});
