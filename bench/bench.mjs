/**
 * `npm run bench`: measures what Doorstep promises, next to what the machine gives anybody, and
 * prints the ratios (docs/performance.md). `--only <name>,…` runs some, `--quick` all in little (to
 * see that they run), `--json` prints for machines. `--event-store <url>` and `--read-model <url>`
 * measure on stores outside, which are filled and not emptied again. `--event-store double` is the
 * fake EventStoreDB of the tests; there, and on one node without TLS, calls are counted.
 *
 * `--only growth.<topic>` measures one topic of growth. `--websites 1000,1000000` measures growth on
 * installations of these sizes, and `--installations <folder>` keeps them there to be measured again.
 *
 * Beside each figure stands what it was when `bench/baseline.json` was last written;
 * `--write-baseline` writes those that this run measured.
 */
import { availableParallelism, cpus, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareOrExit } from '../scripts/prepare.mjs';
import { activation } from './measures/activation.mjs';
import { appends, outsideAppends } from './measures/appends.mjs';
import { catchUp } from './measures/catchUp.mjs';
import { coldStart } from './measures/coldStart.mjs';
import { emmett } from './measures/emmett.mjs';
import { growth, growthTopics } from './measures/growth.mjs';
import { manyWebsites } from './measures/manyWebsites.mjs';
import { memory } from './measures/memory.mjs';
import { processes } from './measures/processes.mjs';
import { rebuild } from './measures/rebuild.mjs';
import { routes } from './measures/routes.mjs';
import { scale } from './measures/scale.mjs';
import { reads, writes } from './measures/throughput.mjs';
import { upload } from './measures/upload.mjs';
import { webhooks } from './measures/webhooks.mjs';
import { baselineOf, writeBaseline } from './support/baseline.mjs';
import { measureOn } from './support/doorstep.mjs';
import { meetsAim, tableOf } from './support/figures.mjs';

const measures = {
  writes,
  reads,
  emmett,
  appends,
  rebuild,
  catchUp,
  activation,
  webhooks,
  coldStart,
  memory,
  processes,
  scale,
  manyWebsites,
  growth,
  routes,
  upload,
};

/** @typedef {keyof typeof measures} Name */

/**
 * Measures that make no sense on an outside event store, and why.
 * @type {Partial<Record<Name, string>>}
 */
const notOutside = {
  emmett: 'it compares two services on SQLite',
  processes: 'it measures what processes on one data folder share',
  scale: 'it needs two logs of different sizes side by side',
  growth: 'it needs two logs of different sizes side by side',
};

const options = () => {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        only: { type: 'string' },
        'event-store': { type: 'string' },
        'read-model': { type: 'string' },
        websites: { type: 'string' },
        installations: { type: 'string' },
        'write-baseline': { type: 'boolean', default: false },
      },
    });
    if (values['write-baseline'] && (values.quick || values['event-store'] !== undefined || values['read-model'] !== undefined))
      throw new Error('--write-baseline takes a full run on the embedded stores');
    const asked = values.only?.split(',') ?? Object.keys(measures);
    const [topics, others] = [asked.filter((name) => name.startsWith('growth.')), asked.filter((name) => !name.includes('.'))];
    const names = topics.length > 0 ? [...others, 'growth'] : others;
    const unknown = [
      ...names.filter((name) => !(name in measures)),
      ...topics.filter((topic) => !growthTopics.includes(topic.slice('growth.'.length))),
    ];
    if (unknown.length > 0)
      throw new Error(`there is no measure ${unknown.join(', ')}; there are ${Object.keys(measures).join(', ')}`);
    const sizes = values.websites?.split(',').map(Number);
    if (sizes !== undefined && (sizes.length !== 2 || !sizes.every(Number.isInteger)))
      throw new Error('--websites takes two numbers, as in 1000,1000000');
    const growing = {
      ...(topics.length > 0 && { topics: topics.map((topic) => topic.slice('growth.'.length)) }),
      ...(sizes !== undefined && { websites: /** @type {[number, number]} */ (sizes) }),
      ...(values.installations !== undefined && { installations: resolve(values.installations) }),
    };
    return { ...values, names: /** @type {Name[]} */ (names), growing };
  } catch (error) {
    report(String(error instanceof Error ? error.message : error));
    process.exit(2);
  }
};

/** @param {string} text */
const report = (text) => process.stderr.write(`${text}\n`);

const { quick, json, names, growing, 'event-store': eventStore, 'read-model': readModel, 'write-baseline': writing } = options();
await measureOn({ eventStore, readModel });
await prepareOrExit('service');

/** @type {string[]} */
const failed = [];
/** What is measured takes minutes to hours: a measure that fails must not lose the figures of the others. */
const attempt = /** @type {import('./support/figures.mjs').Attempt} */ (
  async (name, measure) => {
    try {
      return await measure();
    } catch (error) {
      report(`${name} failed: ${error instanceof Error ? String(error.stack) : String(error)}`);
      failed.push(name);
      return [];
    }
  }
);

/** @type {import('./support/figures.mjs').Figure[]} */
const figures = [];
for (const name of names) {
  const reason = eventStore === undefined ? undefined : notOutside[name];
  if (reason !== undefined) {
    report(`${name}: left out, since ${reason}`);
    continue;
  }
  report(`measuring: ${name}`);
  const measure = name === 'appends' && eventStore !== undefined ? outsideAppends : measures[name];
  figures.push(...(await attempt(name, () => measure({ quick, report, attempt, ...growing }))));
}

const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  processors: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
  memoryGiB: Math.round(totalmem() / 1024 ** 3),
};
const baseline = baselineOf(figures);
if (json) {
  const results = figures.map((figure, index) => ({
    ...figure,
    meetsAim: meetsAim(figure) ?? null,
    baseline: baseline[index] ?? null,
  }));
  process.stdout.write(`${JSON.stringify({ machine, quick, figures: results }, null, 2)}\n`);
} else {
  process.stdout.write(
    `Node ${machine.node}, ${machine.platform}, ${machine.processors}, ${machine.memoryGiB} GiB\n\n${tableOf(figures, baseline)}\n`,
  );
}
if (failed.length > 0) report(`failed: ${failed.join(', ')}`);
else if (writing) writeBaseline(figures, machine);
// What was started is stopped; an idle keep-alive connection of ours must not hold the end up.
process.exit(failed.length > 0 ? 1 : 0);
