/** What admins ask of a large installation: 100,000 websites, more than a million changes. */
import { mintToken, newInstallation, startDoorstep, withEngine } from '../support/doorstep.mjs';
import { median, rounded } from '../support/figures.mjs';
import { startLoadGenerator } from '../support/load.mjs';
import { growthDuring, mebibyte } from '../support/memory.mjs';
import { removeFolder } from '../support/processes.mjs';
import { inTurns, medianRatio } from '../support/rounds.mjs';
import { rebuildModels } from '../support/rebuilds.mjs';
import { seedDeliveries, seedWebsites } from '../support/seed.mjs';

/**
 * @typedef {import('../support/figures.mjs').Figure} Figure
 * @typedef {import('../programs/load.mjs').Request} Request
 * @typedef {import('../support/doorstep.mjs').Doorstep} Doorstep
 */

/**
 * @param {{ quick: boolean, report: (text: string) => void }} options
 * @returns {Promise<Figure[]>}
 */
export const manyWebsites = async ({ quick, report }) => {
  const count = quick ? 50 : 100_000;
  const [pairs, requests] = quick ? [1, 5] : [6, 40];
  const installation = newInstallation('many-websites');
  const websiteIds = await withEngine(installation, async (engine) => {
    const ids = await seedWebsites(engine, count);
    await seedDeliveries(engine, ids.slice(0, Math.ceil(count * 0.9)));
    report('rebuilding the read models');
    const startedAt = performance.now();
    await rebuildModels(engine);
    report(`rebuilt in ${rounded((performance.now() - startedAt) / 1_000)} s`);
    return ids;
  });
  const headers = { authorization: `Bearer ${await mintToken(installation)}`, 'content-type': 'application/json' };
  const doorstep = await startDoorstep(installation, { roles: 'api,projector' });
  const load = startLoadGenerator();
  try {
    const of = count.toLocaleString('en');
    const timeOf = (/** @type {(index: number) => string} */ pathOf) => async () => {
      const asked = Array.from({ length: requests }, (_, index) => ({
        method: /** @type {const} */ ('GET'),
        path: pathOf(index),
      }));
      return median((await load.latency({ url: doorstep.url, headers, requests: asked })).times);
    };
    const websiteOf = (/** @type {number} */ index) => websiteIds[(index * 7_919) % count] ?? '';
    const readDelivery = timeOf((index) => `/v1/websites/${websiteOf(index)}/delivery`);

    /** @type {Figure[]} */
    const figures = [];
    for (const [name, pathOf, atMost] of asked(websiteOf)) {
      const { status } = await fetch(doorstep.url + pathOf(0), { headers });
      if (status === 404) {
        report(`${name}: left out, since this build has no ${pathOf(0)}`);
        continue;
      }
      const { first, second } = await inTurns(pairs, timeOf(pathOf), readDelivery);
      const about = `p50 ${rounded(median(first))} ms, ${rounded(medianRatio(first, second))} × the read of a delivery block`;
      figures.push({ name: `${name}, ${of} websites`, value: median(first), unit: 'ms', aim: { atMost }, about });
    }
    figures.push(...(await exportOf(doorstep, headers, quick)));
    return figures;
  } finally {
    await load.stop();
    await doorstep.stop();
    removeFolder(installation.folder);
  }
};

/**
 * Name, path of the request with this number, and how long it may take in ms.
 * @param {(index: number) => string} websiteOf
 * @returns {readonly (readonly [string, (index: number) => string, number])[]}
 */
const asked = (websiteOf) => [
  ['list', (index) => (index % 2 === 0 ? '/v1/websites' : '/v1/websites?sort=-name&tier=starter'), 50],
  ['search', (index) => `/v1/search?q=${['bench', 'site', 'grüße'][index % 3]}`, 100],
  ['audit, newest page', () => '/v1/audit', 50],
  ['audit, by website', (index) => `/v1/audit?websiteId=${websiteOf(index)}`, 50],
  ['audit, by actor and time', (index) => `/v1/audit?actor=bench&from=2020-01-01&to=${2040 + (index % 50)}-01-31`, 50],
  ['forecast', (index) => `/v1/websites/${websiteOf(index)}/delivery/forecast`, 50],
];

/**
 * The whole audit as NDJSON, after a part of it that warms up: how long it takes, and how much the
 * process grows.
 * @param {Doorstep} doorstep
 * @param {Record<string, string>} headers
 * @param {boolean} quick
 * @returns {Promise<Figure[]>}
 */
const exportOf = async ({ url, process }, headers, quick) => {
  const take = async (/** @type {string} */ query) => {
    const answer = await fetch(`${url}/v1/audit${query}`, {
      headers: { ...headers, accept: 'application/x-ndjson', 'accept-encoding': 'identity' },
    });
    if (!answer.ok || answer.body === null) throw new Error(`the export answered ${answer.status}`);
    let [bytes, lines] = [0, 0];
    for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (answer.body)) {
      bytes += chunk.length;
      for (const byte of chunk) if (byte === 10) lines += 1;
    }
    return { bytes, lines };
  };
  for (let round = 0; round < (quick ? 1 : 150); round += 1) await take('?limit=200');
  const { result, before, peak, seconds } = await growthDuring(process, () => take(''));
  const { bytes, lines } = result;
  const what = `${lines.toLocaleString('en')} changes`;
  return [
    {
      name: `export of ${what}`,
      value: lines / seconds,
      unit: 'a second',
      aim: { atLeast: quick ? 1 : 10_000 },
      about: `${rounded(seconds)} s, ${rounded(bytes / mebibyte)} MiB`,
    },
    {
      name: `growth of memory while ${what} are exported`,
      value: Math.max(0.01, (peak - before) / mebibyte),
      unit: 'MiB',
      aim: { atMost: 64 },
      about: `from ${rounded(before / mebibyte)} to ${rounded(peak / mebibyte)} MiB`,
    },
  ];
};
