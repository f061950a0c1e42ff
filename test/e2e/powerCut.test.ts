import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { canTrace, cutPower, tracing } from '../support/powerCut.js';
import { createApi, launchServer, mintToken, startServer, type ApiAnswer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

// Needs strace, and the right to trace.
(canTrace ? test : test.skip)('an answer that was given for its Idempotency-Key is given again after a power cut', async () => {
  const roles = { PROCESS_ROLES: 'api' };
  const folder = temporaryFolder();
  const [before, live, after] = [join(folder, 'before'), join(folder, 'live'), join(folder, 'after')];
  const token = await mintToken(live);
  cpSync(live, before, { recursive: true });
  const trace = join(folder, 'trace');

  const create = (address: string): Promise<ApiAnswer> =>
    createApi(address, token).post('/websites', { name: 'Bakery', slug: 'bakery' }, { 'idempotency-key': 'create-1' });
  const server = launchServer(live, roles, [...tracing(trace), process.execPath]);
  const first = await create(await server.opened);
  expect(first.status).toBe(201);
  process.kill(Number(/^\d+/.exec(readFileSync(trace, 'latin1'))?.[0]), 'SIGKILL');
  await server.ended;
  cutPower(trace, 'HTTP/1.1 201', { before, after });

  const restarted = await startServer(after, roles);
  const second = await create(restarted.address);
  expect(second.body).toStrictEqual(first.body);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  await restarted.kill('SIGTERM');
});
