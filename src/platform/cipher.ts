import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from './random.js';

/** Encrypts small pieces of data at rest (AES-256-GCM) for one purpose. */
export interface Cipher {
  /**
   * `context` names what the data belongs to: decryption succeeds with the same context only. The
   * result is base64.
   */
  encrypt(plaintext: Uint8Array, context: string): string;
  /** @throws Error when the text was encrypted with another key or context, or was changed */
  decrypt(ciphertext: string, context: string): Buffer;
}

const algorithm = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

/** @param key 32 bytes, used for this purpose only, so that no other part can decrypt the data */
export const createCipher = (key: Uint8Array, random: Random): Cipher => ({
  encrypt: (plaintext, context) => {
    const iv = random.bytes(ivLength);
    const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagLength }).setAAD(Buffer.from(context));
    const encrypted = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64');
  },
  decrypt: (ciphertext, context) => {
    const bytes = Buffer.from(ciphertext, 'base64');
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(ivLength, ivLength + tagLength));
    return Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]);
  },
});
