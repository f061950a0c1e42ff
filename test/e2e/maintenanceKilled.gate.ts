import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import { NO_STREAM, START, WrongExpectedRevision, type NewEvent, type StoredEvent } from '../../src/events/store/eventStore.js';
import { webhookStream } from '../../src/events/webhook/webhook.stream.js';
import { eventually } from '../support/eventually.js';
import { onFolder } from '../support/onFolder.js';
import { createApi, launchOperation, launchServer, mintToken, operate, startServer, type Api } from '../support/server.js';
import { shopDomain, webhookBody, webhookHeaders } from '../support/shopWebhooks.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';

/** What goes on beside requests, killed (`kill -9`) again and again. */
const kills = 4;

test('the move of an earlier version’s mails, killed again and again, loses none and lists each once', async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const folder = join(dataDir, 'outbox');
  await mkdir(folder, { recursive: true });
  const ids = await onFolder(dataDir, (engine) => Promise.resolve(Array.from({ length: 3_000 }, () => engine.ids.commandId())));
  const recipientOf = (index: number): string => `person-${String(index % 50)}@example.com`;
  for (const [index, id] of ids.entries()) {
    const to = recipientOf(index);
    const stored = { id, to, subject: `Mail ${id}`, text: 'Text', html: '<p>Text</p>', links: [], at: new Date().toISOString() };
    await writeFile(join(folder, `${id}.json`), JSON.stringify(stored));
    await writeFile(join(folder, `${id}.eml`), `To: ${to}\r\nSubject: Mail ${id}\r\n\r\nText\r\n`);
  }
  const flatFiles = async (): Promise<readonly string[]> => (await readdir(folder)).filter((name) => /\.(json|eml)$/.test(name));

  let left = (await flatFiles()).length;
  for (let kill = 0; kill < kills; kill += 1) {
    const server = launchServer(dataDir);
    left = await eventually('some more moved', async () => {
      const { length } = await flatFiles();
      return length <= left - 300 ? length : undefined;
    });
    expect(await server.kill('SIGKILL')).toBe('SIGKILL');
  }
  expect(left).toBeGreaterThan(0);

  const server = await startServer(dataDir);
  await eventually('the rest moved', async () => ((await flatFiles()).length === 0 ? true : undefined));
  const api = createApi(server.address, token);
  expect((await mailsOf(api)).sort()).toStrictEqual([...ids].sort());
  const theirs = ids.filter((_, index) => recipientOf(index) === recipientOf(7));
  expect((await mailsOf(api, recipientOf(7))).sort()).toStrictEqual(theirs.sort());
  expect(await server.kill('SIGTERM')).toBe(0);
  const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.eml'));
  expect(files).toHaveLength(ids.length);
}, 240_000);

