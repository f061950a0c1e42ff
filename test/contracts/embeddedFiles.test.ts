import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, open, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { makeFolder, publishFolder, replaceFile, withdrawFolder, writeFiles } from '../../src/integrations/embeddedFiles.js';
import { createEmbeddedFiles } from '../../src/integrations/files/embedded.js';
import { moveBranch } from '../../src/integrations/sourceHost/branchMoves.js';
import { systemRandom } from '../../src/platform/random.js';
import { temporaryFolder } from '../support/temporary.js';
import { inPieces } from './files.contract.js';

test('of processes that replace a file at the same time one wins, whatever their ids, and none leaves a draft', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'file');
  const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
  // Writers of one process, as of two containers, have the same process id.
  await Promise.all(contents.map((content) => replaceFile(path, content)));
  expect(contents).toContain(readFileSync(path, 'utf8'));
  expect(readdirSync(folder)).toEqual(['file']);
});

interface Syncs {
  readonly before: string[];
  readonly after: string[];
}

/**
 * Runs `work`, and returns the paths in the folder that it syncs, those after `result` has appeared apart.
 * @param failing the sync that the disk refuses, counted from 0
 */
const syncsOf = async (folder: string, result: string, work: () => Promise<unknown>, failing = -1) => {
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const handles: FileHandle[] = [];
  const syncs: Syncs = { before: [], after: [] };
  let count = 0;
  const spy = jest.spyOn(prototype, 'sync').mockImplementation(async function sync(this: FileHandle) {
    handles.push(this);
    const { ino } = await this.stat();
    const paths = ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })];
    const path = paths.find((each) => statSync(join(folder, each)).ino === ino) ?? '';
    syncs[existsSync(join(folder, result)) ? 'after' : 'before'].push(path.replace(/[0-9a-f]{16,}|new-\w+/, '*'));
    count += 1;
    if (count === failing + 1) throw Object.assign(new Error('refused'), { code: 'EIO' });
  });
  try {
    await work();
    // Some are synced at the same time.
    return { before: syncs.before.sort(), after: syncs.after.sort() };
  } finally {
    spy.mockRestore();
    expect(handles.map(({ fd }) => fd)).toEqual(handles.map(() => -1));
  }
};

const publish = (folder: string) =>
  publishFolder(join(folder, 'site'), 'draft', (draft) => writeFiles(draft, new Map([['a/page', 'content']])));
const [from, to] = ['a'.repeat(40), 'b'.repeat(40)];
const storeIn = (folder: string) => createEmbeddedFiles({ folder, random: systemRandom });

describe.each<{
  what: string;
  result: string;
  before?: (folder: string) => Promise<unknown>;
  work: (folder: string) => Promise<unknown>;
  syncs: Syncs;
}>([
  {
    what: 'a folder with its parents',
    result: 'a/b',
    work: (folder) => makeFolder(join(folder, 'a/b')),
    syncs: { before: [], after: ['.', 'a'] },
  },
  {
    what: 'a file that is replaced',
    result: 'file',
    work: (folder) => replaceFile(join(folder, 'file'), 'content'),
    syncs: { before: ['file.*.new'], after: ['.'] },
  },
  {
    what: 'a folder that is published',
    result: 'site',
    work: publish,
    syncs: { before: ['.drafts/draft/*', '.drafts/draft/*', '.drafts/draft/*/a', '.drafts/draft/*/a/page'], after: ['.'] },
  },
  {
    what: 'that a folder was withdrawn',
    result: 'site',
    before: publish,
    work: (folder) => withdrawFolder(join(folder, 'site'), 'draft'),
    syncs: { before: ['.'], after: [] },
  },
  {
    what: 'an upload',
    result: 'site/one',
    work: (folder) => storeIn(folder).store('site/one', inPieces(Buffer.from('content')), 100),
    syncs: { before: ['.', '.drafts/*'], after: ['site'] },
  },
  {
    what: 'a branch that is moved',
    result: 'refs/heads/main',
    before: async (folder) => {
      await mkdir(join(folder, 'refs/heads'), { recursive: true });
      await writeFile(join(folder, 'packed-refs'), `${from} refs/heads/main\n`);
    },
    work: (folder) => moveBranch(folder, 'main', { from, to }),
    syncs: { before: ['main.*.new'], after: ['refs/heads'] },
  },
  {
    what: 'that an upload was removed',
    result: 'site/one',
    before: (folder) => storeIn(folder).store('site/one', inPieces(Buffer.from('content')), 100),
    work: (folder) => storeIn(folder).remove('site/one'),
    syncs: { before: ['site'], after: [] },
  },
])('$what', ({ result, before, work, syncs }) => {
  const prepare = async (): Promise<string> => {
    const folder = temporaryFolder();
    await before?.(folder);
    return folder;
  };

  test('is on the disk when the call resolves, and what is in it before it gets its name', async () => {
    const folder = await prepare();
    expect(await syncsOf(folder, result, () => work(folder))).toEqual(syncs);
  });

  test('is refused when the disk refuses to sync', async () => {
    for (let failing = 0; failing < syncs.before.length + syncs.after.length; failing += 1) {
      const folder = await prepare();
      await expect(syncsOf(folder, result, () => work(folder), failing)).rejects.toThrow();
    }
  });
});
