import { copyFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openCore } from '../../src/compose/stores.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings, SettingsError } from '../../src/platform/settings.js';
import { FakeCluster } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import { createApi, launchServer, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const open = async (environment: Readonly<Record<string, string>>): Promise<void> => {
  const opened = await openCore(loadSettings(environment), createLogger({ level: 'silent' }));
  await opened.close();
};

const modelFiles = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('read-models.db'));

test('with read models of another log no role starts; without them each does', async () => {
  const [before, folder] = [temporaryFolder(), temporaryFolder()];
  await mintToken(before);
  const token = await mintToken(folder);
  const dropReadModels = async (): Promise<void> => {
    for (const name of await modelFiles(folder)) await rm(join(folder, name));
  };
  await dropReadModels();
  for (const name of await modelFiles(before)) await copyFile(join(before, name), join(folder, name));

  for (const role of ['api', 'projector', 'worker', 'cron']) {
    const server = launchServer(folder, { PROCESS_ROLES: role, BASE_URL: 'http://127.0.0.1:1' });
    expect([role, await server.ended]).toStrictEqual([role, 1]);
    expect(server.written()).toContain(
      'DATA_DIR (read-models.db): the read models there were made from another log than that of DATA_DIR (events.db). Set both to what',
    );
  }
  await dropReadModels();
  const server = await startServer(folder);
  expect((await createApi(server.address, token).get('/me')).status).toBe(200);
  await server.kill('SIGTERM');
}, 60_000);

test('an EVENT_STORE_URL of another log is refused, and an unavailable one is awaited', async () => {
  const [log, other] = [await FakeCluster.start(), await FakeCluster.start()];
  try {
    const environment = { DATA_DIR: temporaryFolder(), ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
    await open({ ...environment, EVENT_STORE_URL: log.url });
    await open({ ...environment, EVENT_STORE_URL: log.url });
    const mistaken = open({ ...environment, EVENT_STORE_URL: other.url });
    await expect(mistaken).rejects.toThrow(SettingsError);
    await expect(mistaken).rejects.toThrow(/another log than that of EVENT_STORE_URL/);
    await expect(open(environment)).rejects.toThrow(/another log than that of DATA_DIR \(events\.db\)/);
    log.stop();
    await open({ ...environment, EVENT_STORE_URL: log.url });
  } finally {
    log.stop();
    other.stop();
  }
}, 30_000);
