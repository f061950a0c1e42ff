import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { START } from '../../src/events/store/eventStore.js';
import { payloadNameOf, webhookContentDecider } from '../../src/workers/webhook/webhook.process.js';
import { createCommerceWebhooksWorker } from '../../src/workers/webhook/webhookWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';
import { shopDomain, webhookBody, webhookHeaders, type WebhookOptions } from '../support/shopWebhooks.js';

/** Somebody has one delivery that the platform signed, and the address of a website. */

const otherShop = { status: 403, body: { code: 'other_shop' } };
const person = 'john.canary@example.com';

let api: RunningApi;
let token: string;
let websiteId: string;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});

let count = 0;
beforeEach(async () => {
  count += 1;
  const body = { name: 'Bakery', slug: `bakery-${count}`, tier: 'scale' };
  ({ id: websiteId } = (await api.call('POST', '/websites', { token, body })).body as { id: string });
});

const attach = async (): Promise<string> => {
  const body = { kind: 'commerce', shopDomain, secrets: { adminToken: 'shpat_x' } };
  return ((await api.call('POST', `/websites/${websiteId}/services`, { token, body })).body as { id: string }).id;
};
const attached = async (): Promise<readonly string[]> => {
  const { body } = await api.call('GET', `/websites/${websiteId}/services`, { token });
  return (body as { id: string }[]).map(({ id }) => id);
};
const deliver = (raw: string, options: WebhookOptions = {}): Promise<ApiAnswer> =>
  api.call('POST', `/webhooks/commerce?websiteId=${websiteId}`, { raw, headers: webhookHeaders(raw, options) });

const typesOf = async (): Promise<readonly string[]> => {
  const filter = { streamPrefixes: [`webhook-${websiteId}-`] };
  const { events } = await api.engine.eventStore.readAll({ after: START, filter });
  return events.map(({ type }) => type);
};
/** Processes what is queued, and stops. */
const processed = async (expected: number): Promise<void> => {
  const worker: Worker = createCommerceWebhooksWorker(partsOf(api.engine));
  await worker.start();
  await eventually('all are processed', async () => {
    const done = (await typesOf()).filter((type) => type === 'WebhookProcessed');
    return done.length === expected ? true : undefined;
  });
  await worker.stop();
};

describe('one signed delivery', () => {
  test('sent again under other webhook ids takes nothing away a second time', async () => {
    const body = webhookBody();
    await attach();
    expect((await deliver(body)).status).toBe(200);
    await processed(1);
    expect(await attached()).toStrictEqual([]);

    const again = await attach();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => deliver(body, { id: `forged-${index}` })));
    expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]));
    const honest = webhookBody();
    expect((await deliver(honest, { topic: 'shop/redact' })).status).toBe(200);
    await processed(2);
    expect(await attached()).toStrictEqual([again]);
    expect(await typesOf()).toStrictEqual(['WebhookReceived', 'WebhookProcessed', 'WebhookReceived', 'WebhookProcessed']);
  });

  test('whose first delivery was cut off before it was queued is not lost to another id', async () => {
    await attach();
    const body = webhookBody();
    // As a kill between the two appends leaves it.
    const dry = await api.call('POST', `/webhooks/commerce?websiteId=${websiteId}&dryRun=1`, {
      raw: body,
      headers: webhookHeaders(body, { id: 'first' }),
    });
    const [claimed] = (dry.body as { events: { type: string; data: { content: string } }[] }).events;
    const claim = { type: 'ClaimWebhookContent', websiteId, content: claimed?.data.content ?? '', webhookId: 'first' } as const;
    const { ids } = api.engine;
    await api.engine.handle(webhookContentDecider, claim, { commandId: ids.commandId(), actor: someAdmin, requestId: 'r' });
    expect((await deliver(body, { id: 'second' })).status).toBe(200);
    expect((await deliver(body, { id: 'first' })).status).toBe(200);
    await processed(1);
    expect(await attached()).toStrictEqual([]);
  });

  test.each([
    ['of another shop', webhookBody('other.myshopify.com'), 'app/uninstalled'],
    ['about a customer of another shop', webhookBody('other.myshopify.com'), 'customers/redact'],
    ['about its customer, called an uninstallation', JSON.stringify({ shop_domain: 'other.myshopify.com' }), 'app/uninstalled'],
    ['of its app, called a redaction', JSON.stringify({ myshopify_domain: 'other.myshopify.com' }), 'customers/redact'],
  ])('%s is refused, and the service stays', async (_, body, topic) => {
    const service = await attach();
    expect(await deliver(body, { topic })).toMatchObject(otherShop);
    expect(await typesOf()).toStrictEqual([]);
    expect(await attached()).toStrictEqual([service]);
  });

  test('that says it was triggered in the future takes nothing away that is attached after it came', async () => {
    await attach();
    expect((await deliver(webhookBody(), { triggeredAt: '2099-01-01T00:00:00.000Z' })).status).toBe(200);
    const since = await attach();
    await processed(1);
    expect(await attached()).toStrictEqual([since]);
  });
});

test('the payload can be read in no file, event or line of the log, and is gone once it is processed', async () => {
  await attach();
  const body = webhookBody(shopDomain, { customer: { email: person }, data_request: { id: 7 }, orders_requested: [1, 2] });
  expect((await deliver(body, { id: 'people', topic: 'customers/data_request' })).status).toBe(200);
  const payload = () => api.engine.vault.secret(payloadNameOf({ websiteId, webhookId: 'people' }));
  expect(Buffer.from((await payload()) ?? []).toString()).toBe(body);
  const readable = (): readonly string[] => {
    const files = readdirSync(api.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files.filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(person)).map(({ name }) => name);
  };
  expect(readable()).toStrictEqual([]);
  await processed(1);
  await eventually('the payload is gone', async () => ((await payload()) === null ? true : undefined));
  expect(readable()).toStrictEqual([]);
  const lines = api.log.filter(({ webhookId }) => webhookId === 'people');
  expect(lines).toMatchObject([{ webhookId: 'people', shopDomain, dataRequestId: 7, orders: 2 }]);
  expect(JSON.stringify(api.log)).not.toContain(person);
});
