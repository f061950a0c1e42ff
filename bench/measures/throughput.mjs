/** Requests a second through HTTP, against what stands beside them in the same minute. */
import { call } from '../support/api.mjs';
import { eventStoreCalls } from '../support/doorstep.mjs';
import { median, rounded } from '../support/figures.mjs';
import { checkpointWrites, deliveryReads } from '../support/load.mjs';
import { processorMs, withServer } from '../support/processes.mjs';
import { inTurns, medianRatio } from '../support/rounds.mjs';
import { withService } from '../support/service.mjs';

/**
 * @typedef {import('../support/figures.mjs').Figure} Figure
 * @typedef {import('../support/load.mjs').ThroughputResult} ThroughputResult
 * @typedef {import('../support/processes.mjs').Server} Server
 * @typedef {import('../support/service.mjs').Service} Service
 * @typedef {import('../support/service.mjs').LoadGenerator} LoadGenerator
 * @typedef {{ quick: boolean }} Options
 */

export const websitesFor = (/** @type {Options} */ { quick }) => (quick ? 2 : 64);
const roundsFor = (/** @type {Options} */ { quick }) => (quick ? { pairs: 1, seconds: 1 } : { pairs: 7, seconds: 4 });

/**
 * Rounds of the same requests to the service and to another server, in turns.
 * @param {Options} options
 * @param {Service} service
 * @param {LoadGenerator} load
 * @param {ReturnType<typeof checkpointWrites>} connections
 * @param {Server} other
 */
export const compare = async (options, { doorstep, headers }, load, connections, other) => {
  const { pairs, seconds } = roundsFor(options);
  const roundAt = (/** @type {Server} */ server) => async () => {
    const callsBefore = eventStoreCalls();
    const before = processorMs(server.process);
    const result = await load.throughput({ url: server.url, headers, seconds, connections });
    const after = processorMs(server.process);
    const cost = before === undefined || after === undefined ? undefined : ((after - before) / result.succeeded) * 1_000;
    const made = eventStoreCalls();
    const calls = made === null || callsBefore === null ? undefined : (made - callsBefore) / result.succeeded;
    return { ...result, cost, calls };
  };
  const { first, second } = await inTurns(pairs, roundAt(doorstep), roundAt(other));
  const failed = first.reduce((sum, round) => sum + round.failed, 0);
  if (failed > 0) throw new Error(`${failed} requests to the service failed`);
  return { ours: first, others: second, ratio: medianRatio(ratesOf(first), ratesOf(second)) };
};

/**
 * @typedef {ThroughputResult & { cost: number | undefined, calls: number | undefined }} Round -
 *   `cost`: processor time of a request, in microseconds; `calls` to the event store, for a request
 */

const ratesOf = (/** @type {readonly Round[]} */ rounds) => rounds.map(({ perSecond }) => perSecond);
const p50sOf = (/** @type {readonly Round[]} */ rounds) => rounds.map(({ p50 }) => p50);
const p99sOf = (/** @type {readonly Round[]} */ rounds) => rounds.map(({ p99 }) => p99);

/** @typedef {{ ours: readonly Round[], others: readonly Round[] }} Results */

const against = (/** @type {Results} */ { ours, others }, /** @type {(rounds: readonly Round[]) => number} */ value) =>
  `${rounded(value(ours))} against ${rounded(value(others))}`;

/**
 * Calls to an event store outside the service.
 * @param {string} name
 * @param {readonly Round[]} rounds
 * @param {number} atMost
 * @returns {Figure[]}
 */
const callsOf = (name, rounds, atMost) => {
  const calls = rounds.map((round) => round.calls).filter((each) => each !== undefined);
  return calls.length === 0 ? [] : [{ name, value: median(calls), unit: '', aim: { atMost }, about: 'to the event store' }];
};

/** @param {Results} results */
export const inWords = (results) => {
  const { ours } = results;
  const rates = `${against(results, (rounds) => median(ratesOf(rounds)))} a second`;
  const costs = (/** @type {readonly Round[]} */ rounds) => rounds.map(({ cost }) => cost).filter((cost) => cost !== undefined);
  return costs(ours).length === 0
    ? rates
    : `${rates}, ${against(results, (rounds) => median(costs(rounds)))} µs of processor time`;
};

/**
 * Durable commands against the bare echo of their bodies.
 * @param {Options} options
 * @returns {Promise<Figure[]>}
 */
export const writes = (options) =>
  withService({ purpose: 'writes', websites: websitesFor(options) }, (service, load) =>
    withServer('programs/echo.mjs', [], async (echo) => {
      const before = await changesOf(service);
      const connections = checkpointWrites(service.websiteIds);
      const results = await compare(options, service, load, connections, echo);
      const { ours, others, ratio } = results;
      const changes = (await changesOf(service)) - before;
      const answered = ours.reduce((sum, { succeeded }) => sum + succeeded, 0);
      // Writes that change nothing are cheaper. (Those of the first round are not counted.)
      if (changes < answered) throw new Error(`${answered} writes were answered, but only ${changes} changed something`);
      return [
        { name: 'writes / echo', value: ratio, unit: '×', aim: { atLeast: 0.65 }, about: inWords(results) },
        {
          name: 'p99 of writes / p99 of the echo',
          value: medianRatio(p99sOf(ours), p99sOf(others)),
          unit: '×',
          aim: { atMost: 1.6 },
          about: `${against(results, (rounds) => median(p99sOf(rounds)))} ms, p50 ${against(results, (rounds) => median(p50sOf(rounds)))} ms, ${connections.length} connections`,
        },
        ...callsOf('calls of a write', ours, 1.2),
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
    return withServer('programs/echo.mjs', [JSON.stringify(block)], async (echo) => {
      const results = await compare(options, service, load, deliveryReads(service.websiteIds), echo);
      const { ours, ratio } = results;
      const p99 = median(ours.map((round) => round.p99));
      return [
        {
          name: 'reads / echo',
          value: ratio,
          unit: '×',
          aim: { atLeast: 0.85 },
          about: `${inWords(results)}, p99 ${p99} ms`,
        },
        ...callsOf('calls of a read', ours, 0.1),
      ];
    });
  });
