import { hkdfSync } from 'node:crypto';

/** The length of every key of the vault, in bytes. */
export const keyBytes = 32;

/** Bytes for one purpose, from which neither `from` nor those for another purpose can be found. */
export const derivedKey = (from: Uint8Array, purpose: string, length = keyBytes): Buffer =>
  Buffer.from(hkdfSync('sha256', from, '', purpose, length));
