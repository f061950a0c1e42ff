import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import type { Repository, SourceHost } from '../../src/integrations/sourceHost/port.js';
import { openFiles } from '../support/openFiles.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { sourceHostContract } from './sourceHost.contract.js';
import { repositoriesIn } from '../../src/integrations/shardedFolder.js';

const run = promisify(execFile);
const clock = createTestClock();
const templatesFolder = join(process.cwd(), 'templates');

const git = async (folder: string, ...args: string[]): Promise<string> =>
  (await run('git', ['-C', folder, ...args])).stdout.trim();
const openHost = (folder: string, templates = templatesFolder): SourceHost =>
  createEmbeddedSourceHost({ folder, templatesFolder: templates, clock });
const create = (host: SourceHost, name: string, templateId = 'business'): Promise<Repository> =>
  host.createRepository({ name, templateId, marker: `job-${name}`, description: 'Website of\nAcme' });
const gitdirIn = (folder: string): string => repositoriesIn(folder).pathOf('acme');
const permanent = { name: 'ProviderFault', transient: false };

// Of repositories, also of those that cannot be read.
afterEach(() => {
  expect(openFiles('.git/objects/')).toBe(0);
});

let names = 0;
sourceHostContract('embedded', () =>
  Promise.resolve({
    host: openHost(temporaryFolder()),
    templateId: 'business',
    freshName: () => `site-${String((names += 1))}`,
    headOf: async ({ cloneUrl, defaultBranch }) => {
      const { stdout } = await run('git', ['ls-remote', cloneUrl, `refs/heads/${defaultBranch}`]);
      return stdout.split('\t')[0] ?? null;
    },
  }),
);

test('git considers the repository valid, and clones every file of the template', async () => {
  const folder = temporaryFolder();
  const { cloneUrl } = await create(openHost(folder), 'acme');
  expect(await git(gitdirIn(folder), 'fsck', '--full', '--strict')).toBe('');
  expect(await git(gitdirIn(folder), 'config', 'core.bare')).toBe('true');
  expect(await readFile(join(gitdirIn(folder), 'description'), 'utf8')).toBe('Website of Acme\n');

  const clone = join(temporaryFolder(), 'clone');
  await run('git', ['clone', '--quiet', cloneUrl, clone]);
  const template = join(templatesFolder, 'business');
  const files = (await readdir(template, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  expect((await git(clone, 'ls-files')).split('\n')).toHaveLength(files.length);
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name).slice(template.length);
    expect(await readFile(join(clone, path))).toEqual(await readFile(join(template, path)));
  }
  expect(await git(clone, 'log', '--format=%s %cI')).toBe('Start acme from the business template 2026-01-01T00:00:00+00:00');
});

test('git pushes to it', async () => {
  const { cloneUrl } = await create(openHost(temporaryFolder()), 'acme');
  const clone = join(temporaryFolder(), 'clone');
  await run('git', ['clone', '--quiet', cloneUrl, clone]);
  await writeFile(join(clone, 'new.txt'), 'new');
  await git(clone, 'add', '.');
  await git(clone, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '--quiet', '-m', 'Add a file');
  await git(clone, 'push', '--quiet');
  expect((await run('git', ['ls-remote', cloneUrl, 'HEAD'])).stdout).toContain(await git(clone, 'rev-parse', 'HEAD'));
});

test('acknowledged changes survive a restart', async () => {
  const folder = temporaryFolder();
  const repository = await create(openHost(folder), 'acme');
  await openHost(folder).inviteCollaborator(repository.id, 'ada');
  expect(await openHost(folder).findRepository({ name: 'acme', marker: 'job-acme' })).toEqual(repository);
  expect(await openHost(folder).listCollaborators(repository.id)).toEqual(['ada']);
});

