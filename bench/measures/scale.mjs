/** Whether a command takes longer when there are many websites. */
import { newSite } from '../support/api.mjs';
import { mintToken, newInstallation, startDoorstep, withEngine } from '../support/doorstep.mjs';
import { median, rounded } from '../support/figures.mjs';
import { startLoadGenerator } from '../support/load.mjs';
import { removeFolder } from '../support/processes.mjs';
import { inTurns, medianRatio } from '../support/rounds.mjs';
import { rebuildModels } from '../support/rebuilds.mjs';
import { seedWebsites } from '../support/seed.mjs';

/**
 * @typedef {import('../support/load.mjs').LoadGenerator} LoadGenerator
 * @typedef {import('../programs/load.mjs').Request} Request
 */

/**
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const scale = async ({ quick }) => {
  const [fewer, more] = quick ? [10, 100] : [1_000, 100_000];
  const [pairs, commands] = quick ? [1, 10] : [8, 150];
  const load = startLoadGenerator();
  const few = await startWith(fewer);
  const many = await startWith(more);
  try {
    const sets = await inTurns(
      pairs,
      () => few.timeOfSets(load, commands),
      () => many.timeOfSets(load, commands),
    );
    const creates = await inTurns(
      pairs,
      () => few.timeOfCreates(load, commands),
      () => many.timeOfCreates(load, commands),
    );
    const between = `${many.count.toLocaleString('en')} / ${few.count.toLocaleString('en')} websites`;
    return [
      { name: `setting a status, ${between}`, ...flatness(sets) },
      { name: `creating, ${between}`, ...flatness(creates) },
    ];
  } finally {
    await load.stop();
    await few.stop();
    await many.stop();
  }
};

/**
 * Up to this ratio the cost counts as flat: repeated measurements of the same thing differ by as
 * much.
 */
const flat = { atMost: 1.25 };

/** @param {{ first: readonly number[], second: readonly number[] }} times */
const flatness = ({ first, second }) => ({
  value: medianRatio(second, first),
  unit: '×',
  aim: flat,
  about: `p50 ${rounded(median(second))} ms against ${rounded(median(first))} ms, one connection`,
});

/**
 * The service with many websites. It runs without a worker, which would otherwise provision
 * websites during the measurement.
 * @param {number} count
 */
const startWith = async (count) => {
  const installation = newInstallation(`scale-${count}`);
  const websiteIds = await withEngine(installation, async (engine) => {
    const ids = await seedWebsites(engine, count);
    await rebuildModels(engine);
    return ids;
  });
  const headers = { authorization: `Bearer ${await mintToken(installation)}`, 'content-type': 'application/json' };
  const { url, stop } = await startDoorstep(installation, { roles: 'api,projector' });

  let set = 0;
  /**
   * Every website in turn, far apart: first all are set to one status, then to the other.
   * @returns {Request}
   */
  const nextSet = () => {
    const path = `/v1/websites/${websiteIds[(set * 7_919) % count]}/delivery/checkpoints/qa`;
    const status = Math.floor(set / count) % 2 === 0 ? 'in_progress' : 'pending';
    set += 1;
    return { method: 'PUT', path, body: JSON.stringify({ status }) };
  };
  /** @returns {Request} */
  const nextCreate = () => ({ method: 'POST', path: '/v1/websites', body: JSON.stringify(newSite()) });
  const timeOf =
    (/** @type {() => Request} */ next) => async (/** @type {LoadGenerator} */ load, /** @type {number} */ commands) =>
      median((await load.latency({ url, headers, requests: Array.from({ length: commands }, next) })).times);

  return {
    count,
    timeOfSets: timeOf(nextSet),
    timeOfCreates: timeOf(nextCreate),
    stop: async () => {
      await stop();
      removeFolder(installation.folder);
    },
  };
};
