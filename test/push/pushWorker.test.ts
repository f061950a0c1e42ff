import { afterEach, expect, test } from '@jest/globals';
import { streamPrefix } from '../../src/events/defineStream.js';
import { redeployStream } from '../../src/events/deployment/deployment.stream.js';
import { START } from '../../src/events/store/eventStore.js';
import { pushProcess } from '../../src/workers/push/push.process.js';
import { createPushWorker } from '../../src/workers/push/pushWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { activeWebsite } from '../support/activeWebsite.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { collectLogs } from '../support/logs.js';
import { deployingOn } from '../support/process.js';
import { engineOn } from '../workers/engines.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { createRemote, permanentFault, providersOn } from '../workers/remote.js';

const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

test('a push whose provider refuses to say what is deployed is recorded as not deployed, and logged', async () => {
  const stores = await createMemoryStores();
  const { logger, lines } = collectLogs();
  const engine = engineOn(stores, { logger });
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const websiteId = await activeWebsite(engine, context);
  const { sourceHost, hosting } = providersOn(createRemote());
  const listDeployments = () => Promise.reject(permanentFault('The account is closed'));
  const worker = createPushWorker(deployingOn(engine, { sourceHost, hosting: { ...hosting, listDeployments } }));
  workers.push(worker);
  await worker.start();
  await engine.handle(pushProcess, { type: 'RecordPush', websiteId, commit: 'abc' }, context());

  const recorded = async () => {
    const { events } = await stores.eventStore.readAll({
      after: START,
      filter: { streamPrefixes: [streamPrefix(redeployStream)] },
    });
    return events.length < 2 ? undefined : events;
  };
  expect(await eventually('the outcome of the push', recorded)).toMatchObject([
    { type: 'RedeployRequested', data: { websiteId, provider: 'remote', projectId: 'p1' } },
    { type: 'RedeployNotStarted', data: { websiteId, reason: 'The account is closed' } },
  ]);
  expect(lines().filter((line) => line.includes('a push could not be deployed'))).toHaveLength(1);
});
