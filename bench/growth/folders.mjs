/** What provisioning costs where there are many repositories and websites already, and what many at once cost others. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { call, createActiveWebsite, newSite } from '../support/api.mjs';
import { load } from '../support/doorstep.mjs';
import { quantile, rounded } from '../support/figures.mjs';
import { growthFigure } from '../support/growth.mjs';
import { inTurns } from '../support/rounds.mjs';

/**
 * @typedef {import('../support/growth.mjs').Side} Side
 * @typedef {import('../support/doorstep.mjs').Doorstep} Doorstep
 * @param {import('../support/growth.mjs').World} world
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const measure = async ({ few, many, load: generator, quick }) => {
  for (const side of [few, many]) await fillFolders(side);
  const roles = 'api,projector,worker,cron';
  return many.running(roles, (large) =>
    few.running(roles, async (small) => {
      const timeOf =
        (/** @type {Doorstep} */ { url }, /** @type {Side} */ { headers }) =>
        async () => {
          const startedAt = performance.now();
          await createActiveWebsite({ url, headers });
          return performance.now() - startedAt;
        };
      const alone = await inTurns(quick ? 1 : 20, timeOf(large, many), timeOf(small, few));

      const api = { url: large.url, headers: many.headers };
      const requests = Array.from({ length: quick ? 5 : 100 }, () => ({
        method: /** @type {const} */ ('GET'),
        path: `/v1/websites/${many.seed.websiteIds[10] ?? ''}/delivery`,
      }));
      const read = async () => (await generator.latency({ ...api, requests })).times;
      const atRest = [...(await read()), ...(await read()), ...(await read())];
      const count = quick ? 3 : 500;
      const startedAt = performance.now();
      /** @type {number[]} */
      const meanwhile = [];
      const over = new AbortController();
      const reading = (async () => {
        while (!over.signal.aborted) meanwhile.push(...(await read()));
      })();
      await createAtOnce(api, count);
      const seconds = (performance.now() - startedAt) / 1_000;
      over.abort();
      await reading;
      const [p99, restP99] = [quantile(meanwhile, 0.99), quantile(atRest, 0.99)];
      return [
        growthFigure('from asking for a website to its being active', alone, { unit: 'ms' }),
        {
          name: `${count} websites at once`,
          value: count / seconds,
          unit: 'a second',
          aim: { atLeast: quick ? 0.1 : 8.8 },
          about: `${rounded(seconds)} s`,
        },
        {
          name: 'reads meanwhile, p99 against p99 at rest',
          value: p99 / restP99,
          unit: '×',
          aim: { atMost: 3 },
          about: `${rounded(p99)} against ${rounded(restP99)} ms`,
        },
      ];
    }),
  );
};

/**
 * A folder for each website, as if all had been provisioned here.
 * @param {Side} side
 */
const fillFolders = async ({ seed: { count }, installation }) => {
  const { createShardedFolder, repositoriesIn } = /** @type {typeof import('../../src/integrations/shardedFolder.js')} */ (
    await load('integrations/shardedFolder.js')
  );
  const data = join(installation.folder, 'data');
  for (const folder of [repositoriesIn(join(data, 'repositories')), createShardedFolder({ folder: join(data, 'sites') })]) {
    for (let index = 0; index < count; index += 1) mkdirSync(folder.pathOf(`shell-${index}`), { recursive: true });
  }
};

/**
 * Resolves when all are active.
 * @param {import('../support/api.mjs').Api} api
 * @param {number} count
 */
const createAtOnce = async (api, count) => {
  /** @type {string[]} */
  const ids = [];
  const connections = Array.from({ length: Math.min(50, count) }, async (_, connection) => {
    for (let index = connection; index < count; index += 50) {
      const { id } = /** @type {{ id: string }} */ (await call(api, 'POST', '/v1/websites', newSite()));
      ids.push(id);
    }
  });
  await Promise.all(connections);
  for (const id of ids) {
    for (let isActive = false; !isActive;) {
      const { status } = /** @type {{ status: string }} */ (await call(api, 'GET', `/v1/websites/${id}`));
      if (status === 'failed') throw new Error(`website ${id} could not be provisioned`);
      isActive = status === 'active';
      // Five hundred event streams would cost more than what is measured.
      if (!isActive) await wait(100);
    }
  }
};
