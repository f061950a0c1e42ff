import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s under load: what is under way is answered, nothing acknowledged is lost, exit 0 within 10 s',
  async (signal) => {
    const dataDir = temporaryFolder();
    const token = await mintToken(dataDir);
    const server = await startServer(dataDir);
    const api = createApi(server.address, token);
    const { body } = await api.post('/websites', { name: 'Stop', slug: 'stop' });
    const { id } = body as { id: string };
    const acknowledged: string[] = [];
    const statuses = new Set<number>();

    const live = await fetch(`${server.address}/v1/websites/${id}/provisioning/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(live.headers.get('content-type')).toContain('text/event-stream');

    const load = async (lane: number): Promise<void> => {
      for (let step = 0; ; step += 1) {
        const email = `person-${String(lane)}-${String(step)}@example.com`;
        const { status } = await api.post(`/websites/${id}/clients`, { email, role: 'viewer' });
        statuses.add(status);
        if (status === 201) acknowledged.push(email);
      }
    };
    const lanes = Array.from({ length: 10 }, (_, lane) => load(lane).catch(() => 'the connection was closed'));
    await eventually('a load', () => (acknowledged.length >= 50 ? true : undefined), 60_000);

    const startedAt = Date.now();
    expect(await server.kill(signal)).toBe(0);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    await Promise.all(lanes);
    await live.text();
    // Until the sockets closed, requests were answered or refused with 503; none failed.
    expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);

    const next = await startServer(dataDir);
    const { body: access } = await createApi(next.address, token).get(`/websites/${id}/clients`);
    const invited = new Set((access as { invitations: { email: string }[] }).invitations.map(({ email }) => email));
    expect(acknowledged.filter((email) => !invited.has(email))).toEqual([]);
    expect(await next.kill('SIGTERM')).toBe(0);
  },
  120_000,
);

/** `npm start` as an operator runs it, but in a folder without a developer's `.env`. */
const startByNpm = async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { start: `node ${root}scripts/start.mjs` } }));
  const dataDir = join(folder, 'data');
  const token = await mintToken(dataDir);
  const environment = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };
  const npm = spawn('npm', ['start'], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  let written = '';
  npm.stdout.on('data', (chunk: Buffer) => (written += chunk.toString()));
  /** Once nobody can write any more: npm, its shell and the service have ended. */
  const ended = once(npm.stdout, 'close');
  onTestFinished.push(() => {
    if (!npm.stdout.closed) process.kill(-(npm.pid ?? 0), 'SIGKILL');
  });
  const address = await eventually('an address', () => /Doorstep is open at (http\S+)/.exec(written)?.[1], 60_000);
  return { address, token, pid: npm.pid ?? 0, ended, written: () => written };
};

const onTestFinished: (() => void)[] = [];
afterEach(() => {
  for (const clear of onTestFinished.splice(0)) clear();
});

test('a signal to npm stops the service that it has started', async () => {
  const { pid, ended } = await startByNpm();
  process.kill(pid, 'SIGTERM');
  await ended;
}, 60_000);

test('a signal to the group of npm, its shell and the service cuts nothing off', async () => {
  const { address, token, pid, ended, written } = await startByNpm();
  // Half a request, which the service waits for.
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = ['POST /v1/websites HTTP/1.1', `host: ${hostname}`, `authorization: Bearer ${token}`];
  const type = ['content-type: application/json', 'content-length: 2', 'expect: 100-continue'];
  socket.write(`${[...head, ...type].join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
  process.kill(-pid, 'SIGTERM');
  await ended;
  expect(written()).not.toContain('a second signal');
}, 60_000);

test('a process that stops is not ready from the beginning, and is up to its end', async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const server = await startServer(dataDir, { HEALTH_PORT: '0' });
  const health = /Health: (\S+)\/healthz/.exec(server.written())?.[1] ?? '';
  const { hostname, port } = new URL(server.address);
  expect((await fetch(`${health}/readyz`)).status).toBe(200);

  // Half a request, which it waits for.
  const body = JSON.stringify({ name: 'Late', slug: 'late' });
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = ['POST /v1/websites HTTP/1.1', `host: ${hostname}`, `authorization: Bearer ${token}`];
  const type = ['content-type: application/json', `content-length: ${String(body.length)}`, 'expect: 100-continue'];
  socket.write(`${[...head, ...type].join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
  const stopped = server.kill('SIGTERM');
  await eventually('a closed port', () =>
    fetch(`${server.address}/healthz`).then(
      () => undefined,
      () => true,
    ),
  );
  const ready = await fetch(`${health}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { details: [{ name: 'process', problem: 'it is stopping' }] }]);
  expect((await fetch(`${health}/healthz`)).status).toBe(200);
  const answer = once(socket, 'data');
  socket.write(body);
  expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 201 /);
  expect(await stopped).toBe(0);
}, 60_000);
