import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { createMongoReadModelStore, type MongoReadModelStore } from '../../src/projections/store/mongodb/mongoReadModelStore.js';
import {
  ReadModelDropped,
  ReadModelStoreUnavailable,
  type DocumentWrite,
  type ReadModel,
} from '../../src/projections/store/readModelStore.js';
import { createScriptedMongo, duplicateError, type Command, type Fields, type ScriptedMongo } from '../support/scriptedMongo.js';

const sites: ReadModel = { name: 'site', version: '1', indexes: [{ field: 'status' }] };
const sitesNext: ReadModel = { ...sites, version: '2' };
const all = { order: 'ascending', limit: 10 } as const;

const write = (id: string, position: number): DocumentWrite => ({
  id,
  position: BigInt(position),
  revision: 0n,
  body: { status: String(position) },
});

const opened: { readonly close: () => Promise<void> }[] = [];

afterEach(async () => {
  // In reverse order, so that a store closes its connections while the server still runs.
  for (const one of opened.splice(0).reverse()) await one.close();
});

const serverOf = async (...kind: Parameters<typeof createScriptedMongo>): Promise<ScriptedMongo> => {
  const server = await createScriptedMongo(...kind);
  opened.push(server);
  return server;
};

const openStore = async (url: string): Promise<MongoReadModelStore> => {
  const store = await createMongoReadModelStore({ url, clock: systemClock, random: systemRandom });
  opened.push(store);
  return store;
};

/** A store on a server of the kind, on which a version holds one document. */
const world = async (...kind: Parameters<typeof createScriptedMongo>) => {
  const server = await serverOf(...kind);
  const store = await openStore(`mongodb://${server.address}/doorstep?minHeartbeatFrequencyMS=20`);
  await store.prepare(sites);
  await store.apply(sites, [write('a', 1)], 1n);
  return { server, store };
};

