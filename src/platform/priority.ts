import { sleep, type Clock } from './clock.js';
import { nextTurnAlone } from './eventLoop.js';
import type { Semaphore } from './semaphore.js';

/** Lets work that nobody waits for give way to work that somebody does, within this process. */
export interface Priority {
  /** The same semaphore; what holds a permit of it comes first. */
  first(permits: Semaphore): Semaphore;
  /**
   * Resolves when the next step of the other work may begin, in the order of the calls: at once while
   * nothing comes first, with rests for requests to be answered in; else a little later, so that it
   * never stands still. Early when `signal` is aborted.
   */
  giveWay(signal: AbortSignal): Promise<void>;
}

/** How long a step waits for work that comes first, and how long steps rest after as much time without a rest. */
const restMs = 10;

export const createPriority = (clock: Clock): Priority => {
  let running = 0;
  let wake = (): void => undefined;
  let last: Promise<void> = Promise.resolve();
  let restedAt = clock.now();

  const step = async (signal: AbortSignal): Promise<void> => {
    await nextTurnAlone();
    if (running === 0 && clock.now() - restedAt < restMs) return;
    const idle = new AbortController();
    wake = () => {
      idle.abort();
    };
    await sleep(clock, restMs, AbortSignal.any([signal, idle.signal]));
    restedAt = clock.now();
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
