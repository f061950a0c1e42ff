import { createHmac } from 'node:crypto';

export const shopDomain = 'corner-bakery.myshopify.com';

/** Shopify's signature: base64 of the HMAC-SHA256 of the bytes. */
export const signatureOf = (body: string | Uint8Array, secret = 'secret'): string =>
  createHmac('sha256', secret).update(body).digest('base64');

export interface WebhookOptions {
  readonly topic?: string;
  readonly id?: string;
  readonly shop?: string;
  readonly secret?: string;
  readonly triggeredAt?: string;
}

let count = 0;

/** A body as the handled topics have it, different from every other. */
export const webhookBody = (shop = shopDomain, more: object = {}): string => {
  count += 1;
  return JSON.stringify({ shop_id: count, shop_domain: shop, myshopify_domain: shop, ...more });
};

/** The documented headers of a webhook with `body`. */
export const webhookHeaders = (body: string | Uint8Array, options: WebhookOptions = {}): Record<string, string> => {
  count += 1;
  const { topic = 'app/uninstalled', id = `hook-${count}`, shop = shopDomain, secret, triggeredAt } = options;
  return {
    'content-type': 'application/json',
    'user-agent': 'Shopify-Captain-Hook',
    'x-shopify-topic': topic,
    'x-shopify-hmac-sha256': signatureOf(body, secret),
    'x-shopify-shop-domain': shop,
    'x-shopify-api-version': '2026-01',
    'x-shopify-webhook-id': id,
    'x-shopify-event-id': `event-${id}`,
    'x-shopify-triggered-at': triggeredAt ?? new Date().toISOString().replace(/Z$/, '456789Z'),
  };
};
