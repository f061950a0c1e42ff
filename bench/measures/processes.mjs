/** Durable commands of several API processes on one data folder, beside those of one alone. */
import { cpus } from 'node:os';
import { join } from 'node:path';
import { createWebsites } from '../support/api.mjs';
import { load, mintToken, newInstallation, startDoorstep } from '../support/doorstep.mjs';
import { median, rounded } from '../support/figures.mjs';
import { checkpointWrites, connectionCount, startLoadGenerator } from '../support/load.mjs';
import { processorMs, removeFolder, suspend } from '../support/processes.mjs';

/** @typedef {import('../support/doorstep.mjs').Doorstep} Doorstep */

const most = 3;
/** A process that has just started compiles what it runs for some ten thousand writes: that is not what is measured. */
const roundsFor = (/** @type {{ quick: boolean }} */ { quick }) =>
  quick ? { rounds: 1, warmUps: 1, seconds: 1 } : { rounds: 7, warmUps: 4, seconds: 4 };

/**
 * The connections of each process. Those to one website go to one process, as where a caller keeps its
 * connection; `meeting`: to all of them.
 * @param {readonly string[]} websiteIds
 * @param {number} count - of processes
 */
const connectionsTo = (websiteIds, count, { meeting = false } = {}) => {
  const all = checkpointWrites(websiteIds);
  return Array.from({ length: count }, (_, at) =>
    meeting
      ? all.filter((_connection, index) => index % count === at)
      : checkpointWrites(
          websiteIds.filter((_id, index) => index % count === at),
          Math.floor((connectionCount + at) / count),
        ),
  );
};

/**
 * @param {readonly Doorstep[]} servers
 * @param {readonly import('../support/load.mjs').LoadGenerator[]} loads
 * @param {ReturnType<typeof connectionsTo>} connections
 * @param {{ headers: Record<string, string>, seconds: number }} job
 */
const round = async (servers, loads, connections, { headers, seconds }) => {
  const used = () => servers.reduce((sum, { process }) => sum + (processorMs(process) ?? NaN), 0);
  const [before, idleBefore] = [used(), idleTime()];
  const results = await Promise.all(
    servers.map(({ url }, at) =>
      /** @type {import('../support/load.mjs').LoadGenerator} */ (loads[at]).throughput({
        url,
        headers,
        seconds,
        connections: connections[at] ?? [],
      }),
    ),
  );
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  if (failed > 0) throw new Error(`${failed} requests to ${servers.length} processes failed`);
  const succeeded = results.reduce((sum, result) => sum + result.succeeded, 0);
  return {
    perSecond: results.reduce((sum, result) => sum + result.perSecond, 0),
    p99: Math.max(...results.map(({ p99 }) => p99)),
    cost: ((used() - before) / succeeded) * 1_000,
    // What no process, load generators included, has used: more writes need some of it.
    idle: shareIdle(idleBefore, idleTime()),
  };
};

/**
 * The load generator leaves requests unanswered at the end of a round: a process that is stopped within
 * one would hold the lock of the log, and the others would write nothing.
 * @param {import('../support/doorstep.mjs').Installation} installation
 * @returns {Promise<(work: () => Promise<void>) => Promise<void>>}
 */
const openWriteLock = async ({ environment: { EVENT_STORE_URL: outside, DATA_DIR: dataDir } }) => {
  if (outside !== undefined) return (work) => work();
  const { openDatabase } = /** @type {typeof import('../../src/events/store/embedded/database.js')} */ (
    await load('events/store/embedded/database.js')
  );
  const { systemClock } = /** @type {typeof import('../../src/platform/clock.js')} */ (await load('platform/clock.js'));
  return async (work) => {
    const log = await openDatabase(join(dataDir, 'events.db'), systemClock);
    log.exec('PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE');
    try {
      await work();
    } finally {
      log.exec('ROLLBACK');
      log.close();
    }
  };
};

const idleTime = () =>
  cpus().reduce(
    (sum, { times }) => ({
      idle: sum.idle + times.idle,
      all: sum.all + Object.values(times).reduce((total, time) => total + time, 0),
    }),
    { idle: 0, all: 0 },
  );

const shareIdle = (/** @type {ReturnType<typeof idleTime>} */ before, /** @type {ReturnType<typeof idleTime>} */ after) =>
  (after.idle - before.idle) / (after.all - before.all);

/** @type {readonly { name: string, count: number, meeting?: true, aim?: import('../support/figures.mjs').Aim }[]} */
const variants = [
  { name: '2 processes', count: 2, aim: { atLeast: 1.3 } },
  // Two have a processor each on the machine of the aims; a third has none, and must not take any away.
  { name: '3 processes', count: 3, aim: { atLeast: 1 } },
  { name: '3 processes that meet on each website', count: 3, meeting: true },
];

/**
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const processes = async (options) => {
  const { rounds, warmUps, seconds } = roundsFor(options);
  const installation = newInstallation('processes');
  const headers = { authorization: `Bearer ${await mintToken(installation)}`, 'content-type': 'application/json' };
  const loads = Array.from({ length: most }, startLoadGenerator);
  const whileNobodyWrites = await openWriteLock(installation);
  // It keeps read models up to date for all of them.
  const servers = [await startDoorstep(installation)];
  try {
    const websiteIds = await createWebsites({ url: servers[0]?.url ?? '', headers }, options.quick ? most : 64);
    while (servers.length < most) servers.push(await startDoorstep(installation, { roles: 'api' }));
    const measured = [{ count: 1 }, ...variants].map(({ count, ...how }) => ({
      count,
      connections: connectionsTo(websiteIds, count, how),
      /** @type {Awaited<ReturnType<typeof round>>[]} */
      results: [],
    }));
    const meeting = connectionsTo(websiteIds, most, { meeting: true });
    for (let warmUp = 0; warmUp < warmUps; warmUp += 1) await round(servers, loads, meeting, { headers, seconds });
    for (let turn = 0; turn < rounds; turn += 1) {
      for (const { count, connections, results } of measured) {
        // They would follow what the others write.
        const paused = servers.slice(count).map(({ process }) => process);
        await whileNobodyWrites(() => suspend(paused));
        results.push(await round(servers.slice(0, count), loads, connections, { headers, seconds }));
        for (const process of paused) process.kill('SIGCONT');
      }
    }
    const [alone = [], ...several] = measured.map(({ results }) => results);
    return several.map((ours, index) => ({
      name: `writes of ${variants[index]?.name ?? ''} / of one`,
      value: median(ours.map(({ perSecond }, turn) => perSecond / (alone[turn]?.perSecond ?? NaN))),
      unit: '×',
      ...(variants[index]?.aim && { aim: variants[index].aim }),
      about: [ours, alone]
        .map((all) => {
          const of = (/** @type {'perSecond' | 'p99' | 'cost' | 'idle'} */ name) => median(all.map((one) => one[name]));
          const [perSecond, p99, cost] = [of('perSecond'), of('p99'), of('cost')].map(rounded);
          return `${perSecond} a second (p99 ${p99} ms, ${cost} µs of processor time, processors ${Math.round(of('idle') * 100)} % idle)`;
        })
        .join(' against '),
    }));
  } finally {
    await Promise.all(loads.map((one) => one.stop()));
    for (const { process } of servers) process.kill('SIGCONT');
    await Promise.all(servers.map((server) => server.stop()));
    removeFolder(installation.folder);
  }
};
