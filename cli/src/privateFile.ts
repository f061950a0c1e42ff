import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const ownersFolder = 0o700;
const ownersFile = 0o600;

/** A folder that only its owner may enter; one that others may enter is closed to them. */
const makePrivateFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: ownersFolder });
  await closeToOthers(folder, ownersFolder);
};

const closeToOthers = async (path: string, mode: number): Promise<void> => {
  // Windows has no such modes: a person's folders are closed to others there.
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) await chmod(path, mode);
};

/**
 * Writes a file that only its owner may read. It is whole at any moment: a reader, or a crash, sees
 * the former text or the new one.
 */
export const writePrivateFile = async (path: string, text: string): Promise<void> => {
  await makePrivateFolder(dirname(path));
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(unfinished, 'wx', ownersFile);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
};

/** The text of a file, null when there is none. One that others may read is closed to them. */
export const readPrivateFile = async (path: string): Promise<string | null> => {
  try {
    const text = await readFile(path, 'utf8');
    await closeToOthers(path, ownersFile);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};
