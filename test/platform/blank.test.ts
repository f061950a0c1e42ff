import { expect, test } from '@jest/globals';
import { isBlank } from '../../src/platform/blank.js';

test.each(['', ' \t\n', '\0', '\u007f\u0085', '\u00a0\u00ad', '\u200b\u200d', '\u202e', '\u2060', '\ufeff'])(
  '%j has nothing to see',
  (text) => {
    expect(isBlank(text)).toBe(true);
  },
);

test.each(['-', '\0a', 'ß', '茶', '\u{1f35e}', '\u202e a', '\ud800'])('%j has', (text) => {
  expect(isBlank(text)).toBe(false);
});
