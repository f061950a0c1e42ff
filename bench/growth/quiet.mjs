/** What must not fill the log: webhooks that nothing is done about, and the leases of provisioning. */
import { createWebsites } from '../support/api.mjs';
import { flat } from '../support/growth.mjs';
import { median, rounded } from '../support/figures.mjs';
import { withService } from '../support/service.mjs';
import { openShop, settings } from '../support/webhooks.mjs';

const body = JSON.stringify({ id: 1, line_items: [{ id: 2, title: 'Bread' }], note: 'x'.repeat(500) });

/**
 * @param {import('../support/growth.mjs').World} world
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const measure = ({ quick }) =>
  withService({ purpose: 'quiet', websites: 1, settings }, async (service, load) => {
    const appended = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return Number(/^events_appended_total (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
    };
    const beforeWebsite = await appended();
    await createWebsites(service, 1);
    const ofWebsite = (await appended()) - beforeWebsite;

    const webhook = await openShop(service, { topic: 'orders/updated', body });
    let sent = 0;
    const send = async (/** @type {number} */ perSecond, /** @type {number} */ seconds) => {
      const { times, failed } = await load.paced({ ...webhook, perSecond, seconds });
      if (failed > 0) throw new Error(`${failed} webhooks were not taken`);
      sent += times.length;
      return median(times);
    };
    await send(100, quick ? 1 : 5);
    const before = await appended();
    const first = await send(100, quick ? 1 : 10);
    await send(1_000, quick ? 1 : 100);
    const last = await send(100, quick ? 1 : 10);
    return [
      {
        name: 'events of ignored webhooks',
        value: (await appended()) - before,
        unit: 'events',
        aim: { atMost: 0 },
        about: `${sent} webhooks`,
      },
      {
        name: 'ignored webhook after many',
        value: last / first,
        unit: '×',
        aim: flat,
        about: `${rounded(last)} against ${rounded(first)} ms, after ${sent}`,
      },
      { name: 'events of a website that is provisioned', value: ofWebsite, unit: 'events', aim: { atMost: 30 } },
    ];
  });
