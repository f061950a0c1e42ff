import type { Clock } from '../../../platform/clock.js';
import type { ReadModel } from '../readModelStore.js';

/** Wakes those that wait for a checkpoint, whichever process moved it. */
export interface CheckpointNotifier {
  /**
   * Resolves `true` when the checkpoint is at `position` or later, `false` when `signal` is aborted
   * first; rejects when it cannot be read.
   */
  wait(model: ReadModel, position: bigint, signal: AbortSignal): Promise<boolean>;
  /**
   * Makes those that wait for the read model `name` check at once, because this process changed it.
   */
  notify(name: string): void;
  /** Rejects every wait that has not ended. */
  close(reason: Error): void;
}

/**
 * Pauses between two checks: the first one, the factor by which each one grows, and the longest
 * one.
 */
const minPauseMs = 4;
const pauseGrowth = 1.5;
const maxPauseMs = 100;

interface Waiter {
  readonly position: bigint;
  readonly settle: (action: () => void) => void;
  readonly resolve: (reached: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

/** The waiters for one version, which share each check. */
interface Group {
  readonly model: ReadModel;
  readonly waiters: Set<Waiter>;
  pauseMs: number;
  checking: boolean;
  /**
   * Whether a waiter or a change came during a check, which may have read the checkpoint before it.
   */
  checkAgain: boolean;
  cancel: () => void;
}

/**
 * The writes of other processes are found by polling, because change streams need a replica set and
 * compatible servers lack them. It polls only while a call waits, once for all waiters of a
 * version, and at most ten times a second after a long wait. Writes of this process notify it at
 * once.
 */
export const createCheckpointNotifier = (
  checkpointOf: (model: ReadModel) => Promise<bigint>,
  clock: Clock,
): CheckpointNotifier => {
  const groups = new Map<string, Group>();

  const check = (group: Group): void => {
    group.cancel();
    if (group.checking) {
      group.checkAgain = true;
      return;
    }
    group.checking = true;
    group.checkAgain = false;
    const finishCheck = (settleWaiter: (waiter: Waiter) => void): void => {
      group.checking = false;
      for (const waiter of group.waiters) settleWaiter(waiter);
      if (group.waiters.size === 0) return;
      if (group.checkAgain) {
        check(group);
        return;
      }
      group.cancel = clock.schedule(group.pauseMs, () => {
        check(group);
      });
      group.pauseMs = Math.min(group.pauseMs * pauseGrowth, maxPauseMs);
    };
    checkpointOf(group.model).then(
      (checkpoint) => {
        finishCheck(({ position, settle, resolve }) => {
          if (checkpoint >= position)
            settle(() => {
              resolve(true);
            });
        });
      },
      (fault: unknown) => {
        finishCheck(({ settle, reject }) => {
          settle(() => {
            reject(fault);
          });
        });
      },
    );
  };

  const groupOf = (model: ReadModel): Group => {
    const key = JSON.stringify([model.name, model.version]);
    const known = groups.get(key);
    if (known !== undefined) return known;
    const group: Group = {
      model,
      waiters: new Set(),
      pauseMs: minPauseMs,
      checking: false,
      checkAgain: false,
      cancel: () => undefined,
    };
    groups.set(key, group);
    return group;
  };

  return {
    wait: (model, position, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          resolve(false);
          return;
        }
        const group = groupOf(model);
        const settle = (action: () => void): void => {
          group.waiters.delete(waiter);
          signal.removeEventListener('abort', aborted);
          if (group.waiters.size === 0) {
            group.cancel();
            if (!group.checking) groups.delete(JSON.stringify([model.name, model.version]));
          }
          action();
        };
        const aborted = (): void => {
          settle(() => {
            resolve(false);
          });
        };
        const waiter: Waiter = { position, settle, resolve, reject };
        signal.addEventListener('abort', aborted);
        group.waiters.add(waiter);
        group.pauseMs = minPauseMs;
        check(group);
      }),

    notify: (name) => {
      for (const group of groups.values()) if (group.model.name === name) check(group);
    },

    close: (reason) => {
      for (const group of groups.values()) {
        for (const { settle, reject } of group.waiters) {
          settle(() => {
            reject(reason);
          });
        }
      }
    },
  };
};
