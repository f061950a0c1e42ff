import { createHmac } from 'node:crypto';
import { call } from './api.mjs';

const secret = 'bench-secret';
export const shopDomain = 'bench.myshopify.com';

/** Of a service that takes webhooks of shops. */
export const settings = { COMMERCE_WEBHOOK_SECRET: secret };

/**
 * Gives the first website a shop; returns what to send as its webhook.
 * @param {import('./service.mjs').Service} service
 * @param {{ topic: string, body: string }} webhook
 */
export const openShop = async (service, { topic, body }) => {
  const [websiteId = ''] = service.websiteIds;
  await call(service, 'PATCH', `/v1/websites/${websiteId}`, { tier: 'scale' });
  await call(service, 'POST', `/v1/websites/${websiteId}/services`, { kind: 'commerce', shopDomain });
  return {
    url: service.url,
    path: `/webhooks/commerce?websiteId=${websiteId}`,
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-shopify-topic': topic,
      'x-shopify-shop-domain': shopDomain,
      'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
    },
    idHeader: 'x-shopify-webhook-id',
  };
};
