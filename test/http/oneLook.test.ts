import { beforeAll, expect, test } from '@jest/globals';
import { startEverybody, type Everybody, type Person } from '../support/everybody.js';

let everybody: Everybody;
const reads: { readonly stream: string; readonly since: number | undefined }[] = [];

beforeAll(async () => {
  everybody = await startEverybody({
    instrument: (store) => ({
      ...store,
      readStream: (stream, options) => {
        reads.push({ stream, since: options?.since });
        return store.readStream(stream, options);
      },
    }),
  });
});

/** What a request reads that is not the first of its kind: one that is reads streams to their ends. */
const readsOf = async (person: Person, path: string): Promise<typeof reads> => {
  const { api, credentials, websiteId } = everybody;
  const call = () => api.call('GET', path.replace(':id', websiteId), { token: credentials[person].token });
  expect((await call()).status).toBe(200);
  reads.length = 0;
  expect((await call()).status).toBe(200);
  return [...reads];
};

test.each([
  ['admin', '/websites/:id/delivery', 4],
  ['owner', '/websites/:id/delivery', 7],
  ['viewer', '/websites/:id/delivery', 8],
  ['viewer', '/websites/:id/provisioning', 8],
] as const)('a request of the %s for %s reads its streams since the moment at which it came', async (person, path, count) => {
  const [earlier, later] = [await readsOf(person, path), await readsOf(person, path)];
  const [first] = earlier;
  const [second] = later;
  expect(earlier).toEqual(Array.from({ length: count }, () => ({ stream: expect.any(String), since: first?.since })));
  expect(later.map(({ stream }) => stream)).toEqual(earlier.map(({ stream }) => stream));
  expect(new Set(later.map(({ since }) => since))).toEqual(new Set([second?.since]));
  expect(second?.since).toBeGreaterThan(first?.since ?? Infinity);
});
