import { setMaxListeners } from 'node:events';

/**
 * Runs `task` once for all who ask while it runs. Its signal is aborted when the last of them has
 * gone; then nobody sees its result.
 */
export const createSharedTask = <Result>(
  task: (signal: AbortSignal) => Promise<Result>,
): ((caller: AbortSignal) => Promise<Result>) => {
  interface Run {
    readonly result: Promise<Result>;
    readonly cancel: AbortController;
    callers: number;
  }
  let running: Run | null = null;

  const end = (run: Run): void => {
    if (running === run) running = null;
  };

  const begin = (): Run => {
    const cancel = new AbortController();
    // A task may ask several others, each with its signal.
    setMaxListeners(0, cancel.signal);
    const run = { result: task(cancel.signal), cancel, callers: 0 };
    running = run;
    const ended = (): void => {
      end(run);
    };
    run.result.then(ended, ended);
    return run;
  };

  return async (caller) => {
    const run = running ?? begin();
    run.callers += 1;
    const leave = (): void => {
      run.callers -= 1;
      if (run.callers > 0) return;
      end(run);
      run.cancel.abort();
    };
    caller.addEventListener('abort', leave, { once: true });
    try {
      return await run.result;
    } finally {
      caller.removeEventListener('abort', leave);
    }
  };
};
