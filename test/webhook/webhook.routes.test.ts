import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { START } from '../../src/events/store/eventStore.js';
import { createShopify } from '../../src/integrations/commerce/shopify.js';
import { systemClock } from '../../src/platform/clock.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { payloadNameOf, webhookContentDecider, webhookProcess } from '../../src/workers/webhook/webhook.process.js';
import { someAdmin } from '../support/given.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { shopDomain, signatureOf, webhookBody, webhookHeaders, type WebhookOptions } from '../support/shopWebhooks.js';

const person = 'john.canary@example.com';
const newBody = (shop = shopDomain): string => webhookBody(shop, { customer: { id: 1, email: person } });
const body = newBody();
const otherShop = {
  status: 403,
  body: { error: 'Not authorized to deliver webhooks for this website', code: 'other_shop', details: null },
};
const badSignature = { status: 401, body: { error: 'Invalid signature', code: 'invalid_signature', details: null } };

let api: RunningApi;
let token: string;
let websiteId: string;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});

const attach = async (id: string, shop: string): Promise<string> => {
  const input = { kind: 'commerce', shopDomain: shop, secrets: { adminToken: 'shpat_x' } };
  return ((await api.call('POST', `/websites/${id}/services`, { token, body: input })).body as { id: string }).id;
};

let count = 0;
const newWebsite = async (): Promise<string> => {
  count += 1;
  const input = { name: 'Bakery', slug: `bakery-${count}`, tier: 'scale' };
  return ((await api.call('POST', '/websites', { token, body: input })).body as { id: string }).id;
};

beforeEach(async () => {
  websiteId = await newWebsite();
  await attach(websiteId, shopDomain);
});

const deliver = (
  input: WebhookOptions = {},
  raw: string | Uint8Array = newBody(input.shop),
  to = websiteId,
): Promise<ApiAnswer> => api.call('POST', `/webhooks/commerce?websiteId=${to}`, { raw, headers: webhookHeaders(raw, input) });

const kept = async (): Promise<readonly { type: string; data: unknown }[]> => {
  const { events } = await api.engine.eventStore.readAll({
    after: START,
    filter: { streamPrefixes: [`webhook-${websiteId}-`] },
  });
  return events.map(({ type, data }) => ({ type, data }));
};

const ignoredCount = async (): Promise<number> => {
  const { text } = await api.call('GET', '/metrics');
  return Number(/^webhooks_ignored_total (\d+)$/m.exec(text)?.[1]);
};

const payloadOf = (webhookId: string) => api.engine.vault.secret(payloadNameOf({ websiteId, webhookId }));

