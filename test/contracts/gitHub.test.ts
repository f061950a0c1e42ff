import { beforeAll, describe, expect, test } from '@jest/globals';
import { traceRequests, type TracedRequest } from '../../src/integrations/requestTrace.js';
import { createGitHub } from '../../src/integrations/sourceHost/github.js';
import type { Repository, SourceHost } from '../../src/integrations/sourceHost/port.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { hastyClock } from '../support/provider.js';
import { createTestClock } from '../support/testClock.js';
import { createGitHubFake, type GitHubFake } from '../support/providers/gitHubFake.js';
import { fetchFrom, serveFake, troubleKinds, type ServedFake } from '../support/providers/wire.js';
import { sourceHostContract } from './sourceHost.contract.js';

/** A clock on which waits are fifty times shorter. */
const hasty = hastyClock(50);

interface Opened {
  readonly host: SourceHost;
  readonly fake: GitHubFake;
  readonly served: ServedFake;
  readonly lines: string[];
}

const open = async (
  options: { copying?: number; token?: string; clock?: Clock; paced?: boolean; timeoutMs?: number } = {},
): Promise<Opened> => {
  const fake = createGitHubFake(options);
  const served = await serveFake(fake.provider);
  const lines: string[] = [];
  const { owner, template } = fake;
  const host = createGitHub({
    settings: { token: options.token ?? fake.token, owner, template: { owner, name: template }, apiUrl: served.url },
    clock: options.clock ?? hasty,
    random: systemRandom,
    logger: createLogger({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } }),
    paced: options.paced ?? false,
    timeoutMs: options.timeoutMs ?? 250_000,
  });
  return { host, fake, served, lines };
};

const permanent = { name: 'ProviderFault', provider: 'GitHub', transient: false };
const transient = { name: 'ProviderFault', provider: 'GitHub', transient: true };
const create = (host: SourceHost, name: string, marker = `job-${name}`): Promise<Repository> =>
  host.createRepository({ name, templateId: 'site-template', marker, description: 'Website of Acme' });

let names = 0;
let contract: Opened;
sourceHostContract('GitHub', async () => {
  contract = await open();
  return {
    host: contract.host,
    templateId: contract.fake.template,
    freshName: () => `site-${String((names += 1))}`,
    headOf: ({ name }) => {
      const repository = contract.fake.repositories.get(name);
      return Promise.resolve(repository?.copying === 0 ? (repository.commits[0]?.sha ?? null) : null);
    },
  };
});
test('all requests and responses match the description of GitHub', () => {
  expect(contract.served.requests.length).toBeGreaterThan(30);
  expect(contract.served.complaints).toEqual([]);
});

let github: Opened;
beforeAll(async () => {
  github = await open();
});

describe('a repository', () => {
  test('is private, with its marker at the end of a description within the length limit', async () => {
    const description = `Website of ${'Ä long name\n '.repeat(60)}`;
    await github.host.createRepository({ name: 'long', templateId: 'site-template', marker: 'job-long', description });
    const made = github.fake.repositories.get('long');
    expect(made?.isPrivate).toBe(true);
    expect(made?.description).toMatch(/^Website of Ä long name Ä.* \[doorstep job-long\]$/);
    expect(made?.description.length).toBeLessThanOrEqual(350);
  });

  test('of somebody else with our marker in the middle of its description is not taken for ours', async () => {
    github.fake.addStranger('copycat', 'About [doorstep job-copycat] and more');
    expect(await github.host.findRepository({ name: 'copycat', marker: 'job-copycat' })).toBeNull();
    await expect(create(github.host, 'copycat')).rejects.toMatchObject({
      ...permanent,
      message: expect.stringContaining('copycat'),
    });
    expect(await github.host.deleteRepository({ name: 'copycat', marker: 'job-copycat' })).toBe(false);
    expect(github.fake.repositories.has('copycat')).toBe(true);
  });

  test('that was created by an attempt without a response is used, not created twice', async () => {
    github.served.trouble(({ method }) => (method === 'POST' ? { when: 'after', what: 'reset' } : undefined));
    await expect(create(github.host, 'lost')).rejects.toMatchObject(transient);
    github.served.trouble();
    expect(await github.host.findRepository({ name: 'lost', marker: 'job-lost' })).toMatchObject({ name: 'lost' });
    expect(github.fake.repositories.get('lost')?.copying).toBe(0);
    expect(await create(github.host, 'lost')).toMatchObject({ id: 'agency/lost' });
    expect(github.fake.made.filter((name) => name === 'lost')).toHaveLength(1);
  });

  test('that has lost its marker is not deleted, and is no longer missing either', async () => {
    const { id, name } = await create(github.host, 'edited');
    const former = github.fake.repositories.get(name);
    if (former === undefined) throw new Error('there is no repository');
    former.description = 'Our website';
    expect(await github.host.deleteRepository({ name, marker: 'job-edited' })).toBe(false);
    await expect(github.host.deleteRepository({ name, marker: 'job-edited', id })).rejects.toMatchObject({
      ...permanent,
      message: expect.stringMatching(/^The repository agency\/edited is there without \[doorstep job-edited\]/),
    });
    // Another website's by now.
    former.description = 'Website of Bakery [doorstep job-other]';
    expect(await github.host.deleteRepository({ name, marker: 'job-edited', id })).toBe(false);
    expect(github.fake.repositories.has(name)).toBe(true);
  });

  test('of somebody else that was renamed is not in the way of another one; that of another website is', async () => {
    github.fake.addStranger('moved');
    github.fake.rename('moved', 'moved-away');
    expect(await create(github.host, 'moved')).toMatchObject({ id: 'agency/moved' });
    expect(github.fake.repositories.get('moved-away')?.description).toBe('Somebody else’s');

    await create(github.host, 'known');
    github.fake.rename('known', 'known-still');
    await expect(create(github.host, 'known', 'job-other')).rejects.toMatchObject({
      ...permanent,
      message: 'The repository name known leads to agency/known-still, which was made for another website',
    });
    expect(await create(github.host, 'known')).toMatchObject({ id: 'agency/known-still' });
  });

  test('whose content never appears is a transient fault', async () => {
    const { host } = await open({ copying: Infinity, clock: { ...hasty, now: () => systemClock.now() * 100 } });
    await expect(create(host, 'empty')).rejects.toMatchObject({
      ...transient,
      message: expect.stringContaining('no commit yet'),
    });
  });
});

