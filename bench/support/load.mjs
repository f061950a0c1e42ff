import { messageFrom, startProgram, stop } from './processes.mjs';

/**
 * @typedef {import('../programs/load.mjs').Request} Request
 * @typedef {import('../programs/load.mjs').Throughput} Throughput
 * @typedef {import('../programs/load.mjs').ThroughputResult} ThroughputResult
 * @typedef {{
 *   throughput: (job: Throughput) => Promise<ThroughputResult>,
 *   latency: (job: import('../programs/load.mjs').Latency) => Promise<import('../programs/load.mjs').LatencyResult>,
 *   paced: (job: import('../programs/load.mjs').Paced) => Promise<import('../programs/load.mjs').PacedResult>,
 *   stop: () => Promise<void>,
 * }} LoadGenerator
 */

export const connectionCount = 50;

/** @returns {LoadGenerator} */
export const startLoadGenerator = () => {
  const child = startProgram('programs/load.mjs');
  /** @type {(job: import('node:child_process').Serializable) => Promise<any>} */
  const run = (job) => {
    const result = messageFrom(child);
    child.send(job);
    return result;
  };
  return { throughput: run, latency: run, paced: run, stop: () => stop(child) };
};

const checkpoints = ['kickoff', 'design-approved', 'initial-deploy', 'content-loaded', 'qa', 'launch'];

/**
 * The writes of each connection. Every checkpoint of every website belongs to one connection, which
 * sets all of its own to one status, then to the other: each request changes something, and several
 * connections meet on one website.
 * @param {readonly string[]} websiteIds
 * @param {number} [connections] - at most
 * @returns {Request[][]}
 */
export const checkpointWrites = (websiteIds, connections = connectionCount) => {
  const targets = checkpoints.flatMap((checkpoint) =>
    websiteIds.map((id) => `/v1/websites/${id}/delivery/checkpoints/${checkpoint}`),
  );
  const count = Math.min(connections, targets.length);
  return Array.from({ length: count }, (_, connection) =>
    ['in_progress', 'pending'].flatMap((status) =>
      targets
        .filter((_path, index) => index % count === connection)
        .map((path) => ({ method: /** @type {const} */ ('PUT'), path, body: JSON.stringify({ status }) })),
    ),
  );
};

/**
 * The reads of each connection: every website's delivery block, each connection beginning
 * elsewhere.
 * @param {readonly string[]} websiteIds
 * @returns {Request[][]}
 */
export const deliveryReads = (websiteIds) =>
  Array.from({ length: connectionCount }, (_, connection) =>
    websiteIds.map((_id, index) => ({
      method: /** @type {const} */ ('GET'),
      path: `/v1/websites/${websiteIds[(index + connection) % websiteIds.length]}/delivery`,
    })),
  );
