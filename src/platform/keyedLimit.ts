import { createSemaphore, type Semaphore } from './semaphore.js';

/** Runs at most `max` works of one key at the same time, within this process; others wait. */
export const createKeyedLimit = (max: number): (<Result>(key: string, work: () => Promise<Result>) => Promise<Result>) => {
  const open = new Map<string, { readonly semaphore: Semaphore; users: number }>();
  return async (key, work) => {
    const entry = open.get(key) ?? { semaphore: createSemaphore(max), users: 0 };
    open.set(key, entry);
    entry.users += 1;
    await entry.semaphore.acquire();
    try {
      return await work();
    } finally {
      entry.semaphore.release();
      entry.users -= 1;
      if (entry.users === 0) open.delete(key);
    }
  };
};
