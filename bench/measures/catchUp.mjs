/** Catching up with a log in EventStoreDB, beside its bare client reading the same events. */
import { eventStoreToRead, newInstallation, withEngine } from '../support/doorstep.mjs';
import { median, rounded } from '../support/figures.mjs';
import { messageFrom, removeFolder, startProgram, stop } from '../support/processes.mjs';
import { inTurns, medianRatio } from '../support/rounds.mjs';
import { seedDeliveries, seedWebsites } from '../support/seed.mjs';

/**
 * @typedef {import('../support/figures.mjs').Figure} Figure
 * @typedef {import('../programs/catchUp.mjs').Way} Way
 * @typedef {import('../programs/catchUp.mjs').Cost} Cost
 */

/** Each has 24 events. */
const websitesAtOnce = 20;

/**
 * @param {{ quick: boolean }} options
 * @returns {Promise<Figure[]>}
 */
export const catchUp = async ({ quick }) => {
  const [websites, pairs] = quick ? [20, 1] : [840, 4];
  const url = await eventStoreToRead();
  const events = await seed(url, websites);
  const client = comparison('client', url, events);
  const figures = [];
  for (const way of /** @type {const} */ (['models', 'subscription'])) {
    const service = comparison(way, url, events);
    const { first: ours, second: bare } = await inTurns(pairs, service.round, client.round);
    await service.end();
    figures.push(...figuresOf(way, events, ours, bare));
  }
  await client.end();
  return figures;
};

/**
 * A way of reading the events, in a process of its own.
 * @param {Way} way
 * @param {string} url
 * @param {number} events
 */
const comparison = (way, url, events) => {
  const child = startProgram('programs/catchUp.mjs', [way, url, String(events)]);
  const round = async () => {
    const cost = messageFrom(child);
    child.send('go');
    return /** @type {Cost} */ (await cost);
  };
  return { round, end: () => stop(child) };
};

/**
 * Writes the events, and resolves with how many the log has.
 * @param {string} url
 * @param {number} websites
 */
const seed = async (url, websites) => {
  const { folder, environment } = newInstallation('catch-up-seed');
  try {
    return await withEngine({ folder, environment: { ...environment, EVENT_STORE_URL: url } }, async (engine) => {
      for (let done = 0; done < websites; done += websitesAtOnce)
        await seedDeliveries(engine, await seedWebsites(engine, websitesAtOnce));
      const end = await engine.eventStore.lastPosition();
      let count = 0;
      for (let after = 0n; after < end;) {
        const slice = await engine.eventStore.readAll({ after });
        count += slice.events.length;
        after = slice.position;
      }
      return count;
    });
  } finally {
    removeFolder(folder);
  }
};

const nameOf = { models: 'catching up of all read models / bare client', subscription: 'a subscription / bare client' };

/**
 * @param {'models' | 'subscription'} way
 * @param {number} events
 * @param {readonly Cost[]} ours
 * @param {readonly Cost[]} bare
 * @returns {Figure[]}
 */
const figuresOf = (way, events, ours, bare) => {
  const ms = (/** @type {readonly Cost[]} */ costs) => costs.map((cost) => cost.ms);
  const each = (/** @type {readonly Cost[]} */ costs) => costs.map(({ microseconds }) => microseconds / events);
  const against = (/** @type {(costs: readonly Cost[]) => number[]} */ value) =>
    `${rounded(median(value(ours)))} against ${rounded(median(value(bare)))}`;
  /** @type {{ aim?: import('../support/figures.mjs').Aim }} */
  const aimed = way === 'models' ? { aim: { atMost: 2 } } : {};
  return [
    {
      name: `${nameOf[way]}, EventStoreDB`,
      value: medianRatio(ms(ours), ms(bare)),
      unit: '×',
      ...aimed,
      about: `${against(ms)} ms for ${events} events`,
    },
    {
      name: `${nameOf[way]}, processor time`,
      value: medianRatio(each(ours), each(bare)),
      unit: '×',
      ...aimed,
      about: `${against(each)} µs an event`,
    },
  ];
};
