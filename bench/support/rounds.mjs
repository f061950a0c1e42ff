import { median } from './figures.mjs';

/**
 * Measures two things in turn, a round of each, again and again, so that what else the machine does
 * meets both alike. The first pair warms both up: it counts only when there is no other.
 * @template A, B
 * @param {number} pairs
 * @param {() => Promise<A>} first
 * @param {() => Promise<B>} second
 * @returns {Promise<{ first: A[], second: B[] }>}
 */
export const inTurns = async (pairs, first, second) => {
  /** @type {{ first: A[], second: B[] }} */
  const results = { first: [], second: [] };
  for (let pair = 0; pair < pairs; pair += 1) {
    results.first.push(await first());
    results.second.push(await second());
  }
  const skip = pairs > 1 ? 1 : 0;
  return { first: results.first.slice(skip), second: results.second.slice(skip) };
};

/**
 * The median, over the pairs, of the first's value divided by the second's.
 * @param {readonly number[]} first
 * @param {readonly number[]} second
 */
export const medianRatio = (first, second) => median(first.map((value, pair) => value / (second[pair] ?? Number.NaN)));
