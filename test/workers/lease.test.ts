import { describe, expect, test } from '@jest/globals';
import { attemptFailed, attemptStarted, noAttempts, type Attempts } from '../../src/events/attempts.js';
import { blockerFor, LEASE_MS } from '../../src/workers/lease.js';
import { earlier } from '../support/given.js';

const startedBy = (attempts: Attempts, worker: string): Attempts => {
  const attempt = attempts.attempt + 1;
  return attemptStarted(attempts, {
    id: `e${String(attempt)}`,
    data: { attempt, worker },
    revision: BigInt(attempt),
    metadata: { at: earlier },
  });
};
const failed = (attempts: Attempts): Attempts =>
  attemptFailed(attempts, { id: 'f', data: { nextAttemptAt: earlier }, revision: 100n, metadata: { at: earlier } });

/** After so many attempts, none of which any worker has reported of. */
const vanishing = (count: number, from: Attempts = noAttempts): Attempts =>
  Array.from({ length: count }).reduce<Attempts>((attempts, _, index) => startedBy(attempts, `w${String(index)}`), from);

const waitOf = (attempts: Attempts): number | undefined => blockerFor(attempts, 'another', Date.parse(earlier))?.waitMs;

describe('the lease of an attempt that vanished with its worker', () => {
  test.each([
    [1, 1],
    [2, 1],
    [5, 1],
    [6, 2],
    [7, 4],
    [10, 32],
    [11, 50],
    [2_000, 50],
  ])('after %d in a row is waited for %d times as long', (count, times) => {
    expect(waitOf(vanishing(count))).toBe(times * LEASE_MS);
  });

  test('is waited for as long as the first one, after an attempt that reported something', () => {
    expect(waitOf(startedBy(failed(vanishing(10)), 'w'))).toBe(LEASE_MS);
    expect(waitOf(vanishing(5, failed(vanishing(10))))).toBe(LEASE_MS);
  });

  test('counts once of a worker that goes on after its own lease', () => {
    const again = Array.from({ length: 8 }).reduce<Attempts>((attempts) => startedBy(attempts, 'same'), noAttempts);
    expect(waitOf(again)).toBe(LEASE_MS);
    expect(blockerFor(again, 'same', 0)).toBeNull();
  });
});
