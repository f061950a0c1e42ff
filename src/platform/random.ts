import { randomFillSync } from 'node:crypto';

/** Randomness as a port, so that the simulation can replay a seed. */
export interface Random {
  /** `length` random bytes; cryptographically strong in production. */
  bytes(length: number): Uint8Array;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}

const poolSize = 4_096;

/**
 * Random bytes drawn in advance, because each system call costs more than the bytes. None is used
 * twice.
 */
let pool = new Uint8Array(0);

const drawBytes = (length: number): Uint8Array => {
  if (length > poolSize) return randomFillSync(new Uint8Array(length));
  if (pool.length < length) pool = randomFillSync(new Uint8Array(poolSize));
  const bytes = pool.slice(0, length);
  pool = pool.subarray(length);
  return bytes;
};

export const systemRandom: Random = {
  bytes: drawBytes,
  fraction: () => Math.random(),
};
