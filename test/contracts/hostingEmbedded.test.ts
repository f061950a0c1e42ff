import { mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import type { HostingProject } from '../../src/integrations/hosting/port.js';
import type { Repository } from '../../src/integrations/sourceHost/port.js';
import type { SiteBuilder } from '../../src/integrations/hosting/site/builder.js';
import { eventually } from '../support/eventually.js';
import { siteBuilder } from '../support/siteBuilder.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { hostingContract } from './hosting.contract.js';
import { commitTo, git, repositoryOf, serveSites } from './hostingSites.js';
import { createShardedFolder, type ShardedFolder } from '../../src/integrations/shardedFolder.js';

type EmbeddedHosting = ReturnType<typeof createEmbeddedHosting>;

const clock = createTestClock();
const permanent = { name: 'ProviderFault', transient: false };

/** A served hosting on `folder`, like that of a separate process. */
const openHosting = async (folder: string, builder: SiteBuilder = siteBuilder): Promise<EmbeddedHosting> => {
  let address = '';
  const hosting: EmbeddedHosting = createEmbeddedHosting({ folder, publicUrl: () => address, builder, clock });
  address = await serveSites(() => hosting.handlers.belowSites);
  return hosting;
};
const projectsIn = (folder: string): ShardedFolder => createShardedFolder({ folder });
/** Beside the folders that are there for all projects. */
const everythingIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((path) => !/^(?:_[0-9a-f]{2}(?:\/\.drafts)?|\.changes)$/.test(path));
const simpleSite = { 'index.html.liquid': '<h1>{{ site.name }}</h1>' };
/** A repository that does not exist, for cases without a build. */
const elsewhere: Repository = { id: '1', name: 'acme', defaultBranch: 'main', cloneUrl: 'https://host.example/acme.git' };
const newProject = async (hosting: EmbeddedHosting, repository: Repository): Promise<HostingProject> =>
  hosting.createProject({ name: 'acme', marker: 'job', repository });

let names = 0;
hostingContract('embedded', async () => ({
  hosting: await openHosting(temporaryFolder()),
  freshName: () => `site-${String((names += 1))}`,
  freshRepository: () => Promise.resolve(repositoryOf(simpleSite)),
  commit: (repository, home) =>
    Promise.resolve(commitTo(repository, { 'index.html.liquid': home === 'broken' ? '{% nonsense %}' : `<p>${home.words}</p>` })),
  visit: async (address) => {
    const response = await fetch(address);
    return { status: response.status, text: await response.text() };
  },
}));

test('what a deployment was built with is readable by this user alone, and only SITE_ variables reach the site', async () => {
  const folder = temporaryFolder();
  const hosting = await openHosting(folder);
  const home = '{{ site.name }} {{ site.openingHours }} {% for field in site %}{{ field[0] }} {% endfor %}';
  const { id, url } = await newProject(hosting, repositoryOf({ 'index.html.liquid': home }));
  await hosting.setVariables(id, { SITE_NAME: 'Acme', SITE_OPENING_HOURS: '9 to 5', SHOP_KEY: 'hush-hush' });
  await hosting.deploy(id, 'first');
  const text = await (await fetch(url)).text();
  expect(text).toMatch(/^Acme 9 to 5 /);
  expect(text.toLowerCase()).not.toMatch(/hush|shop/);
  expect((await stat(join(projectsIn(folder).pathOf('acme'), 'project.json'))).mode & 0o077).toBe(0);
  await hosting.setVariables(id, { SITE_NAME: 'Acme Ltd' });
  expect((await stat(join(projectsIn(folder).pathOf('acme'), 'project.json'))).mode & 0o077).toBe(0);
});

test('variables that were changed appear with the next deployment', async () => {
  const hosting = await openHosting(temporaryFolder());
  const { id, url } = await newProject(hosting, repositoryOf(simpleSite));
  await hosting.setVariables(id, { SITE_NAME: 'Acme' });
  await hosting.deploy(id, 'first');
  await hosting.setVariables(id, { SITE_NAME: 'Acme & Sons' });
  expect(await (await fetch(url)).text()).toBe('<h1>Acme</h1>');
  await hosting.deploy(id, 'second');
  expect(await (await fetch(url)).text()).toBe('<h1>Acme &amp; Sons</h1>');
});

test('without variables the site is named after its project', async () => {
  const hosting = await openHosting(temporaryFolder());
  const { id, url } = await newProject(
    hosting,
    repositoryOf({ 'index.html.liquid': '{{ site.name }} {{ site.slug }} {{ site.url }}' }),
  );
  await hosting.deploy(id, 'first');
  expect(await (await fetch(url)).text()).toBe(`acme acme ${url}`);
});

test('another process serves a deployment as soon as it is created', async () => {
  const folder = temporaryFolder();
  const [worker, api] = [await openHosting(folder), await openHosting(folder)];
  const repository = repositoryOf({ 'index.html': 'one' });
  const { id } = await newProject(worker, repository);
  const url = (await api.findProject({ name: 'acme', marker: 'job' }))?.url ?? '';
  expect((await fetch(url)).status).toBe(404);
  await worker.deploy(id, 'first');
  expect(await (await fetch(url)).text()).toBe('one');
  commitTo(repository, { 'index.html': 'two' });
  await worker.deploy(id, 'second');
  expect(await (await fetch(url)).text()).toBe('two');
  expect((await api.listDeployments(id, 10)).map(({ id: deployment }) => deployment)).toEqual(
    (await worker.listDeployments(id, 10)).map(({ id: deployment }) => deployment),
  );
});

test('visitors always get a page while deployments replace each other', async () => {
  const hosting = await openHosting(temporaryFolder());
  const { id, url } = await newProject(hosting, repositoryOf(simpleSite));
  await hosting.deploy(id, 'first');
  let deploying = true;
  const visits = async (): Promise<number[]> => {
    const seen = [];
    do seen.push((await fetch(url)).status);
    while (deploying);
    return seen;
  };
  const visitors = [visits(), visits()];
  for (const marker of ['second', 'third', 'fourth']) await hosting.deploy(id, marker);
  deploying = false;
  const statuses = new Set((await Promise.all(visitors)).flat());
  expect([...statuses]).toEqual([200]);
});

test('concurrent deployments each get a sequence number', async () => {
  const hosting = await openHosting(temporaryFolder());
  const { id } = await newProject(hosting, repositoryOf(simpleSite));
  const made = await Promise.all(['a', 'b', 'c'].map((marker) => hosting.deploy(id, marker)));
  expect((await hosting.listDeployments(id, 10)).map((deployment) => deployment.id)).toEqual(
    made.map((each) => each.id).reverse(),
  );
});

/** A builder that begins each build only when it is told to; `begun` says that one waits. */
const heldBuilder = () => {
  const waiting: (() => void)[] = [];
  const builder: SiteBuilder = {
    ...siteBuilder,
    build: async (request) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return siteBuilder.build(request);
    },
  };
  const begun = () => eventually('a build', () => (waiting.length > 0 ? true : undefined));
  const release = (): void => {
    for (const resume of waiting.splice(0)) resume();
  };
  return { builder, begun, release };
};

