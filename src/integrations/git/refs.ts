import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { nullIfMissing } from '../embeddedFiles.js';
import { damaged, UnreadableRepository } from './source.js';

const maxPackedRefsBytes = 4 * 1024 * 1024;
const objectId = /^[0-9a-f]{40}$/;

/** Points to the commit that the embedded source host made of a template. */
export const templateRef = 'refs/doorstep/template';

/**
 * The commit that a branch points to, or null when the repository or the branch does not exist.
 * @throws UnreadableRepository when it points to something else
 */
export const branchHead = (gitdir: string, branch: string): Promise<string | null> => refTarget(gitdir, `refs/heads/${branch}`);

/** `branchHead` of any reference, by its whole name. */
export const refTarget = async (gitdir: string, ref: string): Promise<string | null> => {
  const loose = await smallFile(join(gitdir, ref), 1_024);
  if (loose !== null) {
    const id = loose.trim();
    if (!objectId.test(id)) throw damaged(`The reference ${ref}`);
    return id;
  }
  const packed = (await smallFile(join(gitdir, 'packed-refs'), maxPackedRefsBytes)) ?? '';
  const line = packed.split('\n').find((one) => one.slice(41).trimEnd() === ref && objectId.test(one.slice(0, 40)));
  return line?.slice(0, 40) ?? null;
};

const smallFile = async (path: string, maxBytes: number): Promise<string | null> => {
  const found = await nullIfMissing(stat(path));
  if (found === null) return null;
  if (found.size > maxBytes) throw new UnreadableRepository(`${basename(path)} is too large`, true);
  return nullIfMissing(readFile(path, 'utf8'));
};
