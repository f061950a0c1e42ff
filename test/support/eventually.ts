import { setTimeout as pause } from 'node:timers/promises';

/** Asks again until `look` returns something other than `undefined`; fails with the last answer's words after `withinMs`. */
export const eventually = async <Result>(
  what: string,
  look: () => Promise<Result | undefined> | Result | undefined,
  withinMs = 10_000,
): Promise<Result> => {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > giveUpAt) throw new Error(`${what} did not happen within ${String(withinMs)} ms`);
    await pause(10);
  }
};
