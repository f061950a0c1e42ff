import { createSemaphore, type Semaphore } from './semaphore.js';

export type KeyedLimit = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** Runs at most `max` works of one key at the same time, and `maxInAll` of all keys, within this process; others wait. */
export const createKeyedLimit = (max: number, maxInAll = Infinity): KeyedLimit => {
  const all = createSemaphore(maxInAll);
  const open = new Map<string, { readonly semaphore: Semaphore; users: number }>();
  return async (key, work) => {
    const entry = open.get(key) ?? { semaphore: createSemaphore(max), users: 0 };
    open.set(key, entry);
    entry.users += 1;
    await entry.semaphore.acquire();
    await all.acquire();
    try {
      return await work();
    } finally {
      all.release();
      entry.semaphore.release();
      entry.users -= 1;
      if (entry.users === 0) open.delete(key);
    }
  };
};
