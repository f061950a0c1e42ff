import { mkdir, mkdtemp, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ProviderFault } from './fault.js';

/**
 * What the embedded source host and the embedded hosting share: files and folders that are whole or absent after a crash at
 * any moment, work of one thing in turns, names that are safe as a folder and in an address.
 */

/** The `provider` of both. */
export const embedded = 'embedded';

/** The longest name of a repository or a project, in characters. */
const longestName = 100;

/** Slug-like: lower-case letters, digits and inner dashes. Such a name never leaves its folder. */
export const isPlainName = (name: string): boolean =>
  name.length <= longestName && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name);

/** A fault that another attempt would meet again, in words for people. */
export const permanentFault = (message: string): ProviderFault =>
  new ProviderFault({ provider: embedded, message, transient: false });

/** The code of a system error (`ENOENT`, …), or undefined. */
export const systemErrorCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

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
export const unlessMissing = async <T>(read: Promise<T>): Promise<T | null> => {
  try {
    return await read;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
};

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Returns when everything in `folder` is on the disk. */
const syncTree = async (folder: string): Promise<void> => {
  const entries = await readdir(folder, { withFileTypes: true });
  await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? syncTree(path) : sync(path);
    }),
  );
  await sync(folder);
};

/** Makes a folder, and those above it that are missing, durably. */
const makeFolder = async (path: string): Promise<void> => {
  const topmost = await mkdir(path, { recursive: true });
  if (topmost === undefined) return;
  for (let made = path; made.length >= topmost.length; made = dirname(made)) await sync(dirname(made));
};

/** Replaces `path` as a whole, durably. Readable by this user alone, since it may hold secrets. One writer at a time. */
export const replaceFile = async (path: string, content: string | Uint8Array): Promise<void> => {
  const temporary = `${path}.${String(process.pid)}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
  await sync(dirname(path));
};

/** Writes files, by their paths relative to `folder`, with the folders they need. */
export const writeFiles = async (folder: string, files: ReadonlyMap<string, Uint8Array | string>): Promise<void> => {
  const folders = new Set([...files.keys()].map((path) => dirname(join(folder, path))).concat(folder));
  for (const each of folders) await mkdir(each, { recursive: true });
  await Promise.all([...files].map(([path, content]) => writeFile(join(folder, path), content)));
};

/**
 * Makes the folder `path` by letting `fill` write into a temporary one beside it and renaming that, once it is on the disk: a
 * kill at any moment leaves the whole folder or none. `draft` names what is attempted: what an earlier attempt at it left
 * half-made goes first (a worker that still sat at it finds its folder gone and fails). Answers false when `path` is there already.
 */
export const publishFolder = async (path: string, draft: string, fill: (folder: string) => Promise<void>): Promise<boolean> => {
  const parent = dirname(path);
  const prefix = `.${draft}.`;
  await makeFolder(parent);
  const leftovers = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  await Promise.all(leftovers.map((name) => rm(join(parent, name), { recursive: true, force: true })));
  const temporary = await mkdtemp(join(parent, prefix));
  try {
    await fill(temporary);
    await syncTree(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (systemErrorCode(error) === 'ENOTEMPTY' || systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
  await sync(parent);
  return true;
};

/**
 * Removes the folder `path` so that a kill at any moment leaves the whole of it or nothing of that name: it is renamed first, to what
 * the next `publishFolder` of the same `draft` clears away. Does nothing when there is no such folder.
 */
export const withdrawFolder = async (path: string, draft: string): Promise<void> => {
  const leftover = join(dirname(path), `.${draft}.withdrawn`);
  await rm(leftover, { recursive: true, force: true });
  await unlessMissing(rename(path, leftover));
  await unlessMissing(sync(dirname(path)));
  await rm(leftover, { recursive: true, force: true });
};
