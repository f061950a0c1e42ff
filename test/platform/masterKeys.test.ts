import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { addMasterKey, dropPreviousMasterKeys, encryptionKeyFile, loadMasterKeys } from '../../src/platform/masterKeys.js';
import { SettingsError } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings.js';

const [key, older, oldest] = [7, 8, 9].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string, string];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doorstep-keys-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const textsOf = (keys: readonly Buffer[]): readonly string[] => keys.map((one) => one.toString('base64'));

describe('the master key', () => {
  test('comes from the settings when given', async () => {
    const settings = loadSettings({ ENCRYPTION_KEY: key, DATA_DIR: folder });
    expect(await loadMasterKeys(settings)).toEqual([Buffer.alloc(32, 7)]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('is created once, readable by its owner only', async () => {
    const settings = loadSettings({ DATA_DIR: join(folder, 'deep', 'data') });
    const made = await loadMasterKeys(settings);
    expect(made.map(({ length }) => length)).toEqual([32]);
    expect(await loadMasterKeys(settings)).toEqual(made);
    expect((await stat(join(settings.dataDir, encryptionKeyFile))).mode & 0o777).toBe(0o600);
    expect(await readdir(settings.dataDir)).toEqual([encryptionKeyFile]);
  });

  test('is the same for processes that start at once', async () => {
    const settings = loadSettings({ DATA_DIR: folder });
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadMasterKeys(settings)));
    expect(new Set(keys.map((made) => textsOf(made).join())).size).toBe(1);
    expect(await readdir(folder)).toEqual([encryptionKeyFile]);
  });

  test('that is damaged stops the start instead of being replaced', async () => {
    const file = join(folder, encryptionKeyFile);
    await writeFile(file, key.slice(0, 20));
    await expect(loadMasterKeys(loadSettings({ DATA_DIR: folder }))).rejects.toThrow(/encryption\.key in DATA_DIR/);
    expect(await readFile(file, 'utf8')).toBe(key.slice(0, 20));
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot('of another user is a wrong setting, and not replaced', async () => {
    const file = join(folder, encryptionKeyFile);
    await writeFile(file, key, { mode: 0o600 });
    await chmod(folder, 0o777);
    process.seteuid?.(65_534);
    try {
      await expect(loadMasterKeys(loadSettings({ DATA_DIR: folder }))).rejects.toThrow(SettingsError);
      process.seteuid?.(0);
      await chmod(file, 0o644);
      process.seteuid?.(65_534);
      await expect(addMasterKey(folder)).rejects.toThrow('belongs to user 0. Run this as that user, or as root');
    } finally {
      process.seteuid?.(0);
    }
    expect(await readFile(file, 'utf8')).toBe(key);
    expect(await readdir(folder)).toEqual([encryptionKeyFile]);
    await chown(file, 65_534, 65_534);
    await addMasterKey(folder);
    expect((await stat(file)).uid).toBe(65_534);
  });

  test('is followed by the previous ones', async () => {
    const environment = { PREVIOUS_ENCRYPTION_KEYS: `${older}, ${oldest}`, DATA_DIR: folder };
    expect(textsOf(await loadMasterKeys(loadSettings({ ...environment, ENCRYPTION_KEY: key })))).toEqual([key, older, oldest]);
    const [made, ...others] = textsOf(await loadMasterKeys(loadSettings(environment)));
    expect(made).toHaveLength(44);
    expect(others).toEqual([older, oldest]);
  });

  test('is rotated in the data folder: the new one first, then the previous ones until they are removed', async () => {
    const settings = loadSettings({ DATA_DIR: folder });
    const [first] = textsOf(await loadMasterKeys(settings));
    await addMasterKey(folder);
    const [second, ...others] = textsOf(await loadMasterKeys(settings));
    expect(others).toEqual([first]);
    expect(second).not.toBe(first);
    await dropPreviousMasterKeys(folder);
    expect(textsOf(await loadMasterKeys(settings))).toEqual([second]);
    expect((await stat(join(folder, encryptionKeyFile))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual([encryptionKeyFile]);
  });
});
