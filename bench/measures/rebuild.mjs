/** A projection folded once more from the whole log, beside a fold of the same events into memory. */
import { newInstallation, withEngine } from '../support/doorstep.mjs';
import { removeFolder } from '../support/processes.mjs';
import { compareRebuild } from '../support/rebuilds.mjs';
import { seedWebsites } from '../support/seed.mjs';

const eventsInAppend = 50;

/**
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const rebuild = async ({ quick }) => {
  const [websites, changes, runs] = quick ? [20, 50, 1] : [1_000, 200, 3];
  const installation = newInstallation('rebuild');
  try {
    return await withEngine(installation, async (engine) => {
      const websiteIds = await seedWebsites(engine, websites);
      for (let done = 0; done < changes; done += eventsInAppend) {
        for (const websiteId of websiteIds) await appendChanges(engine, websiteId);
      }
      const { rate, ratio, about } = await compareRebuild(engine, { pairs: runs, names: ['delivery'] });
      return [
        {
          name: 'rebuild of the delivery projection',
          value: rate,
          unit: 'events/s',
          aim: { atLeast: 60_000 },
          about: `${websites * (changes + 1)} events of ${websites} websites`,
        },
        { name: 'rebuild / fold into memory', value: ratio, unit: '×', aim: { atLeast: 0.8 }, about },
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
