import { median } from './figures.mjs';

/**
 * Measures two things in turn, a round of each, again and again: what else the machine does meets both alike. The ratio is the
 * median over the pairs. The first pair warms both up and is not counted.
 * @template A, B
 * @param {number} pairs
 * @param {() => Promise<A>} first
 * @param {() => Promise<B>} second
 * @returns {Promise<{ first: A[], second: B[] }>}
 */
export const inTurns = async (pairs, first, second) => {
  await first();
  await second();
  /** @type {{ first: A[], second: B[] }} */
  const results = { first: [], second: [] };
  for (let pair = 0; pair < pairs; pair += 1) {
    results.first.push(await first());
    results.second.push(await second());
  }
  return results;
};

/**
 * @param {readonly number[]} first
 * @param {readonly number[]} second
 */
export const medianRatio = (first, second) => median(first.map((value, pair) => value / (second[pair] ?? Number.NaN)));
