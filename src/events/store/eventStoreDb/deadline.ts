import type { Clock } from '../../../platform/clock.js';
import { createEndController, type EndSignal } from '../../../platform/endSignal.js';

/** The reason with which `withDeadlines` aborts a signal. */
export class DeadlinePassed extends Error {}

/**
 * Runs `work` and calls `onDeadline` at each deadline, in ms from now. When it returns an error, the signal is aborted and the error thrown; `null` lets the
 * work go on. Every call is bounded here, because the client's own deadlines fail when a server
 * hangs.
 * @param listening counts only the time in which this process listens
 */
export const withDeadlines = async <Result>(
  listening: Clock,
  deadlinesMs: readonly number[],
  work: (signal: EndSignal) => Promise<Result>,
  onDeadline: (signal: EndSignal) => Error | null,
): Promise<Result> => {
  const ending = createEndController();
  let cancel = (): void => undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    /** One timer at a time, because most calls are over before the first deadline. */
    const waitFor = (index: number, passedMs: number): void => {
      const deadlineMs = deadlinesMs[index];
      if (deadlineMs === undefined) return;
      const onTimer = (): void => {
        const error = onDeadline(ending.signal);
        if (error === null) {
          waitFor(index + 1, deadlineMs);
          return;
        }
        reject(error);
        ending.abort(new DeadlinePassed());
      };
      cancel = listening.schedule(deadlineMs - passedMs, onTimer, { keepAlive: true });
    };
    waitFor(0, 0);
  });
  try {
    return await Promise.race([work(ending.signal), timeout]);
  } finally {
    cancel();
  }
};
