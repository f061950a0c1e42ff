import { execFileSync } from 'node:child_process';
import { readdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer, type Api, type ApiAnswer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';
import { projectIn, repositoryIn } from '../support/folders.js';

jest.setTimeout(180_000);

interface Deployment {
  readonly id: string;
  readonly commit: string;
}

const key = { 'idempotency-key': 'publish-once' };

const newWebsite = async (api: Api): Promise<string> => {
  const { body } = await api.post('/websites', { name: 'Bakery', slug: 'bakery' });
  return `/websites/${(body as { id: string }).id}`;
};

/** Over what there is. */
const saveTagline = async (api: Api, path: string, tagline: string): Promise<void> => {
  const { status, body } = await api.get(`${path}/content/company`);
  expect([status, status === 200 ? '' : body]).toEqual([200, '']);
  const { hash, body: company } = body as { hash: string; body: object };
  const saved = await api.put(`${path}/content/company`, { baseHash: hash, body: { ...company, tagline } });
  expect([saved.status, saved.status === 200 ? '' : saved.body]).toEqual([200, '']);
};

/** Repeats a request whose answer was lost, until what it began is done. */
const published = (api: Api, path: string): Promise<ApiAnswer> =>
  eventually(
    'the publication',
    async () => {
      const answer = await api.post(`${path}/content/publish`, undefined, key);
      if (answer.status === 202) return answer;
      expect(answer).toMatchObject({ status: 503, body: { code: 'publication_under_way' } });
      return undefined;
    },
    480_000,
  );

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    encoding: 'utf8',
  }).trim();

const branchesOf = (folder: string): string => join(repositoryIn(folder, 'bakery'), 'refs/heads');

test.each([
  {
    moment: 'its branch is drafted',
    watched: (folder: string) => repositoryIn(folder, 'bakery'),
    entry: /^main\..*\.new$/,
    isMoved: false,
  },
  {
    moment: 'its branch is locked',
    watched: branchesOf,
    entry: /^main\.lock$/,
    isMoved: false,
  },
  {
    moment: 'its commit reaches the branch',
    watched: branchesOf,
    entry: /^main$/,
    isMoved: true,
  },
  {
    moment: 'its build is published',
    watched: (folder: string) => join(projectIn(folder, 'bakery'), 'deployments'),
    entry: /^\d{8}-[0-9a-f]{16}$/,
    isMoved: true,
  },
])('killed as $moment, a publication is one commit and one deployment', async ({ watched, entry, isMoved }) => {
  const folder = temporaryFolder();
  const token = await mintToken(folder);
  const first = await startServer(folder);
  const api = createApi(first.address, token);
  const path = await newWebsite(api);
  await eventually(
    'an active website',
    async () => ((await api.get(path)).body as { status: string }).status === 'active' || undefined,
  );
  const gitdir = repositoryIn(folder, 'bakery');
  const commits = (): string[] => git(gitdir, 'rev-list', 'main').split('\n');
  const deployments = async (asked: Api): Promise<Deployment[]> => (await asked.get(`${path}/deployments`)).body as Deployment[];
  const [commitsBefore, deploymentsBefore] = [commits(), await deployments(api)];
  await saveTagline(api, path, 'Bread that survives');

  const watcher = watch(watched(folder), (_, name) => {
    if (name !== null && entry.test(name)) void first.kill('SIGKILL');
  });
  await expect(api.post(`${path}/content/publish`, undefined, key)).rejects.toThrow();
  watcher.close();
  expect(await first.ended).toBe('SIGKILL');
  // Before that, the kill may come a moment late on a busy machine.
  if (isMoved) expect(commits()).toHaveLength(commitsBefore.length + 1);

  const second = await startServer(folder);
  const answer = await published(createApi(second.address, token), path);
  const [head = ''] = commits();
  expect(answer.body).toMatchObject({ status: 'ready', commit: head });
  await second.kill('SIGKILL');

  // What was acknowledged is there after the next kill, and was done once.
  const third = await startServer(folder);
  const reader = createApi(third.address, token);
  const again = await reader.post(`${path}/content/publish`, undefined, key);
  expect([again.status, again.body]).toEqual([202, answer.body]);
  expect(commits()).toEqual([head, ...commitsBefore]);
  const made = (await deployments(reader)).filter(({ id }) => deploymentsBefore.every((before) => before.id !== id));
  expect(made.map(({ commit }) => commit)).toEqual([head]);
  expect(await (await fetch(`${third.address}/sites/bakery/`)).text()).toContain('Bread that survives');
  const { hash, publishedHash } = (await reader.get(`${path}/content/company`)).body as Record<string, string>;
  expect(publishedHash).toBe(hash);

  const clone = join(temporaryFolder(), 'clone');
  git(folder, 'clone', '--quiet', `${third.address.replace('://', `://me:${token}@`)}/git/bakery.git`, clone);
  writeFileSync(join(clone, 'pushed.txt'), 'pushed');
  git(clone, 'add', '--all');
  git(clone, 'commit', '--quiet', '--message', 'Push after it');
  git(clone, 'push', '--quiet');
  expect(commits()).toEqual([git(clone, 'rev-parse', 'HEAD'), head, ...commitsBefore]);
  expect(readdirSync(branchesOf(folder))).toEqual(['main']);
  expect(await third.kill('SIGTERM')).toBe(0);
});
