import { randomFillSync } from 'node:crypto';

/** Randomness as a port, so that the simulation can replay a seed. */
export interface Random {
  /** `length` random bytes; cryptographically strong in production. */
  bytes(length: number): Uint8Array;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}

const poolSize = 4_096;

/** Bytes that were drawn ahead, since each draw costs more than the bytes; none is given out twice. */
let pool = new Uint8Array(0);

const drawn = (length: number): Uint8Array => {
  if (length > poolSize) return randomFillSync(new Uint8Array(length));
  if (pool.length < length) pool = randomFillSync(new Uint8Array(poolSize));
  const bytes = pool.slice(0, length);
  pool = pool.subarray(length);
  return bytes;
};

export const systemRandom: Random = {
  bytes: drawn,
  fraction: () => Math.random(),
};