test('an unknown user, a wrong token and a missing template have clear messages', async () => {
  const { id } = await create(github.host, 'words');
  await expect(github.host.inviteCollaborator(id, 'nobody-at-all')).rejects.toMatchObject({
    ...permanent,
    message: expect.stringContaining('nobody-at-all'),
  });
  const wrong = await open({ token: 'ghp_wrong' });
  await expect(create(wrong.host, 'site')).rejects.toMatchObject({ ...permanent, message: 'It does not accept GITHUB_TOKEN' });
  const bare = createGitHub({
    settings: {
      token: github.fake.token,
      owner: 'agency',
      template: { owner: 'agency', name: 'gone' },
      apiUrl: github.served.url,
    },
    clock: hasty,
    random: systemRandom,
    logger: createLogger({ level: 'silent' }),
    paced: false,
  });
  const attempt = bare.createRepository({ name: 'bare', templateId: 'gone', marker: 'job', description: '' });
  await expect(attempt).rejects.toMatchObject({ ...permanent, message: expect.stringContaining('agency/gone is not there') });
});

test('a repository that was renamed at GitHub is read and written under its former name', async () => {
  const fake = createGitHubFake({ copying: 0 });
  const served = await serveFake((request) => {
    const { method, path } = request;
    const rest = /^\/repos\/agency\/former(.*)/.exec(path)?.[1];
    // As GitHub does (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
    if (rest === undefined) return fake.provider({ ...request, path: path.replace('/repositories/7', '/repos/agency/renamed') });
    return { status: method === 'GET' ? 301 : 307, headers: { location: `/repositories/7${rest}` } };
  });
  const { owner, template, token } = fake;
  const host = createGitHub({
    settings: { token, owner, template: { owner, name: template }, apiUrl: served.url },
    clock: hasty,
    random: systemRandom,
    logger: createLogger({ level: 'silent' }),
    paced: false,
  });
  await create(host, 'renamed', 'job-renamed');
  expect(await host.listCommits('agency/former', 5)).toHaveLength(1);
  await host.inviteCollaborator('agency/former', 'grace');
  expect(fake.repositories.get('renamed')?.invitations).toEqual(['grace']);
  expect(served.complaints).toEqual([]);
});

test('a branch that a rule of the repository keeps where it is is a permanent fault, in the words of GitHub', async () => {
  const { host, fake } = await open();
  const { id, name } = await create(host, 'ruled');
  const repository = fake.repositories.get(name);
  if (repository === undefined) throw new Error('there is no repository');
  repository.rule = 'Changes must be made through a pull request.';
  const { head } = await host.readFiles(id, []);
  const change = { parent: head, files: new Map([['a.txt', Buffer.from('A')]]), message: 'Publish', assertHeld: () => undefined };
  const fault = { ...permanent, message: expect.stringContaining(repository.rule) as unknown };
  await expect(host.commitFiles(id, change)).rejects.toMatchObject(fault);
  expect((await host.readFiles(id, [])).head).toBe(head);
});

test('collaborators on all pages are listed', async () => {
  const { id } = await create(github.host, 'crowd');
  const invitations = github.fake.repositories.get('crowd')?.invitations ?? [];
  for (let index = 0; index < 150; index += 1) invitations.push(`user-${index}`);
  github.served.trouble();
  await expect(github.host.listCollaborators(id)).resolves.toHaveLength(151);
});

