/**
 * Two installations that differ in size alone, with the histories of years in them: what `bench/growth/` measures on.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, mintToken, newInstallation, startDoorstep, withEngine } from './doorstep.mjs';
import { rebuildModels } from './rebuilds.mjs';
import { medianRatio, inTurns } from './rounds.mjs';
import { median, rounded } from './figures.mjs';
import { removeFolder } from './processes.mjs';
import { appendTo, byBench, inPortions, seedDeliveries, seedWebsites } from './seed.mjs';

/**
 * @typedef {import('./doorstep.mjs').Engine} Engine
 * @typedef {import('./doorstep.mjs').Doorstep} Doorstep
 * @typedef {import('./figures.mjs').Figure} Figure
 * @typedef {import('./load.mjs').LoadGenerator} LoadGenerator
 *
 * @typedef {object} Special what grows on its own: as many as the size says, and ten of the same kind
 * @property {string} website - of many changes of its delivery block; `few`: of six
 * @property {string} people - a website with many linked clients
 * @property {string} client - a client linked to many websites
 * @property {string} calendar - a website with many bookings
 *
 * @typedef {object} Seed
 * @property {number} count - websites
 * @property {readonly string[]} websiteIds
 * @property {readonly string[]} clientIds - owners of a website or more each
 * @property {Special} large
 * @property {Special} small
 * @property {{ website: string, webhooks: number }} shop
 * @property {Readonly<Record<keyof Special, number>>} sizes - of `large`
 *
 * @typedef {object} Side one of the two installations, not running
 * @property {Seed} seed
 * @property {import('./doorstep.mjs').Installation} installation
 * @property {Record<string, string>} headers - of an admin
 * @property {(email: string) => Promise<Record<string, string>>} headersOf - of the client with this address
 * @property {<Result>(roles: string, work: (doorstep: Doorstep) => Promise<Result>) => Promise<Result>} running
 *   runs the service on it with these roles meanwhile
 * @property {<Result>(work: (engine: Engine) => Promise<Result>) => Promise<Result>} withEngine
 *
 * @typedef {object} World
 * @property {Side} few
 * @property {Side} many
 * @property {LoadGenerator} load
 * @property {boolean} quick
 * @property {(text: string) => void} report
 */

/** A ratio of large to small up to here counts as no growth. */
export const flat = { atMost: 1.5 };

/**
 * The figure of two things measured in turn: the median, over the pairs, of the large one's value by the small one's.
 * @param {string} name
 * @param {{ first: readonly number[], second: readonly number[] }} values - first: of the large one
 * @param {{ unit: string, aim?: import('./figures.mjs').Aim }} options
 * @returns {Figure}
 */
export const growthFigure = (name, { first, second }, { unit, aim = flat }) => ({
  name,
  value: medianRatio(first, second),
  unit: '×',
  aim,
  about: `${rounded(median(first))} against ${rounded(median(second))} ${unit}`,
});

/**
 * How long one GET after another takes on two running services, in turns: p50 in ms.
 * @param {World} world
 * @param {readonly [Doorstep, Side, (index: number) => string]} first
 * @param {readonly [Doorstep, Side, (index: number) => string]} second
 */
export const readsInTurns = ({ load: generator, quick }, first, second) => {
  const [pairs, requests] = quick ? [1, 3] : [6, 40];
  const timeOf =
    (/** @type {typeof first} */ [{ url }, { headers }, pathOf]) =>
    async () =>
      median(
        (
          await generator.latency({
            url,
            headers,
            requests: Array.from({ length: requests }, (_, index) => ({
              method: /** @type {const} */ ('GET'),
              path: pathOf(index),
            })),
          })
        ).times,
      );
  return inTurns(pairs, timeOf(first), timeOf(second));
};

/**
 * How long one act after another takes, in turns: p50 in ms.
 * @param {World} world
 * @param {(index: number) => Promise<unknown>} first - each time with another index
 * @param {(index: number) => Promise<unknown>} second
 */
export const actsInTurns = ({ quick }, first, second) => {
  const [pairs, acts] = quick ? [1, 2] : [5, 16];
  const timeOf = (/** @type {typeof first} */ act) => {
    let index = 0;
    return async () => {
      const times = [];
      for (let count = 0; count < acts; count += 1) {
        const startedAt = performance.now();
        await act(index);
        times.push(performance.now() - startedAt);
        index += 1;
      }
      return median(times);
    };
  };
  return inTurns(pairs, timeOf(first), timeOf(second));
};

/**
 * Runs `work` on an installation of each size. With `folder`, they stay there, and are used again.
 * @template Result
 * @param {{ sizes: readonly [number, number], folder: string | undefined, report: (text: string) => void }} options
 * @param {(few: Side, many: Side) => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export const withTwoSizes = async ({ sizes: [fewer, more], folder, report }, work) => {
  const few = await open(fewer, folder, report);
  const many = await open(more, folder, report);
  try {
    return await work(few, many);
  } finally {
    if (folder === undefined) for (const { installation } of [few, many]) removeFolder(installation.folder);
  }
};

/**
 * @param {number} count
 * @param {string | undefined} parent
 * @param {(text: string) => void} report
 * @returns {Promise<Side>}
 */
