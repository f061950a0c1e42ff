import { beforeAll, describe, expect, test } from '@jest/globals';
import { createVercel } from '../../src/integrations/hosting/vercel.js';
import type { Hosting, HostingProject } from '../../src/integrations/hosting/port.js';
import type { Repository } from '../../src/integrations/sourceHost/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { hastyClock } from '../support/provider.js';
import { createGitHubFake, type GitHubFake } from '../support/providers/gitHubFake.js';
import { createVercelFake, type VercelFake } from '../support/providers/vercelFake.js';
import { serveFake, troubleKinds, type ServedFake } from '../support/providers/wire.js';
import { hostingContract } from './hosting.contract.js';

/** A clock on which waits are a hundred times shorter. */
const hasty = hastyClock(100);

interface Opened {
  readonly hosting: Hosting;
  readonly fake: VercelFake;
  readonly gitHub: GitHubFake;
  readonly served: ServedFake;
  readonly lines: string[];
  readonly visited: string[];
}

const open = async (options: { token?: string; timeoutMs?: number } = {}): Promise<Opened> => {
  const gitHub = createGitHubFake();
  const fake = createVercelFake({ repositoryOf: (name) => gitHub.repositories.get(name.split('/')[1] ?? '') });
  const served = await serveFake(fake.provider);
  const lines: string[] = [];
  const visited: string[] = [];
  const hosting = createVercel({
    settings: { token: options.token ?? fake.token, teamId: fake.teamId, apiUrl: served.url },
    clock: hasty,
    random: systemRandom,
    logger: createLogger({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } }),
    fetchStatus: (url) => {
      visited.push(url);
      return Promise.resolve(fake.visit(url).status);
    },
    timeoutMs: options.timeoutMs ?? 500_000,
  });
  return { hosting, fake, gitHub, served, lines, visited };
};

const permanent = { name: 'ProviderFault', provider: 'Vercel', transient: false };
const transient = { name: 'ProviderFault', provider: 'Vercel', transient: true };

let names = 0;
const freshRepository = ({ gitHub }: Opened): Repository => {
  const name = `repository-${String((names += 1))}`;
  gitHub.addStranger(name);
  return { id: `agency/${name}`, name, defaultBranch: 'main', cloneUrl: `https://github.com/agency/${name}.git` };
};
const newProject = (opened: Opened, name = `site-${String((names += 1))}`): Promise<HostingProject> =>
  opened.hosting.createProject({ name, marker: `job-${name}`, repository: freshRepository(opened) });

let contract: Opened;
hostingContract('Vercel', async () => {
  contract = await open();
  return {
    hosting: contract.hosting,
    freshName: () => `site-${String((names += 1))}`,
    freshRepository: () => Promise.resolve(freshRepository(contract)),
    commit: ({ name }, home) => Promise.resolve(contract.gitHub.commit(name, home === 'broken' ? null : home.words)),
    visit: (address) => Promise.resolve(contract.fake.visit(address)),
  };
});
test('all requests and responses match Vercel’s own client', () => {
  expect(contract.served.requests.length).toBeGreaterThan(30);
  expect(contract.served.complaints).toEqual([]);
});

let vercel: Opened;
beforeAll(async () => {
  vercel = await open();
});