describe('a webhook', () => {
  test('is in the log when it is answered, and once, however often it comes', async () => {
    const input = { id: 'same', triggeredAt: '2026-01-01T00:00:00.123456789Z' };
    const ignored = await ignoredCount();
    expect(await deliver(input, body)).toMatchObject({ status: 200, body: {} });
    const data = {
      websiteId,
      webhookId: 'same',
      topic: 'app/uninstalled',
      shopDomain,
      triggeredAt: '2026-01-01T00:00:00.123Z',
    };
    const expected = [{ type: 'WebhookReceived', data }];
    expect(await kept()).toStrictEqual(expected);
    expect(await ignoredCount()).toBe(ignored);
    const again = await Promise.all(Array.from({ length: 8 }, () => deliver(input, body)));
    expect(again.map(({ status }) => status)).toStrictEqual(Array.from({ length: 8 }, () => 200));
    expect(await kept()).toStrictEqual(expected);
  });

  test('that comes many times at once is kept once', async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => deliver({ id: 'burst' }, body)));
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]));
    expect(await kept()).toHaveLength(1);
  });

  test.each(['secret', 'previous'])('is taken when it is signed with the secret %s', async (secret) => {
    expect((await deliver({ secret })).status).toBe(200);
  });

  test('that is compressed is refused before its signature, which is that of the bytes as they come', async () => {
    const raw = gzipSync(body);
    const headers = { ...webhookHeaders(raw), 'content-encoding': 'gzip' };
    const answer = await api.call('POST', `/webhooks/commerce?websiteId=${websiteId}`, { raw, headers });
    expect(answer).toMatchObject({ status: 415, body: { code: 'content_encoding_not_supported' } });
    expect(await kept()).toStrictEqual([]);
  });

  test('may be called as the GraphQL API calls it, and say no time that is one', async () => {
    await deliver({ id: 'odd', topic: 'APP_UNINSTALLED', triggeredAt: 'yesterday' });
    const data = { topic: 'app/uninstalled', triggeredAt: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(await kept()).toMatchObject([{ type: 'WebhookReceived', data }]);
  });

  test('of a topic that nothing is done about is counted, and leaves nothing in the log', async () => {
    const end = await api.engine.eventStore.lastPosition();
    const before = await ignoredCount();
    for (const id of ['one', 'two', 'one']) expect((await deliver({ id, topic: 'orders/create' })).status).toBe(200);
    expect((await ignoredCount()) - before).toBe(3);
    expect(await api.engine.eventStore.readAll({ after: end })).toMatchObject({ events: [] });
  });

  test('of a changed shop is kept as ignored, because its body is that of an uninstallation', async () => {
    expect((await deliver({ id: 'changed', topic: 'shop/update' }, body)).status).toBe(200);
    expect(await payloadOf('changed')).toBeNull();
    expect((await deliver({ id: 'forged', topic: 'app/uninstalled' }, body)).status).toBe(200);
    expect(await kept()).toMatchObject([{ type: 'WebhookIgnored', data: { topic: 'shop/update' } }]);
  });

  test('of another topic is another, also when the body is the same', async () => {
    for (const topic of ['customers/data_request', 'app/uninstalled', 'APP_UNINSTALLED', 'customers/redact']) {
      expect((await deliver({ topic }, '{}')).status).toBe(200);
    }
    expect((await kept()).map(({ data }) => (data as { topic: string }).topic)).toStrictEqual([
      'customers/data_request',
      'app/uninstalled',
      'customers/redact',
    ]);
  });

  test.each([
    ['a customer', { shop_id: 1, shop_domain: shopDomain, customer: { id: 1 } }],
    ['a shop to be redacted', { shop_id: 1, shop_domain: shopDomain }],
  ])('of %s is refused as an uninstallation', async (_, payload) => {
    const raw = JSON.stringify(payload);
    expect((await deliver({ topic: 'shop/redact' }, raw)).status).toBe(200);
    expect(await deliver({ topic: 'APP_UNINSTALLED' }, raw)).toMatchObject({
      status: 400,
      body: {
        error: 'Invalid headers — X-Shopify-Topic: is app/uninstalled, but the body is that of a compliance webhook',
        code: 'invalid_headers',
      },
    });
    expect(await kept()).toHaveLength(1);
  });

  test('whose body an earlier build claimed, for whatever topic, comes once; of another topic it is another', async () => {
    const { engine } = api;
    const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' };
    const content = engine.blindIndex(createHash('sha256').update('{}').digest('hex'));
    const webhook = { websiteId, webhookId: 'old' };
    await engine.handle(webhookContentDecider, { type: 'ClaimWebhookContent', ...webhook, content }, context);
    const topic = 'customers/data_request';
    await engine.handle(webhookProcess, { type: 'ReceiveWebhook', ...webhook, topic, shopDomain }, context);
    for (const id of ['forged', 'old']) expect((await deliver({ id, topic }, '{}')).status).toBe(200);
    expect(await kept()).toHaveLength(1);
    for (const id of ['new', 'forged']) expect((await deliver({ id, topic: 'app/uninstalled' }, '{}')).status).toBe(200);
    expect(await kept()).toMatchObject([
      { data: { webhookId: 'old' } },
      { data: { webhookId: 'new', topic: 'app/uninstalled' } },
    ]);
  });

  test('is processed once, also after many others', async () => {
    const handled = { id: 'once', topic: 'customers/redact' };
    await deliver(handled, body);
    for (let index = 0; index < 50; index += 1) await deliver({ topic: 'orders/create' });
    expect((await deliver(handled, body)).status).toBe(200);
    expect(await kept()).toMatchObject([{ type: 'WebhookReceived', data: { webhookId: 'once' } }]);
  });

  test('leaves its body in the vault, encrypted, and nowhere else', async () => {
    await deliver({ id: 'people', topic: 'customers/data_request' }, body);
    expect(Buffer.from((await payloadOf('people')) ?? []).toString()).toBe(body);
    expect(await kept()).toHaveLength(1);
    expect(JSON.stringify(api.log)).not.toContain(person);
    const files = readdirSync(api.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const contents = files.map((entry) => readFileSync(join(entry.parentPath, entry.name)));
    expect(contents.some((content) => content.includes('WebhookReceived'))).toBe(true);
    expect(contents.filter((content) => content.includes(person))).toStrictEqual([]);
  });
});

