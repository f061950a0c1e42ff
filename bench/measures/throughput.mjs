/** Requests a second through HTTP, against what stands beside them in the same minute. */
import { call } from '../support/api.mjs';
import { median, rounded } from '../support/figures.mjs';
import { checkpointWrites, connectionCount, deliveryReads } from '../support/load.mjs';
import { withServer } from '../support/processes.mjs';
import { inTurns, medianRatio } from '../support/rounds.mjs';
import { withService } from '../support/service.mjs';

/**
 * @typedef {import('../support/figures.mjs').Figure} Figure
 * @typedef {import('../support/load.mjs').ThroughputResult} ThroughputResult
 * @typedef {import('../support/service.mjs').Service} Service
 * @typedef {import('../support/service.mjs').LoadGenerator} LoadGenerator
 * @typedef {{ quick: boolean }} Options
 */

export const websitesFor = (/** @type {Options} */ { quick }) => (quick ? 9 : 64);
const roundsFor = (/** @type {Options} */ { quick }) => (quick ? { pairs: 1, seconds: 1 } : { pairs: 5, seconds: 4 });

/**
 * Rounds of the same requests to the service and to another one, in turns.
 * @param {Options} options
 * @param {Service} service
 * @param {LoadGenerator} load
 * @param {ReturnType<typeof checkpointWrites>} connections
 * @param {string} otherUrl
 */
export const compare = async (options, { url: ourUrl, headers }, load, connections, otherUrl) => {
  const { pairs, seconds } = roundsFor(options);
  const roundAt = (/** @type {string} */ url) => () => load.throughput({ url, headers, seconds, connections });
  const { first, second } = await inTurns(pairs, roundAt(ourUrl), roundAt(otherUrl));
  return { ours: first, others: second, ratio: medianRatio(ratesOf(first), ratesOf(second)) };
};

const ratesOf = (/** @type {readonly ThroughputResult[]} */ results) => results.map(({ perSecond }) => perSecond);

export const failuresOf = (/** @type {readonly ThroughputResult[]} */ results) =>
  results.reduce((sum, { failed }) => sum + failed, 0);

/** @param {{ ours: readonly ThroughputResult[], others: readonly ThroughputResult[] }} results */
export const ratesInWords = ({ ours, others }) =>
  `${rounded(median(ratesOf(ours)))} against ${rounded(median(ratesOf(others)))} a second`;

/**
 * Durable commands against the bare echo of their bodies.
 * @param {Options} options
 * @returns {Promise<Figure[]>}
 */
export const writes = (options) =>
  withService({ purpose: 'writes', websites: websitesFor(options) }, (service, load) =>
    withServer('programs/echo.mjs', [], async (echoUrl) => {
      const before = await changesOf(service);
      const results = await compare(options, service, load, checkpointWrites(service.websiteIds), echoUrl);
      const { ours, ratio } = results;
      if (failuresOf(ours) > 0) throw new Error(`${failuresOf(ours)} writes failed`);
      const changes = (await changesOf(service)) - before;
      const answered = ours.reduce((sum, { succeeded }) => sum + succeeded, 0);
      // Otherwise it would not be commands that were measured. (Those of the first round are not counted.)
      if (changes < answered) throw new Error(`${answered} writes were answered, but only ${changes} changed something`);
      return [
        { name: 'writes / echo', value: ratio, unit: '×', aim: { atLeast: 0.45 }, about: ratesInWords(results) },
        {
          name: 'writes, p99',
          value: median(ours.map(({ p99 }) => p99)),
          unit: 'ms',
          aim: { atMost: 30 },
          about: `p50 ${median(ours.map(({ p50 }) => p50))} ms, ${connectionCount} connections`,
        },
      ];
    }),
  );

/**
 * How many times the delivery blocks were changed.
 * @param {Service} service
 */
const changesOf = async (service) => {
  const revisions = service.websiteIds.map(async (id) => {
    const { revision } = /** @type {{ revision: number }} */ (await call(service, 'GET', `/v1/websites/${id}/delivery`));
    return revision;
  });
  return (await Promise.all(revisions)).reduce((sum, revision) => sum + revision, 0);
};

/**
 * Validated reads of delivery blocks against a bare application that answers with the same block.
 * @param {Options} options
 * @returns {Promise<Figure[]>}
 */
export const reads = (options) =>
  withService({ purpose: 'reads', websites: websitesFor(options) }, async (service, load) => {
    const block = await call(service, 'GET', `/v1/websites/${service.websiteIds[0]}/delivery`);
    return withServer('programs/echo.mjs', [JSON.stringify(block)], async (echoUrl) => {
      const results = await compare(options, service, load, deliveryReads(service.websiteIds), echoUrl);
      const { ours, ratio } = results;
      if (failuresOf(ours) > 0) throw new Error(`${failuresOf(ours)} reads failed`);
      const p99 = median(ours.map((round) => round.p99));
      return [
        {
          name: 'reads / echo',
          value: ratio,
          unit: '×',
          aim: { atLeast: 0.6 },
          about: `${ratesInWords(results)}, p99 ${p99} ms`,
        },
      ];
    });
  });
