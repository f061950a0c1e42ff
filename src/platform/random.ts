import { randomFillSync } from 'node:crypto';

/** Randomness as a port, so that the simulation can replay a seed. */
export interface Random {
  /** `length` random bytes; cryptographically strong in production. */
  bytes(length: number): Uint8Array;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}

export const systemRandom: Random = {
  bytes: (length) => randomFillSync(new Uint8Array(length)),
  fraction: () => Math.random(),
};
