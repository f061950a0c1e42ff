import { sleep, type Clock } from './clock.js';
import { nextTurnAlone } from './eventLoop.js';
import type { Semaphore } from './semaphore.js';

/** Lets work that nobody waits for give way to work that somebody does, within this process. */
export interface Priority {
  /** The same semaphore; what holds a permit of it comes first. */
  first(permits: Semaphore): Semaphore;
  /**
   * Resolves when the next step of the other work may begin, in the order of the calls: at once while
   * nothing comes first, else a little later, so that it never stands still. Early when `signal` is
   * aborted.
   */
  giveWay(signal: AbortSignal): Promise<void>;
}

/** How long a step waits for work that comes first. */
const maxWaitMs = 10;

export const createPriority = (clock: Clock): Priority => {
  let running = 0;
  let wake = (): void => undefined;
  let last: Promise<void> = Promise.resolve();

  const step = async (signal: AbortSignal): Promise<void> => {
    await nextTurnAlone();
    if (running === 0) return;
    const idle = new AbortController();
    wake = () => {
      idle.abort();
    };
    await sleep(clock, maxWaitMs, AbortSignal.any([signal, idle.signal]));
  };

  return {
    first: (permits) => ({
      acquire: async () => {
        await permits.acquire();
        running += 1;
      },
      release: () => {
        running -= 1;
        if (running === 0) wake();
        permits.release();
      },
    }),
    giveWay: (signal) => (last = last.then(() => step(signal))),
  };
};
