import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createClient } from '../../src/commands/client/client.handlers.js';
import { openCore, type OpenCore } from '../../src/compose/stores.js';
import { createLogger } from '../../src/platform/logger.js';
import { encryptionKeyFile } from '../../src/platform/masterKeys.js';
import { loadSettings, SettingsError } from '../../src/platform/settings.js';
import { readClient } from '../../src/projections/client/client.queries.js';
import { someAdmin } from '../support/given.js';
import { operate } from '../support/server.js';
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
  await expect(open(folder)).rejects.toThrow(/encryption\.key in DATA_DIR: is not the key/);
});
