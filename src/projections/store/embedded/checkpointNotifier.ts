import { closeSync, openSync, watch, writeSync, type FSWatcher } from 'node:fs';
import type { Clock } from '../../../platform/clock.js';

/** Wakes those that wait for a checkpoint, whichever process on the same file moved it. */
export interface CheckpointNotifier {
  /**
   * Makes the waiters of every process, this one included, check again. Call it after a commit,
   * never before.
   */
  notify(): void;
  /**
   * Resolves `true` when `isReached` returns true, `false` when `signal` is aborted first; rejects
   * when `isReached` throws.
   */
  wait(isReached: () => boolean, signal: AbortSignal): Promise<boolean>;
  /** Rejects every wait that has not ended. */
  close(reason: Error): void;
}

/**
 * How late a change is noticed at worst: when its process died before notifying, or the system
 * offers no file events.
 */
const safetyCheckMs = 500;

/**
 * Processes notify each other by writing a byte into `file`. Watching the database's own files is
 * not enough: their writes are seen before the transaction is.
 */
export const createCheckpointNotifier = (file: string, clock: Clock): CheckpointNotifier => {
  const descriptor = openSync(file, 'w');
  const touch = (): void => {
    writeSync(descriptor, '.', 0);
  };
  // Written once now, so that later writes need no more room, even on a full disk.
  touch();
  const waiters = new Set<{ check: () => void; fail: (reason: Error) => void }>();
  let watcher: FSWatcher | undefined;
  let watched = false;
  let cancelSafetyCheck: (() => void) | undefined;
  let checkScheduled = false;
  let closed = false;

  const checkAll = (): void => {
    for (const { check } of waiters) check();
  };

  // Many notifications in one turn of the event loop cause one check.
  const checkSoon = (): void => {
    if (checkScheduled || waiters.size === 0) return;
    checkScheduled = true;
    setImmediate(() => {
      checkScheduled = false;
      checkAll();
    });
  };

  const stopWatching = (): void => {
    watcher?.close();
    watcher = undefined;
  };

  const startWatching = (): void => {
    if (watched) return;
    watched = true;
    try {
      watcher = watch(file, { persistent: false }, checkSoon);
      watcher.on('error', stopWatching);
    } catch {
      // The system's limit of file events is reached: the safety check alone has to do.
      stopWatching();
    }
  };

  const scheduleSafetyCheck = (): void => {
    cancelSafetyCheck ??= clock.schedule(safetyCheckMs, () => {
      cancelSafetyCheck = undefined;
      checkAll();
      if (waiters.size > 0) scheduleSafetyCheck();
    });
  };

  return {
    notify: () => {
      touch();
      checkSoon();
    },

    wait: (isReached, signal) =>
      new Promise((resolve, reject) => {
        const settle = (action: () => void): void => {
          waiters.delete(waiter);
          signal.removeEventListener('abort', aborted);
          if (waiters.size === 0) {
            cancelSafetyCheck?.();
            cancelSafetyCheck = undefined;
          }
          action();
        };
        const aborted = (): void => {
          settle(() => {
            resolve(false);
          });
        };
        const fail = (reason: unknown): void => {
          settle(() => {
            reject(reason instanceof Error ? reason : new Error(String(reason)));
          });
        };
        const check = (): void => {
          try {
            if (isReached())
              settle(() => {
                resolve(true);
              });
          } catch (fault) {
            fail(fault);
          }
        };
        const waiter = { check, fail };

        if (signal.aborted) {
          resolve(false);
          return;
        }
        signal.addEventListener('abort', aborted);
        waiters.add(waiter);
        // Watch first and check afterwards, so that a change in between is not missed.
        startWatching();
        scheduleSafetyCheck();
        check();
      }),

    close: (reason) => {
      if (closed) return;
      closed = true;
      for (const { fail } of waiters) fail(reason);
      stopWatching();
      closeSync(descriptor);
    },
  };
};
