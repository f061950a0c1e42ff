import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom, type Random } from './random.js';
import { SettingsError, type Settings } from './settings.js';
import { keyOf32Bytes, Problem } from './settingValues.js';

/** Where the master keys are kept that the service makes itself, inside the data folder: one a line, the current one first. */
export const encryptionKeyFile = 'encryption.key';

/**
 * The master keys that the vault is opened with, 32 bytes each, the current one first: from the settings, else from the data folder,
 * where the first start makes one. Processes that start at the same moment get the same one. Throws `SettingsError` when the file
 * holds anything else: going on with another key would make what is stored unreadable.
 */
export const loadMasterKeys = async (settings: Settings, random: Random = systemRandom): Promise<readonly Buffer[]> => {
  const { encryptionKey, previousEncryptionKeys, dataDir } = settings;
  if (encryptionKey !== undefined) return [encryptionKey, ...previousEncryptionKeys];
  const file = join(dataDir, encryptionKeyFile);
  const text = (await readIfThere(file)) ?? (await makeKeyFile(dataDir, file, random));
  return [...text.trim().split(/\s+/).map(keyIn), ...previousEncryptionKeys];
};

/** Puts a new key before those in the data folder; they go on opening what they wrapped. */
export const addMasterKey = async (dataDir: string, random: Random = systemRandom): Promise<void> => {
  await replaceKeyFile(dataDir, [newKey(random), ...(await linesOf(dataDir))], random);
};

/** Leaves only the current key in the data folder. Nothing may be wrapped with another one. */
export const dropPreviousMasterKeys = async (dataDir: string, random: Random = systemRandom): Promise<void> => {
  await replaceKeyFile(dataDir, (await linesOf(dataDir)).slice(0, 1), random);
};

const newKey = (random: Random): string => Buffer.from(random.bytes(32)).toString('base64');

const keyIn = (line: string): Buffer => {
  const key = keyOf32Bytes(line);
  if (key instanceof Problem) throw new SettingsError([`${encryptionKeyFile} in DATA_DIR: each line ${key.words}`]);
  return key;
};

const linesOf = async (dataDir: string): Promise<readonly string[]> =>
  (await readFile(join(dataDir, encryptionKeyFile), 'utf8')).trim().split(/\s+/);

/** Hands a complete file over to `publish`, so that no process ever sees half a key. */
const withDraft = async (
  dataDir: string,
  lines: readonly string[],
  random: Random,
  publish: (draft: string, file: string) => Promise<void>,
): Promise<void> => {
  const file = join(dataDir, encryptionKeyFile);
  const draft = `${file}.${Buffer.from(random.bytes(8)).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${lines.join('\n')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await publish(draft, file);
    await syncFolder(dataDir);
  } finally {
    await rm(draft, { force: true });
  }
};

/** It is linked into place, so that the first one wins. */
const makeKeyFile = async (dataDir: string, file: string, random: Random): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await withDraft(dataDir, [newKey(random)], random, async (draft) => {
    await link(draft, file).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw error;
    });
  });
  return readFile(file, 'utf8');
};

const replaceKeyFile = (dataDir: string, lines: readonly string[], random: Random): Promise<void> =>
  withDraft(dataDir, lines, random, rename);

/** A new name is durable only once its folder is: a key lost with the power would take the personal data with it. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const readIfThere = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

const isCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;
