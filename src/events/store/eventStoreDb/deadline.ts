import { sleep, type Clock } from '../../../platform/clock.js';
import { createListeningClock } from '../../../platform/listeningClock.js';
import type { Random } from '../../../platform/random.js';

/** The reason with which `withDeadlines` aborts a signal. */
export class DeadlinePassed extends Error {}

/**
 * Runs `work` and calls `onDeadline` at each deadline, in ms from now during which this process
 * listened. When it returns an error, the signal is aborted and the error thrown; `null` lets the
 * work go on. Every call is bounded here, because the client's own deadlines fail when a server
 * hangs.
 */
export const withDeadlines = async <Result>(
  clock: Clock,
  deadlinesMs: readonly number[],
  work: (signal: AbortSignal) => Promise<Result>,
  onDeadline: (signal: AbortSignal) => Error | null,
): Promise<Result> => {
  const listening = createListeningClock(clock);
  const controller = new AbortController();
  const cancels: (() => void)[] = [];
  const timeout = new Promise<never>((_resolve, reject) => {
    const onTimer = (): void => {
      const error = onDeadline(controller.signal);
      if (error === null) return;
      reject(error);
      controller.abort(new DeadlinePassed());
    };
    for (const delay of deadlinesMs) cancels.push(listening.schedule(delay, onTimer, { keepAlive: true }));
  });
  try {
    return await Promise.race([work(controller.signal), timeout]);
  } finally {
    for (const cancel of cancels) cancel();
  }
};

/**
 * Pauses that grow from `firstMs` to `maxMs`, with jitter, so that clients that lost the same
 * server do not all return at once.
 */
export const createBackoff = (
  parts: { readonly clock: Clock; readonly random: Random },
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
): ((attempt: number, signal: AbortSignal) => Promise<void>) => {
  const { clock, random } = parts;
  return (attempt, signal) =>
    sleep(clock, Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30)) * (0.5 + random.fraction() / 2), signal);
};