describe('a signature', () => {
  const send = (raw: string | Uint8Array, headers: Record<string, string>) =>
    api.call('POST', `/webhooks/commerce?websiteId=${websiteId}`, { raw, headers });

  test.each<[string, (headers: Record<string, string>) => Record<string, string>]>([
    ['missing', ({ 'x-shopify-hmac-sha256': _, ...headers }) => headers],
    ['of another secret', (headers) => ({ ...headers, 'x-shopify-hmac-sha256': signatureOf(body, 'stranger') })],
    ['of another body', (headers) => ({ ...headers, 'x-shopify-hmac-sha256': signatureOf(`${body} `) })],
    ['too short', (headers) => ({ ...headers, 'x-shopify-hmac-sha256': signatureOf(body).slice(0, 20) })],
    ['in another form', (headers) => ({ ...headers, 'x-shopify-hmac-sha256': signatureOf(body).replace(/=$/, '') })],
    ['in hex', (headers) => ({ ...headers, 'x-shopify-hmac-sha256': Buffer.from(signatureOf(body), 'base64').toString('hex') })],
  ])('that is %s is refused, and nothing is kept', async (_, changed) => {
    expect(await send(body, changed(webhookHeaders(body)))).toMatchObject(badSignature);
    expect(await kept()).toStrictEqual([]);
  });

  test('is of the bytes as they came: the same JSON written otherwise is refused', async () => {
    const headers = webhookHeaders(body);
    expect(await send(JSON.stringify(JSON.parse(body), null, 1), headers)).toMatchObject(badSignature);
    expect(await send(Buffer.from(body, 'utf16le'), headers)).toMatchObject(badSignature);
    const odd = Buffer.from([0xff, 0x00, 0x7b]);
    expect((await send(odd, webhookHeaders(odd, { topic: 'orders/create' }))).status).toBe(200);
  });

  test('is looked at before the website: strangers do not learn which there are', async () => {
    expect(await deliver({ secret: 'stranger' }, body, 'unknown')).toMatchObject(badSignature);
    expect(await deliver({}, body, 'unknown')).toMatchObject({ status: 404, body: { error: 'Website unknown not found' } });
  });
});

test('a body of 10 MiB is refused', async () => {
  const big = Buffer.alloc(10 * 1_024 * 1_024, ' ');
  expect(await deliver({}, big)).toMatchObject({ status: 413, body: { error: 'Request body too large' } });
  expect(await kept()).toStrictEqual([]);
});

test.each(['x-shopify-topic', 'x-shopify-webhook-id'])('without %s it is refused', async (name) => {
  const headers = Object.fromEntries(Object.entries(webhookHeaders(body)).filter(([own]) => own !== name));
  const answer = await api.call('POST', `/webhooks/commerce?websiteId=${websiteId}`, { raw: body, headers });
  expect(answer.status).toBe(400);
  expect((answer.body as { error: string }).error.toLowerCase()).toBe(`invalid headers — ${name}: is required`);
});

