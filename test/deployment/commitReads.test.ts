import { expect, test } from '@jest/globals';
import { deploymentRoutes, type DeploymentRouteParts } from '../../src/http/routes/deployment/deployment.routes.js';
import type { RouteRequest } from '../../src/http/route.js';
import { eventually } from '../support/eventually.js';

const repository = { provider: 'embedded', id: 'bakery', name: 'bakery', cloneUrl: '', defaultBranch: 'main' };

test('of one website two read commits at a time, and whoever went away meanwhile reads none', async () => {
  const reads: (() => void)[] = [];
  const sourceHost = {
    provider: 'embedded',
    listCommits: () =>
      new Promise((resolve) =>
        reads.push(() => {
          resolve([]);
        }),
      ),
  };
  const routes = deploymentRoutes({ sourceHost, reader: {}, engine: {} } as unknown as DeploymentRouteParts);
  const list = routes.find(({ operationId }) => operationId === 'listCommits');
  const ask = async (websiteId: string, signal = new AbortController().signal): Promise<unknown> =>
    list?.answer(
      { website: { website: { id: websiteId, repository } }, query: {}, signal } as unknown as RouteRequest,
      undefined,
    );

  const first = [ask('bakery'), ask('bakery')];
  const leaving = new AbortController();
  const left = Promise.allSettled(Array.from({ length: 20 }, () => ask('bakery', leaving.signal)));
  const last = ask('bakery');
  const elsewhere = ask('butcher');
  await eventually('the other website', () => (reads.length >= 3 ? true : undefined));
  expect(reads).toHaveLength(3);
  leaving.abort(new Error('gone'));
  reads.splice(0).forEach((read) => {
    read();
  });
  expect(new Set((await left).map(({ status }) => status))).toEqual(new Set(['rejected']));
  await Promise.all([...first, elsewhere]);
  await eventually('the last', () => reads[0]);
  expect(reads).toHaveLength(1);
  reads[0]?.();
  expect(await last).toMatchObject({ body: [] });
});
