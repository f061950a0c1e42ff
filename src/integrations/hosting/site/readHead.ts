import * as fs from 'node:fs';
import { systemErrorCode } from '../../embeddedFiles.js';
import { BuildFailure, type SiteFiles } from './build.js';

const maxFiles = 5_000;
const maxBytes = 200 * 1024 * 1024;

/**
 * The head commit of a branch in the bare repository `gitdir`, or null when the repository or
 * branch does not exist.
 */
export const headOf = async (gitdir: string, branch: string): Promise<string | null> => {
  const { default: git } = await import('isomorphic-git');
  try {
    return await git.resolveRef({ fs, gitdir, ref: `refs/heads/${branch}` });
  } catch (error) {
    if (error instanceof git.Errors.NotFoundError) return null;
    throw error;
  }
};

/**
 * Reads the files of a commit from the objects of a bare repository.
 * @throws BuildFailure when it is damaged or holds what cannot be published: links, unsafe names,
 * too much data
 */
export const readCommit = async (gitdir: string, commit: string): Promise<SiteFiles> => {
  const { default: git } = await import('isomorphic-git');
  const cache = {};
  const files = new Map<string, Uint8Array>();
  let bytes = 0;

  const readFolder = async (oid: string, folder: string): Promise<void> => {
    const { tree } = await git.readTree({ fs, gitdir, oid, cache });
    for (const entry of tree) {
      const path = `${folder}${entry.path}`;
      // Git's own tools create no such names, but a crafted push can.
      if (entry.path === '..' || entry.path === '.' || /[/\\\p{Cc}]/u.test(entry.path) || entry.path.length > 200)
        throw new BuildFailure(`The repository holds a file with a name that cannot be published, in "${folder}"`);
      if (entry.type === 'tree') {
        await readFolder(entry.oid, `${path}/`);
        continue;
      }
      if (entry.type !== 'blob' || entry.mode === '120000')
        throw new BuildFailure(`${path} is a link: only files and folders can be published`);
      const { blob } = await git.readBlob({ fs, gitdir, oid: entry.oid, cache });
      bytes += blob.length;
      files.set(path, blob);
      if (files.size > maxFiles || bytes > maxBytes)
        throw new BuildFailure(`The repository is too large: at most ${String(maxFiles)} files and 200 MiB can be published`);
    }
  };

  try {
    const { commit: head } = await git.readCommit({ fs, gitdir, oid: commit, cache });
    await readFolder(head.tree, '');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined || !(code in git.Errors)) throw error;
    throw new BuildFailure(`The repository cannot be read (${code})`, { cause: error });
  }
  return files;
};
