import { utimesSync, watch, writeFileSync, type FSWatcher } from 'node:fs';
import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';

/**
 * Tells those who follow the log that it grew. Commits of this process are told by `committed`. After each commit a process
 * touches the signal file beside the log, which the others watch; the write-ahead log itself would not do, since it changes
 * before the commit can be seen. Should a signal be lost (a crash between commit and touch), a look at the head every second finds it.
 */
export interface Followers {
  /** Watches for commits of other processes until the returned function is called. */
  watch(): () => void;
  /** Resolves when the log has grown since the caller last looked in this turn of the event loop, or `signal` is aborted. */
  grown(signal: AbortSignal): Promise<void>;
  /** This process has committed, up to `head`: tell everybody, in this process and the others. */
  committed(head: number): void;
  /** Stops watching, whoever still wants to. */
  close(): void;
}

const SAFETY_CHECK_MS = 1_000;

export const createFollowers = (options: {
  file: string;
  head: () => number;
  clock: Clock;
  logger: Pick<Logger, 'warn'> | undefined;
}): Followers => {
  const { head, clock, logger } = options;
  const signalFile = `${options.file}-signal`;
  // A file of its own: opening and closing the database's file elsewhere in a process would drop SQLite's locks on it.
  writeFileSync(signalFile, '', { flag: 'a' });

  const waiting = new Set<() => void>();
  let watchers = 0;
  let watcher: FSWatcher | null = null;
  let cancelCheck = (): void => undefined;
  let lastSeen: number | null = head();

  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };

  /** Wakes everybody if the log has grown, and tells whether it has. */
  const noteHead = (seen: number | null): boolean => {
    if (seen === lastSeen) return false;
    lastSeen = seen;
    wakeAll();
    return true;
  };

  const look = (): void => {
    noteHead(headOrUnknown());
  };

  /** `null` when the head cannot be read: whoever is woken reads too, and meets the fault where it can be reported. */
  const headOrUnknown = (): number | null => {
    try {
      return head();
    } catch (error) {
      logger?.warn({ err: error }, 'cannot look for commits of other processes');
      return null;
    }
  };

  const check = (): void => {
    look();
    cancelCheck = clock.schedule(SAFETY_CHECK_MS, check);
  };

  const stopWatching = (): void => {
    watcher?.close();
    watcher = null;
    cancelCheck();
  };

  const startWatching = (): void => {
    const cannotWatch = (error: unknown): void => {
      logger?.warn({ err: error, signalFile }, 'cannot watch for commits of other processes; looking every second');
      watcher?.close();
      watcher = null;
    };
    try {
      watcher = watch(signalFile, { persistent: false }, look);
      watcher.on('error', cannotWatch);
    } catch (error) {
      cannotWatch(error);
    }
    cancelCheck = clock.schedule(SAFETY_CHECK_MS, check);
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

    grown: (signal) =>
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

    committed: (seen) => {
      if (!noteHead(seen)) return;
      try {
        const now = clock.now() / 1_000;
        utimesSync(signalFile, now, now);
      } catch (error) {
        logger?.warn({ err: error, signalFile }, 'cannot signal a commit to other processes; they will notice within a second');
      }
    },

    close: stopWatching,
  };
};
