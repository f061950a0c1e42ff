/**
 * Resolves in the next turn of the event loop, so that long work lets everything else in the
 * process run.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

const waiting: (() => void)[] = [];

const serveOne = (): void => {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(serveOne);
};

/**
 * Resolves in a turn of the event loop that no other caller gets, in the order of the calls. For
 * work that catches up: however many parts of the process have much to do, requests wait for one
 * batch of one of them at most.
 */
export const nextTurnAlone = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(serveOne);
  });
