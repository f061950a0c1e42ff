import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { createMongoReadModelStore, type MongoReadModelStore } from '../../src/projections/store/mongodb/mongoReadModelStore.js';
import {
  ReadModelDropped,
  ReadModelStoreUnavailable,
  type DocumentWrite,
  type ReadModel,
  type ReadModelStore,
} from '../../src/projections/store/readModelStore.js';
import { eventually } from '../support/eventually.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { createTcpProxy, type TcpProxy } from '../support/tcpProxy.js';
import { createTestClock } from '../support/testClock.js';

const sites: ReadModel = { name: 'site', version: '1', indexes: [{ field: 'status' }] };
const sitesNext: ReadModel = { ...sites, version: '2' };

const write = (id: string, position: number, status = String(position)): DocumentWrite => ({
  id,
  position: BigInt(position),
  revision: 0n,
  body: { status },
});

const opened: { readonly close: () => Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

const openStore = async (url: string, clock: Clock = systemClock): Promise<MongoReadModelStore> => {
  const store = await createMongoReadModelStore({ url, clock, random: systemRandom });
  opened.push(store);
  return store;
};

const threeStores = async (url: string) => [await openStore(url), await openStore(url), await openStore(url)] as const;

const collectionsOf = async (url: string, prefix: string): Promise<readonly string[]> => {
  const client = new MongoClient(url);
  opened.push(client);
  return (await client.db().listCollections().toArray()).map(({ name }) => name).filter((name) => name.startsWith(prefix));
};

const calls = (store: ReadModelStore): Readonly<Record<string, () => Promise<unknown>>> => ({
  prepare: () => store.prepare(sites),
  get: () => store.get(sites, 'a'),
  getMany: () => store.getMany(sites, ['a']),
  find: () => store.find(sites, { order: 'ascending', limit: 10 }),
  search: () => store.find(sites, { order: 'ascending', limit: 10, search: { fields: ['status'], text: 'a' } }),
  apply: () => store.apply(sites, [write('a', 9)], 9n),
  checkpoint: () => store.checkpoint(sites),
  reached: () => store.reached(sites, 99n, new AbortController().signal),
  liveVersion: () => store.liveVersion('site'),
  publish: () => store.publish(sites),
  purgeTombstones: () => store.purgeTombstones(sites, 9n),
  'records.get': () => store.records.get('answers', 'a'),
  'records.insert': () => store.records.insert('answers', 'a', {}),
  'records.put': () => store.records.put('answers', 'a', {}),
  'records.delete': () => store.records.delete('answers', 'a'),
  'records.purgeExpired': () => store.records.purgeExpired(),
  ping: () => store.ping(),
});

forEachReadModelServer((server) => {
  // The proxy stands in front of one server. It cannot stand in front of an address of several
  // servers or one that is resolved by SRV records, and a server's certificate does not name it.
  const isProxied = /^mongodb:\/\/[^,]+:\d+/.test(server.url) && !/[?&](?:tls|ssl)=true/.test(server.url);
  const suite = isProxied ? describe : describe.skip;
  suite(`faults between the service and ${server.name}`, () => {
    /** A database, and a proxy between it and the stores that meet the faults. */
    const faultyDatabase = async (): Promise<{ url: string; proxied: string; proxy: TcpProxy }> => {
      const url = mongoDatabase(server);
      const proxied = new URL(url);
      const proxy = await createTcpProxy({ host: proxied.hostname, port: Number(proxied.port) });
      opened.push(proxy);
      proxied.host = proxy.address;
      // Otherwise a replica set would give the driver its own addresses.
      proxied.searchParams.set('directConnection', 'true');
      // Otherwise the driver would repeat a lost write by itself and hide the loss.
      proxied.searchParams.set('retryWrites', 'false');
      return { url, proxy, proxied: proxied.href };
    };

    test('a server that takes the connection and never answers is given up in time, by every call', async () => {
      const { proxy, proxied } = await faultyDatabase();
      const clock = createTestClock();
      const store = await openStore(proxied, clock);
      await store.prepare(sites);
      await store.ping();
      proxy.stall();
      for (const [name, call] of Object.entries(calls(store))) {
        let ended = false;
        const outcome = call().then(
          () => `${name} answered`,
          (fault: unknown) => fault,
        );
        void outcome.then(() => (ended = true));
        await clock.advance(1_700);
        expect([name, ended]).toEqual([name, false]);
        await clock.advance(200);
        expect(await outcome).toBeInstanceOf(ReadModelStoreUnavailable);
      }
      expect(clock.pending()).toBe(0);
    });

    test('a server that is gone is given up in time, and found again by itself', async () => {
      const { proxy, proxied } = await faultyDatabase();
      const store = await openStore(proxied);
      await store.prepare(sites);
      await store.apply(sites, [write('a', 1)], 1n);
      proxy.cut();
      const outcomes = await Promise.all(
        Object.values(calls(store)).map((call) => call().then(String, (fault: unknown) => (fault as Error).name)),
      );
      expect(new Set(outcomes)).toEqual(new Set(['ReadModelStoreUnavailable']));

      proxy.restore();
      await eventually('the store to answer again', () =>
        store.ping().then(
          () => true,
          () => undefined,
        ),
      );
      expect(await store.checkpoint(sites)).toBe(1n);
      await store.apply(sites, [write('a', 2)], 2n);
      expect((await store.get(sites, 'a'))?.position).toBe(2n);
    });

    test('a connection lost between documents and checkpoint leaves the checkpoint where it was; applying again changes nothing', async () => {
      const { url, proxy, proxied } = await faultyDatabase();
      const store = await openStore(proxied);
      const witness = await openStore(url);
      await store.prepare(sites);
      await store.apply(sites, [write('a', 1)], 1n);

      // The checkpoint is in the collection `readModels`.
      proxy.cutBefore('update', 'readModels');
      const applying = store.apply(sites, [write('a', 3), write('b', 2)], 3n);
      await expect(applying).rejects.toThrow(ReadModelStoreUnavailable);
      expect(await witness.checkpoint(sites)).toBe(1n);
      expect((await witness.get(sites, 'a'))?.position).toBe(3n);

      await eventually('the batch to be applied', () =>
        store.apply(sites, [write('a', 3), write('b', 2)], 3n).then(
          () => true,
          () => undefined,
        ),
      );
      expect(await witness.checkpoint(sites)).toBe(3n);
      expect((await witness.find(sites, { order: 'ascending', limit: 10 })).map(({ id, position }) => [id, position])).toEqual([
        ['a', 3n],
        ['b', 2n],
      ]);
    });

    test.each([
      ['documents', ['update', 'readModel.']],
      ['the checkpoint', ['update', 'readModels']],
    ])('an answer about %s that is lost is settled by applying again', async (_, words) => {
      const { url, proxy, proxied } = await faultyDatabase();
      const store = await openStore(proxied);
      const witness = await openStore(url);
      await store.prepare(sites);
      for (let position = 1; position <= 3; position += 1) {
        proxy.cutAfter(...words);
        await eventually(`position ${String(position)}`, () =>
          store.apply(sites, [write('a', position), write(`b${String(position)}`, position)], BigInt(position)).then(
            () => true,
            (fault: unknown) => {
              expect(fault).toBeInstanceOf(ReadModelStoreUnavailable);
              return undefined;
            },
          ),
        );
        expect(await witness.checkpoint(sites)).toBe(BigInt(position));
      }
      expect((await witness.find(sites, { order: 'ascending', limit: 10 })).map(({ id, body }) => [id, body['status']])).toEqual([
        ['a', '3'],
        ['b1', '1'],
        ['b2', '2'],
        ['b3', '3'],
      ]);
    });

    test('a wait for a checkpoint is rejected when the store is lost', async () => {
      const { proxy, proxied } = await faultyDatabase();
      const store = await openStore(proxied);
      await store.prepare(sites);
      const waiting = expect(store.reached(sites, 5n, new AbortController().signal)).rejects.toThrow(ReadModelStoreUnavailable);
      await store.ping();
      proxy.cut();
      await waiting;
    });
  });

  describe(`several processes on ${server.name}`, () => {
    test('of the writes of one new document at once the newest stays, whichever came first', async () => {
      const url = mongoDatabase(server);
      const stores = await threeStores(url);
      const [store] = stores;
      await store.prepare(sites);
      for (let round = 1; round <= 8; round += 1) {
        const id = `new-${String(round)}`;
        await Promise.all(
          Array.from({ length: 12 }, (_, n) =>
            (stores[n % 3] ?? store).apply(sites, [write(id, round * 100 + ((n * 7) % 12))], 1n),
          ),
        );
        expect((await store.get(sites, id))?.position).toBe(BigInt(round * 100 + 11));
      }
    });

    test('a duplicate that no guard explains is a fault, and the checkpoint stays', async () => {
      const url = mongoDatabase(server);
      const store = await openStore(url);
      await store.prepare(sites);
      const client = new MongoClient(url);
      opened.push(client);
      const collections = (await client.db().listCollections().toArray()).map(({ name }) => name);
      const documents = collections.find((name) => name.startsWith('readModel.')) ?? '';
      await client.db().collection(documents).createIndex({ body: 1 }, { unique: true }, {});

      await store.apply(sites, [write('a', 1, 'same')], 1n);
      await expect(store.apply(sites, [write('a', 1, 'same'), write('b', 2, 'same')], 2n)).rejects.toThrow(/duplicate/);
      expect(await store.checkpoint(sites)).toBe(1n);
      expect(await store.get(sites, 'b')).toBeNull();
    });

    test('positions are compared as numbers, up to the last that there is', async () => {
      const store = await openStore(mongoDatabase(server));
      await store.prepare(sites);
      const last = 2n ** 63n - 1n;
      for (const position of [9n, 10n, 2n ** 53n, 2n ** 53n + 1n, last - 1n, last]) {
        await store.apply(sites, [{ id: 'a', revision: position, position, body: {} }], position);
        expect(await store.get(sites, 'a')).toEqual({ id: 'a', revision: position, position, body: {} });
        await store.apply(sites, [{ id: 'a', revision: 0n, position: position - 1n, body: { old: true } }], position - 1n);
        expect((await store.get(sites, 'a'))?.body).toEqual({});
        expect(await store.checkpoint(sites)).toBe(position);
      }
    });

    test('versions that are prepared, filled and published at once leave one live version, and nothing of the others', async () => {
      const url = mongoDatabase(server);
      const stores = await threeStores(url);
      for (let round = 0; round < 4; round += 1) {
        const outcomes = await Promise.all(
          stores.map(async (store, number) => {
            const model: ReadModel = { ...sites, version: `${String(round)}-r${String(number)}` };
            try {
              await store.prepare(model);
              for (let position = 1; position <= 5; position += 1) {
                await store.apply(model, [write(`d${String(position)}`, position, model.version)], BigInt(position));
              }
              await store.publish(model);
              return model;
            } catch (fault) {
              if (!(fault instanceof ReadModelDropped)) throw fault;
              return null;
            }
          }),
        );
        const live = await stores[0].liveVersion('site');
        for (const [n, model] of outcomes.entries()) {
          if (model === null) continue;
          const reading = (stores[n] ?? stores[0]).find(model, {
            order: 'ascending',
            limit: 10,
            where: { status: model.version },
          });
          if (model.version === live) expect(await reading).toHaveLength(5);
          else await expect(reading).rejects.toThrow(ReadModelDropped);
        }
        expect(outcomes.map((model) => model?.version)).toContain(live);
      }
      // The next `prepare` removes what a late writer left.
      await stores[0].prepare({ ...sites, version: 'last' });
      expect(await collectionsOf(url, 'readModel.')).toHaveLength(2);
    });

    test('a writer that meets a dropped version leaves no collection behind', async () => {
      const url = mongoDatabase(server);
      const store = await openStore(url);
      const late = await openStore(url);
      await store.prepare(sites);
      await late.apply(sites, [write('a', 1)], 1n);
      await store.prepare(sitesNext);
      await store.publish(sitesNext);
      await expect(late.apply(sites, [write('a', 2)], 2n)).rejects.toThrow(ReadModelDropped);
      expect(await collectionsOf(url, 'readModel.')).toEqual([expect.stringContaining('site.2.')]);
    });

    test('records in a collection of their own outlive every publication and drop', async () => {
      const url = mongoDatabase(server);
      const store = await openStore(url);
      const vault = store.recordsIn('vault');
      await vault.put('keys', 'a', { n: 1 });
      await store.prepare(sites);
      await store.publish(sites);
      await store.prepare(sitesNext);
      await store.publish(sitesNext);
      expect(await store.records.purgeExpired()).toBe(0);
      expect(await store.records.get('keys', 'a')).toBeNull();
      expect(await (await openStore(url)).recordsIn('vault').get('keys', 'a')).toEqual({ n: 1 });
    });
  });

  describe(`the credentials of an address, on ${server.name}`, () => {
    test.each([
      ['nobody listens', 'mongodb://us3rname:s3cret%21word@127.0.0.1:1/x'],
      ['it does not take them', mongoDatabase(server).replace(/\/\/([^@/]*@)?/, '//us3rname:s3cret%21word@')],
      ['the address has no host', 'mongodb://us3rname:s3cret%21word@/x'],
      ['the password is not written as addresses want it', 'mongodb://us3rname:s3cret!word@%@127.0.0.1/x'],
      ['an option is unknown', 'mongodb://us3rname:s3cret%21word@127.0.0.1/x?nonsense=s3cret!word'],
    ])('stand in no error when %s', async (_, url) => {
      const fault = await openStore(url)
        .then((store) => store.ping())
        .catch((thrown: unknown) => thrown);
      expect(fault).toBeInstanceOf(ReadModelStoreUnavailable);
      expect(inspect(fault, { depth: 10, showHidden: true })).not.toMatch(/s3cret|us3rname/);
    });
  });
});
