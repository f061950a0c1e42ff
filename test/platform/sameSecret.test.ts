import { expect, test } from '@jest/globals';
import { isSameSecret } from '../../src/platform/sameSecret.js';

test.each([
  ['secret', 'secret', true],
  ['', '', true],
  ['secret', 'secreT', false],
  ['secret', 'secrets', false],
  ['secret', '', false],
  // As many characters, not as many bytes.
  ['secret', 'secrét', false],
])('%s and %s: %s', (one, other, isSame) => {
  expect(isSameSecret(one, other)).toBe(isSame);
});
