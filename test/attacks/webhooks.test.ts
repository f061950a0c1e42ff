import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { START } from '../../src/events/store/eventStore.js';
import { webhookContentStream } from '../../src/events/webhook/webhook.stream.js';
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
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

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

/** What claims the body for its topic. */
const contentOf = async (raw: string): Promise<string> => {
  const path = `/webhooks/commerce?websiteId=${websiteId}&dryRun=1`;
  const { body } = await api.call('POST', path, { raw, headers: webhookHeaders(raw) });
  return (body as { events: { data: { content: string } }[] }).events[0]?.data.content ?? '';
};
const claim = async (webhookId: string, content: string): Promise<void> => {
  const command = { type: 'ClaimWebhookContent', websiteId, content, webhookId } as const;
  const context = { commandId: api.engine.ids.commandId(), actor: someAdmin, requestId: 'r' };
  await api.engine.handle(webhookContentDecider, command, context);
};

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
    await claim('first', await contentOf(body));
    expect((await deliver(body, { id: 'second' })).status).toBe(200);
    expect((await deliver(body, { id: 'first' })).status).toBe(200);
    await processed(1);
    expect(await attached()).toStrictEqual([]);
  });

  test.each([
    ['by its topic', contentOf],
    ['by an earlier build', (body: string) => Promise.resolve(api.engine.blindIndex(sha256(body)))],
  ])('that was claimed %s, and whose claim the log has dropped since, is not queued again', async (_, contentIn) => {
    await attach();
    const body = webhookBody();
    const content = await contentIn(body);
    await claim('first', content);
    await api.engine.eventStore.drop(webhookContentStream.name({ websiteId, content }), 0n);
    const later = await startApi({ folder: api.folder });
    const headers = webhookHeaders(body, { id: 'forged' });
    const answer = await later.call('POST', `/webhooks/commerce?websiteId=${websiteId}`, { raw: body, headers });
    expect([answer.status, await typesOf()]).toStrictEqual([200, []]);
    await later.stop();
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

test('no payload is left by a delivery that came while another of the same webhook was processed', async () => {
  await attach();
  const [body, options] = [webhookBody(), { id: 'twice' }];
  const { vault } = api.engine;
  const store = vault.storeSecret.bind(vault);
  const storing = jest.spyOn(vault, 'storeSecret').mockImplementationOnce(async (...secret) => {
    expect((await deliver(body, options)).status).toBe(200);
    await processed(1);
    await store(...secret);
  });
  expect((await deliver(body, options)).status).toBe(200);
  expect(storing).toHaveBeenCalledTimes(2);
  expect(await vault.secret(payloadNameOf({ websiteId, webhookId: 'twice' }))).toBeNull();
  storing.mockRestore();
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