describe('a project', () => {
  test('that is not to be served is paused, with one call, and its visitors are told so', async () => {
    const { id, url } = await newProject(vercel);
    await vercel.hosting.deploy(id, 'first');
    const calls = () => vercel.served.requests.filter(({ path }) => /pause$/.test(path)).map(({ path }) => path);
    for (let time = 0; time < 2; time += 1) await vercel.hosting.setServed(id, false);
    expect([vercel.fake.visit(url).status, calls()]).toEqual([503, [`/v1/projects/${id}/pause`]]);
    for (let time = 0; time < 2; time += 1) await vercel.hosting.setServed(id, true);
    expect([vercel.fake.visit(url).status, calls()]).toEqual([200, [`/v1/projects/${id}/pause`, `/v1/projects/${id}/unpause`]]);
  });

  test('is open to visitors without an account, and has its marker from its creation', async () => {
    const { name } = await newProject(vercel);
    const made = vercel.fake.projects.get(name);
    expect(made?.isProtected).toBe(false);
    expect(made?.variables).toEqual([{ key: 'DOORSTEP_JOB', value: `job-${name}`, type: 'plain', target: ['development'] }]);
  });

  test('of a team that makes variables sensitive is known by its marker, and its variables can be set again', async () => {
    const team = await open();
    team.fake.policy = 'on';
    const { id, name } = await newProject(team);
    const { variables = [] } = team.fake.projects.get(name) ?? {};
    variables.unshift({ key: 'DOORSTEP_JOB', value: `job-${name}`, type: 'sensitive', target: ['production'] });
    expect(await team.hosting.findProject({ name, marker: `job-${name}` })).toMatchObject({ id });
    for (const value of ['Acme', 'Acme Ltd']) await team.hosting.setVariables(id, { SITE_NAME: value });
    expect(variables.at(-1)).toMatchObject({ key: 'SITE_NAME', type: 'sensitive', value: 'Acme Ltd' });
    expect(await team.hosting.deleteProject({ name, marker: `job-${name}` })).toBe(true);
    expect(team.served.complaints).toEqual([]);
  });

  test('that was created by an attempt without a response is used, not created twice', async () => {
    vercel.served.trouble(({ method }) => (method === 'POST' ? { when: 'after', what: 'reset' } : undefined));
    await expect(newProject(vercel, 'lost')).rejects.toMatchObject(transient);
    vercel.served.trouble();
    const found = await vercel.hosting.findProject({ name: 'lost', marker: 'job-lost' });
    expect(found).toMatchObject({ name: 'lost', url: 'https://lost.vercel.app/' });
    expect(await newProject(vercel, 'lost')).toEqual(found);
    expect(vercel.fake.made.projects.filter((name) => name === 'lost')).toHaveLength(1);
  });

  test('that has lost its marker is not deleted, and is no longer missing either', async () => {
    const { id, name } = await newProject(vercel);
    const { variables = [] } = vercel.fake.projects.get(name) ?? {};
    const marker = `job-${name}`;
    variables.splice(0);
    expect(await vercel.hosting.deleteProject({ name, marker })).toBe(false);
    await expect(vercel.hosting.deleteProject({ name, marker, id })).rejects.toMatchObject({
      ...permanent,
      message: `The project ${name} is there without its variable DOORSTEP_JOB: delete it at Vercel by hand`,
    });
    // As earlier versions made it in a team that makes all of them sensitive.
    variables.push({ key: 'DOORSTEP_JOB', value: marker, type: 'sensitive', target: ['production', 'preview'] });
    expect(await vercel.hosting.deleteProject({ name, marker })).toBe(false);
    expect(await vercel.hosting.deleteProject({ name, marker, id })).toBe(true);
  });

  test('on a repository that Vercel cannot read is refused with Vercel’s message', async () => {
    const repository = { ...freshRepository(vercel), id: 'agency/unseen' };
    const attempt = vercel.hosting.createProject({ name: 'unseen', marker: 'job', repository });
    await expect(attempt).rejects.toMatchObject({ ...permanent, message: expect.stringContaining('GitHub integration') });
  });
});

test('a variable that cannot be set is named in the fault, although Vercel answers 201', async () => {
  const { id } = await newProject(vercel);
  vercel.fake.forbidden.add('VERCEL_URL');
  const attempt = vercel.hosting.setVariables(id, { SITE_NAME: 'Acme', VERCEL_URL: 'hush-hush' });
  await expect(attempt).rejects.toMatchObject({
    ...permanent,
    message: 'Variables could not be set: VERCEL_URL: This name is reserved',
  });
  expect(await vercel.hosting.listVariables(id)).toEqual(['SITE_NAME']);
  expect(vercel.lines.join('')).not.toContain('hush-hush');
});

test('a rate limit of one endpoint stops no other', async () => {
  const limited = await open();
  const { id } = await newProject(limited);
  const isOfDomains = ({ method, path }: { method: string; path: string }) => method === 'POST' && path.endsWith('/domains');
  limited.served.trouble((request) => (isOfDomains(request) ? { when: 'before', what: '429' } : undefined));
  const fault = { ...transient, retryAfterMs: 7_000 };
  await expect(limited.hosting.addDomain(id, 'one.example')).rejects.toMatchObject(fault);
  await expect(limited.hosting.addDomain(id, 'other.example')).rejects.toMatchObject(transient);
  expect(limited.served.requests.filter(isOfDomains)).toHaveLength(1);
  expect(await limited.hosting.listDeployments(id, 1)).toEqual([]);
});

