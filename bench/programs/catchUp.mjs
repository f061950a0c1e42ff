/**
 * Reads all events of an EventStoreDB in one way, again for each message: with the bare client, by
 * the service's subscription, or into all read models. A process of its own for each way, since the
 * client library allows one client in a process.
 */
import { EventStoreDBClient, START, excludeSystemEvents } from '@eventstore/db-client';
import { newInstallation, withEngine } from '../support/doorstep.mjs';
import { rebuildModels } from '../support/rebuilds.mjs';

/**
 * @typedef {'client' | 'subscription' | 'models'} Way
 * @typedef {{ ms: number, microseconds: number }} Cost - `microseconds` of processor time
 */

const [way = '', url = '', count = '0'] = process.argv.slice(2);
const events = Number(count);

/** @param {() => Promise<unknown>} work */
const answer = (work) => {
  process.on('message', () => {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    void work().then(() => {
      const { user, system } = process.cpuUsage(before);
      /** @type {Cost} */
      const cost = { ms: performance.now() - startedAt, microseconds: user + system };
      process.send?.(cost);
    });
  });
};

const withClient = () => {
  const client = EventStoreDBClient.connectionString(url);
  answer(async () => {
    const subscription = client.subscribeToAll({ fromPosition: START, filter: excludeSystemEvents({ maxSearchWindow: 1_000 }) });
    const iterator = subscription[Symbol.asyncIterator]();
    for (let seen = 0; seen < events; seen += 1) await iterator.next();
    await subscription.unsubscribe();
  });
};

const withService = async () => {
  const { folder, environment } = newInstallation('catch-up');
  // Its vault is empty: the events of the measure hold nothing that is encrypted.
  const installation = { folder, environment: { ...environment, EVENT_STORE_URL: url, ACCEPT_EMPTY_VAULT: 'yes' } };
  await withEngine(installation, async (engine) => {
    answer(() => (way === 'models' ? rebuildModels(engine) : subscribeTo(engine)));
    await new Promise(() => undefined);
  });
};

/** @param {import('../support/doorstep.mjs').Engine} engine */
const subscribeTo = async ({ eventStore }) => {
  const { signal } = new AbortController();
  let seen = 0;
  for await (const slice of eventStore.subscribe({ after: 0n, signal })) {
    seen += slice.events.length;
    if (seen >= events) break;
  }
};

process.on('disconnect', () => {
  process.exit();
});
if (way === 'client') withClient();
else await withService();
