import { copyFile, mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';

/** Where a folder is, or will be, whatever links lead there. */
const placeOf = async (folder: string): Promise<string> => {
  try {
    return await realpath(folder);
  } catch (error) {
    const above = dirname(folder);
    if (!isMissing(error) || above === folder) throw error;
    return join(await placeOf(above), basename(folder));
  }
};

/** Whether one folder is the other, or in it: a copy would go on into itself, or over its source. */
export const areNested = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = [join(await placeOf(resolve(one)), sep), join(await placeOf(resolve(other)), sep)];
  return a.startsWith(b) || b.startsWith(a);
};

/** Copies a database as of one moment, without deleted data, while other processes write. */
export const copyDatabase = (file: string, target: string): void => {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
};

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * In a repository a branch is moved once what it leads to is there, and git packs things before it removes
 * them elsewhere: in this order each branch that is copied has all that it leads to.
 */
const repositoryOrder = ['refs', 'packed-refs', 'objects', 'pack'];

/** The names of a folder in the order in which they are copied. */
export const inCopyOrder = <Entry extends { readonly name: string }>(entries: readonly Entry[]): readonly Entry[] => {
  const place = ({ name }: Entry): number => repositoryOrder.indexOf(name);
  return [...entries].sort((one, other) => place(one) - place(other));
};

/**
 * Drafts of uploads and the like that are under way, or were cut off; in a repository, locks, drafts of branches and what
 * is received of pushes, which would be in git's way in a copy.
 */
const leftOut = (name: string, isRepository: boolean): boolean =>
  name === '.drafts' || (isRepository && /\.lock$|^main\.[0-9a-f]{16}\.new$|^tmp_objdir-/.test(name));

/**
 * Copies a folder. Files that vanish meanwhile are drafts, or packed elsewhere by now: finished files are replaced
 * atomically.
 * @returns how many files
 */
export const copyFolder = async (folder: string, target: string, isRepository = false): Promise<number> => {
  await mkdir(target, { recursive: true, mode: 0o700 });
  let files = 0;
  for (const entry of inCopyOrder(await readdir(folder, { withFileTypes: true }))) {
    if (leftOut(entry.name, isRepository)) continue;
    const [from, to] = [join(folder, entry.name), join(target, entry.name)];
    try {
      if (entry.isDirectory()) files += await copyFolder(from, to, isRepository || entry.name.endsWith('.git'));
      else {
        await copyFile(from, to);
        files += 1;
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
      // What a pack held is in another one, which may not have been there when the folder was listed.
      if (basename(folder) === 'pack') {
        await rm(target, { recursive: true });
        return copyFolder(folder, target, isRepository);
      }
    }
  }
  return files;
};
