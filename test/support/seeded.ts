import { randomInt } from 'node:crypto';

/** Chance that a seed repeats (mulberry32): numbers from 0 up to, and without, 1. */
export const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** Chance of a test. Its seed is printed, and `DOORSTEP_SEED` repeats it. */
export const chanceOf = (test: string): (() => number) => {
  const seed = Number(process.env['DOORSTEP_SEED'] ?? randomInt(2 ** 31));
  process.stderr.write(`${test}: DOORSTEP_SEED=${String(seed)}\n`);
  return seeded(seed);
};
