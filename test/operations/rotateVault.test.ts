import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, readdir, readFile, stat, watch, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { createClient } from '../../src/commands/client/client.handlers.js';
import { openCore, type OpenCore } from '../../src/compose/stores.js';
import { createLogger } from '../../src/platform/logger.js';
import { encryptionKeyFile } from '../../src/platform/masterKeys.js';
import { SettingsError } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { readClient } from '../../src/projections/client/client.queries.js';
import { someAdmin } from '../support/given.js';
import { chanceOf } from '../support/seeded.js';
import { launchOperation, operate } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

type Environment = Readonly<Record<string, string>>;

const open = (folder: string, environment: Environment = {}): Promise<OpenCore> =>
  openCore(loadSettings({ DATA_DIR: folder, ...environment }), createLogger({ level: 'silent' }));

const register = ({ engine }: OpenCore, email: string): Promise<string> =>
  createClient(engine, { email }, { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' });

const emailOf = async ({ reader }: OpenCore, clientId: string): Promise<string | undefined> =>
  (await readClient(reader, clientId))?.client.email;

const key = (byte: number): string => Buffer.alloc(32, byte).toString('base64');

test('the key in the data folder is rotated while the service is running', async () => {
  const folder = temporaryFolder();
  const running = await open(folder);
  const anna = await register(running, 'anna@example.com');
  const before = await readFile(join(folder, encryptionKeyFile), 'utf8');
  expect(await operate(folder, 'rotateVault', [])).toMatch(
    /^2 entries of the vault are wrapped with the new key in encryption\.key/,
  );
  const after = await readFile(join(folder, encryptionKeyFile), 'utf8');
  expect(after).not.toContain(before.trim());
  expect(after.trim()).toHaveLength(44);

  const berta = await register(running, 'berta@example.com');
  const fresh = await open(folder);
  for (const engine of [running, fresh]) {
    expect([await emailOf(engine, anna), await emailOf(engine, berta)]).toEqual(['anna@example.com', 'berta@example.com']);
  }
  await running.close();
  await fresh.close();
});

test('ENCRYPTION_KEY is rotated with the previous key in the settings; without it nothing starts', async () => {
  const folder = temporaryFolder();
  const first = await open(folder, { ENCRYPTION_KEY: key(1) });
  const anna = await register(first, 'anna@example.com');
  await first.close();

  const wrong = open(folder, { ENCRYPTION_KEY: key(2) });
  await expect(wrong).rejects.toThrow(SettingsError);
  await expect(wrong).rejects.toThrow(/ENCRYPTION_KEY: is not the key that the vault is wrapped with/);
  await expect(operate(folder, 'rotateVault', [], { ENCRYPTION_KEY: key(2) })).rejects.toThrow(/ENCRYPTION_KEY: is not the key/);

  const both = { ENCRYPTION_KEY: key(2), PREVIOUS_ENCRYPTION_KEYS: key(1) };
  expect(await operate(folder, 'rotateVault', [], both)).toMatch(/^2 entries of the vault are wrapped with ENCRYPTION_KEY\./);
  const after = await open(folder, { ENCRYPTION_KEY: key(2) });
  expect(await emailOf(after, anna)).toBe('anna@example.com');
  await after.close();
  await expect(open(folder, { ENCRYPTION_KEY: key(1) })).rejects.toThrow(SettingsError);
  await expect(open(folder)).rejects.toThrow(/there is no encryption\.key in DATA_DIR/);
  expect(await readdir(folder)).not.toContain(encryptionKeyFile);
  await writeFile(join(folder, encryptionKeyFile), key(3));
  await expect(open(folder)).rejects.toThrow(/encryption\.key in DATA_DIR: is not the key/);
});

/** Resolves when the file has other content. */
const changeOf = async (folder: string, name: string): Promise<void> => {
  const read = (): string => readFileSync(join(folder, name), 'utf8');
  const before = read();
  for await (const change of watch(folder)) if (change.filename === name && read() !== before) return;
};

test('a rotation that is killed at any moment loses nothing, and is done by running it again', async () => {
  const chance = chanceOf('rotateVault');
  const folder = temporaryFolder();
  const file = join(folder, encryptionKeyFile);
  const running = await open(folder);
  const first = readFileSync(file, 'utf8').trim();
  const emails: string[] = [];
  const ids: string[] = [];
  const registerAnother = async (): Promise<void> => {
    const email = `client${String(ids.length)}@example.com`;
    emails.push(email);
    ids.push(await register(running, email));
  };
  for (let kills = 0; kills < 3; kills += 1) {
    await registerAnother();
    const changed = changeOf(folder, encryptionKeyFile);
    const killed = launchOperation(folder, 'rotateVault');
    const exit = once(killed, 'exit');
    // The key file is written first; the other steps follow within some milliseconds.
    await changed;
    await pause(Math.floor(chance() * 12));
    killed.kill('SIGKILL');
    await exit;
    await registerAnother();
    for (const core of [running, await open(folder)]) {
      expect(await Promise.all(ids.map((id) => emailOf(core, id)))).toEqual(emails);
      if (core !== running) await core.close();
    }
  }
  expect(await operate(folder, 'rotateVault', [])).toContain('the old one is gone');
  expect((await readFile(file, 'utf8')).trim()).toMatch(/^\S{44}$/);
  expect((await readdir(folder)).filter((name) => name.startsWith(encryptionKeyFile))).toEqual([
    encryptionKeyFile,
    `${encryptionKeyFile}.lock`,
  ]);
  await registerAnother();
  const fresh = await open(folder);
  expect(await Promise.all(ids.map((id) => emailOf(fresh, id)))).toEqual(emails);
  await fresh.close();
  await running.close();
  await expect(open(folder, { ENCRYPTION_KEY: first })).rejects.toThrow(SettingsError);
});

const asRoot = process.getuid?.() === 0 ? test : test.skip;

asRoot('by root the key stays that of the user whom the service runs as', async () => {
  const [folder, user] = [temporaryFolder(), 65_534];
  await (await open(folder)).close();
  for (const name of ['.', ...(await readdir(folder))]) await chown(join(folder, name), user, user);
  await chmod(join(folder, encryptionKeyFile), 0o440);
  await operate(folder, 'rotateVault', []);
  const { uid, gid, mode } = await stat(join(folder, encryptionKeyFile));
  expect([uid, gid, mode & 0o777]).toEqual([user, user, 0o440]);
  for (const name of await readdir(folder)) expect([name, (await stat(join(folder, name))).uid]).toEqual([name, user]);
});

test('of two rotations at once, one waits for nothing and says so', async () => {
  const folder = temporaryFolder();
  await (await open(folder)).close();
  const lock = new DatabaseSync(join(folder, `${encryptionKeyFile}.lock`));
  lock.exec('BEGIN EXCLUSIVE');
  const before = await readFile(join(folder, encryptionKeyFile), 'utf8');
  await expect(operate(folder, 'rotateVault', [])).rejects.toThrow('Another rotation is under way');
  expect(await readFile(join(folder, encryptionKeyFile), 'utf8')).toBe(before);
  lock.close();
});
