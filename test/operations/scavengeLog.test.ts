import { describe, expect, test } from '@jest/globals';
import { auditedTypes } from '../../src/events/audited.js';
import { streams } from '../../src/events/catalogue.js';
import { scavenge } from '../../src/events/scavenge.js';
import { START } from '../../src/events/store/eventStore.js';
import { webhookStream } from '../../src/events/webhook/webhook.stream.js';
import { rebuildProjection } from '../../src/projections/runner/rebuild.js';
import { projections } from '../../src/projections/catalogue.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { operate } from '../support/server.js';
import { shopDomain, webhookBody, webhookHeaders, type WebhookOptions } from '../support/shopWebhooks.js';

const DAY_MS = 86_400_000;

const run = async ({ engine }: RunningApi, { days, drop }: { days: number; drop: boolean }) => {
  const found = await scavenge({ eventStore: engine.eventStore, streams, now: engine.clock.now() + days * DAY_MS, drop });
  return Object.fromEntries(found.map(({ category, ...count }) => [category, [count.streams, count.events]]));
};

const none = { 'client-email': [0, 0], 'deployment-lease': [0, 0], slug: [0, 0], webhook: [0, 0], 'webhook-content': [0, 0] };

test('what tells nothing is dropped after its time, and nobody sees a difference', async () => {
  const api = await startApi();
  const token = await api.mintToken();
  const post = async (path: string, body: object): Promise<string> =>
    ((await api.call('POST', path, { token, body })).body as { id: string }).id;
  const websiteId = await post('/websites', { name: 'Bakery', slug: 'bakery', tier: 'scale' });
  await post(`/websites/${websiteId}/services`, { kind: 'commerce', shopDomain, secrets: { adminToken: 'shpat_x' } });
  const deliver = (raw: string, options: WebhookOptions): Promise<ApiAnswer> =>
    api.call('POST', `/webhooks/commerce?websiteId=${websiteId}`, { raw, headers: webhookHeaders(raw, options) });
  const [changed, redacted] = [webhookBody(), webhookBody()];
  expect((await deliver(changed, { id: 'changed', topic: 'shop/update' })).status).toBe(200);
  expect((await deliver(redacted, { id: 'redacted', topic: 'customers/redact' })).status).toBe(200);
  const email = 'kim@example.com';
  const clientId = await post('/clients', { email, name: 'Kim' });
  await api.call('DELETE', `/clients/${clientId}`, { token });
  // The last event of the log stays where it is.
  await post('/websites', { name: 'Other', slug: 'other', tier: 'starter' });

  const audit = async (): Promise<unknown> => {
    const { body, headers } = await api.call('GET', '/audit?limit=100', { token });
    return [body, headers.get('total-count')];
  };
  const seen = await audit();
  const stored = async () => (await api.engine.eventStore.readAll({ after: START })).events;
  const before = await stored();

  expect(await run(api, { days: 29, drop: true })).toStrictEqual(none);
  const found = { ...none, 'client-email': [1, 2], webhook: [1, 1], 'webhook-content': [2, 2] };
  expect(await run(api, { days: 31, drop: false })).toStrictEqual(found);
  expect(await stored()).toStrictEqual(before);
  expect(await run(api, { days: 31, drop: true })).toStrictEqual(found);
  expect(await run(api, { days: 31, drop: true })).toStrictEqual(none);

  const left = await stored();
  const gone = ['ClientEmailReserved', 'ClientEmailReleased', 'WebhookContentClaimed', 'WebhookIgnored'];
  expect(left).toStrictEqual(before.filter(({ type }) => !gone.includes(type)));
  expect(await audit()).toStrictEqual(seen);
  const { eventStore, readModels, codec, clock, random, personal } = api.engine;
  const parts = {
    projections,
    random,
    eventStore,
    readModels,
    clock,
    personal,
    decode: (event: Parameters<typeof codec.decode>[0]) => codec.decode(event),
  };
  await rebuildProjection('audit', parts);
  expect(await audit()).toStrictEqual(seen);

  // Nothing of it comes back, or is taken for new.
  const shop = { topic: 'app/uninstalled' };
  for (const id of ['changed', 'forged']) expect((await deliver(changed, { ...shop, id })).status).toBe(200);
  for (const id of ['redacted', 'forged']) expect((await deliver(redacted, { id, topic: 'customers/redact' })).status).toBe(200);
  expect((await api.call('GET', `/websites/${websiteId}/services`, { token })).body).toHaveLength(1);
  expect((await eventStore.readStream(webhookStream.name({ websiteId, webhookId: 'redacted' }))).events).toHaveLength(1);
  expect(await stored()).toStrictEqual(left);
  expect(await post('/clients', { email, name: 'Kim' })).not.toBe(clientId);
});

test('the script says what may go, and drops it when it is told to, while the service runs', async () => {
  const api = await startApi();
  const script = (...args: string[]) => operate(api.folder, 'scavengeLog', args);
  const lines = Object.keys(none).map((category) => `${category}: 0 streams, 0 events`);
  expect((await script()).split('\n').sort()).toStrictEqual(
    [...lines.map((line) => `${line} may go`), 'Nothing was dropped. To drop them: npm run log:scavenge -- --drop'].sort(),
  );
  expect((await script('--drop')).split('\n').sort()).toStrictEqual(lines.map((line) => `${line} dropped`).sort());
  await expect(script('--all')).rejects.toThrow('Usage: npm run log:scavenge');
});

describe('a kind of stream that may be dropped', () => {
  const dropped = streams.filter(({ retention }) => retention !== undefined);

  test('ends with an event that the audit does not list', () => {
    expect(dropped.map(({ category }) => category).sort()).toStrictEqual(Object.keys(none).sort());
    for (const { events, retention } of dropped) {
      const ends = Object.keys(events).filter((type) => retention?.isEnd({ type, data: {} }) === true);
      expect(ends).not.toStrictEqual([]);
      expect(ends.filter((type) => auditedTypes.includes(type))).toStrictEqual([]);
    }
  });
});
