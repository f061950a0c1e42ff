import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from './random.js';

/** Encrypts small pieces of data at rest (AES-256-GCM) for one purpose. */
export interface Sealer {
  /** `bound` is what the data belongs to: it opens only with the same. */
  seal(plain: Uint8Array, bound: string): string;
  /** @throws Error when it was sealed with another key or purpose, for something else, or was changed. */
  open(sealed: string, bound: string): Buffer;
}

const algorithm = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

/** `key`: 32 bytes that have one purpose alone, so that nobody opens what another part sealed. */
export const createSealer = (key: Uint8Array, random: Random): Sealer => ({
  seal: (plain, bound) => {
    const iv = random.bytes(ivLength);
    const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagLength }).setAAD(Buffer.from(bound));
    const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64');
  },
  open: (sealed, bound) => {
    const bytes = Buffer.from(sealed, 'base64');
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
      .setAAD(Buffer.from(bound))
      .setAuthTag(bytes.subarray(ivLength, ivLength + tagLength));
    return Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]);
  },
});
