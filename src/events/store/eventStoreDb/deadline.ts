import { sleep, type Clock } from '../../../platform/clock.js';
import type { Random } from '../../../platform/random.js';

/** Why a signal of `within` was aborted: the call took too long. */
export class TooLate extends Error {}

/**
 * Runs `work` and gives up when `late` says so, which is asked `ms` from now, at each of several times: its signal is aborted, and the error that
 * `late` makes is thrown. The client's own deadlines are not kept while a server stands still, so every call is bounded here.
 */
export const within = async <Result>(
  clock: Clock,
  ms: readonly number[],
  work: (signal: AbortSignal) => Promise<Result>,
  late: () => Error | null,
): Promise<Result> => {
  const giveUp = new AbortController();
  const cancels: (() => void)[] = [];
  const tooLate = new Promise<never>((_resolve, reject) => {
    const look = (): void => {
      const error = late();
      if (error === null) return;
      reject(error);
      giveUp.abort(new TooLate());
    };
    for (const delay of ms) cancels.push(clock.schedule(delay, look, { keepAlive: true }));
  });
  try {
    return await Promise.race([work(giveUp.signal), tooLate]);
  } finally {
    for (const cancel of cancels) cancel();
  }
};

/** Pauses that grow from `firstMs` to `longestMs`, with jitter, so that many who lost the same server do not come back at once. */
export const createBackoff = (
  parts: { readonly clock: Clock; readonly random: Random },
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
): ((attempt: number, signal: AbortSignal) => Promise<void>) => {
  const { clock, random } = parts;
  return (attempt, signal) =>
    sleep(clock, Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 30)) * (0.5 + random.fraction() / 2), signal);
};
