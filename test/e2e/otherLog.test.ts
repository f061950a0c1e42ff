import { copyFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import { openCore } from '../../src/compose/stores.js';
import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { createLogger } from '../../src/platform/logger.js';
import { SettingsError } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { createDurableRecords } from '../../src/projections/store/embedded/durableRecords.js';
import { FakeCluster } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import { someAdmin } from '../support/given.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { createApi, launchServer, mintToken, operate, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const open = async (environment: Readonly<Record<string, string>>): Promise<void> => {
  const opened = await openCore(loadSettings(environment), createLogger({ level: 'silent' }));
  await opened.close();
};

const modelFiles = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('read-models.db'));

test('with read models of another log no role starts; without them each does', async () => {
  const [before, folder] = [temporaryFolder(), temporaryFolder()];
  // By a process of its own: once it has ended, its files stay as they are.
  await operate(before, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com']);
  const token = await mintToken(folder);
  const dropReadModels = async (): Promise<void> => {
    for (const name of await modelFiles(folder)) await rm(join(folder, name), { force: true });
  };
  await dropReadModels();
  for (const name of await modelFiles(before)) await copyFile(join(before, name), join(folder, name));

  for (const role of ['api', 'projector', 'worker', 'cron']) {
    const server = launchServer(folder, { PROCESS_ROLES: role, BASE_URL: 'http://127.0.0.1:1' });
    expect([role, await server.ended]).toStrictEqual([role, 1]);
    expect(server.written()).toContain(
      'DATA_DIR (read-models.db, records.db): the read models there were made from another log than that of DATA_DIR (events.db). Set both to what',
    );
  }
  await dropReadModels();
  const server = await startServer(folder);
  expect((await createApi(server.address, token).get('/me')).status).toBe(200);
  await server.kill('SIGTERM');
  // Positions of workers would be applied to a log that they are not of.
  for (const name of await readdir(folder)) if (name.startsWith('records.db')) await rm(join(folder, name), { force: true });
  await copyFile(join(before, 'records.db'), join(folder, 'records.db'));
  await expect(open({ DATA_DIR: folder })).rejects.toThrow(/another log than that of DATA_DIR \(events\.db\)/);
}, 60_000);

test('an EVENT_STORE_URL of another log is refused, and an unavailable one is awaited', async () => {
  const [log, other] = [await FakeCluster.start(), await FakeCluster.start()];
  try {
    const environment = { DATA_DIR: temporaryFolder(), ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
    await open({ ...environment, EVENT_STORE_URL: log.url });
    await open({ ...environment, EVENT_STORE_URL: log.url });
    const mistaken = open({ ...environment, EVENT_STORE_URL: other.url });
    await expect(mistaken).rejects.toThrow(SettingsError);
    await expect(mistaken).rejects.toThrow(
      /another log than that of EVENT_STORE_URL, which is empty\. Set DATA_DIR, .* or, if the log was lost, restore it/,
    );
    await expect(open(environment)).rejects.toThrow(
      /that of DATA_DIR \(events\.db\), which is empty\. Set DATA_DIR, .* lost, move events\.db and what/,
    );
    log.stop();
    await open({ ...environment, EVENT_STORE_URL: log.url });
  } finally {
    log.stop();
    other.stop();
  }
}, 30_000);

describe('a vault that has nothing of the log', () => {
  const encryption = { ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };

  /** A data folder whose log is not empty, beside its vault. */
  const usedFolder = async (): Promise<string> => {
    const folder = temporaryFolder();
    const opened = await openCore(loadSettings({ DATA_DIR: folder, ...encryption }), createLogger({ level: 'silent' }));
    const { engine } = opened;
    const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' };
    await createWebsite(engine, { name: 'x', slug: 'one', templateId: 'business', tier: 'starter', collaborators: [] }, context);
    await opened.close();
    return folder;
  };

  /** By SQLite: a connection that is being closed removes files beside the database. */
  const copyVault = (from: string, to: string): void => {
    const database = new DatabaseSync(join(from, 'vault.db'));
    database.exec(`VACUUM INTO '${join(to, 'vault.db')}'`);
    database.close();
  };

  const dropVault = async (folder: string): Promise<void> => {
    for (const name of await readdir(folder)) if (name.startsWith('vault.db')) await rm(join(folder, name), { force: true });
  };

  test('is refused at each start, until it is put back', async () => {
    const folder = await usedFolder();
    const environment = { DATA_DIR: folder, ...encryption };
    const kept = temporaryFolder();
    copyVault(folder, kept);
    await dropVault(folder);
    for (let starts = 0; starts < 2; starts += 1) {
      await expect(open(environment)).rejects.toThrow(SettingsError);
      await expect(open(environment)).rejects.toThrow('DATA_DIR (vault.db): the vault there is empty, and the log is not');
      await expect(open(environment)).rejects.toThrow(
        'Move vault.db and what begins with its name away, and put vault.db there from',
      );
    }
    await dropVault(folder);
    copyVault(kept, folder);
    await open(environment);
  });

  test('is taken when it is said to be lost, and from then on', async () => {
    const folder = await usedFolder();
    const environment = { DATA_DIR: folder, ...encryption };
    await dropVault(folder);
    await open({ ...environment, ACCEPT_EMPTY_VAULT: 'yes' });
    await open(environment);
  });

  test('is refused when it is that of another log; a new log takes it', async () => {
    const [folder, other] = [await usedFolder(), await usedFolder()];
    await dropVault(folder);
    copyVault(other, folder);
    await expect(open({ DATA_DIR: folder, ...encryption })).rejects.toThrow(
      /DATA_DIR \(vault\.db\): the vault there belongs to another log: .* Put the events\.db of this vault there; or move/,
    );
    const fresh = temporaryFolder();
    copyVault(other, fresh);
    await open({ DATA_DIR: fresh, ...encryption });
  });

  test('one from before vaults were bound is that of its log', async () => {
    const folder = await usedFolder();
    const vault = await createDurableRecords({ file: join(folder, 'vault.db'), clock: systemClock });
    const log = await openLog(folder);
    const [named] = (await log.readStream('doorstep-log')).events;
    await log.close();
    for (const key of ['began empty', 'bound', named?.id ?? '']) await vault.delete('vaultLogs', key);
    await vault.close();
    await open({ DATA_DIR: folder, ...encryption });
    await dropVault(folder);
    await expect(open({ DATA_DIR: folder, ...encryption })).rejects.toThrow('the vault there is empty');
  });

  forEachReadModelServer((server) => {
    test(`of ${server.name} is refused beside the log of a data folder, and taken beside a new one`, async () => {
      const folder = await usedFolder();
      const outside = { READ_MODEL_URL: mongoDatabase(server), ...encryption };
      await expect(open({ DATA_DIR: folder, ...outside })).rejects.toThrow(
        'READ_MODEL_URL (collection vault): the vault there is empty, and the log is not',
      );
      const other = { ...outside, READ_MODEL_URL: mongoDatabase(server), DATA_DIR: temporaryFolder() };
      await open(other);
      await open(other);
    });
  });
});

const openLog = (folder: string): Promise<EventStore> =>
  createEmbeddedEventStore({ file: join(folder, 'events.db'), clock: systemClock });
