import { expect, test } from '@jest/globals';
import { backoffMs } from '../../src/platform/backoff.js';

const backoff = { firstMs: 100, maxMs: 15_000 };

test.each([
  [0, 0, 50],
  [0, 0.5, 75],
  [1, 0, 100],
  [3, 0, 400],
  [40, 0, 7_500],
  // A power of two that no number holds.
  [5_000, 0.999_999_999, 15_000],
])('after %d failures and with a jitter of %d, the pause is %d ms', (failures, jitter, ms) => {
  expect(Math.round(backoffMs(backoff, failures, jitter))).toBe(ms);
});
