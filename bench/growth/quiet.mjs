/** What must not fill the log: webhooks that nothing is done about, and the leases of provisioning. */
import { createHmac } from 'node:crypto';
import { call, createWebsites } from '../support/api.mjs';
import { flat } from '../support/growth.mjs';
import { median, rounded } from '../support/figures.mjs';
import { withService } from '../support/service.mjs';

const secret = 'bench-secret';
const shopDomain = 'bench.myshopify.com';
const body = JSON.stringify({ id: 1, line_items: [{ id: 2, title: 'Bread' }], note: 'x'.repeat(500) });

/**
 * @param {import('../support/growth.mjs').World} world
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const measure = ({ quick }) =>
  withService({ purpose: 'quiet', websites: 1, settings: { COMMERCE_WEBHOOK_SECRET: secret } }, async (service, load) => {
    const appended = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return Number(/^events_appended_total (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
    };
    const beforeWebsite = await appended();
    await createWebsites(service, 1);
    const ofWebsite = (await appended()) - beforeWebsite;

    const [websiteId = ''] = service.websiteIds;
    await call(service, 'PATCH', `/v1/websites/${websiteId}`, { tier: 'scale' });
    await call(service, 'POST', `/v1/websites/${websiteId}/services`, { kind: 'commerce', shopDomain });
    const job = {
      url: service.url,
      path: `/webhooks/commerce?websiteId=${websiteId}`,
      body,
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'x-shopify-topic': 'orders/updated',
        'x-shopify-shop-domain': shopDomain,
        'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
      },
      idHeader: 'x-shopify-webhook-id',
    };
    let sent = 0;
    const send = async (/** @type {number} */ perSecond, /** @type {number} */ seconds) => {
      const { times, failed } = await load.paced({ ...job, perSecond, seconds });
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
