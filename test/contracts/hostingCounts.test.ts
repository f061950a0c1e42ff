import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { createSiteHandlers } from '../../src/integrations/hosting/serve.js';
import { createSiteUrls } from '../../src/integrations/hosting/siteUrls.js';
import { serveSites } from './hostingSites.js';
import { temporaryFolder } from '../support/temporary.js';

const counted: string[] = [];
let base: string;

beforeAll(async () => {
  const folder = temporaryFolder();
  const files = new Map([
    ['index.html', 'h1'],
    ['about/index.html', 'h2'],
    ['404.html', 'h3'],
    ['style.css', 'h4'],
  ]);
  mkdirSync(join(folder, 'about'));
  for (const file of files.keys()) writeFileSync(join(folder, file), file);
  const { belowSites } = createSiteHandlers({
    find: (project) =>
      Promise.resolve(
        project === 'bakery'
          ? { folder, files, compressedFolder: folder, compressed: new Set<string>(), project, isUnedited: false }
          : null,
      ),
    findAtDomain: () => Promise.resolve(null),
    urls: createSiteUrls(() => base, undefined),
    countPage: ({ project, path, query, headers, peer }) =>
      counted.push([project, path, query, headers['user-agent'], peer].join(' ')),
  });
  base = await serveSites(() => belowSites);
});

/** Without `fetch`, which sends `cache-control: no-cache`. */
const ask = (
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(`${base}/sites${path}`, { method, headers: { 'user-agent': 'Browser', ...headers } }, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode ?? 0);
      });
    });
    sent.on('error', reject).end();
  });

test('pages of a current deployment are counted when requested, also when the browser has them cached', async () => {
  expect(await ask('/bakery/')).toBe(200);
  expect(await ask('/bakery/about/?utm_source=x')).toBe(200);
  expect(await ask('/bakery/', { headers: { 'if-none-match': '"h1"' } })).toBe(304);
  expect(counted.splice(0)).toStrictEqual([
    'bakery /  Browser 127.0.0.1',
    'bakery /about/ utm_source=x Browser 127.0.0.1',
    'bakery /  Browser 127.0.0.1',
  ]);
});

test.each<[string, string, { method?: string }, number]>([
  ['a file', '/bakery/style.css', {}, 200],
  ['a redirect to a page', '/bakery/about', {}, 301],
  ['a missing page', '/bakery/nothing/', {}, 404],
  ['another deployment', '/bakery/_deployments/1/', {}, 200],
  ['a HEAD request', '/bakery/', { method: 'HEAD' }, 200],
  ['no site', '/butcher/', {}, 404],
])('%s is not counted', async (_, path, init, status) => {
  expect(await ask(path, init)).toBe(status);
  expect(counted).toStrictEqual([]);
});
