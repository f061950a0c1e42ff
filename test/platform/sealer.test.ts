import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '../../src/platform/random.js';
import { createSealer } from '../../src/platform/sealer.js';

const key = new Uint8Array(32).fill(1);
const plain = Buffer.from('canary');

describe('a sealer', () => {
  const sealer = createSealer(key, systemRandom);

  test('opens what it sealed, also in another process', () => {
    const sealed = sealer.seal(plain, 'one');
    expect(createSealer(key, systemRandom).open(sealed, 'one')).toStrictEqual(plain);
    expect(sealer.open(sealer.seal(Buffer.alloc(0), 'one'), 'one')).toStrictEqual(Buffer.alloc(0));
  });

  test('seals the same data differently each time, and shows nothing of it', () => {
    const sealed = [sealer.seal(plain, 'one'), sealer.seal(plain, 'one')];
    expect(sealed[0]).not.toBe(sealed[1]);
    expect(Buffer.from(sealed[0] ?? '', 'base64').includes(plain)).toBe(false);
  });

  test.each<[string, () => Buffer]>([
    ['for something else', () => sealer.open(sealer.seal(plain, 'one'), 'other')],
    ['with another key', () => createSealer(new Uint8Array(32), systemRandom).open(sealer.seal(plain, 'one'), 'one')],
    [
      'and changed since',
      () => {
        const bytes = Buffer.from(sealer.seal(plain, 'one'), 'base64');
        bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
        return sealer.open(bytes.toString('base64'), 'one');
      },
    ],
    ['and cut off', () => sealer.open(sealer.seal(plain, 'one').slice(0, 20), 'one')],
  ])('does not open what was sealed %s', (_what, open) => {
    expect(open).toThrow();
  });
});
