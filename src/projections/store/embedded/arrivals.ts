import { closeSync, openSync, watch, writeSync, type FSWatcher } from 'node:fs';
import type { Clock } from '../../../platform/clock.js';

/** Waiting for a condition that any process with the same file may bring about. */
export interface Arrivals {
  /** Tells the waiters of every process, this one included, to look again. Called after a commit, never before. */
  announce(): void;
  /** Resolves `true` when `arrived` says so, `false` when `signal` is aborted first; rejects when `arrived` throws. */
  wait(arrived: () => boolean, signal: AbortSignal): Promise<boolean>;
  /** Rejects those that still wait. */
  close(reason: Error): void;
}

/** How late an announcement is noticed at worst: its process died before making it, or the system offers no file events. */
const safetyCheckMs = 500;

/**
 * Processes announce by writing a byte into `file`. Watching the database's own files would not do: their writes are seen
 * before the transaction is.
 */
export const createArrivals = (file: string, clock: Clock): Arrivals => {
  const descriptor = openSync(file, 'w');
  const touch = (): void => {
    writeSync(descriptor, '.', 0);
  };
  // From here on it needs no more room, whatever becomes of the disk.
  touch();
  const waiters = new Set<{ look: () => void; fail: (reason: Error) => void }>();
  let watcher: FSWatcher | undefined;
  let watched = false;
  let cancelCheck: (() => void) | undefined;
  let lookingSoon = false;
  let closed = false;

  const lookAll = (): void => {
    for (const { look } of waiters) look();
  };

  // Many announcements in one turn of the event loop are one look.
  const lookSoon = (): void => {
    if (lookingSoon || waiters.size === 0) return;
    lookingSoon = true;
    setImmediate(() => {
      lookingSoon = false;
      lookAll();
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
      watcher = watch(file, { persistent: false }, lookSoon);
      watcher.on('error', stopWatching);
    } catch {
      // No file events left to give (a system limit): the safety check alone has to do.
      stopWatching();
    }
  };

  const checkLater = (): void => {
    cancelCheck ??= clock.schedule(safetyCheckMs, () => {
      cancelCheck = undefined;
      lookAll();
      if (waiters.size > 0) checkLater();
    });
  };

  return {
    announce: () => {
      touch();
      lookSoon();
    },

    wait: (arrived, signal) =>
      new Promise((resolve, reject) => {
        const settle = (action: () => void): void => {
          waiters.delete(waiter);
          signal.removeEventListener('abort', aborted);
          if (waiters.size === 0) {
            cancelCheck?.();
            cancelCheck = undefined;
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
        const look = (): void => {
          try {
            if (arrived())
              settle(() => {
                resolve(true);
              });
          } catch (fault) {
            fail(fault);
          }
        };
        const waiter = { look, fail };

        if (signal.aborted) {
          resolve(false);
          return;
        }
        signal.addEventListener('abort', aborted);
        waiters.add(waiter);
        // Watch first, look afterwards: what is announced in between is seen.
        startWatching();
        checkLater();
        look();
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
