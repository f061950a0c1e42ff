import { afterEach, describe, expect, test } from '@jest/globals';
import { attachService, secretsOf } from '../../src/commands/service/service.handlers.js';
import type { CommandContext } from '../../src/commands/handleCommand.js';
import { EventStoreUnavailable, START } from '../../src/events/store/eventStore.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createLogger } from '../../src/platform/logger.js';
import { servicesOf } from '../../src/projections/service/service.queries.js';
import { createCommerceWebhooksWorker } from '../../src/workers/webhook/webhookWorker.js';
import { PAYLOAD_KEPT_MS, payloadNameOf, webhookProcess } from '../../src/workers/webhook/webhook.process.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { createFaultyEventStore, lostAnswer, lostRequest, unavailable } from '../support/faultyEventStore.js';
import { someAdmin } from '../support/given.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { openVaultIn } from '../support/vaults.js';
import { hastyClock } from '../support/provider.js';
import { shopDomain } from '../support/shopWebhooks.js';
import { partsOf, type TestProcess } from '../support/process.js';
import { engineOn, openStores } from '../workers/engines.js';
import { servicesFold } from '../../src/events/service/service.state.js';
import { servicesStream } from '../../src/events/service/service.stream.js';
import { webhookStream } from '../../src/events/webhook/webhook.stream.js';

const working: Worker[] = [];
afterEach(async () => {
  for (const worker of working.splice(0)) await worker.stop();
});

const websiteId = 'w1';

