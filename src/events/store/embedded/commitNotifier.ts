import { utimesSync, watch, writeFileSync, type FSWatcher } from 'node:fs';
import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';

/**
 * Tells processes that the log has grown. After each commit a process touches the signal file
 * beside the log, which the others watch. Watching the write-ahead log is not enough, since it
 * changes before the commit can be seen. If a signal is lost (a crash between commit and touch), a
 * check every second finds the commit.
 */
export interface CommitNotifier {
  /** Watches for commits of other processes until the returned function is called. */
  watch(): () => void;
  /** Tells other processes that this one has committed. */
  notify(): void;
}

const SAFETY_CHECK_MS = 1_000;

/** @param check looks for new events; called after signals, and every second */
export const createCommitNotifier = (options: {
  file: string;
  check: () => void;
  clock: Clock;
  logger: Pick<Logger, 'warn'> | undefined;
}): CommitNotifier => {
  const { check, clock, logger } = options;
  const signalFile = `${options.file}-signal`;
  // A separate file, because opening and closing the database's file a second time in a process
  // would drop SQLite's locks on it.
  writeFileSync(signalFile, '', { flag: 'a' });

  return {
    watch: () => {
      let watcher: FSWatcher | null = null;
      let cancelSafetyCheck = (): void => undefined;
      const cannotWatch = (error: unknown): void => {
        logger?.warn({ err: error, signalFile }, 'commits of other processes cannot be watched; checking every second instead');
        watcher?.close();
        watcher = null;
      };
      const safetyCheck = (): void => {
        check();
        cancelSafetyCheck = clock.schedule(SAFETY_CHECK_MS, safetyCheck);
      };
      try {
        watcher = watch(signalFile, { persistent: false }, check);
        watcher.on('error', cannotWatch);
      } catch (error) {
        cannotWatch(error);
      }
      cancelSafetyCheck = clock.schedule(SAFETY_CHECK_MS, safetyCheck);
      return () => {
        watcher?.close();
        watcher = null;
        cancelSafetyCheck();
      };
    },

    notify: () => {
      try {
        const now = clock.now() / 1_000;
        utimesSync(signalFile, now, now);
      } catch (error) {
        logger?.warn(
          { err: error, signalFile },
          'a commit could not be signalled to other processes; they notice it within a second',
        );
      }
    },
  };
};