const open = async (count, parent, report) => {
  const kept = parent === undefined ? undefined : join(parent, String(count));
  const installation = newInstallation(`growth-${count}`, kept);
  const file = join(installation.folder, 'seed.json');
  if (!existsSync(file)) {
    const startedAt = performance.now();
    mkdirSync(installation.folder, { recursive: true });
    const seed = await withEngine(installation, (engine) => seedAll(engine, count));
    writeFileSync(file, JSON.stringify(seed));
    report(
      `${count.toLocaleString('en')} websites written and read models built in ${rounded((performance.now() - startedAt) / 1_000)} s`,
    );
  }
  const seed = /** @type {Seed} */ (JSON.parse(readFileSync(file, 'utf8')));
  /** @type {(email?: string) => Promise<Record<string, string>>} */
  const headersOf = async (email) => ({
    authorization: `Bearer ${await mintToken(installation, email)}`,
    'content-type': 'application/json',
  });
  return {
    seed,
    installation,
    headers: await headersOf(),
    headersOf,
    running: async (roles, work) => {
      const doorstep = await startDoorstep(installation, { roles });
      try {
        return await work(doorstep);
      } finally {
        await doorstep.stop();
      }
    },
    withEngine: (work) => withEngine(installation, work),
  };
};

/**
 * @param {Engine} engine
 * @param {number} count
 * @returns {Promise<Seed>}
 */
const seedAll = async (engine, count) => {
  const inProportion = (/** @type {number} */ most, /** @type {number} */ share) =>
    Math.min(most, count, Math.max(20, count / share));
  const sizes = {
    website: inProportion(5_000, 20),
    people: inProportion(10_000, 10),
    client: inProportion(5_000, 20),
    calendar: inProportion(6_000, 15),
  };
  const clientIds = await seedClients(engine, Math.max(20, sizes.people, Math.ceil(count / 10)));
  const websiteIds = await seedWebsites(engine, count, (index) => ({
    clientId: clientIds[index % clientIds.length] ?? '',
    // The first ones have every feature, as what is special about them needs.
    ...(index < 10 && { tier: /** @type {const} */ ('scale') }),
  }));
  await seedDeliveries(engine, websiteIds);
  const website = (/** @type {number} */ index) => websiteIds[index] ?? '';
  const client = (/** @type {number} */ index) => clientIds[index] ?? '';
  const large = { website: website(0), people: website(1), client: client(clientIds.length - 1), calendar: website(2) };
  const small = { website: website(3), people: website(4), client: client(clientIds.length - 2), calendar: website(5) };
  const shop = { website: website(6), webhooks: Math.min(100_000, count) };

  await appendTo(engine, `delivery-${large.website}`, changesOf(large.website, sizes.website));
  for (const [{ people, client: linked, calendar }, counts] of /** @type {const} */ ([
    [large, sizes],
    [small, { people: 10, client: 10, calendar: 10 }],
  ])) {
    const link = (/** @type {string} */ websiteId, /** @type {string} */ clientId) =>
      appendTo(engine, `access-${websiteId}-${clientId}`, [
        { type: 'ClientLinked', data: { websiteId, clientId, role: 'viewer' } },
      ]);
    await inPortions(counts.people, (index) => link(people, client(index)));
    // From the end, away from the websites that are special already.
    await inPortions(counts.client, (index) => link(website(count - 1 - index), linked));
    await inPortions(counts.calendar, (index) => appendTo(engine, ...bookingOf(engine, calendar, index)));
  }
  await inPortions(shop.webhooks, (index) => appendTo(engine, ...ignoredWebhook(shop.website, index)));
  await rebuildModels(engine);
  return { count, websiteIds, clientIds, large, small, shop, sizes };
};

/**
 * @param {Engine} engine
 * @param {number} count
 */
const seedClients = async (engine, count) => {
  const { ensureClient } = /** @type {typeof import('../../src/commands/client/client.handlers.js')} */ (
    await load('commands/client/client.handlers.js')
  );
  /** @type {string[]} */
  const ids = [];
  await inPortions(count, async (index) => {
    const person = {
      email: `person-${index}@example.com`,
      name: `${['Anna', 'Björn', 'Chloé', 'Dmitri'][index % 4]} Number ${index}`,
    };
    const commandId = engine.ids.commandId();
    const { clientId } = await ensureClient(engine, person, { commandId, ...byBench(commandId) });
    ids[index] = clientId;
  });
  return ids;
};

/**
 * @param {string} websiteId
 * @param {number} count
 */
const changesOf = (websiteId, count) =>
  Array.from({ length: count }, (_, index) => {
    const [status, previousStatus] = index % 2 === 0 ? ['in_progress', 'pending'] : ['pending', 'in_progress'];
    return { type: 'DeliveryCheckpointStatusSet', data: { websiteId, checkpointId: 'qa', status, previousStatus } };
  });

const hourMs = 3_600_000;

/**
 * @param {Engine} engine
 * @param {string} websiteId
 * @param {number} index
 * @returns {[string, { type: string, data: import('../../src/events/envelope.js').JsonObject }[]]}
 */
const bookingOf = (engine, websiteId, index) => {
  const bookingId = engine.ids.commandId();
  const start = Date.UTC(2026, 0, 1) + index * hourMs;
  const data = {
    websiteId,
    bookingId,
    title: `Visit ${index}`,
    start: new Date(start).toISOString(),
    end: new Date(start + hourMs).toISOString(),
  };
  return [`booking-${websiteId}-${bookingId}`, [{ type: 'BookingAdded', data }]];
};

/**
 * As an earlier version recorded each webhook whose topic it did not handle.
 * @param {string} websiteId
 * @param {number} index
 * @returns {[string, { type: string, data: import('../../src/events/envelope.js').JsonObject }[]]}
 */
const ignoredWebhook = (websiteId, index) => {
  const webhookId = `bench-${index}`;
  const data = { websiteId, webhookId, topic: 'products/update', shopDomain: 'bench.myshopify.com' };
  return [`webhook-${websiteId}-${webhookId}`, [{ type: 'WebhookIgnored', data }]];
};
