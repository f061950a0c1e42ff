/** Limits how much runs at the same time, within this process. */
export interface Semaphore {
  /** Resolves with a permit, in the order of the calls. */
  acquire(): Promise<void>;
  /** Gives a permit back. */
  release(): void;
}

export const createSemaphore = (permits: number): Semaphore => {
  let free = permits;
  const waiting: (() => void)[] = [];
  return {
    acquire: () => {
      if (free === 0) return new Promise((resolve) => waiting.push(resolve));
      free -= 1;
      return Promise.resolve();
    },
    release: () => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
};
