/**
 * What watching costs, and how long new work waits for history: a scrape of `/readyz` and `/metrics`, and the first
 * website that is created after the positions of all workers were lost.
 */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { createActiveWebsite } from '../support/api.mjs';
import { growthFigure } from '../support/growth.mjs';
import { processorMs } from '../support/processes.mjs';
import { inTurns } from '../support/rounds.mjs';

/**
 * @typedef {import('../support/growth.mjs').Side} Side
 * @typedef {import('../support/doorstep.mjs').Doorstep} Doorstep
 * @param {import('../support/growth.mjs').World} world
 */
export const measure = async ({ few, many, quick }) => {
  const pairs = quick ? 1 : 3;
  const idle = 'api,projector';
  const scrapes = await many.running(idle, (large) =>
    few.running(idle, (small) =>
      inTurns(
        pairs,
        () => processorMsOfScrapes(large, quick),
        () => processorMsOfScrapes(small, quick),
      ),
    ),
  );
  const activations = await inTurns(
    pairs,
    () => activationWithoutPositions(many),
    () => activationWithoutPositions(few),
  );
  return [
    growthFigure('scrape of /readyz and /metrics, no worker running', scrapes, { unit: 'ms of processor time' }),
    growthFigure('a new website active after positions were lost', activations, { unit: 'ms' }),
  ];
};

/**
 * @param {Doorstep} doorstep
 * @param {boolean} quick
 */
const processorMsOfScrapes = async ({ url, process }, quick) => {
  const scrapes = quick ? 2 : 30;
  const before = processorMs(process) ?? Number.NaN;
  for (let index = 0; index < scrapes; index += 1) {
    for (const path of ['/readyz', '/metrics']) {
      const response = await fetch(url + path);
      await response.arrayBuffer();
    }
  }
  return ((processorMs(process) ?? Number.NaN) - before) / scrapes;
};

/**
 * From the request on, which is sent as soon as the service answers.
 * @param {Side} side
 */
const activationWithoutPositions = (side) => {
  const records = new DatabaseSync(join(side.installation.folder, 'data', 'records.db'));
  records.exec("DELETE FROM record WHERE collection = 'workerPositions'");
  records.close();
  return side.running('api,projector,worker', async ({ url }) => {
    const startedAt = performance.now();
    await createActiveWebsite({ url, headers: side.headers });
    return performance.now() - startedAt;
  });
};
