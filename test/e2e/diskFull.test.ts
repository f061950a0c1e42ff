import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * Limits the size of files that the process writes; beyond it the kernel fails writes like a full
 * disk.
 */
const limitFileSize = (pid: number, bytes: number | 'unlimited') =>
  promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${String(bytes)}:unlimited`]);

const block = (label: string) => ({
  estimatedCompletionAt: '2030-01-01T00:00:00.000Z',
  showPreviewUrl: false,
  checkpoints: [{ id: 'only', label, order: 10, status: 'pending' }],
});

test('on a full disk writes answer 503 and reads work; with free space, writes resume by themselves', async () => {
  const dataDir = temporaryFolder();
  const server = await startServer(dataDir);
  const api = createApi(server.address, await mintToken(dataDir));
  const { body: website } = await api.post('/websites', { name: 'Full', slug: 'full' });
  const path = `/websites/${(website as { id: string }).id}/delivery`;

  expect((await api.put(path, block('first'))).status).toBe(200);

  // Every write extends the write-ahead log, which has room for a few more.
  const { size } = await stat(join(dataDir, 'events.db-wal'));
  await limitFileSize(server.pid, size + 60_000);
  let lastWritten = 'first';
  let count = 0;
  const refused = await eventually('a write being refused', async () => {
    count += 1;
    const label = `${String(count)} ${'x'.repeat(150)}`;
    const answer = await api.put(path, block(label));
    if (answer.status !== 200) return answer;
    lastWritten = label;
    return undefined;
  });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  // SQLite reports a truncated write as an I/O error and a disk without space as full; both have a
  // clear message.
  expect(refused.body).toMatchObject({
    error: expect.stringMatching(/^(Storage is full|Whether this was written is not known)/) as unknown,
  });

  const read = await api.get(path);
  expect(read.status).toBe(200);
  expect(read.body).toMatchObject({ checkpoints: [{ label: lastWritten }] });

  await limitFileSize(server.pid, 'unlimited');
  await eventually('a write being taken again', async () => {
    const { status } = await api.put(path, block('room again'));
    return status === 200 ? true : undefined;
  });
  expect((await api.get(path)).body).toMatchObject({ checkpoints: [{ label: 'room again' }] });
  // The projector tries again by itself, a while later than writers do.
  await eventually('the list', async () => ((await api.get('/websites')).status === 200 ? true : undefined));
  expect(await server.kill('SIGTERM')).toBe(0);
}, 60_000);
