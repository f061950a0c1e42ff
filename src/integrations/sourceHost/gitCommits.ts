import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, nullIfMissing, replaceFile } from '../embeddedFiles.js';
import { openObjects, rootOf, treeEntries, type GitObjects, type TreeEntry } from '../git/objects.js';
import { branchHead } from '../git/refs.js';
import { moveBranch, removeLeftovers } from './branchMoves.js';
import { createMemoryFiles } from './memoryFiles.js';

/** Content is read whole; what is larger is no document of ours. */
const limits = { maxObjectBytes: 8 * 1024 * 1024, maxBytesInAll: 64 * 1024 * 1024 };

type Folder = Map<string, TreeEntry>;

const readFolder = async (objects: GitObjects, id: string): Promise<Folder> =>
  new Map([...treeEntries(await objects.read(id, 'tree'))].map((entry) => [entry.name, entry]));

const isFolder = (entry: TreeEntry | undefined): entry is TreeEntry => entry?.mode === '40000';

/**
 * The files of a commit at these paths; those that are missing, or no files, are left out.
 * @throws UnreadableRepository
 */
export const filesOfCommit = async (
  gitdir: string,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> => {
  const files = new Map<string, Uint8Array>();
  if (paths.length === 0) return files;
  const objects = await openObjects(gitdir, limits);
  try {
    const root = await rootOf(objects, commit);
    for (const path of paths) {
      const folders = path.split('/');
      const name = folders.pop() ?? '';
      let folder: Folder | null = await readFolder(objects, root);
      for (const part of folders) {
        const entry: TreeEntry | undefined = folder?.get(part);
        folder = isFolder(entry) ? await readFolder(objects, entry.id) : null;
      }
      const file = folder?.get(name);
      if (file !== undefined && /^100\d{3}$/.test(file.mode)) files.set(path, await objects.read(file.id, 'blob'));
    }
    return files;
  } finally {
    await objects.close();
  }
};

/**
 * The names in a folder of a commit; none when it is not there.
 * @throws UnreadableRepository
 */
export const namesInFolder = async (gitdir: string, commit: string, path: string): Promise<readonly string[]> => {
  const objects = await openObjects(gitdir, limits);
  try {
    let folder = await readFolder(objects, await rootOf(objects, commit));
    for (const part of path.split('/')) {
      const entry = folder.get(part);
      if (!isFolder(entry)) return [];
      folder = await readFolder(objects, entry.id);
    }
    return [...folder.keys()];
  } finally {
    await objects.close();
  }
};

/**
 * Puts files into a commit on top of `parent`, and the branch onto that commit. A kill at any moment
 * leaves the branch at one of the two. Programs of git on this machine are kept out meanwhile, as
 * git keeps them out itself.
 * @returns the commit (`parent` itself when it holds these files already), or null when the branch is
 *   elsewhere, or somebody else is moving it
 * @throws UnreadableRepository
 */
export const commitFiles = async (
  gitdir: string,
  branch: string,
  change: {
    readonly parent: string;
    readonly files: ReadonlyMap<string, Uint8Array | null>;
    readonly message: string;
    readonly assertHeld: () => void;
    readonly announce?: (commit: string) => Promise<void>;
  },
  nowMs: number,
): Promise<string | null> => {
  const { parent, files, message, assertHeld } = change;
  // Also where nothing is left to commit: an attempt that was killed may have got that far.
  await removeLeftovers(gitdir, nowMs);
  const { default: git } = await import('isomorphic-git');
  const { fs, files: written } = createMemoryFiles();
  const memory = { fs, gitdir: '/repository' };
  const objects = await openObjects(gitdir, limits);
  try {
    /** The folder with the files below it, by paths relative to it; `null` when nothing is in it. */
    const write = async (id: string | null, inside: ReadonlyMap<string, Uint8Array | null>): Promise<string | null> => {
      const folder: Folder = id === null ? new Map<string, TreeEntry>() : await readFolder(objects, id);
      const below = new Map<string, Map<string, Uint8Array | null>>();
      const set = (name: string, mode: string, oid: string): void => {
        folder.set(name, { mode, name, nameBytes: Buffer.byteLength(name), id: oid });
      };
      for (const [path, content] of inside) {
        const [name = '', ...rest] = path.split('/');
        if (rest.length > 0)
          below.set(name, (below.get(name) ?? new Map<string, Uint8Array | null>()).set(rest.join('/'), content));
        else if (content === null) folder.delete(name);
        else set(name, '100644', await git.writeBlob({ ...memory, blob: content }));
      }
      for (const [name, part] of below) {
        const entry = folder.get(name);
        const tree = await write(isFolder(entry) ? entry.id : null, part);
        if (tree !== null) set(name, '40000', tree);
        else if (isFolder(entry)) folder.delete(name);
      }
      // Git knows no empty folders.
      if (folder.size === 0) return null;
      const tree = [...folder.values()].map(({ mode, name, id: oid }) => ({
        mode: mode.padStart(6, '0'),
        path: name,
        oid,
        type: kindOf(mode),
      }));
      return git.writeTree({ ...memory, tree });
    };

    const root = await rootOf(objects, parent);
    const tree = (await write(root, files)) ?? (await git.writeTree({ ...memory, tree: [] }));
    if (tree === root) return (await branchHead(gitdir, branch)) === parent ? parent : null;
    const person = { name: 'Doorstep', email: 'doorstep@localhost', timestamp: Math.floor(nowMs / 1000), timezoneOffset: 0 };
    const commit = { message: `${message}\n`, tree, parent: [parent], author: person, committer: person };
    const head = await git.writeCommit({ ...memory, commit });
    for (const [path, content] of written) {
      assertHeld();
      await keepObject(join(gitdir, path.slice('/repository/'.length)), content);
    }
    await change.announce?.(head);
    assertHeld();
    return (await moveBranch(gitdir, branch, { from: parent, to: head })) ? head : null;
  } finally {
    await objects.close();
  }
};

const kindOf = (mode: string): 'tree' | 'blob' | 'commit' => (mode === '40000' ? 'tree' : mode === '160000' ? 'commit' : 'blob');

/** An object never changes, so that one that is there is left alone. By its name git removes a draft that was left. */
const keepObject = async (path: string, content: Uint8Array): Promise<void> => {
  if ((await nullIfMissing(stat(path))) !== null) return;
  await makeFolder(dirname(path));
  await replaceFile(path, content, join(dirname(path), 'tmp_obj_doorstep'));
};
