import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks again until `find` returns something other than `undefined`; fails after `withinMs`, which
 * only ends a test that hangs.
 */
export const eventually = async <Result>(
  what: string,
  find: () => Promise<Result | undefined> | Result | undefined,
  withinMs = 30_000,
): Promise<Result> => {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() > giveUpAt) throw new Error(`${what} did not happen within ${String(withinMs)} ms`);
    await pause(10);
  }
};
