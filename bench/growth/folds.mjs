/** The history of a delivery block with thousands of changes beside one of a few: each by what is asked for, not by what there was before. */
import { call } from '../support/api.mjs';
import { actsInTurns, growthFigure, readsInTurns } from '../support/growth.mjs';

/** @param {import('../support/growth.mjs').World} world */
export const measure = async (world) => {
  const { many } = world;
  const { large, small } = many.seed;
  return many.running('api,projector', async (doorstep) => {
    const api = { url: doorstep.url, headers: many.headers };
    /** @type {(website: string) => Promise<number>} */
    const revisionOf = async (website) => {
      const { revision } = /** @type {{ revision: number }} */ (await call(api, 'GET', `/v1/websites/${website}/delivery`));
      return revision;
    };
    const [last, few] = [await revisionOf(large.website), await revisionOf(small.website)];
    const compare = async (/** @type {string} */ name, /** @type {string} */ ofLarge, /** @type {string} */ ofSmall) => {
      const pathOf = (/** @type {string} */ website, /** @type {string} */ path) => () =>
        `/v1/websites/${website}/delivery${path}`;
      const values = await readsInTurns(
        world,
        [doorstep, many, pathOf(large.website, ofLarge)],
        [doorstep, many, pathOf(small.website, ofSmall)],
      );
      return growthFigure(name, values, { unit: 'ms' });
    };
    const cursor = (/** @type {number} */ revision) => Buffer.from(String(revision)).toString('base64url');
    const timeOf = async (/** @type {string} */ website, /** @type {number} */ revision) => {
      const path = `/v1/websites/${website}/delivery/history?limit=1&cursor=${cursor(revision - 1)}`;
      const [change] = /** @type {{ at: string }[]} */ (await call(api, 'GET', path));
      return change?.at ?? '';
    };
    const undo = (/** @type {string} */ website, /** @type {number} */ revision) => async () => {
      await call(api, 'POST', `/v1/websites/${website}/delivery/undo?dryRun=1`, { revision });
    };
    return [
      await compare(
        'last page of a long history',
        `/history?limit=5&cursor=${cursor(last - 5)}`,
        `/history?limit=5&cursor=${cursor(few - 5)}`,
      ),
      await compare(
        'a block at a time',
        `?at=${await timeOf(large.website, last - 2)}`,
        `?at=${await timeOf(small.website, few - 2)}`,
      ),
      await compare('what changed since a revision', `/changes?since=${last - 3}`, `/changes?since=${few - 3}`),
      growthFigure('dry run of an undo', await actsInTurns(world, undo(large.website, last - 1), undo(small.website, few - 1)), {
        unit: 'ms',
      }),
    ];
  });
};
