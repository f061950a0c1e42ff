/** Ctrl-C. The program ends with 130, as a shell says of a program that SIGINT ended. */
export interface Interruption {
  /** Aborts when it comes. */
  readonly signal: AbortSignal;
  /** What to do then, such as restoring the terminal or saying what goes on: at once, not later. */
  onInterrupt(action: () => void): void;
}

const interrupted = 130;

/** Listens for SIGINT and SIGTERM from now on. */
export const listenForInterruption = (): Interruption => {
  const controller = new AbortController();
  const actions: (() => void)[] = [];
  const end = (code: number) => (): void => {
    // A pager that is still open decides itself.
    if (process.listenerCount('SIGINT') > 1) return;
    controller.abort();
    for (const action of actions) action();
    process.exit(code);
  };
  process.on('SIGINT', end(interrupted));
  process.on('SIGTERM', end(143));
  return { signal: controller.signal, onInterrupt: (action) => actions.push(action) };
};