describe('a domain', () => {
  const own = { type: 'CNAME', value: 'd1d4fc829fe7bc7c.vercel-dns-017.com', purpose: 'address' };

  test('is served once it is added, with what Vercel recommends for DNS first', async () => {
    const { id } = await newProject(vercel);
    await vercel.hosting.deploy(id, 'job');
    const domain = 'www.acme.example';
    const address = [
      { ...own, name: domain },
      { type: 'A', name: domain, value: '216.198.79.1', purpose: 'address' },
    ];
    expect(await vercel.hosting.findDomain(id, domain)).toEqual({ isAdded: false, records: address });
    await vercel.hosting.addDomain(id, domain);
    expect(await vercel.hosting.findDomain(id, domain)).toEqual({ isAdded: true, records: address });
    expect(vercel.fake.visit(`https://${domain}/`).status).toBe(200);
    await vercel.hosting.removeDomain(id, domain);
    expect(vercel.fake.visit(`https://${domain}/`).status).toBe(404);
  });

  test('that another account uses needs a record of Vercel’s, and is looked for again when it is added again', async () => {
    const { id, name } = await newProject(vercel);
    const domain = 'www.contested.example';
    vercel.fake.contested.add(domain);
    await vercel.hosting.addDomain(id, domain);
    const { records } = await vercel.hosting.findDomain(id, domain);
    expect(records).toContainEqual({
      ...{ type: 'TXT', name: `_vercel.${domain}`, value: `vc-domain-verify=${domain},abc`, purpose: 'hosting' },
    });
    vercel.fake.contested.delete(domain);
    await vercel.hosting.addDomain(id, domain);
    expect(vercel.fake.projects.get(name)?.domains.get(domain)).toEqual({ verified: true });
    expect((await vercel.hosting.findDomain(id, domain)).records.map(({ purpose }) => purpose)).toEqual(['address', 'address']);
  });

  test('of another project is refused, and one added by an attempt without a response is not', async () => {
    const [one, other] = [await newProject(vercel), await newProject(vercel)];
    vercel.served.trouble(({ method, path }) =>
      method === 'POST' && path.endsWith('/domains') ? { when: 'after', what: 'reset' } : undefined,
    );
    await expect(vercel.hosting.addDomain(one.id, 'www.lost.example')).rejects.toMatchObject(transient);
    vercel.served.trouble();
    await vercel.hosting.addDomain(one.id, 'www.lost.example');
    await expect(vercel.hosting.addDomain(other.id, 'www.lost.example')).rejects.toMatchObject({
      ...permanent,
      message: 'Another project has the domain www.lost.example',
    });
    expect(vercel.served.complaints).toEqual([]);
  });
});

test('a deployment without a response is found by its marker, not started twice', async () => {
  const { id } = await newProject(vercel);
  const before = vercel.fake.made.deployments.length;
  vercel.served.trouble(({ method }) => (method === 'POST' ? { when: 'after', what: 'silence' } : undefined));
  const impatient = await vercel.hosting.deploy(id, 'job').catch((error: unknown) => error);
  expect(impatient).toMatchObject(transient);
  vercel.served.trouble();
  expect(await vercel.hosting.deploy(id, 'job')).toMatchObject({ status: 'ready' });
  expect(vercel.fake.made.deployments).toHaveLength(before + 1);
});

describe('the latest deployment', () => {
  test('is returned once its address answers, which is cached for a while', async () => {
    const opened = await open();
    const { id } = await newProject(opened);
    await opened.hosting.deploy(id, 'job');
    const latest = await opened.hosting.latestDeployment(id);
    expect(await opened.hosting.latestDeployment(id)).toEqual(latest);
    expect(opened.visited).toEqual([latest?.url]);
  });

  test('whose address asks visitors to log in is not returned', async () => {
    const opened = await open();
    const { id, name } = await newProject(opened);
    await opened.hosting.deploy(id, 'job');
    const project = opened.fake.projects.get(name);
    if (project !== undefined) project.isProtected = true;
    await expect(opened.hosting.latestDeployment(id)).rejects.toMatchObject({
      ...transient,
      message: expect.stringContaining('answers with status 401'),
    });
  });
});

test('a wrong token fails with Vercel’s message', async () => {
  const { hosting } = await open({ token: 'wrong' });
  await expect(hosting.listVariables('prj_1')).rejects.toMatchObject({ ...permanent, message: 'Not authorized' });
});

describe.each(troubleKinds)('trouble on the wire: %s', (what) => {
  test('is a transient fault without secrets', async () => {
    const opened = await open({ timeoutMs: 30_000 });
    const { id } = await newProject(opened);
    opened.served.trouble(() => ({ when: 'after', what }));
    await expect(opened.hosting.listDeployments(id, 5)).rejects.toMatchObject({
      ...transient,
      ...(what === '429' && { retryAfterMs: 7_000 }),
    });
    const { fake, lines, served } = opened;
    expect(lines.join('')).not.toContain(fake.token);
    expect(served.complaints).toEqual([]);
  });
});
