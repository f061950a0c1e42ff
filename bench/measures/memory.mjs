import { setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { checkpointWrites } from '../support/load.mjs';
import { residentBytes } from '../support/processes.mjs';
import { withService } from '../support/service.mjs';

const mebibyte = 1024 * 1024;
/** An idle process gives memory back only after a while: V8 collects 8 s after the last work. */
const restMs = 12_000;
const sampleMs = 100;

/**
 * Resident memory of the whole service: all four parts in one process.
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const memory = async ({ quick }) => {
  const events = quick ? 1 : 100_000;
  const atRest = await withService({ purpose: 'rest', websites: 0 }, async ({ doorstep }) => {
    await wait(quick ? 0 : restMs);
    return residentBytes(doorstep.process);
  });
  return withService({ purpose: 'memory', websites: quick ? 2 : 64 }, async ({ doorstep, url, headers, websiteIds }, load) => {
    let peak = 0;
    const sample = async () => {
      peak = Math.max(peak, await residentBytes(doorstep.process));
    };
    const sampling = setInterval(() => void sample(), sampleMs);
    let written = 0;
    while (written < events) {
      written += (await load.throughput({ url, headers, seconds: quick ? 1 : 5, connections: checkpointWrites(websiteIds) }))
        .succeeded;
    }
    clearInterval(sampling);
    await wait(quick ? 0 : restMs);
    return [
      { name: 'memory at rest', value: atRest / mebibyte, unit: 'MiB', aim: { atMost: 100 } },
      { name: 'memory under load, peak', value: peak / mebibyte, unit: 'MiB', aim: { atMost: 200 } },
      {
        name: 'memory after 100,000 events',
        value: (await residentBytes(doorstep.process)) / mebibyte,
        unit: 'MiB',
        aim: { atMost: 200 },
        about: `${written.toLocaleString('en')} events`,
      },
    ];
  });
};
