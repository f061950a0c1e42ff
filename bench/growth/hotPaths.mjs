/** What was flat from the beginning, and stays so: the start, reads and writes of one website, and memory at rest. */
import { call } from '../support/api.mjs';
import { growthFigure, readsInTurns } from '../support/growth.mjs';
import { mebibyte } from '../support/memory.mjs';
import { residentBytes } from '../support/processes.mjs';
import { inTurns } from '../support/rounds.mjs';

/**
 * @typedef {import('../support/growth.mjs').Side} Side
 * @typedef {import('../support/doorstep.mjs').Doorstep} Doorstep
 * @param {import('../support/growth.mjs').World} world
 */
export const measure = async (world) => {
  const { few, many, quick } = world;
  const pairs = quick ? 1 : 4;
  const startOf = (/** @type {Side} */ side) => async () => {
    const startedAt = performance.now();
    return side.running('api,projector', () => Promise.resolve(performance.now() - startedAt));
  };
  const starts = await inTurns(pairs, startOf(many), startOf(few));
  return many.running('api,projector,worker,cron', (large) =>
    few.running('api,projector,worker,cron', async (small) => {
      const websiteOf =
        (/** @type {Side} */ { seed: { websiteIds, count } }, path = '') =>
        (/** @type {number} */ index) =>
          `/v1/websites/${websiteIds[(10 + index * 7_919) % count] ?? ''}${path}`;
      const reads = await readsInTurns(
        world,
        [large, many, websiteOf(many, '/delivery')],
        [small, few, websiteOf(few, '/delivery')],
      );
      let status = 0;
      const writeTo =
        (/** @type {Doorstep} */ { url }, /** @type {Side} */ side) =>
        async () => {
          const startedAt = performance.now();
          const writes = quick ? 2 : 100;
          for (let index = 0; index < writes; index += 1) {
            status += 1;
            const body = { status: ['pending', 'in_progress'][Math.floor(status / writes) % 2] };
            await call({ url, headers: side.headers }, 'PUT', websiteOf(side, '/delivery/checkpoints/qa')(index), body);
          }
          return (performance.now() - startedAt) / writes;
        };
      const writes = await inTurns(pairs, writeTo(large, many), writeTo(small, few));
      const memory = await inTurns(
        1,
        async () => (await residentBytes(large.process)) / mebibyte,
        async () => (await residentBytes(small.process)) / mebibyte,
      );
      return [
        growthFigure('start', starts, { unit: 'ms' }),
        growthFigure('read of a delivery block', reads, { unit: 'ms' }),
        growthFigure('setting a status', writes, { unit: 'ms' }),
        growthFigure('memory after these', memory, { unit: 'MiB' }),
      ];
    }),
  );
};
