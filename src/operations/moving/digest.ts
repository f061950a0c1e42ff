import { createHash } from 'node:crypto';

/** What is added decides the digest, and its order does not: stores list in orders of their own. */
export interface SetDigest {
  add(text: string): void;
  count(): number;
  hex(): string;
}

const modulus = 2n ** 256n;

export const createSetDigest = (): SetDigest => {
  let sum = 0n;
  let count = 0;
  return {
    add: (text) => {
      sum = (sum + BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)) % modulus;
      count += 1;
    },
    count: () => count,
    hex: () => sum.toString(16).padStart(64, '0'),
  };
};
