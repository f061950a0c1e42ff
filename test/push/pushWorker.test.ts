import { afterEach, expect, test } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { streamPrefix } from '../../src/events/defineStream.js';
import { redeployStream } from '../../src/events/deployment/deployment.stream.js';
import { START } from '../../src/events/store/eventStore.js';
import type { Deployment, Hosting } from '../../src/integrations/hosting/port.js';
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
import { positionOf } from '../workers/positions.js';
import { createRemote, permanentFault, providersOn } from '../workers/remote.js';

const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

/** A website outside, whose pushes a worker deploys. */
const createWorld = async (changed: Partial<Hosting> = {}) => {
  const stores = await createMemoryStores();
  const { logger, lines } = collectLogs();
  const engine = engineOn(stores, { logger });
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const websiteId = await activeWebsite(engine, context);
  const remote = createRemote();
  const { sourceHost, hosting } = providersOn(remote);
  return {
    engine,
    context,
    websiteId,
    remote,
    lines,
    recorded: async () => {
      const { events } = await stores.eventStore.readAll({
        after: START,
        filter: { streamPrefixes: [streamPrefix(redeployStream)] },
      });
      return events;
    },
    /** Records a push, and resolves when the worker is done with it. */
    push: async (commit: string): Promise<void> => {
      await engine.handle(pushProcess, { type: 'RecordPush', websiteId, commit }, context());
      const position = await stores.eventStore.lastPosition();
      const worker = createPushWorker(deployingOn(engine, { sourceHost, hosting: { ...hosting, ...changed } }));
      workers.push(worker);
      await worker.start();
      const isDone = async () => BigInt((await positionOf(stores.readModels.records, 'push')) ?? 0) >= position;
      await eventually('the reaction', async () => ((await isDone()) ? true : undefined));
    },
  };
};

test('a push whose provider refuses to say what is deployed is recorded as not deployed, and logged', async () => {
  const listDeployments = () => Promise.reject(permanentFault('The account is closed'));
  const { websiteId, lines, recorded, push } = await createWorld({ listDeployments });
  await push('abc');
  expect(await recorded()).toMatchObject([
    { type: 'RedeployRequested', data: { websiteId, provider: 'remote', projectId: 'p1' } },
    { type: 'RedeployNotStarted', data: { websiteId, reason: 'The account is closed' } },
  ]);
  expect(lines().filter((line) => line.includes('a push could not be deployed'))).toHaveLength(1);
});

test.each<[string, string, Deployment['status'], readonly string[]]>([
  ['is not deployed again while that shows it', 'abc', 'ready', []],
  ['is deployed again after that failed', 'abc', 'failed', ['RedeployRequested', 'RedeployStarted']],
  ['is deployed when that shows another', 'def', 'ready', ['RedeployRequested', 'RedeployStarted']],
])('a push whose provider has a deployment already %s', async (_, commit, status, expected) => {
  const { remote, recorded, push } = await createWorld();
  remote.deployments.push({ id: 'd1', marker: 'of the provider', status, url: '', commit: 'abc', createdAt: '' });
  await push(commit);
  expect((await recorded()).map(({ type }) => type)).toEqual(expected);
});

test('a push to an archived website is not deployed', async () => {
  const { engine, context, websiteId, recorded, push } = await createWorld();
  await engine.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId }, context());
  await push('abc');
  expect(await recorded()).toEqual([]);
});