test('several processes: the deployment that was asked for last is served, whichever ends first', async () => {
  const folder = temporaryFolder();
  const [slow, quick] = [heldBuilder(), await openHosting(folder)];
  const delayed = await openHosting(folder, slow.builder);
  const repository = repositoryOf({ 'index.html': 'First' });
  const { id } = await newProject(quick, repository);
  const first = delayed.deploy(id, 'first');
  await slow.begun();
  commitTo(repository, { 'index.html': 'Second' });
  const second = await quick.deploy(id, 'second');
  slow.release();
  expect((await first).id.split('-')[0]).toBe('00000001');
  expect(second.id.split('-')[0]).toBe('00000002');
  for (const hosting of [quick, delayed, await openHosting(folder)]) {
    expect((await hosting.latestDeployment(id))?.id).toBe(second.id);
    expect(await (await fetch((await hosting.findProject({ name: 'acme', marker: 'job' }))?.url ?? '')).text()).toBe('Second');
  }
});

test('several processes that deploy at once get a place each', async () => {
  const folder = temporaryFolder();
  const hostings = await Promise.all(Array.from({ length: 4 }, () => openHosting(folder)));
  const [first] = hostings;
  const { id } = await newProject(first as EmbeddedHosting, repositoryOf(simpleSite));
  const made = await Promise.all(
    hostings.flatMap((hosting, index) => ['a', 'b'].map((one) => hosting.deploy(id, `${one}${String(index)}`))),
  );
  const places = made.map((deployment) => Number(deployment.id.split('-')[0]));
  expect(places.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('an attempt that takes over the deployment that was asked for last makes no second one', async () => {
  const folder = temporaryFolder();
  const [slow, quick] = [heldBuilder(), await openHosting(folder)];
  const { id } = await newProject(quick, repositoryOf(simpleSite));
  const attempt = (await openHosting(folder, slow.builder)).deploy(id, 'job');
  await slow.begun();
  const taken = await quick.deploy(id, 'job');
  slow.release();
  await attempt.catch(() => undefined);
  expect(await quick.listDeployments(id, 10)).toEqual([taken]);
});

test('a build that ends after its project was deleted leaves nothing, and reaches no other of that name', async () => {
  const folder = temporaryFolder();
  const [slow, quick] = [heldBuilder(), await openHosting(folder)];
  const delayed = await openHosting(folder, slow.builder);
  const repository = repositoryOf(simpleSite);
  for (const next of ['nothing', 'another']) {
    const { id } = await newProject(quick, repository);
    const attempt = delayed.deploy(id, 'late');
    await slow.begun();
    await quick.deleteProject({ name: 'acme', marker: 'job' });
    if (next === 'another') await quick.createProject({ name: 'acme', marker: 'other', repository });
    slow.release();
    await expect(attempt).rejects.toMatchObject({ name: 'ProviderFault' });
    if (next === 'another') expect(await quick.listDeployments(id, 10)).toEqual([]);
    else expect(await everythingIn(folder)).toEqual([]);
  }
});

test('the visitors of a deleted project are forgotten before it is gone, those of another never', async () => {
  const forgotten: string[] = [];
  let refuse = true;
  const forgetViews = (project: string): Promise<void> => {
    if (refuse) return Promise.reject(new Error('busy'));
    forgotten.push(project);
    return Promise.resolve();
  };
  const parts = { folder: temporaryFolder(), publicUrl: () => 'http://localhost', builder: siteBuilder, clock };
  const hosting = createEmbeddedHosting({ ...parts, forgetViews });
  await newProject(hosting, elsewhere);
  expect(await hosting.deleteProject({ name: 'acme', marker: 'other' })).toBe(false);
  await expect(hosting.deleteProject({ name: 'acme', marker: 'job' })).rejects.toThrow('busy');
  refuse = false;
  expect(await hosting.deleteProject({ name: 'acme', marker: 'job' })).toBe(true);
  expect(await hosting.deleteProject({ name: 'acme', marker: 'job' })).toBe(false);
  expect(forgotten).toEqual(['acme']);
});

test('the order of deployments does not follow the clock', async () => {
  const hosting = await openHosting(temporaryFolder());
  const { id } = await newProject(hosting, repositoryOf(simpleSite));
  const first = await hosting.deploy(id, 'first');
  const before = clock.now();
  clock.setTime(before - 3_600_000);
  const second = await hosting.deploy(id, 'second');
  clock.setTime(before);
  expect(second.createdAt < first.createdAt).toBe(true);
  expect((await hosting.latestDeployment(id))?.id).toBe(second.id);
});

test('leftovers of a killed deployment are not served, and the next attempt removes them', async () => {
  const folder = temporaryFolder();
  const hosting = await openHosting(folder);
  const { id, url } = await newProject(hosting, repositoryOf(simpleSite));
  const { id: made } = await hosting.deploy(id, 'first');
  const deployments = join(projectsIn(folder).pathOf('acme'), 'deployments');
  const marker = made.split('-')[1] ?? '';
  const draft = join(deployments, '.drafts', marker, 'new-abcdef', 'site');
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, 'index.html'), 'half');
  expect(await hosting.listDeployments(id, 10)).toHaveLength(1);
  expect((await fetch(url)).status).toBe(200);
  await writeFile(
    join(deployments, made, 'deployment.json'),
    (await readFile(join(deployments, made, 'deployment.json'), 'utf8')).replace('ready', 'failed'),
  );
  await (await openHosting(folder)).deploy(id, 'first');
  expect(await readdir(join(deployments, '.drafts'))).toEqual([]);
});

test.each(['', '..', '../acme', 'a/b', 'Acme', 'acme.', '-acme', 'a'.repeat(101)])(
  'a project cannot be named %j',
  async (name) => {
    const folder = temporaryFolder();
    const hosting = await openHosting(folder);
    const repository = repositoryOf(simpleSite);
    await expect(hosting.createProject({ name, marker: 'job', repository })).rejects.toMatchObject(permanent);
    expect(await readdir(folder)).toEqual([]);
  },
);

test.each(['', 'A B', 'A=B', '1A', 'Ä'])('a variable cannot be named %j', async (name) => {
  const hosting = await openHosting(temporaryFolder());
  const { id } = await newProject(hosting, elsewhere);
  await expect(hosting.setVariables(id, { [name]: 'x' })).rejects.toMatchObject(permanent);
  expect(await hosting.listVariables(id)).toEqual([]);
});

test('a repository on another host is a permanent fault', async () => {
  const hosting = await openHosting(temporaryFolder());
  const { id } = await newProject(hosting, elsewhere);
  await expect(hosting.deploy(id, 'first')).rejects.toMatchObject(permanent);
});

test('a missing repository, or one without a commit, is a permanent fault', async () => {
  const hosting = await openHosting(temporaryFolder());
  const empty = join(temporaryFolder(), 'empty.git');
  git('/', ['init', '--quiet', '--bare', empty]);
  for (const [name, folder] of Object.entries({ gone: '/nowhere/gone.git', empty })) {
    const repository = { id: name, name, defaultBranch: 'main', cloneUrl: `file://${folder}` };
    const { id } = await hosting.createProject({ name, marker: 'job', repository });
    await expect(hosting.deploy(id, 'first')).rejects.toMatchObject({
      ...permanent,
      message: expect.stringContaining('no commit'),
    });
  }
});

test('repositories are found in their folder after it has moved', async () => {
  const repository = repositoryOf(simpleSite);
  const moved = temporaryFolder();
  git('/', ['clone', '--quiet', '--bare', repository.cloneUrl, join(moved, 'site.git')]);
  const hosting = createEmbeddedHosting({
    folder: temporaryFolder(),
    repositoriesFolder: moved,
    publicUrl: () => '',
    builder: siteBuilder,
    clock,
  });
  const { id } = await newProject(hosting, { ...repository, cloneUrl: 'file:///nowhere/site.git' });
  expect(await hosting.deploy(id, 'first')).toMatchObject({ status: 'ready' });
});

test('a folder that cannot be used is a transient fault that names no path', async () => {
  const file = join(temporaryFolder(), 'file');
  await writeFile(file, '');
  const hosting = createEmbeddedHosting({ folder: join(file, 'sites'), publicUrl: () => '', builder: siteBuilder, clock });
  const attempt = newProject(hosting, elsewhere);
  await expect(attempt).rejects.toMatchObject({ name: 'ProviderFault', transient: true });
  await expect(attempt).rejects.toThrow(/^The data folder cannot be used \(ENOTDIR\)$/);
});

test('a project whose file is damaged is a permanent fault that names the file in the log alone', async () => {
  const folder = temporaryFolder();
  const { id } = await newProject(await openHosting(folder), elsewhere);
  const file = join(projectsIn(folder).pathOf(id), 'project.json');
  await writeFile(file, '{"marker":');
  await expect((await openHosting(folder)).readProject(id)).rejects.toMatchObject({
    ...{ ...permanent, message: 'A file of the data folder is damaged' },
    cause: { message: expect.stringContaining(`${file} is damaged: `) },
  });
});

describe('old deployments', () => {
  const namesOf = async (folder: string, part: string): Promise<string[]> =>
    (await readdir(join(projectsIn(folder).pathOf('acme'), part))).filter((name) => !name.startsWith('.'));

  test('go with their files: ten are kept, and the one that is served', async () => {
    const folder = temporaryFolder();
    const hosting = await openHosting(folder);
    const repository = repositoryOf(simpleSite);
    const { id, url } = await newProject(hosting, repository);
    const first = await hosting.deploy(id, 'first');
    const served = await hosting.deploy(id, 'served');
    commitTo(repository, { 'index.html.liquid': '{% nonsense %}' });
    for (let failed = 0; failed < 11; failed += 1) await hosting.deploy(id, `failed ${String(failed)}`);
    const kept = await hosting.listDeployments(id, 50);
    expect(kept.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 'failed'), 'ready']);
    expect((await namesOf(folder, 'deployments')).sort().reverse()).toEqual(kept.map((each) => each.id));
    expect(await namesOf(folder, 'places')).toHaveLength(10);
    expect(await hosting.latestDeployment(id)).toEqual(served);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(served.url)).status).toBe(200);
    expect(await hosting.readDeployment(id, first.id)).toBeNull();
    expect((await fetch(first.url)).status).toBe(404);
    // Their places are not given away again.
    expect((await hosting.deploy(id, 'next')).id > (kept[0]?.id ?? '')).toBe(true);
  });

  test('that a crash left half removed, and builds that it cut off, go with the next one', async () => {
    const folder = temporaryFolder();
    const hosting = await openHosting(folder);
    const { id } = await newProject(hosting, repositoryOf(simpleSite));
    await hosting.deploy(id, 'first');
    const drafts = join(projectsIn(folder).pathOf('acme'), 'deployments', '.drafts');
    const [withdrawn, cutOff, underWay] = ['00000001-0123456789abcdef', 'cut-off', 'under-way'];
    for (const name of [withdrawn, cutOff, underWay]) await mkdir(join(drafts, name, 'new-abcdef'), { recursive: true });
    const longAgo = new Date(clock.now() - 7_200_000);
    await utimes(join(drafts, cutOff), longAgo, longAgo);
    await hosting.deploy(id, 'second');
    expect(await readdir(drafts)).toEqual([underWay]);
  });
});
