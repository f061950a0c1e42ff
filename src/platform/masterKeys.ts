import { chmod, chown, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom, type Random } from './random.js';
import { SettingsError } from './settings/environment.js';
import type { Settings } from './settings/settings.js';
import { keyOf32Bytes, Problem } from './settings/values.js';
import { systemErrorCode } from './systemError.js';

/**
 * The file in the data folder with the master keys that the service made: one per line, the current
 * one first.
 */
export const encryptionKeyFile = 'encryption.key';

/**
 * Loads the master keys of the vault, 32 bytes each, the current one first: from the settings, else
 * from the data folder, where the first start creates one. Processes that start at the same moment
 * get the same key.
 * @throws SettingsError when the file cannot be read, or holds anything else: a new key could not read the stored data
 */
export const loadMasterKeys = async (settings: Settings, random: Random = systemRandom): Promise<readonly Buffer[]> => {
  const { encryptionKey, previousEncryptionKeys, dataDir } = settings;
  if (encryptionKey !== undefined) return [encryptionKey, ...previousEncryptionKeys];
  const file = join(dataDir, encryptionKeyFile);
  const text = (await readIfThere(file)) ?? (await makeKeyFile(dataDir, file, random));
  return [...text.trim().split(/\s+/).map(keyIn), ...previousEncryptionKeys];
};

/** Whether the keys are to be in the data folder, and there is no file with them. */
export const isKeyFileMissing = async ({ encryptionKey, dataDir }: Settings): Promise<boolean> =>
  encryptionKey === undefined && (await readIfThere(join(dataDir, encryptionKeyFile))) === undefined;

/** Adds a new current key to the file. The previous keys stay, to unwrap what they wrapped. */
export const addMasterKey = async (dataDir: string, random: Random = systemRandom): Promise<void> => {
  await replaceKeyFile(dataDir, [newKey(random), ...(await linesOf(dataDir))], random);
};

/**
 * Removes all keys but the current one from the file, and drafts that interrupted changes of it
 * left. Nothing may be wrapped with these keys any more, and nobody else may be changing the file.
 */
export const dropPreviousMasterKeys = async (dataDir: string, random: Random = systemRandom): Promise<void> => {
  await replaceKeyFile(dataDir, (await linesOf(dataDir)).slice(0, 1), random);
  for (const name of await readdir(dataDir)) if (draftName.test(name)) await rm(join(dataDir, name), { force: true });
};

const draftName = /^encryption\.key\.[0-9a-f]{16}$/;

const newKey = (random: Random): string => Buffer.from(random.bytes(32)).toString('base64');

const keyIn = (line: string): Buffer => {
  const key = keyOf32Bytes(line);
  if (key instanceof Problem) throw new SettingsError([`${encryptionKeyFile} in DATA_DIR: each line ${key.message}`]);
  return key;
};

const linesOf = async (dataDir: string): Promise<readonly string[]> =>
  (await readFile(join(dataDir, encryptionKeyFile), 'utf8')).trim().split(/\s+/);

/**
 * Writes a complete draft before `publish` renames or links it, so that no process reads half a
 * key.
 */
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

/** `link` fails when the file exists, so the first of several processes wins. */
const makeKeyFile = async (dataDir: string, file: string, random: Random): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await withDraft(dataDir, [newKey(random)], random, async (draft) => {
    await link(draft, file).catch((error: unknown) => {
      if (systemErrorCode(error) !== 'EEXIST') throw error;
    });
  });
  return readFile(file, 'utf8');
};

const replaceKeyFile = (dataDir: string, lines: readonly string[], random: Random): Promise<void> =>
  withDraft(dataDir, lines, random, async (draft, file) => {
    const { mode } = await stat(file);
    await giveToOwner(dataDir, draft);
    await chmod(draft, mode & 0o777);
    await rename(draft, file);
  });

/**
 * Gives a file to the owner of the key, so that the service can read what an operator makes as root.
 * @throws SettingsError when this user may not
 */
export const giveToOwner = async (dataDir: string, file: string): Promise<void> => {
  const keyFile = join(dataDir, encryptionKeyFile);
  const [owner, now] = [await stat(keyFile).catch(() => stat(dataDir)), await stat(file)];
  if (owner.uid === now.uid && owner.gid === now.gid) return;
  try {
    await chown(file, owner.uid, owner.gid);
  } catch (error) {
    if (systemErrorCode(error) !== 'EPERM') throw error;
    // Another group of the same user keeps nobody from reading it.
    if (owner.uid === now.uid) return;
    throw new SettingsError([
      `${encryptionKeyFile} in DATA_DIR: belongs to user ${String(owner.uid)}. Run this as that user, or as root`,
    ]);
  }
};

/**
 * A new file is durable only once its folder is synced. Losing the key would lose all personal
 * data.
 */
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
    const code = systemErrorCode(error);
    if (code === 'ENOENT') return undefined;
    if (code === undefined) throw error;
    throw new SettingsError([
      `${encryptionKeyFile} in DATA_DIR: cannot be read (${code}). Give it to the user that the service runs as`,
    ]);
  }
};
