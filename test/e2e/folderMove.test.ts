import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from '@jest/globals';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import { createShardedFolder, repositoriesIn } from '../../src/integrations/shardedFolder.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { projectIn, projectNames, repositoryIn, repositoryNames } from '../support/folders.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';

const templatesFolder = join(process.cwd(), 'templates');
const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const signal = new AbortController().signal;

let data: string;
beforeEach(() => {
  data = temporaryFolder();
});

const open = () => ({
  sourceHost: createEmbeddedSourceHost({ folder: join(data, 'repositories'), templatesFolder, clock: systemClock }),
  hosting: createEmbeddedHosting({
    folder: join(data, 'sites'),
    repositoriesFolder: join(data, 'repositories'),
    publicUrl: () => 'http://127.0.0.1',
    builder: siteBuilder,
    clock: systemClock,
  }),
});
const marker = 'job';
/** A website as an earlier version left it; "ab" is also what a subfolder could be called. */
const makeFormer = async (name: string) => {
  const { sourceHost, hosting } = open();
  const repository = await sourceHost.createRepository({ name, templateId: 'landing', marker, description: name });
  await hosting.createProject({ name, marker, repository });
  const deployment = await hosting.deploy(name, 'first');
  renameSync(repositoryIn(data, name), join(data, 'repositories', `${name}.git`));
  renameSync(projectIn(data, name), join(data, 'sites', name));
  return deployment;
};

test('what an earlier version left is found before it is moved, by every way to it', async () => {
  const { id, commit } = await makeFormer('ab');
  const { sourceHost, hosting } = open();
  expect(await hosting.readDeployment('ab', id)).toMatchObject({ id, status: 'ready' });
  expect(await sourceHost.findRepository({ name: 'ab', marker })).not.toBeNull();
  expect((await sourceHost.listCommits('ab', 1))?.[0]).toMatchObject({ id: commit });
  const again = open().sourceHost.createRepository({ name: 'ab', templateId: 'landing', marker: 'other', description: '' });
  await expect(again).rejects.toThrow('already taken');
  expect(await hosting.deploy('ab', 'second')).toMatchObject({ status: 'ready', commit });
  expect(await hosting.listDeployments('ab', 10)).toHaveLength(2);
  expect([await repositoryNames(data), await projectNames(data)]).toEqual([['ab'], ['ab']]);
});

test('a move takes everything over, removes abandoned drafts, and has nothing to do the next time', async () => {
  await makeFormer('bakery');
  const repositories = join(data, 'repositories');
  mkdirSync(join(repositories, '.bakery.0123456789abcdef.x1Y2z3', 'objects'), { recursive: true });
  mkdirSync(join(repositories, '.bodies'));
  expect(await repositoriesIn(repositories).moveOver(signal)).toBe(1);
  expect(await createShardedFolder({ folder: join(data, 'sites') }).moveOver(signal)).toBe(1);
  expect(
    readdirSync(repositories)
      .filter((name) => !/^_[0-9a-f]{2}$/.test(name))
      .sort(),
  ).toEqual(['.bodies', '.sharded']);
  expect([await repositoryNames(data), await projectNames(data)]).toEqual([['bakery'], ['bakery']]);
  expect(await repositoriesIn(repositories).moveOver(signal)).toBe(0);
});

test('after the move, nothing looks at the former place any more', async () => {
  const sites = join(data, 'sites');
  await createShardedFolder({ folder: sites }).moveOver(signal);
  mkdirSync(join(sites, 'bakery'));
  await createShardedFolder({ folder: sites }).locate('bakery');
  expect(await projectNames(data)).toEqual([]);
});

test('killed at any moment, a move leaves everything at one of its places, and the next one ends it', async () => {
  const folder = join(data, 'repositories');
  const names = Array.from({ length: 1_500 }, (_, index) => `shop-${String(index)}`).sort();
  for (const name of names) {
    mkdirSync(join(folder, `${name}.git`), { recursive: true });
    writeFileSync(join(folder, `${name}.git`, 'HEAD'), name);
  }
  const everything = async (): Promise<string[]> => {
    const former = readdirSync(folder).filter((name) => name.endsWith('.git'));
    return [...(await repositoryNames(data)), ...former.map((name) => name.slice(0, -'.git'.length))].sort();
  };
  const typescript = beside('../support/eventStoreTypescript.mjs');
  const child = spawn(process.execPath, ['--import', typescript, beside('./folderMover.ts'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const closed = once(child, 'close');
  while (child.exitCode === null && (await repositoryNames(data)).length < 100) await new Promise(setImmediate);
  child.kill('SIGKILL');
  await closed;
  const moved = (await repositoryNames(data)).length;
  expect(moved).toBeGreaterThanOrEqual(100);
  expect(moved).toBeLessThan(names.length);
  expect(await everything()).toEqual(names);
  await repositoriesIn(folder).moveOver(signal);
  expect(await repositoryNames(data)).toEqual(names);
  for (const name of [names[0] ?? '', names.at(-1) ?? '']) {
    expect(readFileSync(join(repositoryIn(data, name), 'HEAD'), 'utf8')).toBe(name);
  }
  rmSync(folder, { recursive: true });
});
