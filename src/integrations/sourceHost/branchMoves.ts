import { randomBytes } from 'node:crypto';
import { lstat, readdir, readlink, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../platform/systemError.js';
import { nullIfMissing, sync, writeNewFile } from '../embeddedFiles.js';
import { branchHead } from '../git/refs.js';

/** Git holds its own locks for moments; one that is this old was left by a process that died. */
const leftLockMs = 60_000;
/** A lock of ours can be taken away from a process that still runs. This spares those that are not slow. */
const leftMoveMs = 1_000;
/** Nobody writes to what was received of a push for so long, unless it was cut off. */
const leftPushMs = 900_000;

/** Earlier builds had theirs among the branches. */
const draftName = /^main\.[0-9a-f]{16}\.new$/;

/** Whether there was something to remove. */
const remove = async (path: string): Promise<boolean> => (await nullIfMissing(unlink(path))) !== null;

/** A link, which is there with what it says or not at all; a file where there are no links, removed as a lock of git is. */
type LockKind = 'link' | 'file';

/** The lock that this process has from now on; null when another one has it. */
const createLock = async (lock: string, draft: string): Promise<LockKind | null> => {
  try {
    return await symlink(draft, lock).then(
      (): LockKind => 'link',
      async (error: unknown): Promise<LockKind> => {
        if (systemErrorCode(error) === 'EEXIST') throw error;
        await writeFile(lock, '', { flag: 'wx' });
        return 'file';
      },
    );
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return null;
    throw error;
  }
};

/** The draft that a lock of ours names; undefined for a lock of git. */
const draftOf = async (lock: string): Promise<string | undefined> => {
  try {
    const draft = await readlink(lock);
    return draftName.test(draft) ? draft : undefined;
  } catch (error) {
    if (['EINVAL', 'ENOENT'].includes(systemErrorCode(error) ?? '')) return undefined;
    throw error;
  }
};

/** @param draft that the lock named when it was looked at: one that names another is somebody else's by now */
const removeLock = async (lock: string, draft: string | undefined): Promise<void> => {
  if ((await draftOf(lock)) === draft) await rm(lock, { force: true });
};

/** What this user may not touch is in the way of git alone, which says so. */
const unlessForbidden = async <Value>(work: Promise<Value>): Promise<Value | null> => {
  try {
    return await work;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(systemErrorCode(error) ?? '')) return null;
    throw error;
  }
};

/**
 * Moves a branch as git does: who creates the lock may look at the branch and move it. The lock is a link with the
 * name of the draft, which lies outside the branches. Taking that draft away ends the move, by renaming
 * it or from another process, and who does so removes the lock.
 * @returns false when the branch is elsewhere, or somebody else is moving it
 */
export const moveBranch = async (
  gitdir: string,
  branch: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> => {
  const ref = join(gitdir, 'refs/heads', branch);
  const lock = `${ref}.lock`;
  const name = `${branch}.${randomBytes(8).toString('hex')}.new`;
  const draft = join(gitdir, name);
  let locked: LockKind | null = null;
  let isMoved = false;
  try {
    await writeNewFile(draft, `${to}\n`);
    locked = await createLock(lock, name);
    if (locked === null || (await branchHead(gitdir, branch)) !== from) return false;
    isMoved = (await nullIfMissing(rename(draft, ref))) !== null;
  } finally {
    // At once: another process may take a lock without its draft for one that was left.
    if ((isMoved || (await remove(draft))) && locked !== null) await removeLock(lock, locked === 'link' ? name : undefined);
  }
  if (isMoved) await sync(dirname(ref));
  return isMoved;
};

/**
 * Removes what processes that died have left in a repository: locks, which would refuse every push,
 * drafts of branches, which git takes for branches, and what was received of pushes that were cut off.
 * @param nowMs since the epoch
 */
export const removeLeftovers = async (gitdir: string, nowMs: number): Promise<void> => {
  const ageOf = async (path: string): Promise<number> => nowMs - ((await nullIfMissing(lstat(path)))?.mtimeMs ?? nowMs);
  const namesIn = async (folder: string): Promise<readonly string[]> =>
    (await unlessForbidden(nullIfMissing(readdir(folder)))) ?? [];

  const removeLeftLock = async (lock: string): Promise<void> => {
    const age = await ageOf(lock);
    if (age <= leftMoveMs) return;
    const draft = await draftOf(lock);
    if (draft !== undefined) await remove(join(gitdir, draft));
    if (draft !== undefined || age > leftLockMs) await removeLock(lock, draft);
  };
  const removeDrafts = async (folder: string): Promise<void> => {
    const drafts = (await namesIn(folder)).filter((name) => draftName.test(name)).map((name) => join(folder, name));
    for (const draft of drafts) if ((await ageOf(draft)) > leftLockMs) await unlessForbidden(remove(draft));
  };
  const removeReceived = async (received: string): Promise<void> => {
    const inside = ((await nullIfMissing(readdir(received, { recursive: true }))) ?? []).map((each) => join(received, each));
    const ages = await Promise.all([received, ...inside].map(ageOf));
    if (Math.min(...ages) > leftPushMs) await rm(received, { recursive: true, force: true });
  };

  const refs = (await unlessForbidden(nullIfMissing(readdir(join(gitdir, 'refs'), { recursive: true })))) ?? [];
  const locks = [...refs.map((name) => `refs/${name}`), 'packed-refs.lock'].filter((name) => name.endsWith('.lock'));
  for (const lock of locks) await unlessForbidden(removeLeftLock(join(gitdir, lock)));
  for (const folder of [gitdir, join(gitdir, 'refs/heads')]) await removeDrafts(folder);
  const objects = join(gitdir, 'objects');
  const received = (await namesIn(objects)).filter((name) => name.startsWith('tmp_objdir-'));
  for (const name of received) await unlessForbidden(removeReceived(join(objects, name)));
};
