import { openObjects, rootOf, treeEntries, type GitObjects, type TreeEntry } from '../../git/objects.js';
import { refTarget, templateRef } from '../../git/refs.js';
import { UnreadableRepository } from '../../git/source.js';
import { BuildFailure, type SiteFiles } from './build.js';

const mebibyte = 1024 * 1024;
const maxFiles = 5_000;
const maxFolders = 5_000;
/** Folders within folders. */
const maxDepth = 32;
/** What file systems take, in bytes. */
const maxNameBytes = 255;
const maxPathBytes = 1_024;
/** Of all paths: each deployment keeps a list of its files. */
const maxPathBytesInAll = 1_000_000;
const maxBytes = 200 * mebibyte;
const maxFileBytes = 50 * mebibyte;
/** Twice what `maxFiles` names of the greatest length take. */
const maxTreeBytes = 3 * mebibyte;
/** Differences and what they are differences to are read too. */
const maxBytesInAll = 2_000 * mebibyte;

export interface ReadCommit {
  readonly files: SiteFiles;
  /** Whether these are, byte for byte, the files of the template that the repository was made from. */
  readonly isUnedited: boolean;
}

/**
 * Reads the files of a commit from the objects of a bare repository that anybody may have written.
 * @throws BuildFailure when it is damaged or holds what cannot be published: links, unsafe names,
 * too much data
 */
export const readCommit = async (gitdir: string, commit: string): Promise<ReadCommit> => {
  try {
    const objects = await openObjects(gitdir, { maxObjectBytes: maxFileBytes, maxBytesInAll });
    try {
      const [root, template] = [await rootOf(objects, commit), await refTarget(gitdir, templateRef)];
      const isUnedited = template !== null && (await rootOf(objects, template)) === root;
      return { files: await filesOf(objects, root), isUnedited };
    } finally {
      await objects.close();
    }
  } catch (error) {
    if (!(error instanceof UnreadableRepository)) throw error;
    throw new BuildFailure(`The repository cannot be read: ${error.message}`, { cause: error });
  }
};

const filesOf = async (objects: GitObjects, root: string): Promise<SiteFiles> => {
  const files = new Map<string, Uint8Array>();
  /** By id: one file may be in thousands of places. */
  const contents = new Map<string, Uint8Array>();
  let bytes = 0;
  let fileCount = 0;
  let folderCount = 0;
  let pathBytes = 0;

  const readFile = async (path: string, id: string): Promise<void> => {
    let content = contents.get(id);
    try {
      content ??= await objects.read(id, 'blob', Math.min(maxFileBytes, maxBytes - bytes));
    } catch (error) {
      if (!(error instanceof UnreadableRepository && error.isTooLarge)) throw error;
      throw new BuildFailure(`${path} is too large: ${limits}`, { cause: error });
    }
    bytes += content.length;
    if (bytes > maxBytes) throw tooLarge();
    pathBytes += Buffer.byteLength(path);
    if (pathBytes > maxPathBytesInAll) throw new BuildFailure('The names of the files are too long: at most 1 MB in all');
    contents.set(id, content);
    files.set(path, content);
  };

  const readFolder = async (id: string, folder: string, depth: number): Promise<void> => {
    if (depth > maxDepth) throw new BuildFailure(`The folders are too deep: at most ${String(maxDepth)} within each other`);
    const entries = [...treeEntries(await objects.read(id, 'tree', maxTreeBytes))];
    const inner = entries.filter(isFolder).length;
    folderCount += inner;
    fileCount += entries.length - inner;
    if (folderCount > maxFolders || fileCount > maxFiles) throw tooLarge();
    for (const entry of entries) {
      const { mode, name, nameBytes } = entry;
      const path = `${folder}${name}`;
      // Git's own tools create no such names, but a crafted push can.
      const isUnsafe = name === '' || name === '..' || name === '.' || /[/\\\p{Cc}]/u.test(name);
      if (isUnsafe || nameBytes > maxNameBytes || Buffer.byteLength(path) > maxPathBytes)
        throw new BuildFailure(`The repository holds a file with a name that cannot be published, in "${folder}"`);
      if (isFolder(entry)) await readFolder(entry.id, `${path}/`, depth + 1);
      else if (/^100[67]\d\d$/.test(mode)) await readFile(path, entry.id);
      else throw new BuildFailure(`${path} is a link: only files and folders can be published`);
    }
  };

  await readFolder(root, '', 0);
  return files;
};

const limits = `at most ${maxFiles.toLocaleString('en')} files, ${maxFolders.toLocaleString('en')} folders, 50 MiB a file and 200 MiB in all can be published`;

const tooLarge = (): BuildFailure => new BuildFailure(`The repository is too large: ${limits}`);

const isFolder = ({ mode }: TreeEntry): boolean => mode === '40000';
