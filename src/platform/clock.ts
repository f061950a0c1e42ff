import type { EndSignal } from './endSignal.js';

/**
 * Time as a port, so that tests and the simulation can run on virtual time. Nothing else in `src/`
 * calls `Date.now`, `new Date()` without an argument, or `setTimeout`.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Runs `task` once, `delayMs` milliseconds from now; the returned function cancels it. A pending
   * timer keeps the process alive only with `keepAlive`.
   */
  schedule(delayMs: number, task: () => void, options?: { readonly keepAlive?: boolean }): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule: (delayMs, task, options) => {
    const timer = setTimeout(task, delayMs);
    if (options?.keepAlive !== true) timer.unref();
    return () => {
      clearTimeout(timer);
    };
  },
};

/** ISO 8601 UTC with milliseconds: the only form of a time in events and in answers of the API. */
export const isoTime = (epochMs: number): string => {
  if (epochMs !== lastTime.epochMs) lastTime = { epochMs, text: new Date(epochMs).toISOString() };
  return lastTime.text;
};

/** A request asks for the text of the same millisecond several times. */
let lastTime = { epochMs: 0, text: '1970-01-01T00:00:00.000Z' };

/**
 * Resolves after `delayMs`, or at once when `signal` is aborted; it never rejects. It keeps the
 * process alive, so abort it when nothing waits for it any more.
 */
export const sleep = (clock: Clock, delayMs: number, signal?: EndSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const finish = (): void => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.schedule(delayMs, finish, { keepAlive: true });
    signal?.addEventListener('abort', finish);
  });
