import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { START } from '../../src/events/store/eventStore.js';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { createGitServer } from '../../src/integrations/sourceHost/gitServer.js';
import { systemClock } from '../../src/platform/clock.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { createLocalPushWorker } from '../../src/workers/push/localPushWorker.js';
import { createPushWorker } from '../../src/workers/push/pushWorker.js';
import { siteFold } from '../../src/workers/site/site.process.js';
import { createSiteWorker } from '../../src/workers/site/siteWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';
import { deployingOn } from '../support/process.js';
import { createTestClock } from '../support/testClock.js';
import { openFiles } from '../support/openFiles.js';
import { temporaryFolder } from '../support/temporary.js';
import { repositoryIn } from '../support/folders.js';

// Git starts many processes, and a machine may be busy.
jest.setTimeout(60_000);

const run = promisify(execFile);
const home = temporaryFolder();
const workers: Worker[] = [];
let api: RunningApi;
let websiteId: string;
let startWatching: () => Worker;
const tokens: Record<'admin' | 'editor' | 'viewer' | 'stranger' | 'reader', string> = {
  admin: '',
  editor: '',
  viewer: '',
  stranger: '',
  reader: '',
};

const git = async (folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const { stdout } = await run('git', [...identity, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', ...env },
  });
  return stdout.trim();
};

const addressFor = (token: string, slug = 'bakery'): string => `${api.url.replace('://', `://me:${token}@`)}/git/${slug}.git`;

const clone = async (token: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const folder = join(temporaryFolder(), 'clone');
  await git(home, ['clone', '--quiet', addressFor(token), folder], env);
  return folder;
};

/** Commits a change, and returns the commit. */
const commit = async (folder: string, files: Readonly<Record<string, string>>): Promise<string> => {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  await git(folder, ['add', '--all']);
  await git(folder, ['commit', '--quiet', '--allow-empty', '--message', 'Change it']);
  return git(folder, ['rev-parse', 'HEAD']);
};

/** What git says when it fails. */
const failureOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
  throw new Error('git did not fail');
};

const admin = { token: '' };
const call = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { ...admin, ...(body !== undefined && { body }) });

interface Deployment {
  readonly commit: string;
  readonly status: string;
}
const deployments = async (): Promise<readonly Deployment[]> =>
  (await call('GET', `/websites/${websiteId}/deployments`)).body as Deployment[];
const deployed = (wanted: string): Promise<Deployment> =>
  eventually('its deployment', async () => (await deployments()).find(({ commit: built }) => built === wanted));

const pushes = async () =>
  (await api.engine.eventStore.readAll({ after: START, filter: { streamPrefixes: ['push-'] } })).events.map(
    ({ data, metadata: { actor } }) => ({ ...(data as { commit: string; previousCommit?: string }), actor }),
  );

/** Files of bodies have no name, but this process has them open. */
const openBodies = (): number => openFiles('/.bodies/');

