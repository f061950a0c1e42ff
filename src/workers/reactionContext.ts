import { setMaxListeners } from 'node:events';
import { sleep, type Clock } from '../platform/clock.js';
import type { Semaphore } from '../platform/semaphore.js';
import type { LeaseRecords } from './leaseRecords.js';

export interface TaskContext {
  /** Aborted when the worker stops: work under way may finish, but nothing new begins. */
  readonly signal: AbortSignal;
  /** Waits, and lets others work meanwhile. Resolves early when `signal` is aborted. */
  readonly pause: (ms: number) => Promise<void>;
  readonly leases: LeaseRecords;
}

export interface ReactionContext extends TaskContext {
  /**
   * Does tasks side by side, so that none waits for the pause of another. When one fails, the others
   * end at their next pause, so that the reaction is soon repeated.
   */
  readonly together: (tasks: readonly ((context: TaskContext) => Promise<void>)[]) => Promise<void>;
}

/**
 * The context of a reaction that holds a permit.
 * @param parts `permits`: the reaction's own is released while it pauses or waits for its tasks, each
 *   of which acquires one
 */
export const createReactionContext = (parts: {
  readonly clock: Clock;
  readonly leases: LeaseRecords;
  readonly permits: Semaphore;
  readonly signal: AbortSignal;
}): ReactionContext => {
  const { clock, leases, permits, signal } = parts;
  return {
    signal,
    leases,
    pause: async (ms) => {
      permits.release();
      await sleep(clock, ms, signal);
      await permits.acquire();
    },
    together: async (tasks) => {
      const failed = new AbortController();
      const context = createReactionContext({ ...parts, signal: AbortSignal.any([signal, failed.signal]) });
      setMaxListeners(0, context.signal);
      permits.release();
      await Promise.all(
        tasks.map(async (task) => {
          await permits.acquire();
          try {
            await task(context);
          } catch (error) {
            failed.abort(error);
          } finally {
            permits.release();
          }
        }),
      );
      await permits.acquire();
      failed.signal.throwIfAborted();
    },
  };
};
