import { watch, type FSWatcher } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import { systemErrorCode } from '../../platform/systemError.js';
import { isPlainName, makeFolder, nullIfMissing, replaceFile } from '../embeddedFiles.js';
import { repositoriesIn } from '../shardedFolder.js';
import type { BranchObserver } from './port.js';

const suffix = '.git';
/** Holds when the last comparison of all began, in milliseconds by the file system's clock. */
const comparedName = '.compared';
/** More than it takes from a change until the process that made it has recorded it. */
const settledAfterMs = 10_000;
const retryAfterMs = 15_000;
const compareAgainAfterMs = 3_600_000;
/** The comparison of all rests three times as long as it has looked at repositories: others have the processor then. */
const [restAfterMs, restTimes] = [20, 3];
/** A watch takes 2 kB of this process, and some of the system's own limit. */
const MAX_WATCHED = 2_000;
/** Of watches, or of open files, by which the system may refuse a watch. */
const limitCodes: readonly (string | undefined)[] = ['ENOSPC', 'EMFILE'];

/**
 * Notices changes of branches by whatever program: see `GitServer.watch`. The system reports changes of folders: one
 * watch of the folder of branches for each of the repositories that changed last, and one of each subfolder that
 * notices new repositories. All others are compared once an hour, those that changed since then.
 * @param parts `maxWatched`: after the first comparison up to twice as many are watched
 * @returns what ends it
 */
export const watchBranches = async (
  parts: { folder: string; clock: Clock; logger: Logger; maxWatched?: number },
  { compare, onChange }: BranchObserver,
): Promise<() => void> => {
  const { folder, clock, logger, maxWatched = MAX_WATCHED } = parts;
  const repositories = repositoriesIn(folder);
  const comparedFile = join(folder, comparedName);
  const stopping = new AbortController();
  const { signal } = stopping;
  const watched = new Map<string, { readonly watcher: FSWatcher; changedAt: number }>();
  const folderWatchers = new Map<string, FSWatcher>();
  /** Those that changed before are not watched any more. */
  let watchedFrom = 0;
  let isLimitReported = false;
  let cancelComparison = (): void => undefined;

  const warn = (err: unknown): void => {
    if (!limitCodes.includes(systemErrorCode(err))) {
      logger.warn({ err }, 'a folder of repositories cannot be watched; pushes on this machine are deployed within an hour');
      return;
    }
    // Every further folder meets it.
    if (isLimitReported) return;
    isLimitReported = true;
    logger.warn(
      { err },
      'the system watches no more folders: raise fs.inotify.max_user_watches; pushes on this machine are deployed within an hour',
    );
  };
  /** Undefined for a folder that is not there. */
  const watchFolder = (path: string, onEvent: (name: string | null) => void): FSWatcher | undefined => {
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        onEvent(name);
      });
      return watcher.on('error', warn);
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT') warn(error);
      return undefined;
    }
  };

  const branchesOf = (repositoryId: string): string => join(repositories.pathOf(repositoryId), 'refs/heads');
  /** By the file system's clock; 0 for a repository that is not there. */
  const changedAtOf = async (repositoryId: string): Promise<number> =>
    (await nullIfMissing(stat(branchesOf(repositoryId))))?.mtimeMs ?? 0;

  const forget = (repositoryId: string): void => {
    watched.get(repositoryId)?.watcher.close();
    watched.delete(repositoryId);
  };
  /** Keeps those that changed last. */
  const forgetOldest = (): void => {
    const byChange = [...watched].sort(([, one], [, other]) => other.changedAt - one.changedAt);
    watchedFrom = byChange[maxWatched - 1]?.[1].changedAt ?? 0;
    for (const [repositoryId] of byChange.slice(maxWatched)) forget(repositoryId);
  };

  /** @returns when its branches changed last */
  const follow = async (repositoryId: string): Promise<number> => {
    const changedAt = await changedAtOf(repositoryId);
    if (signal.aborted || changedAt <= watchedFrom || watched.has(repositoryId)) return changedAt;
    const watcher = watchFolder(branchesOf(repositoryId), () => {
      onChange(repositoryId);
      void noteChange(repositoryId);
    });
    if (watcher === undefined) return changedAt;
    watched.set(repositoryId, { watcher, changedAt });
    if (watched.size > 2 * maxWatched) forgetOldest();
    // It may have changed before the watch began.
    return changedAtOf(repositoryId);
  };
  const noteChange = async (repositoryId: string): Promise<void> => {
    const changedAt = await changedAtOf(repositoryId).catch(() => 0);
    const entry = watched.get(repositoryId);
    if (entry !== undefined) entry.changedAt = changedAt;
  };

  /** A repository was made, deleted, or replaced by another one of that name. */
  const onRepository = async (repositoryId: string): Promise<void> => {
    forget(repositoryId);
    if ((await follow(repositoryId)) > 0 && !signal.aborted) onChange(repositoryId);
  };
  /** @returns whether it is watched from now on only */
  const watchShard = (shard: string): boolean => {
    if (signal.aborted || folderWatchers.has(shard)) return false;
    const watcher = watchFolder(join(folder, shard), (name) => {
      const repositoryId = name?.slice(0, -suffix.length) ?? '';
      if (name?.endsWith(suffix) === true && isPlainName(repositoryId)) onRepository(repositoryId).catch(warn);
    });
    if (watcher !== undefined) folderWatchers.set(shard, watcher);
    return watcher !== undefined;
  };
  const onShard = async (shard: string): Promise<void> => {
    if (!watchShard(shard)) return;
    for (const repositoryId of await repositories.namesIn(shard)) await onRepository(repositoryId);
  };

  const compareAll = async (): Promise<void> => {
    await repositories.moveOver(signal);
    repositories.shards.forEach(watchShard);
    const since = Number((await nullIfMissing(readFile(comparedFile, 'utf8'))) ?? 0) - settledAfterMs;
    await replaceFile(comparedFile, String(since + settledAfterMs));
    const startedAt = (await stat(comparedFile)).mtimeMs;
    let busyMs = 0;
    for (const shard of repositories.shards) {
      for (const repositoryId of await repositories.namesIn(shard)) {
        const lookedAt = clock.now();
        const changedAt = await follow(repositoryId);
        busyMs += Math.max(0, clock.now() - lookedAt);
        if (busyMs >= restAfterMs) {
          await sleep(clock, restTimes * busyMs, signal);
          busyMs = 0;
        }
        if (signal.aborted) return;
        if (changedAt < since) continue;
        if (changedAt < startedAt - settledAfterMs) await compare(repositoryId);
        else onChange(repositoryId);
      }
    }
    await replaceFile(comparedFile, String(startedAt));
  };
  const compareNow = async (): Promise<void> => {
    let againAfterMs = compareAgainAfterMs;
    try {
      await compareAll();
    } catch (err) {
      logger.warn({ err }, 'whether somebody pushed could not be found out for all repositories; trying again');
      againAfterMs = retryAfterMs;
    }
    if (!signal.aborted) cancelComparison = clock.schedule(againAfterMs, () => void compareNow());
  };

  await makeFolder(folder);
  const whole = watchFolder(folder, (name) => {
    if (name !== null && repositories.shards.includes(name)) onShard(name).catch(warn);
  });
  void compareNow();
  return () => {
    stopping.abort();
    cancelComparison();
    whole?.close();
    for (const watcher of folderWatchers.values()) watcher.close();
    [...watched.keys()].forEach(forget);
  };
};
