import { expect, test } from '@jest/globals';
import { START } from '../../src/events/store/eventStore.js';
import { payloadNameOf } from '../../src/workers/webhook/webhook.process.js';
import { eventually } from '../support/eventually.js';
import { onFolder } from '../support/onFolder.js';
import { createApi, mintToken, startServer } from '../support/server.js';
import { shopDomain, webhookBody, webhookHeaders } from '../support/shopWebhooks.js';
import { temporaryFolder } from '../support/temporary.js';

const secrets = { COMMERCE_WEBHOOK_SECRET: 'secret,previous' };

/** The event types of each webhook in order, by its id. */
const histories = (folder: string): Promise<ReadonlyMap<string, readonly string[]>> =>
  onFolder(folder, async ({ eventStore }) => {
    const found = new Map<string, string[]>();
    for (let after = START; ;) {
      const { events, position } = await eventStore.readAll({ after, filter: { streamPrefixes: ['webhook-'] } });
      if (events.length === 0) return found;
      for (const { type, data } of events) {
        if (type === 'WebhookContentClaimed') continue;
        const webhookId = data.webhookId as string;
        found.set(webhookId, [...(found.get(webhookId) ?? []), type]);
      }
      after = position;
    }
  });

/** Those webhooks whose payload is in the vault. */
const withPayload = (folder: string, websiteId: string, webhookIds: Iterable<string>): Promise<readonly string[]> =>
  onFolder(folder, async ({ vault }) => {
    const found: string[] = [];
    for (const webhookId of webhookIds) {
      if ((await vault.secret(payloadNameOf({ websiteId, webhookId }))) !== null) found.push(webhookId);
    }
    return found;
  });

test('every acknowledged webhook is processed once, however often the server is killed', async () => {
  const folder = temporaryFolder();
  // At first no worker processes the accepted webhooks.
  let server = await startServer(folder, { ...secrets, PROCESS_ROLES: 'api' });
  const api = createApi(server.address, await mintToken(folder));
  const { body: website } = await api.post('/websites', { name: 'Bakery', slug: 'bakery', tier: 'scale' });
  const { id } = website as { id: string };
  const attached = await api.post(`/websites/${id}/services`, {
    kind: 'commerce',
    shopDomain,
    secrets: { adminToken: 'shpat_x' },
  });
  expect(attached.status).toBe(201);

  const answered = new Set<string>();
  const deliver = async (webhookId: string, topic: string): Promise<void> => {
    const body = webhookBody();
    const headers = webhookHeaders(body, { id: webhookId, topic });
    const answer = await fetch(`${server.address}/webhooks/commerce?websiteId=${id}`, { method: 'POST', headers, body });
    if (answer.status === 200) answered.add(webhookId);
    await answer.text();
  };
  for (const round of [0, 1, 2]) {
    if (round > 0) server = await startServer(folder, secrets);
    const before = answered.size;
    const deliveries = Array.from({ length: 150 }, (_, index) => deliver(`h${round}-${index}`, 'customers/redact'));
    await eventually('some are answered', () => (answered.size >= before + 40 ? true : undefined));
    await server.kill('SIGKILL');
    await Promise.allSettled(deliveries);
    // No worker has run yet: the payload of what was answered is stored.
    if (round === 0) expect(await withPayload(folder, id, answered)).toStrictEqual([...answered]);
  }
  server = await startServer(folder, secrets);
  try {
    await deliver('last', 'app/uninstalled');
    expect(answered.size).toBeGreaterThan(120);
    const found = await eventually('all are processed', async () => {
      const all = await histories(folder);
      return [...all.values()].every((types) => types.at(-1) === 'WebhookProcessed') ? all : undefined;
    });
    for (const webhookId of answered) expect(found.has(webhookId)).toBe(true);
    for (const types of found.values()) expect(types).toStrictEqual(['WebhookReceived', 'WebhookProcessed']);
    await eventually('all payloads are gone', async () => {
      const left = await withPayload(folder, id, found.keys());
      return left.length === 0 ? true : undefined;
    });
    const services = await createApi(server.address, await mintToken(folder)).get(`/websites/${id}/services`);
    expect(services.body).toStrictEqual([]);
  } finally {
    await server.kill('SIGTERM');
  }
}, 60_000);