/** The ids of the mails, page by page. */
const mailsOf = async (api: Api, to?: string): Promise<string[]> => {
  const ids: string[] = [];
  const only = to === undefined ? '' : `&to=${encodeURIComponent(to)}`;
  for (let path: string | undefined = `/outbox?limit=200${only}`; path !== undefined;) {
    const { status, headers, body } = await api.get(path);
    expect(status).toBe(200);
    ids.push(...(body as { id: string }[]).map(({ id }) => id));
    path = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return ids;
};

test('a scavenge of the log, killed again and again, drops what may go, whole, and nothing else', async () => {
  const dataDir = temporaryFolder();
  // Makes the log.
  await mintToken(dataDir);
  const file = join(dataDir, 'events.db');
  const ignored = (webhookId: string): NewEvent => ({
    id: crypto.randomUUID(),
    type: 'WebhookIgnored',
    schemaVersion: 1,
    data: { websiteId: 'w1', webhookId, topic: 'shop/update', shopDomain },
    metadata: {
      at: '2020-01-01T00:00:00.000Z',
      actor: { subject: 'shop', role: 'system', via: 'webhook' },
      requestId: 'request',
      correlationId: 'command',
      causationId: 'command',
    },
  });
  const streamOf = (webhookId: string): string => webhookStream.name({ websiteId: 'w1', webhookId });
  const store = async (webhookIds: readonly string[], ageDays: number): Promise<void> => {
    const clock = createTestClock(Date.now() - ageDays * 86_400_000);
    const eventStore = await createEmbeddedEventStore({ file, clock });
    await Promise.all(webhookIds.map((webhookId) => eventStore.append(streamOf(webhookId), [ignored(webhookId)], NO_STREAM)));
    await eventStore.close();
  };
  const old = Array.from({ length: 4_000 }, (_, index) => `old-${String(index)}`);
  await store(old, 40);
  await store(['new-0', 'new-1', 'new-2'], 10);

  const stored = (): Promise<readonly StoredEvent[]> =>
    onFolder(dataDir, async ({ eventStore }) => {
      const all: StoredEvent[] = [];
      for (let after = START; ;) {
        const { events, position } = await eventStore.readAll({ after });
        all.push(...events);
        if (position <= after) return all;
        after = position;
      }
    });
  const before = await stored();
  const oldStreams = new Set(old.map(streamOf));
  const kept = before.filter(({ stream }) => !oldStreams.has(stream));
  expect(before).toHaveLength(kept.length + old.length);

  let left = before.length;
  for (let kill = 0; kill < kills; kill += 1) {
    const scavenging = launchOperation(dataDir, 'scavengeLog', ['--drop']);
    const ended = once(scavenging, 'exit');
    left = await eventually('some more dropped', async () => {
      const { length } = await stored();
      return length <= left - 100 ? length : undefined;
    });
    scavenging.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
    expect((await stored()).filter(({ stream }) => !oldStreams.has(stream))).toStrictEqual(kept);
  }
  expect(left).toBeGreaterThan(kept.length);

  await operate(dataDir, 'scavengeLog', ['--drop']);
  expect(await stored()).toStrictEqual(kept);
  expect(await operate(dataDir, 'scavengeLog', ['--drop'])).toContain('webhook: 0 streams, 0 events dropped');
  await onFolder(dataDir, async ({ eventStore }) => {
    for (const stream of oldStreams) expect(await eventStore.readStream(stream)).toMatchObject({ events: [], head: 0n });
    const again = eventStore.append(streamOf('old-0'), [ignored('old-0')], NO_STREAM);
    await expect(again).rejects.toThrow(WrongExpectedRevision);
  });
}, 240_000);

test('webhooks that are ignored, answered by a server that is killed again and again, are remembered outside the log', async () => {
  const dataDir = temporaryFolder();
  const token = await mintToken(dataDir);
  const settings = { COMMERCE_WEBHOOK_SECRET: 'secret' };
  let server = await startServer(dataDir, settings);
  const { body: website } = await createApi(server.address, token).post('/websites', {
    name: 'Bakery',
    slug: 'bakery',
    tier: 'scale',
  });
  const { id } = website as { id: string };
  const attached = await createApi(server.address, token).post(`/websites/${id}/services`, {
    kind: 'commerce',
    shopDomain,
    secrets: { adminToken: 'shpat_x' },
  });
  const { id: serviceId } = attached.body as { id: string };

  const deliver = async (webhookId: string): Promise<number> => {
    const body = webhookBody();
    const headers = webhookHeaders(body, { id: webhookId, topic: 'orders/create' });
    const answer = await fetch(`${server.address}/webhooks/commerce?websiteId=${id}`, { method: 'POST', headers, body });
    await answer.text();
    return answer.status;
  };
  const answered: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const enough = answered.length + 40;
    const deliveries = Array.from({ length: 200 }, async (_, index) => {
      const webhookId = `h${String(kill)}-${String(index)}`;
      if ((await deliver(webhookId)) === 200) answered.push(webhookId);
    });
    await eventually('some are answered', () => (answered.length >= enough ? true : undefined));
    expect(await server.kill('SIGKILL')).toBe('SIGKILL');
    await Promise.allSettled(deliveries);
    server = await startServer(dataDir, settings);
  }

  // Who sent one while the shop was attached may repeat it afterwards, and nobody else may.
  const detached = await createApi(server.address, token).delete(`/websites/${id}/services/${serviceId}`);
  expect(detached.status).toBe(204);
  for (const webhookId of answered) expect([webhookId, await deliver(webhookId)]).toEqual([webhookId, 200]);
  expect(await deliver('never-before')).toBe(403);
  const inLog = await onFolder(dataDir, ({ eventStore }) =>
    eventStore.readAll({ after: START, filter: { streamPrefixes: ['webhook-'] } }),
  );
  expect(inLog.events).toEqual([]);
  expect(await server.kill('SIGTERM')).toBe(0);
}, 240_000);
