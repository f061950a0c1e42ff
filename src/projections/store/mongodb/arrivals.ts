import type { Clock } from '../../../platform/clock.js';
import type { ReadModel } from '../readModelStore.js';

/** Waiting for a checkpoint that any process may move. */
export interface Arrivals {
  /** Resolves `true` when the checkpoint is at `position` or later, `false` when `signal` is aborted first; rejects when it cannot be read. */
  wait(model: ReadModel, position: bigint, signal: AbortSignal): Promise<boolean>;
  /** Says that this process changed something: those that wait look at once. */
  announce(name: string): void;
  /** Rejects those that still wait. */
  close(reason: Error): void;
}

/** Pauses between two looks: the first, how each grows over the one before, and the longest. */
const firstPauseMs = 4;
const growth = 1.5;
const longestPauseMs = 100;

interface Waiter {
  readonly position: bigint;
  readonly settle: (action: () => void) => void;
  readonly resolve: (reached: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

/** Those who wait for the same version, and share the looks. */
interface Group {
  readonly model: ReadModel;
  readonly waiters: Set<Waiter>;
  pauseMs: number;
  looking: boolean;
  /** Somebody came, or something changed, while a look was under way that may not have seen it. */
  lookAgain: boolean;
  cancel: () => void;
}

/**
 * Another process's write cannot be noticed otherwise than by looking: change streams need a replica set, and compatible servers
 * lack them. It is looked only while somebody waits, once for all who do, at most ten times a second for those who wait long; writes of
 * this process are announced.
 */
export const createArrivals = (checkpointOf: (model: ReadModel) => Promise<bigint>, clock: Clock): Arrivals => {
  const groups = new Map<string, Group>();

  const look = (group: Group): void => {
    group.cancel();
    if (group.looking) {
      group.lookAgain = true;
      return;
    }
    group.looking = true;
    group.lookAgain = false;
    const answered = (tell: (waiter: Waiter) => void): void => {
      group.looking = false;
      for (const waiter of group.waiters) tell(waiter);
      if (group.waiters.size === 0) return;
      if (group.lookAgain) {
        look(group);
        return;
      }
      group.cancel = clock.schedule(group.pauseMs, () => {
        look(group);
      });
      group.pauseMs = Math.min(group.pauseMs * growth, longestPauseMs);
    };
    checkpointOf(group.model).then(
      (checkpoint) => {
        answered(({ position, settle, resolve }) => {
          if (checkpoint >= position)
            settle(() => {
              resolve(true);
            });
        });
      },
      (fault: unknown) => {
        answered(({ settle, reject }) => {
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
      pauseMs: firstPauseMs,
      looking: false,
      lookAgain: false,
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
            if (!group.looking) groups.delete(JSON.stringify([model.name, model.version]));
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
        group.pauseMs = firstPauseMs;
        look(group);
      }),

    announce: (name) => {
      for (const group of groups.values()) if (group.model.name === name) look(group);
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