describe.each(troubleKinds)('trouble on the wire: %s', (what) => {
  test('a read succeeds when it happens once, and fails with the reason when it goes on', async () => {
    const { host, fake, served, lines } = await open({ copying: 0, timeoutMs: 20_000 });
    await create(host, 'site');
    served.trouble((_, index) => (index === 0 ? { when: 'after', what } : undefined));
    const once = host.listCommits('agency/site', 5);
    // Only short waits happen in the adapter.
    if (['500', 'reset', 'half'].includes(what)) expect(await once).toHaveLength(1);
    else await expect(once).rejects.toMatchObject(transient);
    const again = await open({ copying: 0, timeoutMs: 20_000 });
    again.served.trouble(() => ({ when: 'before', what }));
    await expect(again.host.listCommits('agency/site', 5)).rejects.toMatchObject({
      ...transient,
      ...(what === '429' && { retryAfterMs: 7_000 }),
      ...((what === 'silence' || what === 'drip') && { cause: expect.objectContaining({ name: 'TimeoutError' }) }),
    });
    expect(lines.concat(again.lines).join('')).not.toContain(fake.token);
    if (what !== 'page' && what !== 'nonsense') expect(again.lines.join('')).toContain('a request to a provider went wrong');
  });

  test('a write is sent once, and the next attempt finds out whether it took effect', async () => {
    const { host, fake, served } = await open({ copying: 0, timeoutMs: 20_000 });
    served.trouble(({ method }) => (method === 'POST' ? { when: 'after', what } : undefined));
    await expect(create(host, 'site')).rejects.toMatchObject(transient);
    expect(served.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(fake.made).toEqual(['site']);
    served.trouble();
    if (what === '429') return;
    expect(await create(host, 'site')).toMatchObject({ id: 'agency/site' });
    expect(fake.made).toEqual(['site']);
  });
});

test('a rate limit applies to all requests: nothing is sent until it has passed', async () => {
  const { host, served } = await open({ copying: 0 });
  served.trouble((_, index) => (index === 0 ? { when: 'before', what: '429' } : undefined));
  await expect(host.listCommits('agency/site-template', 1)).rejects.toMatchObject({ ...transient, retryAfterMs: 7_000 });
  const before = served.requests.length;
  await expect(host.listCollaborators('agency/site-template')).rejects.toMatchObject(transient);
  expect(served.requests).toHaveLength(before);
});

test.each([403, 429])('a secondary rate limit that names no time (%i) is waited for a minute', async (status) => {
  let asked = 0;
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
  const host = createGitHub({
    settings: {
      token: 'ghp_canary',
      owner: 'agency',
      template: { owner: 'agency', name: 'site-template' },
      apiUrl: 'https://api.example',
    },
    clock: createTestClock(),
    random: systemRandom,
    logger: createLogger({ level: 'silent' }),
    paced: false,
    fetch: fetchFrom(() => {
      asked += 1;
      return { status, body: { message }, headers: { 'x-ratelimit-remaining': '4000', 'x-ratelimit-reset': '1767229200' } };
    }),
  });
  await expect(create(host, 'site')).rejects.toMatchObject({ ...transient, retryAfterMs: 60_000 });
  await expect(create(host, 'site')).rejects.toMatchObject(transient);
  expect(asked).toBe(1);
});

test('the circuit breaker opens for a provider that keeps failing', async () => {
  const { host, served } = await open({ copying: 0 });
  served.trouble(() => ({ when: 'before', what: '500' }));
  for (let index = 0; index < 4; index += 1) await expect(host.listCommits('agency/x', 1)).rejects.toMatchObject(transient);
  expect(served.requests).toHaveLength(8);
  await expect(host.listCommits('agency/x', 1)).rejects.toThrow('left alone');
});

test('writes are spaced as GitHub asks for', async () => {
  const { host } = await open({ copying: 0, paced: true });
  const begunAt = performance.now();
  await create(host, 'first');
  await create(host, 'second');
  expect(performance.now() - begunAt).toBeGreaterThan(900);
});

test('requests that wait in the queue of the throttling stay part of their own traces', async () => {
  const { host, fake } = await open({ paced: true });
  await Promise.all(['one', 'two'].map((name) => create(host, name)));
  const traced = async (name: string): Promise<readonly string[]> => {
    const trace: TracedRequest[] = [];
    await traceRequests(trace, () => host.listCollaborators(`${fake.owner}/${name}`));
    return trace.map(({ provider, id, method, path }) => `${provider} ${id.replace(/\d+$/, '')} ${method} ${path}`);
  };
  const ofOne = ['one', 'two'].map((name) => [
    `GitHub F00D: GET /repos/agency/${name}/collaborators`,
    `GitHub F00D: GET /repos/agency/${name}/invitations`,
  ]);
  expect(await Promise.all(['one', 'two'].map(traced))).toEqual(ofOne);
}, 30_000);
