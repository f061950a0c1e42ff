import { createTransientMap, type TransientMap } from './transientMap.js';

/** Serialises work by key, within this process. */
export interface KeyedMutex {
  /**
   * Runs `task` once every earlier task of the same key has ended, whether it succeeded or failed.
   * Other keys do not wait.
   */
  run<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
}

/**
 * @param lastTasks the last pending task of each key; a key is removed once its tasks have ended
 */
export const createKeyedMutex = (lastTasks: TransientMap<string, Promise<unknown>> = createTransientMap()): KeyedMutex => ({
  run: async (key, task) => {
    const previous = lastTasks.get(key);
    const current = previous === undefined ? task() : previous.then(task, task);
    lastTasks.set(key, current);
    try {
      return await current;
    } finally {
      if (lastTasks.get(key) === current) lastTasks.delete(key);
    }
  },
});
