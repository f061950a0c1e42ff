import { utimesSync, watch, writeFileSync, type FSWatcher } from 'node:fs';
import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';

/**
 * Wakes subscriptions when the log grows. After each commit a process touches the signal file
 * beside the log, which the other processes watch. Watching the write-ahead log is not enough,
 * since it changes before the commit can be seen. If a signal is lost (a crash between commit and
 * touch), a check of the head every second finds the commit.
 */
export interface CommitNotifier {
  /** Watches for commits of other processes until the returned function is called. */
  watch(): () => void;
  /**
   * Resolves at the next commit or when `signal` is aborted. Call it in the same turn of the event
   * loop as the last read.
   */
  nextCommit(signal: AbortSignal): Promise<void>;
  /**
   * Wakes every subscription, in this process and in others, because this process has committed up
   * to `head`.
   */
  notify(head: number): void;
  /** Stops watching, even if some callers of `watch` have not stopped. */
  close(): void;
}

const SAFETY_CHECK_MS = 1_000;

export const createCommitNotifier = (options: {
  file: string;
  head: () => number;
  clock: Clock;
  logger: Pick<Logger, 'warn'> | undefined;
}): CommitNotifier => {
  const { head, clock, logger } = options;
  const signalFile = `${options.file}-signal`;
  // A separate file, because opening and closing the database's file a second time in a process
  // would drop SQLite's locks on it.
  writeFileSync(signalFile, '', { flag: 'a' });

  const waiting = new Set<() => void>();
  let watchers = 0;
  let watcher: FSWatcher | null = null;
  let cancelSafetyCheck = (): void => undefined;
  let lastSeen: number | null = head();

  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };

  /** Wakes all waiting subscriptions if the log has grown, and returns whether it has. */
  const noteHead = (seen: number | null): boolean => {
    if (seen === lastSeen) return false;
    lastSeen = seen;
    wakeAll();
    return true;
  };

  const checkHead = (): void => {
    noteHead(headOrUnknown());
  };

  /**
   * `null` when the head cannot be read. This wakes the subscriptions, whose own read then reports
   * the fault.
   */
  const headOrUnknown = (): number | null => {
    try {
      return head();
    } catch (error) {
      logger?.warn({ err: error }, 'the head of the event log could not be read; trying again');
      return null;
    }
  };

  const safetyCheck = (): void => {
    checkHead();
    cancelSafetyCheck = clock.schedule(SAFETY_CHECK_MS, safetyCheck);
  };

  const stopWatching = (): void => {
    watcher?.close();
    watcher = null;
    cancelSafetyCheck();
  };

  const startWatching = (): void => {
    const cannotWatch = (error: unknown): void => {
      logger?.warn({ err: error, signalFile }, 'commits of other processes cannot be watched; checking every second instead');
      watcher?.close();
      watcher = null;
    };
    try {
      watcher = watch(signalFile, { persistent: false }, checkHead);
      watcher.on('error', cannotWatch);
    } catch (error) {
      cannotWatch(error);
    }
    cancelSafetyCheck = clock.schedule(SAFETY_CHECK_MS, safetyCheck);
  };

  return {
    watch: () => {
      watchers += 1;
      if (watchers === 1) startWatching();
      return () => {
        watchers -= 1;
        if (watchers === 0) stopWatching();
      };
    },

    nextCommit: (signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener('abort', wake);
        if (signal.aborted) wake();
      }),

    notify: (seen) => {
      if (!noteHead(seen)) return;
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

    close: stopWatching,
  };
};
