import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { createShardedFolder, repositoriesIn } from '../../src/integrations/shardedFolder.js';
import { systemClock } from '../../src/platform/clock.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';

/** The paths of all folders that were listed. */
const listed: string[] = [];
const noting =
  <Arguments extends unknown[], Result>(list: (...args: Arguments) => Result) =>
  (...args: Arguments): Result => {
    listed.push(String(args[0]));
    return list(...args);
  };
const files = await import('node:fs/promises');
const syncFiles = await import('node:fs');
jest.unstable_mockModule('node:fs/promises', () => ({
  ...files,
  readdir: noting(files.readdir),
  opendir: noting(files.opendir),
}));
jest.unstable_mockModule('node:fs', () => ({ ...syncFiles, readdirSync: noting(syncFiles.readdirSync) }));
const { createEmbeddedHosting } = await import('../../src/integrations/hosting/embedded.js');
const { createEmbeddedSourceHost } = await import('../../src/integrations/sourceHost/embedded.js');

const folder = temporaryFolder();
const [repositoriesFolder, sites] = [join(folder, 'repositories'), join(folder, 'sites')];
const sourceHost = createEmbeddedSourceHost({
  folder: repositoriesFolder,
  templatesFolder: join(process.cwd(), 'templates'),
  clock: systemClock,
});
const publicUrl = (): string => 'http://127.0.0.1';
const hosting = createEmbeddedHosting({ folder: sites, repositoriesFolder, publicUrl, builder: siteBuilder, clock: systemClock });

beforeAll(() => {
  for (let index = 0; index < 300; index += 1) {
    const name = `shop-${String(index)}`;
    mkdirSync(repositoriesIn(repositoriesFolder).pathOf(name), { recursive: true });
    mkdirSync(createShardedFolder({ folder: sites }).pathOf(name), { recursive: true });
  }
});

test.each(['before a data folder is moved over', 'once it is moved over'])(
  'whatever happens to a website lists no folder that holds the others, %s',
  async (when) => {
    const isMoved = when.startsWith('once');
    const { signal } = new AbortController();
    if (isMoved)
      for (const each of [repositoriesIn(repositoriesFolder), createShardedFolder({ folder: sites })])
        await each.moveOver(signal);
    listed.length = 0;
    const name = isMoved ? 'bakery' : 'corner-bakery';
    const marker = `job-${name}`;
    expect(await sourceHost.findRepository({ name, marker })).toBeNull();
    const repository = await sourceHost.createRepository({ name, templateId: 'landing', marker, description: name });
    await sourceHost.inviteCollaborator(name, 'ada');
    await hosting.createProject({ name, marker, repository });
    await hosting.setVariables(name, { SITE_NAME: name });
    const { id } = await hosting.deploy(name, marker);
    expect(await hosting.findDeployment(name, marker)).toMatchObject({ id, status: 'ready' });
    expect(await hosting.latestDeployment(name)).toMatchObject({ id });
    const draft = { secret: 'secret', files: new Map<string, Uint8Array>(), expiresAt: '2100-01-01T00:00:00.000Z' };
    await hosting.previews.show(name, { ...draft, by: { websiteId: name } });
    expect(await sourceHost.listCommits(name, 1)).toHaveLength(1);
    expect(await hosting.deleteProject({ name, marker })).toBe(true);
    expect(await sourceHost.deleteRepository({ name, marker })).toBe(true);
    // Otherwise nothing is noted, and the next expectation means nothing.
    expect(listed.some((path) => path.startsWith(folder))).toBe(true);
    expect(listed.filter((path) => /\/(?:repositories|sites)(?:\/_[0-9a-f]{2})?(?:\/\.drafts)?$/.test(path))).toEqual([]);
  },
);

test('several parts of a process may end the same move at once', async () => {
  const ours = temporaryFolder();
  const parts = Array.from({ length: 8 }, () => repositoriesIn(ours));
  await Promise.all(parts.map((part) => part.moveOver(new AbortController().signal)));
  expect(existsSync(join(ours, '.sharded'))).toBe(true);
});
