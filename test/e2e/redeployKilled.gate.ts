import { execFileSync } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startFleet } from '../support/fleet.js';
import { projectIn, repositoryIn } from '../support/folders.js';
import { createApi, mintToken } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

jest.setTimeout(180_000);

interface Deployment {
  readonly id: string;
  readonly status: string;
  readonly commit: string;
}

const git = (gitdir: string, ...args: string[]): string =>
  execFileSync('git', ['-C', gitdir, '-c', 'user.name=Kim', '-c', 'user.email=kim@example.com', ...args], {
    encoding: 'utf8',
  }).trim();

/** Another commit with the files of the one before. */
const commitTo = (gitdir: string): string => {
  const commit = git(gitdir, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'Another');
  git(gitdir, 'update-ref', 'refs/heads/main', commit);
  return commit;
};

test('two processes are asked to redeploy, and the one that builds is killed: the other goes on, with one deployment', async () => {
  const folder = temporaryFolder();
  const token = await mintToken(folder);
  // No worker notices the commits, so that the requests alone deploy them.
  const fleet = await startFleet(folder, ['api,projector', 'api,projector', 'worker']);
  await fleet.ready();
  const [one] = fleet.parts;
  const apis = fleet.addresses.map((address) => createApi(address, token));
  const [first, second] = apis;
  if (one === undefined || first === undefined || second === undefined) throw new Error('two processes answer');
  const { body } = await first.post('/websites', { name: 'Bakery', slug: 'bakery' });
  const path = `/websites/${(body as { id: string }).id}`;
  await eventually(
    'an active website',
    async () => ((await first.get(path)).body as { status: string }).status === 'active' || undefined,
  );
  await fleet.parts[2]?.process.kill('SIGTERM');
  const gitdir = repositoryIn(folder, 'bakery');
  const deployments = async (): Promise<readonly Deployment[]> =>
    (await second.get(`${path}/deployments`)).body as readonly Deployment[];

  const commit = commitTo(gitdir);
  // A place is taken right before the build, by the process that holds the lease.
  const watcher = watch(join(projectIn(folder, 'bakery'), 'places'), () => {
    watcher.close();
    void one.process.kill('SIGKILL');
  });
  const lost = first.post(`${path}/redeploy`);
  await expect(lost).rejects.toThrow();
  expect(await one.process.ended).toBe('SIGKILL');
  const answers = await Promise.all([1, 2, 3].map(() => second.post(`${path}/redeploy`)));
  const [newest, ...older] = await deployments();
  expect(newest).toMatchObject({ status: 'ready', commit });
  for (const { status, body: answer } of answers) expect([status, answer]).toEqual([202, newest]);
  expect(older.filter(({ commit: built }) => built === commit)).toEqual([]);

  await fleet.stop();
});
