/** Ctrl-C. The program ends with 130, as a shell says of a program that SIGINT ended. */
export interface Interruption {
  /** Aborts when it comes. */
  readonly signal: AbortSignal;
  /** What to do then, such as restoring the terminal or saying what goes on: at once, not later. */
  readonly onInterrupt: (action: () => void) => void;
}

const interrupted = 130;

/** How many programs have the terminal that this one has started. */
let guests = 0;

/**
 * While a pager or an editor has the terminal, Ctrl-C is for it alone.
 * @returns ends that
 */
export const leaveInterruptions = (): (() => void) => {
  guests += 1;
  return () => {
    guests -= 1;
  };
};

/** Listens for SIGINT and SIGTERM from now on. */
export const listenForInterruption = (): Interruption => {
  const controller = new AbortController();
  const actions: (() => void)[] = [];
  const end = (code: number) => (): void => {
    if (guests > 0) return;
    controller.abort();
    for (const action of actions) action();
    process.exit(code);
  };
  process.on('SIGINT', end(interrupted));
  process.on('SIGTERM', end(143));
  return { signal: controller.signal, onInterrupt: (action) => actions.push(action) };
};
