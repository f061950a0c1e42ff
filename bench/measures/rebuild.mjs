/** A projection folded once more from the whole log. */
import { load, newInstallation, withEngine } from '../support/doorstep.mjs';
import { median } from '../support/figures.mjs';
import { removeFolder } from '../support/processes.mjs';
import { seedWebsites } from '../support/seed.mjs';

const eventsInAppend = 50;

/**
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const rebuild = async ({ quick }) => {
  const [websites, changes, runs] = quick ? [20, 50, 1] : [1_000, 200, 3];
  const { rebuildProjection } = /** @type {typeof import('../../src/projections/runner/rebuild.js')} */ (
    await load('projections/runner/rebuild.js')
  );
  const { projections } = /** @type {typeof import('../../src/projections/catalogue.js')} */ (
    await load('projections/catalogue.js')
  );
  const installation = newInstallation('rebuild');
  try {
    return await withEngine(installation, async (engine) => {
      const websiteIds = await seedWebsites(engine, websites);
      for (let done = 0; done < changes; done += eventsInAppend) {
        for (const websiteId of websiteIds) await appendChanges(engine, websiteId);
      }
      const rates = [];
      for (let run = 0; run < runs; run += 1) {
        const startedAt = performance.now();
        const { events } = await rebuildProjection('delivery', {
          ...engine,
          projections,
          decode: (stored) => engine.codec.decode(stored),
        });
        rates.push((events / (performance.now() - startedAt)) * 1_000);
      }
      return [
        {
          name: 'rebuild of the delivery projection',
          value: median(rates),
          unit: 'events/s',
          aim: { atLeast: 60_000 },
          about: `${websites * (changes + 1)} events of ${websites} websites`,
        },
      ];
    });
  } finally {
    removeFolder(installation.folder);
  }
};

/**
 * @param {import('../support/doorstep.mjs').Engine} engine
 * @param {string} websiteId
 */
const appendChanges = async (engine, websiteId) => {
  const commandId = engine.ids.commandId();
  const metadata = {
    at: new Date().toISOString(),
    actor: /** @type {const} */ ({ subject: 'bench', role: 'admin', via: 'token' }),
    requestId: commandId,
    correlationId: commandId,
    causationId: commandId,
  };
  const events = Array.from({ length: eventsInAppend }, (_, index) => {
    const [status, previousStatus] = index % 2 === 0 ? ['in_progress', 'pending'] : ['pending', 'in_progress'];
    const data = { websiteId, checkpointId: 'kickoff', status, previousStatus };
    return engine.codec.encode({ type: 'DeliveryCheckpointStatusSet', data }, engine.ids.commandId(), metadata);
  });
  await engine.eventStore.append(`delivery-${websiteId}`, events, 'exists');
};
