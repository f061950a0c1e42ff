import { expect, test } from '@jest/globals';
import { pauseAfterBreak } from '../../portal/src/live/pauseAfterBreak.js';

test.each([
  [undefined, 0, 4_000],
  [4_000, 2_000, 8_000],
  [32_000, 2_000, 64_000],
  [64_000, 2_000, 64_000],
  [64_000, 64_001, 4_000],
])('after a pause of %p ms and %p ms with answers, the next pause is %p ms', (last, fineFor, next) => {
  expect(pauseAfterBreak(last, fineFor)).toBe(next);
});
