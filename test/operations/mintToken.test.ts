import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createApi, launchOperation, operate, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

test('--revoke revokes every token of a subject and no others; files are readable by the service’s user only', async () => {
  const dataDir = temporaryFolder();
  // A mounted folder may have such permissions.
  await chmod(dataDir, 0o755);
  const { address } = await startServer(dataDir);
  const tokens = [
    await operate(dataDir, 'mintToken', ['--role', 'admin', '--subject', 'ann@example.com']),
    await operate(dataDir, 'mintToken', ['--role', 'client', '--subject', 'ann@example.com']),
    await operate(dataDir, 'mintToken', ['--role', 'admin', '--subject', 'bob@example.com']),
  ];
  const statuses = (): Promise<readonly number[]> =>
    Promise.all(tokens.map(async (token) => (await createApi(address, token).get('/me')).status));
  expect(await statuses()).toStrictEqual([200, 200, 200]);
  const revoked = await operate(dataDir, 'mintToken', ['--revoke', '--subject', 'ann@example.com']);
  expect(revoked).toBe('Tokens revoked: 2');
  expect(await statuses()).toStrictEqual([401, 401, 200]);
  const { body: entries } = await createApi(address, tokens[2] ?? '').get('/audit');
  const done = (entries as { type: string; actor: object }[]).map(({ type, actor }) => ({ type, actor }));
  const actor = { subject: 'mintToken', role: 'system', via: 'operator' };
  expect(done.filter(({ type }) => type === 'APIKeyRevoked')).toStrictEqual(Array(2).fill({ type: 'APIKeyRevoked', actor }));
  expect(done.filter(({ type }) => type === 'APIKeyMinted')).toStrictEqual(Array(3).fill({ type: 'APIKeyMinted', actor }));

  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  expect(files).toEqual(expect.arrayContaining(['events.db', 'read-models.db', 'records.db', 'vault.db', 'encryption.key']));
  expect(files.filter((file) => (statSync(join(dataDir, file)).mode & 0o077) !== 0)).toStrictEqual([]);
});

test('--revoke works while the service is stopped, too', async () => {
  const dataDir = temporaryFolder();
  const server = await startServer(dataDir);
  const token = await operate(dataDir, 'mintToken', ['--role', 'admin', '--subject', 'ann@example.com']);
  // The list is there once the token has been projected.
  expect((await createApi(server.address, token).get('/api-keys')).status).toBe(200);
  await server.kill('SIGTERM');
  expect(await operate(dataDir, 'mintToken', ['--revoke', '--subject', 'ann@example.com'])).toBe('Tokens revoked: 1');
});

test('a client’s token for somebody whom nobody knows is minted, with a warning; scripts create no stores but this one', async () => {
  const folder = temporaryFolder();
  await expect(operate(folder, 'projectionStatus', [])).rejects.toThrow(`DATA_DIR: there is no events.db in ${folder}`);
  expect(readdirSync(folder)).toStrictEqual([]);
  const child = launchOperation(folder, 'mintToken', ['--role', 'client', '--subject', 'anna@example.com']);
  const [output, problems, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect({ code, output, problems }).toStrictEqual({
    code: 0,
    output: expect.stringMatching(/^svc_pat_[0-9A-Za-z]{46}\n$/),
    problems: expect.stringMatching(/^Warning: nobody is known as anna@example\.com/m),
  });
  expect(await operate(folder, 'projectionStatus', [])).toContain('website');
});
