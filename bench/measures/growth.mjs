/**
 * Whether anything costs more because there is more: each topic of `bench/growth/` on an installation of 1,000 and on
 * one of 100,000 websites, as ratios of large to small.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { withTwoSizes } from '../support/growth.mjs';
import { startLoadGenerator } from '../support/load.mjs';

/** @typedef {(world: import('../support/growth.mjs').World) => Promise<import('../support/figures.mjs').Figure[]>} Topic */

const folder = new URL('../growth/', import.meta.url);

export const growthTopics = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => basename(file, '.mjs'));

/**
 * @param {{ quick: boolean, report: (text: string) => void, attempt: import('../support/figures.mjs').Attempt, topics?: readonly string[], websites?: readonly [number, number], installations?: string }} options
 *   `topics`: some instead of all; `installations`: a folder that keeps the two installations, to be measured again
 */
export const growth = ({ quick, report, attempt, topics = growthTopics, websites, installations }) => {
  const sizes = websites ?? (quick ? /** @type {const} */ ([20, 60]) : /** @type {const} */ ([1_000, 100_000]));
  return withTwoSizes({ sizes, folder: installations, report }, async (few, many) => {
    const load = startLoadGenerator();
    try {
      const figures = [];
      for (const topic of topics) {
        report(`measuring growth: ${topic}`);
        const { measure } = /** @type {{ measure: Topic }} */ (await import(new URL(`${topic}.mjs`, folder).href));
        figures.push(...(await attempt(`growth.${topic}`, () => measure({ few, many, load, quick, report }))));
      }
      return figures;
    } finally {
      await load.stop();
    }
  });
};