const createWorld = async () => {
  const clock = hastyClock(50);
  const stores = await openStores(clock);
  const eventStore = createFaultyEventStore(stores.eventStore);
  const log: Record<string, unknown>[] = [];
  const logger = createLogger({
    level: 'info',
    destination: { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const newEngine = (): TestProcess => engineOn({ ...stores, eventStore }, { clock, logger });
  const engine = newEngine();
  const context = (): CommandContext => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  return {
    engine,
    eventStore,
    log,
    attach: async (secret = 'shpat_1') => {
      const shop = { websiteId, kind: 'commerce', shopDomain } as const;
      return (await attachService(engine, shop, { adminToken: secret }, context())).serviceId;
    },
    receive: async (webhookId: string, topic = 'app/uninstalled', triggeredAt?: string) => {
      const webhook = { websiteId, webhookId, topic };
      const command = { type: 'ReceiveWebhook', ...webhook, shopDomain, triggeredAt } as const;
      await engine.handle(webhookProcess, command, context());
    },
    reopen: (webhookId: string) =>
      engine.handle(webhookProcess, { type: 'ReopenWebhook', websiteId, webhookId, topic: 'app/uninstalled' }, context()),
    storePayload: (webhookId: string, payload: string) =>
      engine.vault.storeSecret(payloadNameOf({ websiteId, webhookId }), Buffer.from(payload), clock.now() + PAYLOAD_KEPT_MS),
    payloadOf: (webhookId: string) => engine.vault.secret(payloadNameOf({ websiteId, webhookId })),
    /** A worker of a process of its own; `changed` changes what it works with. */
    start: async (changed: (own: TestProcess) => TestProcess = (own) => own): Promise<Worker> => {
      const worker = createCommerceWebhooksWorker(partsOf(changed(newEngine())));
      working.push(worker);
      await worker.start();
      return worker;
    },
    /** Resolves with the types of the webhook's events once the last is `type`. */
    until: (webhookId: string, type: string): Promise<readonly string[]> =>
      eventually(`${webhookId} is ${type}`, async () => {
        const { events } = await stores.eventStore.readStream(webhookStream.name({ websiteId, webhookId }));
        return events.at(-1)?.type === type ? events.map((event) => event.type) : undefined;
      }),
    types: async (prefix: string): Promise<readonly string[]> => {
      const { events } = await stores.eventStore.readAll({ after: START, filter: { streamPrefixes: [prefix] } });
      return events.map(({ type }) => type);
    },
  };
};

describe('an app that was uninstalled', () => {
  test('takes the service away and revokes its secrets', async () => {
    const { engine, attach, receive, start, until } = await createWorld();
    const serviceId = await attach();
    await start();
    await receive('h1');
    expect(await until('h1', 'WebhookProcessed')).toStrictEqual(['WebhookReceived', 'WebhookProcessed']);
    expect(await servicesOf(engine, websiteId)).toStrictEqual([]);
    expect(await secretsOf(engine, serviceId)).toStrictEqual({});
  });

  test('long ago leaves what was attached since', async () => {
    const { engine, attach, receive, start, until } = await createWorld();
    await attach('shpat_1');
    const since = await attach('shpat_2');
    await receive('late', 'app/uninstalled', '2020-01-01T00:00:00.000Z');
    await start();
    await until('late', 'WebhookProcessed');
    expect((await servicesOf(engine, websiteId)).map(({ id }) => id)).toStrictEqual([since]);
    expect(await secretsOf(engine, since)).toStrictEqual({ adminToken: 'shpat_2' });
  });

  test('is processed once by many workers, and again by none after a restart', async () => {
    const { attach, receive, start, until, types } = await createWorld();
    await attach();
    const workers = await Promise.all([start(), start(), start()]);
    await Promise.all(Array.from({ length: 20 }, (_, index) => receive(`h${index}`)));
    for (let index = 0; index < 20; index += 1) await until(`h${index}`, 'WebhookProcessed');
    for (const worker of workers) await worker.stop();
    await start();
    await receive('last');
    await until('last', 'WebhookProcessed');
    const all = await types('webhook-');
    expect(all.filter((type) => type === 'WebhookProcessed')).toHaveLength(21);
    expect(await types('services-')).toStrictEqual(['ServiceAttached', 'ServiceDetached']);
  });

  test.each([
    ['lost on the way', lostRequest],
    ['answered too late', lostAnswer],
    ['refused by a store that is away', unavailable],
  ])('is processed once when an append is %s, whichever it is', async (_, fault) => {
    for (const isSecond of [false, true]) {
      const { eventStore, engine, attach, receive, start, until, types } = await createWorld();
      const serviceId = await attach();
      await receive('h1');
      if (isSecond) eventStore.appendFaults.push((append) => append());
      eventStore.appendFaults.push(fault);
      await start();
      expect(await until('h1', 'WebhookProcessed')).toStrictEqual(['WebhookReceived', 'WebhookProcessed']);
      expect(await types('services-')).toStrictEqual(['ServiceAttached', 'ServiceDetached']);
      expect(await secretsOf(engine, serviceId)).toStrictEqual({});
    }
  });
});

test.each(['customers/data_request', 'customers/redact', 'shop/redact'])(
  '%s is acknowledged by one line in the log',
  async (topic) => {
    const { log, receive, start, until } = await createWorld();
    await Promise.all([start(), start()]);
    await receive('h1', topic);
    await until('h1', 'WebhookProcessed');
    const lines = await eventually('the line', () => {
      const found = log.filter(({ msg }) => msg === 'a compliance webhook was received');
      return found.length > 0 ? found : undefined;
    });
    expect(lines).toMatchObject([{ websiteId, topic, shopDomain, webhookId: 'h1' }]);
  },
);

test('what cannot be processed is tried again, parked, and processed when it is reopened', async () => {
  const { eventStore, log, attach, receive, reopen, start, until, types } = await createWorld();
  await attach();
  const forGood = new ProviderFault({ provider: 'test', message: 'It never works', transient: false });
  const faults = [new Error('shpat_canary'), new Error('shpat_canary'), forGood];
  eventStore.readFault = (read, stream) =>
    stream === servicesStream.name({ websiteId }) ? Promise.reject(faults.shift() ?? forGood) : read();
  await start();
  await receive('h1');
  const failures = Array.from({ length: 3 }, () => 'WebhookFailed');
  expect(await until('h1', 'WebhookParked')).toStrictEqual(['WebhookReceived', ...failures, 'WebhookParked']);
  const { events } = await eventStore.readStream(webhookStream.name({ websiteId, webhookId: 'h1' }));
  expect(JSON.stringify(events.map(({ data }) => data))).not.toContain('canary');
  expect(log.filter(({ msg }) => msg === 'a commerce webhook could not be processed')).toHaveLength(3);

  eventStore.readFault = null;
  await reopen('h1');
  const all = ['WebhookReceived', ...failures, 'WebhookParked', 'WebhookReopened', 'WebhookProcessed'];
  expect(await until('h1', 'WebhookProcessed')).toStrictEqual(all);
  expect(await types('services-')).toStrictEqual(['ServiceAttached', 'ServiceDetached']);
});

test('a store that is away is waited for, and is no failure of the webhook', async () => {
  const { eventStore, engine, attach, receive, start, until } = await createWorld();
  await attach();
  let asked = 0;
  eventStore.readFault = (read, stream) => {
    if (stream !== servicesStream.name({ websiteId }) || asked === 3) return read();
    asked += 1;
    return Promise.reject(new EventStoreUnavailable('away'));
  };
  await start();
  await receive('h1');
  expect(await until('h1', 'WebhookProcessed')).toStrictEqual(['WebhookReceived', 'WebhookProcessed']);
  expect(asked).toBe(3);
  expect((await engine.state(servicesFold, { websiteId })).state.services).toStrictEqual([]);
});

describe('a payload', () => {
  const body = JSON.stringify({
    shop_id: 1,
    data_request: { id: 9 },
    orders_requested: [1],
    customer: { email: 'kim@example.com' },
  });

  test('is handed to what reacts to the webhook, and gone once it is processed', async () => {
    const { log, receive, storePayload, payloadOf, start, until } = await createWorld();
    await storePayload('h1', body);
    await receive('h1', 'customers/data_request');
    await start();
    await until('h1', 'WebhookProcessed');
    await eventually('the payload is gone', async () => ((await payloadOf('h1')) === null ? true : undefined));
    const lines = log.filter(({ msg }) => msg === 'a compliance webhook was received');
    expect(lines).toMatchObject([{ shopId: 1, dataRequestId: 9, orders: 1 }]);
    expect(JSON.stringify(log)).not.toContain('kim@example.com');
  });

  test('of a webhook whose worker died after it was processed is deleted by the next', async () => {
    const { receive, storePayload, payloadOf, start, until } = await createWorld();
    await storePayload('h1', body);
    await receive('h1', 'customers/data_request');
    const dead = await start((own) => ({ ...own, vault: { ...own.vault, deleteSecret: () => new Promise(() => undefined) } }));
    await until('h1', 'WebhookProcessed');
    void dead.stop();
    expect(await payloadOf('h1')).not.toBeNull();
    await start();
    await eventually('the payload is gone', async () => ((await payloadOf('h1')) === null ? true : undefined));
  });

  test('without an event, as a kill in between leaves it, is gone after 31 days', async () => {
    const clock = createTestClock();
    const { vault, close } = await openVaultIn(temporaryFolder(), clock);
    await vault.storeSecret('left', Buffer.from(body), clock.now() + PAYLOAD_KEPT_MS);
    clock.setTime(clock.now() + 31 * 86_400_000 - 1);
    expect([await vault.purgeSecrets(), await vault.secret('left')]).toStrictEqual([0, Buffer.from(body)]);
    clock.setTime(clock.now() + 1);
    expect([await vault.secret('left'), await vault.purgeSecrets()]).toStrictEqual([null, 1]);
    await close();
  });

  test.each(['', 'kim@example.com', 'null', '[]', '{"data_request":null,"orders_requested":"kim@example.com"}'])(
    'of a compliance webhook that says something else is acknowledged, and not logged: %p',
    async (other) => {
      const { log, receive, storePayload, start, until } = await createWorld();
      await storePayload('h1', other);
      await receive('h1', 'customers/redact');
      await start();
      expect(await until('h1', 'WebhookProcessed')).toStrictEqual(['WebhookReceived', 'WebhookProcessed']);
      await eventually('the line', () => log.find(({ msg }) => msg === 'a compliance webhook was received'));
      expect(JSON.stringify(log)).not.toContain('kim@');
    },
  );

  test('stays while the webhook fails', async () => {
    const { eventStore, attach, receive, storePayload, payloadOf, start, until } = await createWorld();
    await attach();
    eventStore.readFault = (read, stream) =>
      stream === servicesStream.name({ websiteId }) ? Promise.reject(new Error('broken')) : read();
    await storePayload('h1', body);
    await receive('h1');
    await start();
    await until('h1', 'WebhookFailed');
    expect(await payloadOf('h1')).not.toBeNull();
  });
});
