import { createHmac } from 'node:crypto';
import { call } from '../support/api.mjs';
import { quantile } from '../support/figures.mjs';
import { withService } from '../support/service.mjs';

const secret = 'bench-secret';
const shopDomain = 'bench.myshopify.com';
const perSecond = 500;
const body = JSON.stringify({ shop_id: 1, shop_domain: shopDomain, customer: { id: 2 }, data_request: { id: 3 } });

/**
 * How long the commerce platform waits for the answer to a webhook, all of them for one website,
 * while a worker processes them in the same process.
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const webhooks = ({ quick }) =>
  withService({ purpose: 'webhooks', websites: 1, settings: { COMMERCE_WEBHOOK_SECRET: secret } }, async (service, load) => {
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
        'x-shopify-topic': 'customers/data_request',
        'x-shopify-shop-domain': shopDomain,
        'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
      },
      idHeader: 'x-shopify-webhook-id',
      perSecond,
    };
    // The first webhooks are slower and are not measured.
    await load.paced({ ...job, seconds: quick ? 1 : 5 });
    const { times, failed } = await load.paced({ ...job, seconds: quick ? 1 : 20 });
    if (failed > 0) throw new Error(`${failed} webhooks were not taken`);
    return [
      {
        name: `webhooks at ${perSecond} a second, p99`,
        value: quantile(times, 0.99),
        unit: 'ms',
        aim: { atMost: 50 },
        about: `p50 ${quantile(times, 0.5).toFixed(1)} ms, ${times.length} for one website`,
      },
    ];
  });