test('a killed attempt leaves no repository, and the next one removes its draft', async () => {
  const folder = temporaryFolder();
  await create(openHost(folder), 'acme');
  // Named after the repository's name and marker.
  const draft = `acme.${createHash('sha256').update('job-acme').digest('hex').slice(0, 16)}`;
  const drafts = join(dirname(gitdirIn(folder)), '.drafts');
  await run('rm', ['-r', join(gitdirIn(folder), 'HEAD')]);
  await mkdir(join(drafts, draft));
  await run('mv', [gitdirIn(folder), join(drafts, draft, 'new-abcdef')]);

  expect(await openHost(folder).findRepository({ name: 'acme', marker: 'job-acme' })).toBeNull();
  await create(openHost(folder), 'acme');
  expect(await git(gitdirIn(folder), 'fsck', '--full', '--strict')).toBe('');
  expect(await readdir(drafts)).toEqual([]);
});

test('a template that changes is packed anew', async () => {
  const templates = temporaryFolder();
  await mkdir(join(templates, 'plain'));
  await writeFile(join(templates, 'plain', 'template.json'), JSON.stringify({ name: 'Plain', description: 'None' }));
  const host = openHost(temporaryFolder(), templates);
  const filesOf = async (name: string): Promise<string[]> => {
    await create(host, name, 'plain');
    const { files } = await host.readFiles(name, ['template.json', 'index.html']);
    return [...files].map(([path, content]) => `${path}: ${Buffer.from(content).toString()}`).slice(1);
  };
  expect(await filesOf('first')).toEqual([]);
  await writeFile(join(templates, 'plain', 'index.html'), 'One');
  expect(await filesOf('second')).toEqual(['index.html: One']);
  await writeFile(join(templates, 'plain', 'index.html'), 'Two, which is longer');
  expect(await filesOf('third')).toEqual(['index.html: Two, which is longer']);
});

test.each(['', '.', '..', '../acme', 'a/b', 'Acme', 'acme.git', '-acme', 'acme-', 'acme\0', 'ä', 'a'.repeat(101)])(
  'a repository cannot be named %j',
  async (name) => {
    const folder = temporaryFolder();
    await expect(create(openHost(folder), name)).rejects.toMatchObject(permanent);
    expect(await readdir(folder)).toEqual([]);
  },
);

test.each(['', '..', '../templates/business', '/etc', 'business/assets'])('there is no template %j', async (templateId) => {
  await expect(create(openHost(temporaryFolder()), 'acme', templateId)).rejects.toMatchObject(permanent);
});

test.each(['', 'a b', '../ada', 'ada\n', 'a'.repeat(255)])('%j is no username', async (username) => {
  const host = openHost(temporaryFolder());
  const { id } = await create(host, 'acme');
  await expect(host.inviteCollaborator(id, username)).rejects.toMatchObject(permanent);
  expect(await host.listCollaborators(id)).toEqual([]);
});

test('usernames that differ in case are one person', async () => {
  const host = openHost(temporaryFolder());
  const { id } = await create(host, 'acme');
  await host.inviteCollaborator(id, 'Ada');
  await host.inviteCollaborator(id, 'ada');
  expect(await host.listCollaborators(id)).toEqual(['Ada']);
});

test('a template that links out of its folder is refused', async () => {
  const templates = temporaryFolder();
  await mkdir(join(templates, 'sly'));
  await writeFile(join(templates, 'sly', 'template.json'), '{"name":"Sly","description":"Links out"}');
  await symlink('/etc/hostname', join(templates, 'sly', 'index.html'));
  const folder = temporaryFolder();
  const host = openHost(folder, templates);
  await expect(create(host, 'acme', 'sly')).rejects.toMatchObject({
    ...permanent,
    message: expect.stringContaining('index.html'),
  });
  expect(await host.findRepository({ name: 'acme', marker: 'job-acme' })).toBeNull();
});

test('a template without a description is refused by name', async () => {
  const templates = temporaryFolder();
  await mkdir(join(templates, 'mute'));
  await writeFile(join(templates, 'mute', 'template.json'), '{"name":"Mute"}');
  await expect(openHost(temporaryFolder(), templates).listTemplates()).rejects.toThrow('"mute"');
});

test('a folder that cannot be used is a transient fault that names no path', async () => {
  const file = join(temporaryFolder(), 'file');
  await writeFile(file, '');
  const attempt = create(openHost(join(file, 'repositories')), 'acme');
  await expect(attempt).rejects.toMatchObject({ name: 'ProviderFault', transient: true });
  await expect(attempt).rejects.toThrow(/^The data folder cannot be used \(ENOTDIR\)$/);
});
