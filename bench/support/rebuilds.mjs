/** Rebuilds of read models, and what they are compared with: the same fold into memory alone. */
import { load } from './doorstep.mjs';
import { inTurns, medianRatio } from './rounds.mjs';
import { median } from './figures.mjs';

/**
 * @typedef {import('./doorstep.mjs').Engine} Engine
 * @typedef {import('../../src/events/store/eventStore.js').StoredEvent} StoredEvent
 * @typedef {(event: unknown) => string} DocumentId
 * @typedef {(document: unknown, event: unknown, terms: unknown) => unknown} Evolve
 */

const allProjections = async () => {
  const { projections } = /** @type {typeof import('../../src/projections/catalogue.js')} */ (
    await load('projections/catalogue.js')
  );
  return projections;
};

/**
 * Rebuilds read models as `projections:rebuild` does; resolves with the number of folds.
 * @param {Engine} engine
 * @param {readonly string[]} [names] - default: all
 */
export const rebuildModels = async (engine, names) => {
  const [{ rebuildProjection }, { createCatchUp }, projections] =
    /** @type {[typeof import('../../src/projections/runner/rebuild.js'), typeof import('../../src/projections/runner/catchUp.js'), Awaited<ReturnType<typeof allProjections>>]} */ (
      await Promise.all([load('projections/runner/rebuild.js'), load('projections/runner/catchUp.js'), allProjections()])
    );
  const decode = (/** @type {StoredEvent} */ stored) => engine.codec.decode(stored);
  const parts = { ...engine, projections, decode };
  const catchUp = createCatchUp(parts, { writeMs: 250 });
  const rebuilt = (names ?? projections.map(({ name }) => name)).map((name) => rebuildProjection(name, { ...parts, catchUp }));
  return (await Promise.all(rebuilt)).reduce((sum, { events }) => sum + events, 0);
};

/**
 * Reads the log in batches, decodes it, and folds it into maps; resolves with the number of events.
 * @param {Engine} engine
 * @param {readonly string[]} [names] - default: all
 */
const foldIntoMemory = async ({ eventStore, codec, personal }, names) => {
  const { personalTermsOf } = /** @type {typeof import('../../src/projections/runner/personalTerms.js')} */ (
    await load('projections/runner/personalTerms.js')
  );
  const models = (await allProjections())
    .filter(({ name }) => names?.includes(name) ?? true)
    .map((projection) => ({ projection, types: new Set(projection.handles), documents: new Map() }));
  const head = await eventStore.lastPosition();
  let count = 0;
  for (let position = 0n; position < head;) {
    const slice = await eventStore.readAll({ after: position, max: 500 });
    for (const stored of slice.events) {
      const event = codec.decode(stored);
      for (const { projection, types, documents } of models) {
        if (!types.has(event.type)) continue;
        const id = /** @type {DocumentId} */ (projection.documentId)(event);
        const terms = projection.searched && (await personalTermsOf(projection, event, personal));
        documents.set(id, /** @type {Evolve} */ (projection.evolve)(documents.get(id) ?? null, event, terms));
      }
    }
    count += slice.events.length;
    ({ position } = slice);
  }
  return count;
};

/**
 * Events of the log that a rebuild folds in a second, beside those of the fold into memory.
 * @param {Engine} engine
 * @param {{ pairs: number, names?: readonly string[] }} options
 */
export const compareRebuild = async (engine, { pairs, names }) => {
  let events = 0;
  /** @param {() => Promise<unknown>} work */
  const timeOf = async (work) => {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    await work();
    const { user, system } = process.cpuUsage(before);
    return { ms: performance.now() - startedAt, microseconds: user + system };
  };
  const { first: rebuilt, second: folded } = await inTurns(
    pairs,
    async () => {
      const time = await timeOf(() => rebuildModels(engine, names));
      // The new versions answer reads. What the ones before left behind is removed beside other work.
      const swept = await timeOf(() => engine.readModels.sweep());
      return { ...time, swept: swept.microseconds };
    },
    () =>
      timeOf(async () => {
        events = await foldIntoMemory(engine, names);
      }),
  );
  const rateOf = (/** @type {readonly { ms: number }[]} */ rounds) => median(rounds.map(({ ms }) => (events / ms) * 1_000));
  const processorOf = (/** @type {readonly { microseconds: number }[]} */ rounds) =>
    median(rounds.map(({ microseconds }) => microseconds / events)).toFixed(1);
  return {
    rate: rateOf(rebuilt),
    ratio: medianRatio(
      folded.map(({ ms }) => ms),
      rebuilt.map(({ ms }) => ms),
    ),
    about: `${Math.round(rateOf(rebuilt)).toLocaleString('en')} against ${Math.round(rateOf(folded)).toLocaleString('en')} events/s; ${processorOf(rebuilt)} against ${processorOf(folded)} µs of processor time, and ${median(rebuilt.map(({ swept }) => swept / events)).toFixed(1)} µs to remove the versions before`,
  };
};
