/** What open event streams cost those who write, and how fast read models are folded again from a long log. */
import { get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { call } from '../support/api.mjs';
import { startDoorstep } from '../support/doorstep.mjs';
import { growthFigure } from '../support/growth.mjs';
import { processorMs } from '../support/processes.mjs';
import { compareRebuild, rebuildModels } from '../support/rebuilds.mjs';
import { inTurns } from '../support/rounds.mjs';

/**
 * @typedef {import('../support/growth.mjs').Side} Side
 * @param {import('../support/growth.mjs').World} world
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const measure = async ({ few, many, quick }) => {
  const ofOthers = await writesWithStreams(few, quick, (index) => {
    const { websiteIds, count } = few.seed;
    return `/v1/websites/${websiteIds[Math.floor(count / 2) + (index % Math.floor(count / 2))] ?? ''}/events`;
  });
  const ofAdmins = await writesWithStreams(few, quick, () => '/v1/events');
  const rebuilds = await inTurns(
    quick ? 1 : 2,
    () => rebuildMs(many),
    () => rebuildMs(few),
  );
  const all = await few.withEngine((engine) => compareRebuild(engine, { pairs: quick ? 1 : 3 }));
  const unit = 'ms of processor time';
  return [
    growthFigure('a write with 1,000 event streams of other websites, to one with none', ofOthers, { unit }),
    growthFigure('a write with 1,000 event streams that tell of it, to one with none', ofAdmins, { unit, aim: { atMost: 5 } }),
    growthFigure('an event of a rebuild of three read models', rebuilds, { unit: 'ms for 1,000' }),
    {
      name: 'rebuild of all read models / fold into memory',
      value: all.ratio,
      unit: '×',
      aim: { atLeast: 0.8 },
      about: all.about,
    },
  ];
};

/**
 * Processor time of a write with open event streams, and without, in turns.
 * @param {Side} side
 * @param {boolean} quick
 * @param {(index: number) => string} pathOf
 */
const writesWithStreams = async ({ installation, headers, seed }, quick, pathOf) => {
  const [streams, most, pairs] = quick ? [10, 4, 1] : [1_000, 200, 3];
  const websiteIds = seed.websiteIds.slice(10, 10 + most);
  const environment = { ...installation.environment, SENDER_LIMIT: '2000' };
  const doorstep = await startDoorstep({ ...installation, environment });
  const api = { url: doorstep.url, headers };
  let round = 0;
  const timeOf = async () => {
    round += 1;
    const status = ['in_progress', 'pending'][round % 2];
    const before = processorMs(doorstep.process) ?? Number.NaN;
    for (const websiteId of websiteIds) await call(api, 'PUT', `/v1/websites/${websiteId}/delivery/checkpoints/qa`, { status });
    // What is left to be sent counts too; it comes within the pause between two rounds of sending.
    await wait(quick ? 100 : 2_500);
    return ((processorMs(doorstep.process) ?? Number.NaN) - before) / websiteIds.length;
  };
  try {
    await timeOf();
    return await inTurns(
      pairs,
      async () => {
        const close = await openStreams(api, streams, pathOf);
        try {
          return await timeOf();
        } finally {
          close();
        }
      },
      timeOf,
    );
  } finally {
    await doorstep.stop();
  }
};

/**
 * Opens event streams, a few at a time, and returns what closes them.
 * @param {{ url: string, headers: Record<string, string> }} api
 * @param {number} count
 * @param {(index: number) => string} pathOf
 */
const openStreams = async ({ url, headers }, count, pathOf) => {
  /** @type {import('node:http').ClientRequest[]} */
  const open = [];
  const one = (/** @type {number} */ index) =>
    new Promise((resolve, reject) => {
      const request = get(url + pathOf(index), { headers, agent: false }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`an event stream was answered with ${response.statusCode}`));
        response.on('data', resolve).on('error', () => undefined);
      });
      open.push(request.on('error', reject));
    });
  for (let index = 0; index < count; index += 50) {
    await Promise.all(Array.from({ length: Math.min(50, count - index) }, (_, next) => one(index + next)));
  }
  return () => {
    for (const request of open) request.destroy();
  };
};

/**
 * Milliseconds for a thousand events of the log.
 * @param {Side} side
 */
const rebuildMs = (side) =>
  side.withEngine(async (engine) => {
    const startedAt = performance.now();
    const events = await rebuildModels(engine, ['website', 'delivery', 'provisioning']);
    return (performance.now() - startedAt) / (events / 1_000);
  });
