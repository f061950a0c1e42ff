import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { durationsIn, durationsTo, etasHeld, minCases, quantile } from '../../src/projections/forecast/forecast.js';
import type { PaceDocument } from '../../src/projections/forecast/forecast.projection.js';

const hour = 3_600_000;
const at = (hours: number): string => new Date(Date.UTC(2026, 0, 1) + hours * hour).toISOString();

/** A past delivery that was set up at hour 0 and did its steps at these hours. */
const past = (hours: Readonly<Record<string, number | null>>, promised = 100): PaceDocument => {
  const steps = Object.entries(hours).map(([id, done]) => ({ id, ...(done !== null && { completedAt: at(done) }) }));
  const done = steps.filter(({ completedAt }) => completedAt !== undefined);
  const finishedAt =
    done.length === steps.length
      ? done
          .map(({ completedAt = '' }) => completedAt)
          .sort()
          .at(-1)
      : undefined;
  return {
    setUpAt: at(0),
    estimatedCompletionAt: at(promised),
    steps,
    done: done.map(({ id }) => id),
    ...(done.length > 0 && { promisedAt: at(promised) }),
    ...(finishedAt !== undefined && { finishedAt, finished: 'yes' }),
  };
};

const none: ReadonlySet<string> = new Set();

describe('how long a past delivery took to a step', () => {
  const delivery = past({ a: 10, b: 30, c: 25, d: null });

  test.each([
    ['from its set-up, while nothing is done', [], 'b', 30],
    ['from the step that is done', ['a'], 'b', 20],
    ['from the last of the steps that are done, in time', ['a', 'c'], 'b', 5],
    ['from its set-up, when it had none of the steps that are done', ['x', 'd'], 'a', 10],
    ['nothing, to a step that it had done by then', ['b'], 'c', 0],
  ])('%s', (_, done, step, hours) => {
    expect(durationsIn(delivery, new Set(done)).get(step)).toBe(hours * hour);
  });

  test.each(['d', 'x'])('is unknown for a step that it never did (%s)', (step) => {
    expect(durationsIn(delivery, none).get(step)).toBeUndefined();
  });
});

describe('how long past deliveries took', () => {
  const all = [40, 10, 20, 50, 30].map((hours) => past({ a: hours }));

  test('is the median, and what nine of ten did not exceed', () => {
    expect(durationsTo(all, none, ['x', 'a'])).toStrictEqual([{ cases: 0 }, { cases: 5, medianMs: 30 * hour, p90Ms: 50 * hour }]);
  });

  test('is not said of fewer than five, nor counted of those that never did the step', () => {
    expect(durationsTo([...all.slice(1), past({ a: null }), past({ b: 1 })], none, ['a'])).toStrictEqual([{ cases: 4 }]);
    expect(durationsTo([], none, ['a'])).toStrictEqual([{ cases: 0 }]);
  });
});

describe('a quantile', () => {
  const oneTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  test.each([
    [5, 0.5, 3],
    [6, 0.5, 3],
    [10, 0.9, 9],
    [11, 0.9, 10],
    [100, 0.9, 90],
    [30, 0.1, 3],
    [7, 1, 7],
  ])('of 1 to %i at %f is %i', (count, part, value) => {
    expect(quantile(oneTo(count), part)).toBe(value);
  });

  test('is the smallest value that enough reach or stay below', () => {
    const values = fc.array(fc.nat(50), { minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 100 }), (numbers, percent) => {
        const sorted = [...numbers].sort((one, other) => one - other);
        const value = quantile(sorted, percent / 100);
        // In whole numbers, so that nothing is rounded here.
        const reaches = (limit: number): boolean => sorted.filter((one) => one <= limit).length * 100 >= percent * sorted.length;
        expect(sorted).toContain(value);
        expect(reaches(value)).toBe(true);
        expect(reaches(value - 1)).toBe(false);
      }),
    );
  });
});

test('whatever past deliveries were like, a forecast never lies before now, and nine of ten take no less than half', () => {
  const ids = ['a', 'b', 'c'];
  const delivery = fc
    .record(Object.fromEntries(ids.map((id) => [id, fc.option(fc.nat(1_000))])) as Record<string, fc.Arbitrary<number | null>>)
    .map((hours) => past(hours));
  fc.assert(
    fc.property(fc.array(delivery, { maxLength: 30 }), fc.subarray(ids), fc.constantFrom(...ids), (all, done, step) => {
      const [forecast] = durationsTo(all, new Set(done), [step]);
      if (forecast === undefined) throw new Error('one was asked for');
      const { cases, medianMs, p90Ms } = forecast;
      expect(cases).toBe(all.filter(({ done: steps }) => steps.includes(step)).length);
      expect([medianMs === undefined, p90Ms === undefined]).toEqual([cases < minCases, cases < minCases]);
      if (medianMs === undefined || p90Ms === undefined) return;
      expect(medianMs).toBeGreaterThanOrEqual(0);
      expect(p90Ms).toBeGreaterThanOrEqual(medianMs);
      // The order in which they are read decides nothing.
      expect(durationsTo([...all].reverse(), new Set(done), [step])).toEqual([{ cases, medianMs, p90Ms }]);
    }),
  );
});

test('an ETA was held when the last step was done by it', () => {
  const finished = [past({ a: 1, b: 9 }, 10), past({ a: 1, b: 10 }, 10), past({ a: 1, b: 11 }, 10)];
  expect(etasHeld(finished)).toBe(2);
  expect(etasHeld([past({ a: 1, b: null }, 10), past({}, 10)])).toBe(0);
});