const fetchGit = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  api.call(method, `/git/${path}`, { headers });
const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`me:${token}`).toString('base64')}` });

const clientToken = async (subject: string, role?: 'viewer' | 'editor'): Promise<string> => {
  const token = await api.mintToken({ role: 'client', subject, verifiedEmail: subject });
  if (role === undefined) return token;
  const { body } = await call('POST', `/websites/${websiteId}/clients`, { email: subject, role });
  const { invitation } = body as { invitation: { id: string } };
  expect((await api.call('POST', `/invitations/${invitation.id}/claim`, { token })).status).toBe(200);
  return token;
};

beforeAll(async () => {
  let parts: RouteParts | undefined;
  api = await startApi({
    routes: (given) => {
      parts = given;
      return createRoutes(given);
    },
  });
  if (parts === undefined) throw new Error('there are no routes');
  const core = deployingOn(api.engine, parts);
  const gitServer = createGitServer({ ...api.engine, folder: join(api.folder, 'repositories') });
  startWatching = () => createLocalPushWorker({ ...core, gitServer });
  workers.push(
    createProvisioningWorker({ ...core, visit: () => Promise.resolve(200) }),
    createPushWorker(core),
    createSiteWorker(core),
    startWatching(),
  );
  for (const worker of workers) await worker.start();
  admin.token = tokens.admin = await api.mintToken();
  websiteId = ((await call('POST', '/websites', { name: 'Bakery', slug: 'bakery' })).body as { id: string }).id;
  await eventually('an active website', async () => {
    const { body } = await call('GET', `/websites/${websiteId}`);
    return (body as { status: string }).status === 'active' ? true : undefined;
  });
  tokens.editor = await clientToken('editor@example.com', 'editor');
  tokens.viewer = await clientToken('viewer@example.com', 'viewer');
  tokens.stranger = await clientToken('stranger@example.com');
  tokens.reader = await api.mintToken({
    role: 'client',
    subject: 'editor@example.com',
    verifiedEmail: 'editor@example.com',
    scope: 'read',
  });
}, 120_000);

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
});

describe('a clone', () => {
  test('goes by the address that the website names, by either protocol', async () => {
    const { body } = await api.call('GET', `/websites/${websiteId}`, { token: tokens.viewer });
    expect(body).toMatchObject({ repository: { provider: 'embedded', cloneUrl: `${api.url}/git/bakery.git` } });
    const smart = await clone(tokens.viewer);
    const dumb = await clone(tokens.viewer, { GIT_SMART_HTTP: '0' });
    expect(readdirSync(dumb)).toEqual(expect.arrayContaining(['template.json', 'index.html.liquid']));
    expect(readdirSync(dumb)).toStrictEqual(readdirSync(smart));
    await git(dumb, ['fsck', '--strict']);
  });

  test('goes by that address wherever it is told, and nobody is told where the server keeps it', async () => {
    const cloneUrl = `${api.url}/git/bakery.git`;
    const job = await call('GET', `/websites/${websiteId}/provisioning`);
    expect(job.body).toMatchObject({
      steps: expect.arrayContaining([expect.objectContaining({ output: expect.objectContaining({ cloneUrl }) })]),
    });
    const audit = await call('GET', `/audit?websiteId=${websiteId}&limit=200`);
    const told = audit.body as readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];
    expect(told).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'ProvisioningStepSucceeded',
          data: expect.objectContaining({
            step: 'github_create_repo',
            output: expect.objectContaining({ id: 'bakery', cloneUrl }),
          }),
        }),
        expect.objectContaining({
          type: 'WebsiteActivated',
          data: expect.objectContaining({ repository: expect.objectContaining({ cloneUrl }) }),
        }),
      ]),
    );
    const answers = [job, audit];
    for (const accept of ['text/csv', 'application/x-ndjson']) {
      answers.push(await api.call('GET', '/audit', { token: admin.token, headers: { accept } }));
    }
    answers.push(
      await call('GET', `/websites/${websiteId}/provisioning/events`),
      await call('GET', `/websites/${websiteId}/provisioning/receipts`),
    );
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).not.toMatch(/file:|repositories/);
    }
  });

  test('needs no git on the server: files, but no pushes', async () => {
    const logger = createLogger({ level: 'silent' });
    const folder = join(api.folder, 'repositories');
    const server = createGitServer({ folder, clock: systemClock, random: systemRandom, logger, program: '/nowhere/git' });
    expect(await server.isInstalled()).toBe(false);
    const refs = await server.file('bakery', 'info/refs');
    expect(Buffer.from(refs?.content as Uint8Array).toString()).toMatch(/^[0-9a-f]{40}\trefs\/heads\/main\n$/);
  });

  test('that nobody reads on ends once its caller is gone', async () => {
    const program = join(temporaryFolder(), 'git');
    writeFileSync(program, "#!/bin/sh\nprintf 'content-type: text/plain\\r\\n\\r\\n'\nexec yes\n", { mode: 0o700 });
    const logger = createLogger({ level: 'silent' });
    const folder = join(api.folder, 'repositories');
    const server = createGitServer({ folder, clock: systemClock, random: systemRandom, logger, program });
    const gone = new AbortController();
    const request = { repositoryId: 'bakery', service: 'git-upload-pack', user: 'token' } as const;
    const { content, ended } = await server.serve(request, gone.signal);
    expect(await content[Symbol.asyncIterator]().next()).toMatchObject({ done: false });
    gone.abort();
    expect(await ended).toBe(false);
  });

  test('that is given up by its reader is no fault of the service', async () => {
    const folder = await clone(tokens.editor);
    // Far more than the buffers on the way hold.
    writeFileSync(join(folder, 'large.bin'), randomBytes(20_000_000));
    const head = await commit(folder, {});
    await git(folder, ['push', '--quiet', 'origin', 'HEAD:refs/heads/large']);
    const blob = await git(folder, ['rev-parse', 'HEAD:large.bin']);
    const path = `objects/${blob.slice(0, 2)}/${blob.slice(2)}`;
    const faults = (): number => api.log.filter(({ level }) => level !== 'info').length;
    const before = faults();
    /** Sends a request, and goes away in the middle of the answer. */
    const giveUp = async (request: string, body: string, isOpen: () => boolean): Promise<void> => {
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
      const { authorization } = basic(tokens.viewer);
      const length = `content-length: ${body.length}`;
      socket.write(`${request} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n${length}\r\n\r\n${body}`);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      expect(chunk.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
      expect(isOpen()).toBe(true);
      socket.destroy();
      await eventually('the end of the answer', () => (isOpen() ? undefined : true));
    };
    await giveUp(`GET /git/bakery.git/${path}`, '', () => openFiles(path) > 0);
    const want = `0032want ${head}\n00000009done\n`;
    await giveUp('POST /git/bakery.git/git-upload-pack', want, () => openBodies() > 0);
    expect(faults()).toBe(before);
    await git(folder, ['push', '--quiet', 'origin', '--delete', 'large']);
  });

  test.each([
    ['nobody', {}, 'bakery.git/info/refs', 401],
    ['somebody with a wrong token', basic('svc_pat_wrong'), 'bakery.git/info/refs', 401],
    ['nobody, of a website that is not there', {}, 'nothing.git/info/refs', 401],
  ])('%s is asked for a token', async (_who, headers, path, status) => {
    const answer = await fetchGit(path, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  test('is not for strangers', async () => {
    expect(await fetchGit('bakery.git/info/refs', basic(tokens.stranger))).toMatchObject({
      status: 403,
      body: { error: `Not authorized to access website ${websiteId}` },
    });
    expect(await failureOf(clone(tokens.stranger))).toContain('403');
  });

  test('also takes the token as a bearer token, but not below /v1', async () => {
    const headers = { authorization: `Bearer ${tokens.viewer}` };
    expect((await fetchGit('bakery.git/HEAD', headers)).text).toBe('ref: refs/heads/main\n');
    expect((await api.call('GET', '/git/bakery.git/HEAD', { token: tokens.viewer })).status).toBe(404);
  });

  test.each([
    'bakery.git/config',
    'bakery.git/doorstep.json',
    'bakery.git/objects/../config',
    'bakery.git/objects/%2e%2e/config',
    'bakery.git/objects/pack/../../config',
    '..%2f..%2fbakery.git/HEAD',
    'bakery/HEAD',
    'bakery.git',
    'bakery.git/objects/info/alternates',
    'nothing.git/HEAD',
  ])('finds nothing at %s', async (path) => {
    // Unlike fetch, a raw request keeps the dots.
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    const { authorization } = basic(tokens.admin);
    socket.write(`GET /git/${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nconnection: close\r\n\r\n`);
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  test('that waits while its reader loses access is refused', async () => {
    const { body } = await api.call('POST', '/api-keys', { token: tokens.viewer, body: { name: 'short' } });
    const { id, token } = body as { id: string; token: string };
    const send = (head: string, key: string) => {
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
      socket.write(`${head} HTTP/1.1\r\nhost: x\r\nauthorization: ${basic(key).authorization}\r\nconnection: close\r\n`);
      return socket;
    };
    const before = openBodies();
    const others = Array.from({ length: 4 }, () => send('POST /git/bakery.git/git-upload-pack', tokens.viewer));
    for (const socket of others) socket.write('content-length: 4\r\n\r\n00');
    // Each is open twice, to be written and to be read.
    await eventually('the others', () => (openBodies() === before + 8 ? true : undefined));
    const socket = send('GET /git/bakery.git/info/refs?service=git-upload-pack', token);
    socket.write('\r\n');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    await eventually('the clone that waits', async () => {
      const { body: key } = await api.call('GET', `/api-keys/${id}`, { token: tokens.viewer });
      return (key as { lastUsedAt?: string }).lastUsedAt;
    });
    expect((await api.call('DELETE', `/api-keys/${id}`, { token: tokens.viewer })).status).toBe(204);
    for (const other of others) other.destroy();
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('a push', () => {
  test('of an editor deploys, once, and names who pushed', async () => {
    const folder = await clone(tokens.editor);
    const before = await git(folder, ['rev-parse', 'HEAD']);
    const pushed = await commit(folder, { 'hello.html': '<!doctype html><title>Hello</title>' });
    await git(folder, ['push', '--quiet']);
    const recorded = (await pushes()).at(-1);
    // Recorded by the time that git has its answer.
    expect(recorded).toMatchObject({ commit: pushed, previousCommit: before, actor: { role: 'client', via: 'token' } });
    expect(await deployed(pushed)).toMatchObject({ status: 'ready' });
    expect((await deployments()).filter(({ commit: built }) => built === pushed)).toHaveLength(1);
  });

  test('after a change of the website brings it to the site, which then needs no redeploy', async () => {
    expect((await call('PATCH', `/websites/${websiteId}`, { brandColor: '#b4532a' })).status).toBe(200);
    await eventually('the variables of the change', async () => {
      const { state } = await api.engine.state(siteFold, { websiteId });
      return state.set?.brandColor === '#b4532a' ? true : undefined;
    });
    const read = async (): Promise<object> => (await call('GET', `/websites/${websiteId}`)).body as object;
    expect(await read()).toMatchObject({ redeployNeeded: true });
    const folder = await clone(tokens.editor);
    const pushed = await commit(folder, { 'later.html': '<p>later</p>' });
    await git(folder, ['push', '--quiet']);
    await deployed(pushed);
    await eventually('the record of what is shown', async () => ('redeployNeeded' in (await read()) ? undefined : true));
  });

  test('into the repository on this machine deploys as well', async () => {
    const folder = join(temporaryFolder(), 'local');
    await git(home, ['clone', '--quiet', repositoryIn(api.folder, 'bakery'), folder]);
    const pushed = await commit(folder, { 'local.html': '<!doctype html><title>Local</title>' });
    await git(folder, ['push', '--quiet']);
    expect(await deployed(pushed)).toMatchObject({ status: 'ready' });
    expect((await pushes()).at(-1)).toMatchObject({ commit: pushed, actor: { subject: 'localPush', role: 'system' } });
  });

  test('changes nothing that the service keeps beside branches and tags', async () => {
    const folder = await clone(tokens.editor);
    expect(await git(folder, ['ls-remote', 'origin'])).not.toContain('refs/doorstep');
    expect(await failureOf(git(folder, ['push', 'origin', 'HEAD:refs/doorstep/template']))).toContain(
      'deny updating a hidden ref',
    );
  });

  test('into the repository while the service is down is deployed by its next start', async () => {
    const folder = join(temporaryFolder(), 'down');
    const [, , watching] = workers;
    await watching?.stop();
    await git(home, ['clone', '--quiet', repositoryIn(api.folder, 'bakery'), folder]);
    const pushed = await commit(folder, { 'down.html': '<!doctype html><title>Down</title>' });
    await git(folder, ['push', '--quiet']);
    const next = startWatching();
    workers[2] = next;
    await next.start();
    expect(await deployed(pushed)).toMatchObject({ status: 'ready' });
  });

  test('of another branch deploys nothing; the branch that is deployed cannot be deleted, but rewritten', async () => {
    const folder = await clone(tokens.editor);
    const count = (await pushes()).length;
    await commit(folder, {});
    await git(folder, ['push', '--quiet', 'origin', 'HEAD:refs/heads/draft']);
    expect(await pushes()).toHaveLength(count);
    expect(await failureOf(git(folder, ['push', 'origin', ':main']))).toContain('deletion of the current branch prohibited');
    await git(folder, ['reset', '--quiet', '--hard', 'HEAD~2']);
    const earlier = await git(folder, ['rev-parse', 'HEAD']);
    await git(folder, ['push', '--quiet', '--force']);
    expect((await pushes()).at(-1)).toMatchObject({ commit: earlier });
    await eventually('a deployment of the earlier commit', async () =>
      (await deployments())[0]?.commit === earlier ? true : undefined,
    );
  });

  test('that cannot be built leaves what is served', async () => {
    const folder = await clone(tokens.editor);
    const pushed = await commit(folder, { 'index.html.liquid': '{% if %}' });
    await git(folder, ['push', '--quiet']);
    expect(await deployed(pushed)).toMatchObject({ status: 'failed' });
    expect((await deployments()).find(({ status }) => status === 'ready')).toBeDefined();
  });

  test('that is cut off leaves nothing once the next one comes later', async () => {
    const folder = await clone(tokens.editor);
    const pushed = await commit(folder, {});
    const repositories = join(api.folder, 'repositories');
    const objects = join(repositoryIn(api.folder, 'bakery'), 'objects');
    const received = (): string[] => readdirSync(objects).filter((name) => name.startsWith('tmp_objdir-'));
    // Git waits for the rest of the pack.
    const pipe = join(temporaryFolder(), 'push');
    await run('mkfifo', [pipe]);
    const body = await open(pipe, 'r+');
    const command = `${'0'.repeat(40)} ${pushed} refs/heads/cut\0report-status`;
    const line = `${(command.length + 4).toString(16).padStart(4, '0')}${command}0000`;
    await body.write(Buffer.concat([Buffer.from(line), Buffer.from('PACK\0\0\0\x02\0\0\x03\xe8', 'latin1')]));
    const gitServer = createGitServer({ ...api.engine, folder: repositories });
    const gone = new AbortController();
    const request = { repositoryId: 'bakery', service: 'git-receive-pack', user: 'token' } as const;
    const ignored = { write: () => Promise.resolve(), close: () => Promise.resolve() };
    const answer = await gitServer.serve({ ...request, body: { readFrom: body.fd, bytes: 10_000, ...ignored } }, gone.signal);
    await eventually('what is received', () => received()[0]);
    gone.abort();
    expect(await answer.ended).toBe(false);
    await body.close();
    expect(received()).toHaveLength(1);
    const hour = Date.now() / 1_000 - 3_600;
    for (const path of readdirSync(objects, { recursive: true, encoding: 'utf8' })) {
      if (path.startsWith('tmp_objdir-')) utimesSync(join(objects, path), hour, hour);
    }
    await git(folder, ['push', '--quiet']);
    expect(received()).toEqual([]);
  });

  test('runs no hook of the repository', async () => {
    const hooks = join(repositoryIn(api.folder, 'bakery'), 'hooks');
    mkdirSync(hooks, { recursive: true });
    const trace = join(temporaryFolder(), 'trace');
    writeFileSync(join(hooks, 'post-receive'), `#!/bin/sh\nenv > ${trace}\n`, { mode: 0o755 });
    const folder = await clone(tokens.admin);
    const pushed = await commit(folder, { 'index.html.liquid': '<!doctype html><title>Home</title>' });
    await git(folder, ['push', '--quiet']);
    await deployed(pushed);
    rmSync(hooks, { recursive: true });
    expect(readdirSync(join(trace, '..'))).toStrictEqual([]);
  });

  test.each([
    ['viewer', 401, 'Editor role required'],
    ['reader', 403, 'Not authorized to write with a read-only token'],
    ['stranger', 403, 'Not authorized to access website'],
  ] as const)('of a %s is refused', async (who, status, words) => {
    const answer = await fetchGit('bakery.git/info/refs?service=git-receive-pack', basic(tokens[who]));
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(words) } });
    expect((await fetchGit('bakery.git/git-receive-pack', basic(tokens[who]), 'POST')).status).toBe(status);
    if (who === 'stranger') return;
    const folder = await clone(tokens[who]);
    const count = (await pushes()).length;
    await commit(folder, {});
    expect(await failureOf(git(folder, ['push', '--quiet']))).toMatch(/Authentication failed|403/);
    expect(await pushes()).toHaveLength(count);
  });

  test('whose sender loses access while it comes is refused', async () => {
    const { body } = await api.call('POST', '/api-keys', { token: tokens.editor, body: { name: 'short' } });
    const { id, token } = body as { id: string; token: string };
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    const { authorization } = basic(token);
    const head = `POST /git/bakery.git/git-receive-pack HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nconnection: close\r\n`;
    socket.write(`${head}content-length: 4\r\n\r\n00`);
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    const count = api.log.length;
    expect((await api.call('DELETE', `/api-keys/${id}`, { token: tokens.editor })).status).toBe(204);
    await eventually('the revocation', () => (api.log.length > count ? true : undefined));
    socket.write('00');
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('may take longer than other requests: not 5 s as from strangers, nor 30 s as from callers', async () => {
    const timeoutClock = createTestClock();
    const other = await startApi({ folder: api.folder, projector: false, sites: true, timeoutClock });
    const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    const { authorization } = basic(tokens.editor);
    const type = 'content-type: application/x-git-receive-pack-request\r\nconnection: close';
    const before = timeoutClock.pending();
    socket.write(
      `POST /git/bakery.git/git-receive-pack HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n${type}\r\ncontent-length: 4\r\n\r\n00`,
    );
    // What limits a stranger's body is taken away once it is known who sends it.
    await eventually('the file for the body', () => (openBodies() > 0 ? true : undefined));
    expect(timeoutClock.pending()).toBe(before);
    await timeoutClock.advance(120_000);
    expect(text).toBe('');
    socket.write('00');
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    await other.stop();
  });

  test('of more than 200 MB is refused by its head', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    const { authorization } = basic(tokens.editor);
    const head = `POST /git/bakery.git/git-receive-pack HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n`;
    socket.write(`${head}content-length: ${200 * 1024 * 1024 + 1}\r\n\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test('into a repository that is full is refused, and says so', async () => {
    const folder = await clone(tokens.editor);
    await commit(folder, { 'more.txt': 'more' });
    const filler = join(repositoryIn(api.folder, 'bakery'), 'objects', 'filler');
    writeFileSync(filler, '');
    truncateSync(filler, 1_000_000_000);
    const error = `The repository of website ${websiteId} is full: it may take 1 GB`;
    const answer = await fetch(`${api.url}/git/bakery.git/git-receive-pack`, {
      method: 'POST',
      headers: { ...basic(tokens.editor), 'content-type': 'application/x-git-receive-pack-request' },
      body: '0000',
    });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status: 400, body: { error } });
    await expect(git(folder, ['push', '--quiet'])).rejects.toThrow('400');
    rmSync(filler);
    await git(folder, ['push', '--quiet']);
  });

  test('that the disk does not take is a fault that may pass', async () => {
    const gitServer = createGitServer({ ...api.engine, folder: temporaryFolder() });
    const buffer = await gitServer.openBuffer();
    // As a full disk does, a closed file takes nothing.
    await buffer.close();
    const message = expect.stringMatching(/^The data folder cannot be used/);
    await expect(buffer.write(Buffer.from('PACK'))).rejects.toMatchObject({ name: 'ProviderFault', transient: true, message });
    gitServer.close();
  });

  test('of many branches takes room: each is a file on the disk', async () => {
    const gitServer = createGitServer({ ...api.engine, folder: join(api.folder, 'repositories') });
    const before = await gitServer.bytesOf('bakery');
    const branches = join(repositoryIn(api.folder, 'bakery'), 'refs', 'heads', 'many');
    mkdirSync(branches);
    for (let count = 0; count < 100; count += 1) writeFileSync(join(branches, String(count)), `${'0'.repeat(40)}\n`);
    expect(await gitServer.bytesOf('bakery')).toBe(before + 100 * 4_096);
    rmSync(branches, { recursive: true });
    gitServer.close();
  });

  test('to an archived website is refused; members can still clone it', async () => {
    const folder = await clone(tokens.editor);
    await call('POST', `/websites/${websiteId}/archive`);
    await commit(folder, {});
    expect(await failureOf(git(folder, ['push', '--quiet']))).toContain('400');
    expect(readdirSync(await clone(tokens.viewer))).toContain('template.json');
    await call('POST', `/websites/${websiteId}/restore`);
  });
});
