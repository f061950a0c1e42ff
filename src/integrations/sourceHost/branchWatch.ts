import { watch, type FSWatcher } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../platform/logger.js';
import { isPlainName, makeFolder } from '../embeddedFiles.js';

const suffix = '.git';

/**
 * Calls `onChange` with the id of every repository in `folder` at once, and again whenever one of
 * its branches may have changed, by whatever program. The system reports changes of folders: one
 * watch of the folder of branches for each repository, and one that notices new repositories.
 * @returns what ends it
 */
export const watchBranches = async (
  folder: string,
  logger: Logger,
  onChange: (repositoryId: string) => void,
): Promise<() => void> => {
  const watchers = new Map<string, FSWatcher>();
  let isOver = false;
  let hasWarned = false;

  const warn = (err: unknown): void => {
    if (hasWarned) return;
    hasWarned = true;
    logger.warn(
      { err },
      'the system watches no more folders: raise fs.inotify.max_user_watches; pushes on this machine are deployed after the next start',
    );
  };

  const forget = (repositoryId: string): void => {
    watchers.get(repositoryId)?.close();
    watchers.delete(repositoryId);
  };

  const follow = (name: string): void => {
    const repositoryId = name.slice(0, -suffix.length);
    if (isOver || !name.endsWith(suffix) || !isPlainName(repositoryId) || watchers.has(repositoryId)) return;
    try {
      const watcher = watch(join(folder, name, 'refs/heads'), { persistent: false }, () => {
        onChange(repositoryId);
      });
      watcher.on('error', () => {
        forget(repositoryId);
      });
      watchers.set(repositoryId, watcher);
    } catch (error) {
      // Deleted, or renamed, in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') warn(error);
      return;
    }
    onChange(repositoryId);
  };

  await makeFolder(folder);
  const whole = watch(folder, { persistent: false }, (_event, name) => {
    if (name?.endsWith(suffix) !== true) return;
    // Deleted, or another one by the same name.
    forget(name.slice(0, -suffix.length));
    follow(name);
  });
  whole.on('error', warn);
  for (const name of await readdir(folder)) follow(name);
  return () => {
    isOver = true;
    whole.close();
    [...watchers.keys()].forEach(forget);
  };
};
