import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createApi, launchServer, mintToken, type Launched } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** The built service where it runs in production: another version of Node.js, and shut in. */
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const run = promisify(execFile);
const isCi = process.env.CI === 'true';

/** Starts the service by `command` and has it do all that it is for. */
const doesItsWork = async (dataDir: string, command: readonly string[]): Promise<Launched> => {
  const server = launchServer(dataDir, { HEALTH_PORT: '0', METRICS: 'health' }, command);
  const address = await server.opened;
  const api = createApi(address, await mintToken(dataDir));
  const { id } = (await api.post('/websites', { name: 'Corner Bakery', slug: 'bakery', tier: 'growth' })).body as { id: string };
  await eventually('the activation', async () => {
    const { status } = (await api.get(`/websites/${id}`)).body as { status: string };
    return status === 'active' ? true : undefined;
  });
  expect((await fetch(`${address}/sites/bakery/`)).status).toBe(200);
  expect((await api.post(`/websites/${id}/clients`, { email: 'ann@example.com', role: 'editor' })).status).toBe(201);
  await eventually('the invitation', async () => (((await api.get('/outbox')).body as unknown[]).length > 0 ? true : undefined));
  expect((await api.put(`/websites/${id}/delivery`, {})).status).toBe(200);
  expect((await api.put(`/websites/${id}/delivery/checkpoints/kickoff`, { status: 'done' })).body).toMatchObject({
    checkpoints: expect.arrayContaining([expect.objectContaining({ id: 'kickoff', status: 'done' })]) as unknown,
  });
  expect((await fetch(`${address}/oidc/.well-known/openid-configuration`)).status).toBe(200);
  expect((await fetch(`${address}/docs`)).status).toBe(200);
  expect((await api.get('/websites?q=bakery')).body).toMatchObject([{ id }]);
  return server;
};

const script = readFileSync(`${root}/test/support/node/install`, 'utf8');
const versions = /^versions=\((.*)\)$/m.exec(script)?.[1]?.split(' ') ?? [];
const nodeOf = (version: string): string => `${root}/.servers/node/${version}/bin/node`;

test('the version of the image is one of those that are tried here', () => {
  const image = /^FROM node:(\d+\.\d+\.\d+)-/m.exec(readFileSync(`${root}/Dockerfile`, 'utf8'))?.[1];
  expect(versions).toContain(image);
  expect(versions.map((version) => version.split('.')[0])).toEqual(['22', '24']);
});

for (const version of versions) {
  const isThere = existsSync(nodeOf(version));
  if (!isThere && !isCi) console.info(`Node.js ${version} is not tried: run test/support/node/install.`);
  const whereItIs = isThere || isCi ? test : test.skip;
  whereItIs(
    `the service does its work under Node.js ${version}`,
    async () => {
      expect((await run(nodeOf(version), ['--version'])).stdout.trim()).toBe(`v${version}`);
      const server = await doesItsWork(temporaryFolder(), [nodeOf(version)]);
      expect(await server.kill('SIGTERM')).toBe(0);
    },
    240_000,
  );
}

/** A read-only root with an empty /tmp, `writable` alone to write to, no capabilities, another user. */
const shutIn = (writable: string): readonly string[] => [
  'bwrap',
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--tmpfs', '/tmp'],
  // In case they are below /tmp.
  ...['--ro-bind', root, root, '--ro-bind', dirname(process.execPath), dirname(process.execPath)],
  ...['--bind', writable, writable],
  ...['--unshare-user', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL', '--die-with-parent'],
  '--',
];

const runShutIn = (writable: string, program: string, args: readonly string[]): Promise<{ stdout: string }> => {
  const [bwrap = '', ...options] = shutIn(writable);
  return run(bwrap, [...options, program, ...args]);
};

const probe = temporaryFolder();
const refusal = await runShutIn(probe, 'true', []).then(
  () => null,
  (error: unknown) => error as NodeJS.ErrnoException & { stderr?: string },
);
if (refusal?.code === 'ENOENT') console.info('bubblewrap is not installed: the service is not tried under a read-only root.');
else if (refusal !== null) console.info(`Namespaces are refused here, so a read-only root is not tried: ${refusal.stderr ?? ''}`);
// CI installs it; only a kernel that refuses namespaces is an excuse there.
const whereItCan = refusal === null || (isCi && refusal.code === 'ENOENT') ? test : test.skip;

whereItCan(
  'the service does its work under a read-only root, without capabilities and new privileges',
  async () => {
    const dataDir = temporaryFolder();
    for (const folder of [root, `${root}/dist`, '/var', '/']) {
      await expect(runShutIn(dataDir, 'touch', [join(folder, 'written')])).rejects.toMatchObject({
        stderr: expect.stringMatching(/Read-only file system|Permission denied/) as unknown,
      });
    }
    await runShutIn(dataDir, 'touch', [join(dataDir, 'written')]);
    const bwrap = await doesItsWork(dataDir, [...shutIn(dataDir), process.execPath]);
    const service = readFileSync(`/proc/${String(bwrap.pid)}/task/${String(bwrap.pid)}/children`, 'utf8').trim();
    const status = readFileSync(`/proc/${service}/status`, 'utf8');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      expect(status).toMatch(new RegExp(`^${set}:\\s+0{16}$`, 'm'));
    }
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    process.kill(Number(service), 'SIGTERM');
    expect(await bwrap.ended).toBe(0);
  },
  240_000,
);
