import { join } from 'node:path';
import { median, quantile } from '../support/figures.mjs';
import { messageFrom, removeFolder, startProgram, stop, temporaryFolder } from '../support/processes.mjs';
import { inTurns, medianRatio } from '../support/rounds.mjs';
import { withService } from '../support/service.mjs';
import { openShop, settings, shopDomain } from '../support/webhooks.mjs';

const perSecond = 500;
const body = JSON.stringify({ shop_id: 1, shop_domain: shopDomain, customer: { id: 2 }, data_request: { id: 3 } });

/**
 * Runs `work` while another process syncs the same disk in a loop.
 * @template Result
 * @param {() => Promise<Result>} work
 */
const besideSyncs = async (work) => {
  const folder = temporaryFolder('syncs');
  const child = startProgram('programs/syncs.mjs', [join(folder, 'synced')]);
  try {
    await messageFrom(child);
    return await work();
  } finally {
    await stop(child);
    removeFolder(folder);
  }
};

/**
 * How long the commerce platform waits for the answer to a webhook, all of them for one website,
 * while a worker processes them in the same process; then the same in turns with another process on
 * the disk and without it.
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const webhooks = ({ quick }) =>
  withService({ purpose: 'webhooks', websites: 1, settings }, async (service, load) => {
    const webhook = { ...(await openShop(service, { topic: 'customers/data_request', body })), perSecond };
    // The first webhooks are slower and are not measured.
    await load.paced({ ...webhook, seconds: quick ? 1 : 5 });
    const { times, failed } = await load.paced({ ...webhook, seconds: quick ? 1 : 20 });
    if (failed > 0) throw new Error(`${failed} webhooks were not taken`);
    const p99 = async () => quantile((await load.paced({ ...webhook, seconds: quick ? 1 : 8 })).times, 0.99);
    const { first, second } = await inTurns(quick ? 1 : 4, () => besideSyncs(p99), p99);
    return [
      {
        name: `webhooks at ${perSecond} a second, p99`,
        value: quantile(times, 0.99),
        unit: 'ms',
        aim: { atMost: 50 },
        about: `p50 ${quantile(times, 0.5).toFixed(1)} ms, ${times.length} for one website`,
      },
      {
        name: 'webhooks while another process syncs, p99',
        value: medianRatio(first, second),
        unit: '×',
        aim: { atMost: 5 },
        about: `of their p99 without it, ${median(first).toFixed(0)} against ${median(second).toFixed(0)} ms`,
      },
    ];
  });
