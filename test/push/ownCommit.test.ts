import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { START } from '../../src/events/store/eventStore.js';
import { createGitServer } from '../../src/integrations/sourceHost/gitServer.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import { createLocalPushWorker } from '../../src/workers/push/localPushWorker.js';
import { createPushWorker } from '../../src/workers/push/pushWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { commitTo } from '../contracts/hostingSites.js';
import { startSite, type Site } from '../support/contentSite.js';
import { eventually } from '../support/eventually.js';
import { repositoryIn } from '../support/folders.js';
import { deployingOn } from '../support/process.js';

let site: Site;
/** Looks whether somebody pushed, as the watch of the repository does at any time. */
let look = (): Promise<void> => Promise.resolve();
const workers: Worker[] = [];

beforeAll(async () => {
  site = await startSite((embedded) => {
    // The branch has moved, and no deployment has its commit yet.
    const startDeployment: Hosting['startDeployment'] = async (...request) => {
      await look();
      return embedded.hosting.startDeployment(...request);
    };
    return { ...embedded, hosting: { ...embedded.hosting, startDeployment } };
  });
  const { engine } = site.api;
  const files = createGitServer({ ...engine, folder: join(site.api.folder, 'repositories') });
  const gitServer = {
    ...files,
    watch: ({ compare }: Parameters<typeof files.watch>[0]) => {
      look = () => compare('bakery');
      return Promise.resolve(() => undefined);
    },
  };
  const parts = deployingOn(engine, site);
  workers.push(createPushWorker(parts), createLocalPushWorker({ ...parts, gitServer }));
  for (const worker of workers) await worker.start();
}, 60_000);

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
});

const pushes = async (): Promise<readonly unknown[]> => {
  const { events } = await site.api.engine.eventStore.readAll({ after: START, filter: { streamPrefixes: ['push-'] } });
  return events.map(({ type, data }) => [type, (data as { commit: string }).commit]);
};

const deployed = async (): Promise<readonly string[]> =>
  ((await site.call('GET', '/deployments')).body as readonly { readonly commit: string }[]).map(({ commit }) => commit);

test('a commit that the service makes is deployed once, though the repository is watched', async () => {
  const [first] = await deployed();
  await site.save('company', { ...(await site.read('company')).body, tagline: 'Bread' });
  const { commit: published } = await site.publish();
  expect(await pushes()).toEqual([['OwnCommitMade', published]]);

  // What somebody pushes after it is deployed too, so that nothing else is still to come.
  const cloneUrl = `file://${repositoryIn(site.api.folder, 'bakery')}`;
  const pushed = commitTo({ id: 'bakery', name: 'bakery', defaultBranch: 'main', cloneUrl }, { 'new.html': 'New page' });
  await look();
  await eventually('the deployment of the push', async () => ((await deployed())[0] === pushed ? true : undefined));
  expect(await deployed()).toEqual([pushed, published, first]);
  expect(await pushes()).toEqual([
    ['OwnCommitMade', published],
    ['DefaultBranchPushed', pushed],
  ]);
});
