import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '../../src/platform/random.js';
import { createCipher } from '../../src/platform/cipher.js';

const key = new Uint8Array(32).fill(1);
const plain = Buffer.from('canary');

describe('a cipher', () => {
  const cipher = createCipher(key, systemRandom);

  test('decrypts what it encrypted, also in another process', () => {
    const encrypted = cipher.encrypt(plain, 'one');
    expect(createCipher(key, systemRandom).decrypt(encrypted, 'one')).toStrictEqual(plain);
    expect(cipher.decrypt(cipher.encrypt(Buffer.alloc(0), 'one'), 'one')).toStrictEqual(Buffer.alloc(0));
  });

  test('encrypts the same data differently each time, and reveals nothing of it', () => {
    const encrypted = [cipher.encrypt(plain, 'one'), cipher.encrypt(plain, 'one')];
    expect(encrypted[0]).not.toBe(encrypted[1]);
    expect(Buffer.from(encrypted[0] ?? '', 'base64').includes(plain)).toBe(false);
  });

  test.each<[string, () => Buffer]>([
    ['with another context', () => cipher.decrypt(cipher.encrypt(plain, 'one'), 'other')],
    ['with another key', () => createCipher(new Uint8Array(32), systemRandom).decrypt(cipher.encrypt(plain, 'one'), 'one')],
    [
      'and then changed',
      () => {
        const bytes = Buffer.from(cipher.encrypt(plain, 'one'), 'base64');
        bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
        return cipher.decrypt(bytes.toString('base64'), 'one');
      },
    ],
    ['and then cut off', () => cipher.decrypt(cipher.encrypt(plain, 'one').slice(0, 20), 'one')],
  ])('does not decrypt what was encrypted %s', (_what, decrypt) => {
    expect(decrypt).toThrow();
  });
});
