import { execFile } from 'node:child_process';
import { lutimes, mkdir, readdir, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from '@jest/globals';
import { repositoriesIn } from '../../src/integrations/shardedFolder.js';
import { moveBranch, removeLeftovers } from '../../src/integrations/sourceHost/branchMoves.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/temporary.js';

const run = promisify(execFile);
const draft = 'main.0123456789abcdef.new';
const commitOf = (digit: string): string => `${digit.repeat(40)}\n`;

let gitdir: string;
let heads: string;
let head: string;
let other: string;

const git = async (...args: readonly string[]): Promise<string> => (await run('git', ['-C', gitdir, ...args])).stdout.trim();
const aged = async (path: string, ageMs: number): Promise<void> => {
  const at = (Date.now() - ageMs) / 1_000;
  await lutimes(path, at, at);
};
const leave = async (path: string, ageMs: number, text = ''): Promise<void> => {
  await writeFile(path, text);
  await aged(path, ageMs);
};
const leaveOurLock = async (ageMs: number): Promise<void> => {
  await symlink(draft, join(heads, 'main.lock'));
  await aged(join(heads, 'main.lock'), ageMs);
};
const leftovers = async (): Promise<string[]> =>
  [...(await readdir(gitdir)), ...(await readdir(heads))].filter((name) => /\.(?:lock|new)$/.test(name)).sort();

beforeEach(async () => {
  const folder = temporaryFolder();
  const templatesFolder = join(process.cwd(), 'templates');
  const host = createEmbeddedSourceHost({ folder, templatesFolder, clock: systemClock });
  await host.createRepository({ name: 'acme', templateId: 'landing', marker: 'job', description: 'Acme' });
  gitdir = repositoriesIn(folder).pathOf('acme');
  heads = join(gitdir, 'refs/heads');
  head = await git('rev-parse', 'main');
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  other = await git(...identity, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'Other');
});

test('a branch moves from where it is, and nothing is left beside it', async () => {
  expect(await moveBranch(gitdir, 'main', { from: other, to: head })).toBe(false);
  expect(await git('rev-parse', 'main')).toBe(head);
  expect(await moveBranch(gitdir, 'main', { from: head, to: other })).toBe(true);
  expect(await git('rev-parse', 'main')).toBe(other);
  expect(await leftovers()).toEqual([]);
});

test('of several that move it from the same place at once one does', async () => {
  const moved = await Promise.all(Array.from({ length: 8 }, () => moveBranch(gitdir, 'main', { from: head, to: other })));
  expect(moved.filter(Boolean)).toHaveLength(1);
  expect(await leftovers()).toEqual([]);
});

test.each([
  { whose: 'git, as long as git may hold it', ageMs: 50_000, remains: true },
  { whose: 'git that died', ageMs: 70_000, remains: false },
])('the lock of $whose: remains $remains', async ({ ageMs, remains }) => {
  for (const folder of ['heads/topic', 'tags']) await mkdir(join(gitdir, 'refs', folder));
  const locks = ['packed-refs.lock', 'refs/heads/main.lock', 'refs/heads/topic/one.lock', 'refs/tags/v1.lock'];
  for (const lock of locks) await leave(join(gitdir, lock), ageMs);
  await removeLeftovers(gitdir, Date.now());
  expect(await moveBranch(gitdir, 'main', { from: head, to: other })).toBe(!remains);
  expect((await readdir(gitdir, { recursive: true })).filter((name) => name.endsWith('.lock')).sort()).toEqual(
    remains ? locks : [],
  );
});

test('a move that was killed is removed at once, before and after it moved the branch', async () => {
  await leaveOurLock(2_000);
  await leave(join(gitdir, draft), 2_000, commitOf('a'));
  await removeLeftovers(gitdir, Date.now());
  expect(await leftovers()).toEqual([]);

  await leaveOurLock(2_000);
  await removeLeftovers(gitdir, Date.now());
  expect(await leftovers()).toEqual([]);
  expect(await git('rev-parse', 'main')).toBe(head);
});

test('a move under way is left alone', async () => {
  const now = Date.now();
  await leaveOurLock(0);
  await leave(join(gitdir, draft), 0, commitOf('a'));
  await removeLeftovers(gitdir, now);
  expect(await leftovers()).toEqual([draft, 'main.lock']);
});

test('a slow move leaves the lock of the next one', async () => {
  const [ref, lock] = [join(heads, 'main'), join(heads, 'main.lock')];
  await rm(ref);
  await run('mkfifo', [ref]);
  const slow = moveBranch(gitdir, 'main', { from: head, to: other });
  await eventually('its lock', () => readlink(lock).catch(() => undefined));
  await rm(lock);
  await writeFile(lock, '');
  await writeFile(ref, `${head}\n`);
  expect(await slow).toBe(true);
  expect(await leftovers()).toEqual(['main.lock']);
});

// Another user is one that root can become.
(process.getuid?.() === 0 ? test : test.skip)('what another user has left keeps nobody from cloning', async () => {
  const nobody = 65_534;
  const received = join(gitdir, 'objects/tmp_objdir-incoming-a1b2c3');
  await run('chmod', ['-R', 'a+rX', join(gitdir, '../..')]);
  await mkdir(received, { mode: 0o700 });
  process.seteuid?.(nobody);
  try {
    await expect(removeLeftovers(gitdir, Date.now())).resolves.toBeUndefined();
  } finally {
    process.seteuid?.(0);
  }
  expect(await readdir(join(gitdir, 'objects'))).toContain('tmp_objdir-incoming-a1b2c3');
});

test('a move that was taken for one that was killed moves nothing, and leaves the lock of the next one', async () => {
  const [ref, lock] = [join(heads, 'main'), join(heads, 'main.lock')];
  await rm(ref);
  // It has its lock and looks at the branch, which answers once it is written to.
  await run('mkfifo', [ref]);
  const slow = moveBranch(gitdir, 'main', { from: head, to: other });
  const taken = await eventually('its lock', () => readlink(lock).catch(() => undefined));
  await rm(join(gitdir, taken));
  await rm(lock);
  await writeFile(lock, '');
  await writeFile(ref, `${head}\n`);
  expect(await slow).toBe(false);
  expect(await leftovers()).toEqual(['main.lock']);
});

test('drafts that earlier builds left among the branches are removed, and no branch', async () => {
  await leave(join(heads, draft), 70_000);
  await leave(join(heads, 'other.new'), 70_000, `${head}\n`);
  await removeLeftovers(gitdir, Date.now());
  expect((await readdir(heads)).sort()).toEqual(['main', 'other.new']);
});

test('what was received of a push goes once nobody writes to it', async () => {
  const received = join(gitdir, 'objects/tmp_objdir-incoming-a1b2c3');
  const hour = (Date.now() - 3_600_000) / 1_000;
  await mkdir(join(received, 'pack'), { recursive: true });
  await writeFile(join(received, 'pack/tmp_pack_a'), 'PACK');
  for (const path of ['pack', '.']) await utimes(join(received, path), hour, hour);
  await removeLeftovers(gitdir, Date.now());
  expect(await readdir(join(gitdir, 'objects'))).toContain('tmp_objdir-incoming-a1b2c3');
  await utimes(join(received, 'pack/tmp_pack_a'), hour, hour);
  await removeLeftovers(gitdir, Date.now());
  expect(await readdir(join(gitdir, 'objects'))).not.toContain('tmp_objdir-incoming-a1b2c3');
});
