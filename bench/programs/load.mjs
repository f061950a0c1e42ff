/**
 * Makes requests, in a process of its own so that the one measuring does not compete with the one
 * measured. Takes one job a message, answers with its result.
 */
import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import autocannon from 'autocannon';

/**
 * @typedef {{ method: 'GET' | 'PUT' | 'POST', path: string, body?: string }} Request
 * @typedef {{ url: string, headers: Record<string, string>, seconds: number, connections: readonly (readonly Request[])[] }} Throughput
 *   Each connection makes its own requests again and again, the next one when the last is answered.
 * @typedef {{ url: string, headers: Record<string, string>, requests: readonly Request[] }} Latency
 *   One connection makes each request once.
 * @typedef {{ perSecond: number, succeeded: number, failed: number, p50: number, p99: number }} ThroughputResult
 *   Successful requests only are counted; times in milliseconds.
 * @typedef {{ times: number[] }} LatencyResult - milliseconds, of each request in turn
 * @typedef {{ url: string, headers: Record<string, string>, path: string, body: string, idHeader: string, perSecond: number, seconds: number }} Paced
 *   The same POST again and again, so many a second whether they are answered or not, each with an
 *   id of its own in `idHeader`.
 * @typedef {{ times: number[], failed: number }} PacedResult - milliseconds, from when each was due
 */

const pacedConnections = 50;

/**
 * @param {Throughput} job
 * @returns {Promise<ThroughputResult>}
 */
const throughput = async ({ url, headers, seconds, connections }) => {
  let next = 0;
  const result = await autocannon({
    url,
    connections: connections.length,
    duration: seconds,
    headers,
    setupClient: (client) => {
      client.setRequests([...(connections[next] ?? [])]);
      next += 1;
    },
  });
  return {
    perSecond: result['2xx'] / result.duration,
    succeeded: result['2xx'],
    // Whoever is answered 503 tries again later, and is not counted.
    failed: result.non2xx + result.errors - (result.statusCodeStats?.['503']?.count ?? 0),
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
};

/**
 * @param {Latency} job
 * @returns {Promise<LatencyResult>}
 */
const latency = async ({ url, headers, requests }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = [];
  for (const request of requests) {
    const startedAt = performance.now();
    const ask = () => answered(new URL(request.path, url), { agent, method: request.method, headers }, request.body);
    let status = await ask();
    for (let tries = 1; status === 503 && tries < 30; tries += 1) {
      await wait(1_000);
      status = await ask();
    }
    times.push(performance.now() - startedAt);
    if (status < 200 || status > 299) throw new Error(`${request.method} ${request.path} answered ${status}`);
  }
  agent.destroy();
  return { times };
};

/**
 * @param {Paced} job
 * @returns {Promise<PacedResult>}
 */
const paced = async ({ url, headers, path, body, idHeader, perSecond, seconds }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: pacedConnections });
  const target = new URL(path, url);
  const run = randomUUID();
  /** @type {number[]} */
  const times = [];
  let failed = 0;
  /** @param {number} index @param {number} dueAt */
  const send = async (index, dueAt) => {
    const status = await answered(
      target,
      { agent, method: 'POST', headers: { ...headers, [idHeader]: `${run}-${index}` } },
      body,
    );
    times.push(performance.now() - dueAt);
    if (status !== 200) failed += 1;
  };
  const sent = [];
  const startedAt = performance.now();
  for (let index = 0; index < perSecond * seconds;) {
    const dueAt = startedAt + (index / perSecond) * 1_000;
    if (performance.now() < dueAt) {
      await wait(1);
    } else {
      sent.push(send(index, dueAt));
      index += 1;
    }
  }
  await Promise.all(sent);
  agent.destroy();
  return { times, failed };
};

/**
 * @param {URL} url
 * @param {import('node:http').RequestOptions} options
 * @param {string | undefined} body
 * @returns {Promise<number>} the status, once the whole answer is there
 */
const answered = (url, options, body) =>
  new Promise((resolve, reject) => {
    httpRequest(url, options, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode ?? 0);
      });
    })
      .on('error', reject)
      .end(body);
  });

process.on('message', (/** @type {Throughput | Latency | Paced} */ job) => {
  const run = 'connections' in job ? throughput(job) : 'perSecond' in job ? paced(job) : latency(job);
  run.then(
    (result) => process.send?.(result),
    (/** @type {unknown} */ error) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