test('that another shop may not send it is said before what its headers lack', async () => {
  const input = { shop: 'other.myshopify.com' };
  const raw = newBody(input.shop);
  const { 'x-shopify-hmac-sha256': signature, 'x-shopify-shop-domain': shop } = webhookHeaders(raw, input);
  const headers = { 'x-shopify-hmac-sha256': signature ?? '', 'x-shopify-shop-domain': shop ?? '' };
  expect(await api.call('POST', `/webhooks/commerce?websiteId=${websiteId}`, { raw, headers })).toMatchObject(otherShop);
  const unknown = await api.call('POST', '/webhooks/commerce?websiteId=unknown', { raw, headers });
  expect(unknown).toMatchObject({ status: 404, body: { error: 'Website unknown not found' } });
});

describe('the shop', () => {
  test('must be the website’s', async () => {
    expect(await deliver({ shop: 'other.myshopify.com' })).toMatchObject(otherShop);
    const other = await newWebsite();
    expect(await deliver({}, body, other)).toMatchObject(otherShop);
    await attach(other, 'other.myshopify.com');
    expect(await deliver({}, body, other)).toMatchObject(otherShop);
    expect(await kept()).toStrictEqual([]);
  });

  test.each(['{}', JSON.stringify({ id: 1 }), 'null', 'no JSON'])('need not stand in the body: %s', async (raw) => {
    for (const topic of ['app/uninstalled', 'customers/redact']) {
      expect(await deliver({ topic }, raw)).toMatchObject({ status: 200, body: {} });
      expect(await deliver({ topic, shop: 'other.myshopify.com' }, raw)).toMatchObject(otherShop);
    }
  });

  test('that was the website’s once may still tell of what the law asks for', async () => {
    const { body: services } = await api.call('GET', `/websites/${websiteId}/services`, { token });
    const [{ id }] = services as [{ id: string }];
    expect((await deliver({ id: 'first' })).status).toBe(200);
    expect((await deliver({ id: 'ignored', topic: 'orders/create' })).status).toBe(200);
    await api.call('DELETE', `/websites/${websiteId}/services/${id}`, { token });
    for (const topic of ['customers/data_request', 'customers/redact', 'SHOP_REDACT']) {
      expect((await deliver({ topic })).status).toBe(200);
    }
    expect(await deliver()).toMatchObject(otherShop);
    expect(await deliver({ topic: 'orders/create' })).toMatchObject(otherShop);
    // What was taken before is taken again.
    expect((await deliver({ id: 'first' })).status).toBe(200);
    expect((await deliver({ id: 'ignored', topic: 'orders/create' })).status).toBe(200);
    for (const same of [{ id: 'first' }, { id: 'ignored', topic: 'orders/create' }]) {
      expect(await deliver({ ...same, shop: 'other.myshopify.com' })).toMatchObject(otherShop);
    }
    expect(await kept()).toHaveLength(4);
  });
});

test('a dry run keeps nothing', async () => {
  const headers = webhookHeaders(body);
  const answer = await api.call('POST', `/webhooks/commerce?websiteId=${websiteId}&dryRun=1`, { raw: body, headers });
  expect(answer).toMatchObject({
    status: 200,
    body: { events: [{ type: 'WebhookContentClaimed' }, { type: 'WebhookReceived' }] },
  });
  expect(await kept()).toStrictEqual([]);
  expect(await payloadOf(headers['x-shopify-webhook-id'] ?? '')).toBeNull();
});

test('without a secret webhooks are answered with 503', async () => {
  const commerce = createShopify({
    webhookSecrets: [],
    apiVersion: '2026-01',
    clock: systemClock,
    random: systemRandom,
    logger: createLogger({ level: 'silent' }),
  });
  const unset = await startApi({ commerce });
  const headers = webhookHeaders(body);
  const answer = await unset.call('POST', '/webhooks/commerce?websiteId=x', { raw: body, headers });
  expect(answer).toMatchObject({ status: 503, body: { error: 'Commerce webhooks are not configured' } });
  expect(answer.headers.get('retry-after')).toBe('60');
});
