import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createWebsite, expectAllThere, invite, nothingYet, relabel, type Acknowledged } from '../support/acknowledged.js';
import { createApi, mintToken, operate, startServer, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

test('a backup taken under load contains all writes acknowledged before, and the service starts on it', async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const server = await startServer(dataDir);
  const api = createApi(server.address, token);
  const acknowledged = nothingYet();
  for (const name of ['one', 'two', 'three']) await createWebsite(api, acknowledged, name);
  const [some] = acknowledged.websites.values();
  for (let step = 0; step < 5; step += 1) {
    await invite(api, acknowledged, some?.id ?? '', String(step));
    await relabel(api, acknowledged, some?.id ?? '', String(step));
  }

  const before = structuredClone(acknowledged);
  const writing = { over: false };
  const load = writeUntil(api, acknowledged, writing);
  const backup = join(temporaryFolder(), 'backup');
  const output = await operate(dataDir, 'backup', [backup]);
  writing.over = true;
  await load;
  expect(output).toMatch(/^records\.db\nread-models\.db\nevents\.db\nvault\.db\n(?:\w+\.db\n)*\d+ other files\n/);
  expect(output).toContain('encryption.key is left out');
  expect(await readdir(backup)).not.toContain('encryption.key');
  await expect(operate(dataDir, 'backup', [backup])).rejects.toThrow('is not empty');
  expect(await server.kill('SIGTERM')).toBe(0);

  await copyFile(join(dataDir, 'encryption.key'), join(backup, 'encryption.key'));
  const restored = await startServer(backup);
  const again = createApi(restored.address, token);
  const { body } = await again.get('/websites?limit=200');
  for (const website of body as { slug: string; id: string; status: string }[]) before.websites.set(website.slug, website);
  await expectAllThere(again, before, backup);
  expect((await fetch(`${restored.address}/sites/site-one/`)).status).toBe(200);
  expect(await restored.kill('SIGTERM')).toBe(0);
}, 120_000);

const writeUntil = async (api: Api, acknowledged: Acknowledged, writing: { readonly over: boolean }): Promise<void> => {
  const [some] = acknowledged.websites.values();
  for (let step = 0; !writing.over; step += 1) {
    await relabel(api, acknowledged, some?.id ?? '', `load-${String(step)}`);
  }
};
