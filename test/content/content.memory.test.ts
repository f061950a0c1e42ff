import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { FindSiteMedia } from '../../src/events/content/content.files.js';
import { createRoutes, type RouteParts } from '../../src/http/routes/index.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { createPublicationWorker } from '../../src/workers/publication/publicationWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';
import { deployingOn } from '../support/process.js';

// Builds take a while on a busy machine.
jest.setTimeout(90_000);

/** How many drafts and publications of each website hold its files in memory. */
const holding = new Map<string, number>();
let mostOfOne = 0;
let mostInAll = 0;
let reads = 0;
/** Drafts that were asked for. */
let recorded = 0;
/** Comes before files are read. */
let beforeRead = (): Promise<void> => Promise.resolve();

const change = (websiteId: string, by: number): void => {
  holding.set(websiteId, (holding.get(websiteId) ?? 0) + by);
  mostOfOne = Math.max(mostOfOne, ...holding.values());
  mostInAll = Math.max(
    mostInAll,
    [...holding.values()].reduce((sum, each) => sum + each, 0),
  );
};

/** One picture, whose file is held until what it was read for has come to its end. */
const findMedia: FindSiteMedia = (websiteId, id) => {
  const content = async () => {
    reads += 1;
    change(websiteId, 1);
    await beforeRead();
    return Buffer.from('a loaf');
  };
  const variant = { name: '800.webp', width: 800, type: 'image/webp', bytes: 6, content };
  return Promise.resolve({ id, alt: 'A loaf', width: 800, height: 600, variants: [variant] });
};

const workers: Worker[] = [];
let api: RunningApi;
let token: string;
const paths: string[] = [];

beforeAll(async () => {
  let used: RouteParts | undefined;
  const idOf = new Map<string, string>();
  const released = async <Result>(name: string, work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } finally {
      change(idOf.get(name) ?? '', -1);
    }
  };
  api = await startApi({
    sites: true,
    instrument: (eventStore) => ({
      ...eventStore,
      append: (stream, ...more) => {
        if (stream.startsWith('preview-')) recorded += 1;
        return eventStore.append(stream, ...more);
      },
    }),
    routes: (parts) => {
      const { previews, sourceHost } = parts;
      used = {
        ...parts,
        findMedia,
        previews: { ...previews, show: (name, draft) => released(name, previews.show(name, draft)) },
        sourceHost: { ...sourceHost, commitFiles: (name, made) => released(name, sourceHost.commitFiles(name, made)) },
      };
      return createRoutes(used);
    },
  });
  if (used === undefined) throw new Error('there are no routes');
  const parts = { ...used, ...deployingOn(api.engine, used) };
  workers.push(createProvisioningWorker({ ...parts, visit: () => Promise.resolve(200) }), createPublicationWorker(parts));
  for (const worker of workers) await worker.start();
  token = await api.mintToken();
  for (const slug of ['bakery', 'butcher', 'brewery']) {
    const { body } = await api.call('POST', '/websites', { token, body: { name: slug, slug } });
    const { id } = body as { id: string };
    idOf.set(slug, id);
    const path = `/websites/${id}`;
    paths.push(path);
    await eventually(
      'an active website',
      async () => ((await api.call('GET', path, { token })).body as { status: string }).status === 'active' || undefined,
      30_000,
    );
    const document = { baseHash: null, body: { picture: { mediaId: '01kw2v3s8g6f7x0m4qz9b1c5dn' } } };
    expect((await api.call('PUT', `${path}/content/gallery`, { token, body: document })).status).toBe(200);
  }
}, 90_000);

afterAll(async () => {
  for (const worker of workers) await worker.stop();
});

const preview = (path = ''): Promise<{ readonly status: number }> => api.call('POST', `${path}/content/preview`, { token });

test('a draft whose caller has gone is not begun', async () => {
  const [path = ''] = paths;
  let goOn = (): void => undefined;
  const readable = new Promise<void>((resolve) => (goOn = resolve));
  beforeRead = () => readable;
  const first = preview(path);
  await eventually('the first one reads', () => (reads === 1 ? true : undefined));
  const leaving = new AbortController();
  const gone = fetch(`${api.url}/v1${path}/content/preview`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    signal: leaving.signal,
  });
  await eventually('the second one waits', () => (recorded === 2 ? true : undefined));
  leaving.abort();
  await expect(gone).rejects.toThrow('abort');
  const third = preview(path);
  await eventually('the third one waits', () => (recorded === 3 ? true : undefined));
  goOn();
  expect((await Promise.all([first, third])).map(({ status }) => status)).toEqual([200, 200]);
  expect(reads).toBe(2);
  beforeRead = () => Promise.resolve();
});

test('drafts and publications hold the files of two websites at a time, and of each once', async () => {
  const asked = paths.flatMap((path) => [preview(path), preview(path), preview(path)]);
  const published = paths.map((path) => api.call('POST', `${path}/content/publish`, { token }));
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200));
  expect((await Promise.all(published)).map(({ status }) => status)).toEqual(published.map(() => 202));
  expect([mostOfOne, mostInAll]).toEqual([1, 2]);
});