const isDocuments = ({ target }: Command): boolean => typeof target === 'string' && target.startsWith('readModel.');
const refusal = (code: number, codeName: string, more: Fields = {}): Fields => ({
  ok: 0,
  code,
  codeName,
  errmsg: codeName,
  ...more,
});
const notMajority = { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting for replication timed out' };

const everyCall = async (store: MongoReadModelStore): Promise<void> => {
  await store.ping();
  await store.prepare(sites);
  await store.apply(sites, [write('a', 1), write('b', 2)], 2n);
  await store.apply(sites, [write('a', 1), write('b', 3), { ...write('c', 3), body: null }], 3n);
  expect(await store.checkpoint(sites)).toBe(3n);
  expect((await store.get(sites, 'a'))?.position).toBe(1n);
  expect((await store.getMany(sites, ['a', 'b'])).size).toBe(2);
  expect(await store.find(sites, all)).toHaveLength(2);
  await store.purgeTombstones(sites, 9n);
  await store.prepare(sitesNext);
  await store.publish(sitesNext);
  expect(await store.records.insert('answers', 'k', {}, 1)).toBe(true);
  await store.records.put('answers', 'k', { n: 1 }, 1);
  expect(await store.records.purgeExpired()).toBe(1);
  await store.records.delete('answers', 'k');
};

describe('commands sent to MongoDB', () => {
  const weak = 'w=1&journal=false&wtimeoutMS=10&readConcernLevel=local&retryWrites=true';
  test.each([
    ['an address without options', ''],
    ['an address that asks for less', `?${weak}&readPreference=secondaryPreferred&readPreferenceTags=dc:here`],
    ['an address that reads where it is near', `?${weak}&readPreference=nearest&maxStalenessSeconds=120`],
  ])('%s: a majority confirms every write, and the primary answers every read from what a majority has', async (_, options) => {
    const server = await serverOf('replica set');
    await everyCall(await openStore(`mongodb://${server.address}/doorstep${options}`));
    const sent = (name: RegExp) => server.commands.filter((command) => name.test(command.name)).map(({ fields }) => fields);
    const concerns = sent(/^(update|delete|drop|createIndexes)$/).map(({ writeConcern }) => writeConcern as Fields);
    expect(concerns.length).toBeGreaterThan(8);
    for (const { w, j, wtimeout } of concerns) expect([w, j, Number(wtimeout)]).toEqual(['majority', true, 1_800]);
    // No other command may have a read concern.
    const reads = server.commands.map(({ fields }) => fields).filter(({ readConcern }) => readConcern !== undefined);
    expect(reads).toEqual(sent(/^find$/));
    expect(reads.length).toBeGreaterThan(8);
    // All are majority but one: the read of the documents for which a write was refused.
    expect(new Set(reads.map(({ readConcern }) => (readConcern as Fields)['level']))).toEqual(new Set(['majority', 'local']));
    expect(reads.filter(({ readConcern }) => (readConcern as Fields)['level'] === 'local')).toHaveLength(1);
    expect(
      server.commands.map(({ fields }) => fields['$readPreference']).filter((preference) => preference !== undefined),
    ).toEqual([]);
  });

  test('no other commands than those that a user needs the role readWrite for', async () => {
    const server = await serverOf('standalone');
    await everyCall(await openStore(`mongodb://${server.address}/doorstep`));
    const { commands } = server;
    expect(new Set(commands.map(({ name }) => name))).toEqual(
      new Set(['ping', 'find', 'update', 'delete', 'createIndexes', 'listCollections', 'drop']),
    );
    expect(commands.find(({ name }) => name === 'listCollections')?.fields['nameOnly']).toBe(true);
    expect(new Set(commands.map(({ fields }) => fields['$db']))).toEqual(new Set(['doorstep']));
  });

  test.each([
    ['', 'doorstep'],
    ['/', 'doorstep'],
    ['/?appName=x', 'doorstep'],
    ['/other?appName=x', 'other'],
    ['/my%2Ddata', 'my-data'],
  ])('the address ends in "%s": the database is %s', async (end, name) => {
    const server = await serverOf('standalone');
    await (await openStore(`mongodb://${server.address}${end}`)).ping();
    expect(server.commands.at(-1)?.fields['$db']).toBe(name);
  });

  test.each(['standalone', 'replica set', 'sharded cluster'] as const)(
    'counts may be 64-bit integers: a %s that says so is understood',
    async (kind) => {
      const server = await serverOf(kind, { wideCounts: true });
      await everyCall(await openStore(`mongodb://${server.address}/doorstep`));
    },
  );
});

describe('answers of MongoDB', () => {
  test.each<[string, Fields]>([
    ['alone', { ok: 1, n: 1, nModified: 1, writeConcernError: notMajority }],
    ['beside a duplicate', { ok: 1, n: 0, nModified: 0, writeErrors: [duplicateError(0)], writeConcernError: notMajority }],
    ['with a code of its own', { ok: 1, n: 1, nModified: 1, writeConcernError: { code: 4_711, errmsg: 'not confirmed' } }],
  ])('a write that a majority did not confirm, %s, is not taken for durable', async (_, reply) => {
    const { server, store } = await world('replica set');
    server.script((command) => (command.name === 'update' && isDocuments(command) ? reply : undefined));
    await expect(store.apply(sites, [write('a', 2)], 2n)).rejects.toThrow(ReadModelStoreUnavailable);
    server.script(() => undefined);
    expect(await store.checkpoint(sites)).toBe(1n);

    server.script(({ name, target }) => (name === 'update' && target === 'readModels' ? reply : undefined));
    await expect(store.apply(sites, [], 3n)).rejects.toThrow(ReadModelStoreUnavailable);
    await expect(store.publish(sitesNext)).rejects.toThrow(ReadModelDropped);
    await expect(store.publish(sites)).rejects.toThrow(ReadModelStoreUnavailable);

    server.script(({ target }) => (target === 'records' ? reply : undefined));
    await expect(store.records.insert('answers', 'k', {})).rejects.toThrow(ReadModelStoreUnavailable);
    await expect(store.records.put('answers', 'k', {})).rejects.toThrow(ReadModelStoreUnavailable);
    await expect(store.records.delete('answers', 'k')).rejects.toThrow(ReadModelStoreUnavailable);
  });

  test.each<[string, Fields]>([
    [
      'of a write',
      {
        ok: 1,
        n: 0,
        nModified: 0,
        writeErrors: [
          duplicateError(0),
          { index: 1, code: 11_602, codeName: 'InterruptedDueToReplStateChange', errmsg: 'operation was interrupted' },
        ],
      },
    ],
    [
      'of a collection that is dropped',
      { ok: 1, n: 0, writeErrors: [duplicateError(0), { index: 1, code: 175, errmsg: 'dropped' }] },
    ],
    ['of all', refusal(189, 'PrimarySteppedDown')],
  ])('an interruption in the middle of many writes, %s, is not taken for a duplicate', async (_, reply) => {
    const { server, store } = await world('sharded cluster');
    server.script((command) => (command.name === 'update' && isDocuments(command) ? reply : undefined));
    await expect(store.apply(sites, [write('a', 2), write('b', 2)], 2n)).rejects.toThrow(ReadModelStoreUnavailable);
    server.script(() => undefined);
    expect(await store.checkpoint(sites)).toBe(1n);
    await store.apply(sites, [write('a', 2), write('b', 2)], 2n);
    expect((await store.get(sites, 'b'))?.position).toBe(2n);
  });

  test('a primary that is replaced: the write is sent again by itself, and takes effect once', async () => {
    const { server, store } = await world('replica set');
    let refusals = 0;
    server.script(({ name, target }) => {
      if (name !== 'update' || target !== 'records' || refusals > 0) return undefined;
      refusals += 1;
      return refusal(10_107, 'NotWritablePrimary', { errorLabels: ['RetryableWriteError'] });
    });
    expect(await store.records.insert('answers', 'k', { n: 1 })).toBe(true);
    expect(await store.records.insert('answers', 'k', { n: 2 })).toBe(false);
    expect([refusals, await store.records.get('answers', 'k')]).toEqual([1, { n: 1 }]);
    const sent = server.commands.filter(({ target }) => target === 'records').map(({ fields }) => fields['txnNumber']);
    expect(sent[0]).toBeDefined();
    expect(sent[1]).toEqual(sent[0]);
  });

  test.each<[string, Fields]>([
    ['the server is no longer the primary', refusal(10_107, 'NotWritablePrimary')],
    ['it shuts down', refusal(11_600, 'InterruptedAtShutdown')],
    ['it took too long', refusal(50, 'MaxTimeMSExpired')],
    ['it has no majority to read from', refusal(134, 'ReadConcernMajorityNotAvailableYet')],
    ['a shard cannot be reached', refusal(133, 'FailedToSatisfyReadPreference')],
    ['the routing is stale', refusal(13_388, 'StaleConfig')],
    ['it was interrupted', refusal(11_601, 'Interrupted')],
    ['there is too much to do', refusal(462, 'IngressRequestRateLimitExceeded')],
    ['there is too much to do, as only a label says', refusal(4_711, 'New', { errorLabels: ['SystemOverloadedError'] })],
    ['the user may not', refusal(13, 'Unauthorized')],
  ])('%s: the store is unavailable', async (_, reply) => {
    const { server, store } = await world('standalone');
    server.script(({ name }) => (name === 'find' ? reply : undefined));
    await expect(store.get(sites, 'a')).rejects.toThrow(ReadModelStoreUnavailable);
    await expect(store.checkpoint(sites)).rejects.toThrow(ReadModelStoreUnavailable);
  });

  test('credentials that are not taken: unavailable, and not quoted', async () => {
    const server = await serverOf('standalone');
    server.script(({ name, fields }) =>
      name === 'saslStart' ? refusal(18, 'AuthenticationFailed', { errmsg: `no ${inspect(fields)} s3cret` }) : undefined,
    );
    const store = await openStore(`mongodb://us3rname:s3cret@${server.address}/doorstep?authMechanism=PLAIN`);
    const fault: unknown = await store.ping().catch((thrown: unknown) => thrown);
    expect(fault).toBeInstanceOf(ReadModelStoreUnavailable);
    expect(String(fault)).toMatch(/ 18: no /);
    expect(inspect(fault, { depth: 10, showHidden: true })).not.toMatch(/s3cret|us3rname/);
    expect(server.commands.map(({ name }) => name)).toContain('saslStart');
  });

  test('certificates that are not there: unavailable', async () => {
    const store = await openStore('mongodb://127.0.0.1:1/doorstep?tls=true&tlsCAFile=/nowhere/ca.pem');
    await expect(store.ping()).rejects.toThrow(ReadModelStoreUnavailable);
    await expect(store.apply(sites, [write('a', 1)], 1n)).rejects.toThrow(ReadModelStoreUnavailable);
  });
});

test('records that have expired are removed, also while an index cannot be made', async () => {
  const { server, store } = await world('replica set');
  await store.records.put('answers', 'old', {}, 1);
  await store.records.put('answers', 'lasting', {});
  server.script(({ name }) => (name === 'createIndexes' ? { ok: 1, writeConcernError: notMajority } : undefined));
  await expect(store.records.purgeExpired()).rejects.toThrow(ReadModelStoreUnavailable);
  const deletions = server.commands
    .filter(({ name }) => name === 'delete')
    .map(({ fields }) => JSON.stringify(fields['deletes']));
  expect(deletions).toEqual([expect.stringContaining('old')]);
});

describe('a version that is dropped while it is read', () => {
  const killed = [
    ['at once', () => refusal(175, 'QueryPlanKilled')],
    [
      'between two parts of an answer',
      ({ name, target }: Command) =>
        name === 'getMore'
          ? refusal(43, 'CursorNotFound')
          : { ok: 1, cursor: { id: 7n, ns: `doorstep.${String(target)}`, firstBatch: [] } },
    ],
  ] as const;

  test.each(killed)('is said to be dropped, %s', async (_, reply) => {
    const { server, store } = await world('standalone');
    const other = await openStore(`mongodb://${server.address}/doorstep`);
    await other.prepare(sitesNext);
    await other.publish(sitesNext);
    server.script((command) =>
      command.name === 'getMore' || (command.name === 'find' && isDocuments(command)) ? reply(command) : undefined,
    );
    await expect(store.find(sites, all)).rejects.toThrow(ReadModelDropped);
    await expect(store.getMany(sites, ['a'])).rejects.toThrow(ReadModelDropped);
  });

  test.each(killed)('and one that is still there is unavailable, %s', async (_, reply) => {
    const { server, store } = await world('standalone');
    server.script((command) =>
      command.name === 'getMore' || (command.name === 'find' && isDocuments(command)) ? reply(command) : undefined,
    );
    await expect(store.find(sites, all)).rejects.toThrow(ReadModelStoreUnavailable);
    server.script(() => undefined);
    expect(await store.find(sites, all)).toHaveLength(1);
  });
});
