import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../platform/systemError.js';
import { ProviderFault } from './fault.js';

/**
 * What the embedded integrations share: files and folders that are complete or absent after a crash
 * at any moment, and names that are safe in a path and in an address.
 */

/** The `provider` of every embedded integration. */
export const embedded = 'embedded';

/** Of a repository or a project, in characters. */
const maxNameLength = 100;

/**
 * Whether a name has only lower-case letters, digits and inner dashes, and so cannot leave its
 * folder.
 */
export const isPlainName = (name: string): boolean =>
  name.length <= maxNameLength && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name);

/** A fault that another attempt would meet again. `message` is shown to people. */
export const permanentFault = (message: string): ProviderFault =>
  new ProviderFault({ provider: embedded, message, transient: false });

/** Passes a refused disk (full, read-only, failing) on as a transient fault that names no path. */
export const withDiskFaults = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const code = systemErrorCode(error);
    if (error instanceof ProviderFault || code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error;
    throw new ProviderFault({
      provider: embedded,
      message: `The data folder cannot be used (${code})`,
      transient: true,
      cause: error,
    });
  }
};

/** What `read` yields, or null when there is no such file or folder. */
export const nullIfMissing = async <T>(read: Promise<T>): Promise<T | null> => {
  try {
    return await read;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
};

/**
 * What a JSON file of the data folder holds.
 * @throws ProviderFault (permanent) for one that is damaged, which only the log names
 */
export const parseFile = (path: string, text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const cause = new Error(`${path} is damaged: ${(error as Error).message}`, { cause: error });
    throw new ProviderFault({ provider: embedded, message: 'A file of the data folder is damaged', transient: false, cause });
  }
};

/** Returns when the file, or the names in the folder, are on the disk. */
export const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** As many at once keep the disk busy; thousands would use up the files that may be open. */
const batchSize = 32;

const inBatches = async <Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> => {
  for (let at = 0; at < items.length; at += batchSize) await Promise.all(items.slice(at, at + batchSize).map(work));
};

/** @returns whether it was made */
const makeUnlessThere = async (path: string): Promise<boolean> => {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    return false;
  }
};

/** Creates a folder in one that exists, unless it is there already, durably. */
export const makeSubfolder = async (path: string): Promise<void> => {
  if (await makeUnlessThere(path)) await sync(dirname(path));
};

/** Creates a folder and its missing parents, durably. */
export const makeFolder = async (path: string, mode = 0o777): Promise<void> => {
  const topmost = await mkdir(path, { recursive: true, mode });
  if (topmost === undefined) return;
  for (let made = path; made.length >= topmost.length; made = dirname(made)) await sync(dirname(made));
};

/**
 * Replaces a file atomically and durably. Only this user can read it, since it may hold secrets. Of
 * several writers at the same time, also in other processes, the last one wins.
 * @param draft where it is written first: a path on the same disk
 */
export const replaceFile = async (path: string, content: string | Uint8Array, draft = path): Promise<void> => {
  // Process ids are no names: two containers that share the data folder both have 1.
  const temporary = `${draft}.${randomBytes(8).toString('hex')}.new`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await sync(dirname(path));
};

/** Writes a file that is in nobody's way, durably but for its name in the folder. Only this user can read it. */
export const writeNewFile = (path: string, content: string): Promise<void> =>
  writeFile(path, content, { mode: 0o600, flush: true });

/**
 * Writes files, by their paths relative to `folder`, with the folders they need in it, durably. It does not
 * create `folder` itself, so that one that was removed meanwhile stays so.
 */
export const writeFiles = async (folder: string, files: ReadonlyMap<string, Uint8Array | string>): Promise<void> => {
  const folders = new Set<string>();
  for (const path of files.keys()) {
    for (let parent = dirname(path); parent !== '.' && !folders.has(parent); parent = dirname(parent)) folders.add(parent);
  }
  const parentsFirst = [...folders].sort((one, other) => one.length - other.length);
  for (const each of parentsFirst) await mkdir(join(folder, each));
  await inBatches([...files], ([path, content]) => writeFile(join(folder, path), content, { flush: true }));
  await inBatches(['.', ...parentsFirst], (each) => sync(join(folder, each)));
};

/** In the folder in which they will appear, apart from what is complete: nobody lists that to find them. */
const draftsOf = (path: string, draft: string): string => join(dirname(path), '.drafts', draft);

/**
 * Creates the folder `path` in one that exists: `fill` writes into a temporary folder, which is
 * renamed, so that a kill at any moment leaves the whole folder or none. `draft` identifies the
 * attempt: leftovers of earlier attempts are removed first, and a worker that still writes to one
 * fails.
 * @param fill writes durably; the names in the temporary folder itself are synced when it has ended
 * @returns false when `path` exists already
 */
export const publishFolder = async (path: string, draft: string, fill: (folder: string) => Promise<void>): Promise<boolean> => {
  const drafts = draftsOf(path, draft);
  await rm(drafts, { recursive: true, force: true });
  for (const each of [dirname(drafts), drafts]) await makeUnlessThere(each);
  const temporary = await mkdtemp(join(drafts, 'new-'));
  try {
    await fill(temporary);
    await sync(temporary);
    await rename(temporary, path);
    await sync(dirname(path));
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOTEMPTY' || systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
    await removeIfEmpty(drafts);
  }
};

/** A later attempt at the same thing may have its draft in it by now. */
const removeIfEmpty = async (folder: string): Promise<void> => {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemErrorCode(error) ?? '')) throw error;
  }
};

/**
 * Removes the folder `path`, if it exists, so that a kill at any moment leaves the whole folder or
 * none. It is first renamed to a name that the next `publishFolder` with the same `draft` removes.
 */
export const withdrawFolder = async (path: string, draft: string): Promise<void> => {
  const drafts = draftsOf(path, draft);
  await rm(drafts, { recursive: true, force: true });
  for (const each of [dirname(drafts), drafts]) await makeUnlessThere(each);
  await nullIfMissing(rename(path, join(drafts, 'withdrawn')));
  await sync(dirname(path));
  await rm(drafts, { recursive: true, force: true });
};

/** Much longer than it takes to fill a folder: a draft that is older was left by a crash. */
const maxDraftMs = 3_600_000;

/**
 * Removes what crashes have left of drafts of the folders in `folder`; returns how many stay, which may be worked on.
 * @param isLeft whether a draft of that name was left, however young it is
 */
export const removeLeftDrafts = async (
  folder: string,
  now: number,
  isLeft: (name: string) => boolean = () => false,
): Promise<number> => {
  const drafts = join(folder, '.drafts');
  let kept = 0;
  for (const name of (await nullIfMissing(readdir(drafts))) ?? []) {
    const draft = join(drafts, name);
    const modifiedAt = (await nullIfMissing(stat(draft)))?.mtimeMs ?? 0;
    if (isLeft(name) || modifiedAt < now - maxDraftMs) await rm(draft, { recursive: true, force: true });
    else kept += 1;
  }
  return kept;
};
