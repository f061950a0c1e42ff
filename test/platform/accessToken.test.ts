import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { accessTokenFrom, hashAccessToken, isAccessToken } from '../../src/platform/accessToken.js';
import { systemRandom } from '../../src/platform/random.js';

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('access tokens', () => {
  test('are svc_pat_, 40 letters or digits, and 6 of checksum, and never the same', () => {
    const tokens = Array.from({ length: 50 }, () => accessTokenFrom(systemRandom.bytes(64)));
    for (const token of tokens) {
      expect(token).toMatch(/^svc_pat_[0-9A-Za-z]{46}$/);
      expect(isAccessToken(token)).toBe(true);
    }
    expect(new Set(tokens).size).toBe(50);
  });

  test('are the same for the same bytes', () => {
    const bytes = new Uint8Array(64).map((_, index) => index * 3);
    expect(accessTokenFrom(bytes)).toBe(accessTokenFrom(bytes));
  });

  test('use every character equally: bytes that would favour some are skipped', () => {
    expect(() => accessTokenFrom(new Uint8Array(64).fill(248))).toThrow(RangeError);
    const all = new Uint8Array(248).map((_, index) => index);
    const seen = Array.from({ length: 6 }, (_, part) => accessTokenFrom(all.slice(part * 40)).slice(8, 48)).join('');
    for (const letter of letters) expect([3, 4]).toContain(seen.split(letter).length - 1);
  });

  test('with one character changed or removed are not valid', () => {
    const token = accessTokenFrom(systemRandom.bytes(64));
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...Array.from(letters), '_', ' '), (index, letter) => {
        const changed = token.slice(0, index) + letter + token.slice(index + 1);
        expect(isAccessToken(changed)).toBe(changed === token);
        expect(isAccessToken(token.slice(0, index))).toBe(false);
      }),
    );
  });

  test('any text can be checked', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isAccessToken(text)));
  });

  test('are found by their hash', () => {
    const { hash, key } = hashAccessToken('svc_pat_x');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(key).toMatch(/^[0-9a-z]{26}$/);
    expect(hashAccessToken('svc_pat_y').key).not.toBe(key);
  });
});
