/**
 * Resolves in the next turn of the event loop, so that long work lets everything else in the
 * process run.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
