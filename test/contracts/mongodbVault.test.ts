import { afterEach, expect, describe, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { MasterKeyUnknown, openVault, type Vault, type VaultRecords } from '../../src/platform/vault.js';
import { createMongoReadModelStore } from '../../src/projections/store/mongodb/mongoReadModelStore.js';
import { ReadModelStoreUnavailable } from '../../src/projections/store/readModelStore.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { createScriptedMongo, type Command } from '../support/scriptedMongo.js';

const masters = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
const [first = new Uint8Array(), second = new Uint8Array()] = masters;

const opened: { readonly close: () => Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

/** Records of the vault, as another process would open them. */
const recordsOn = async (url: string): Promise<VaultRecords> => {
  const store = await createMongoReadModelStore({ url, clock: systemClock, random: systemRandom });
  opened.push(store);
  return store.recordsIn('vault');
};

const vaultOn = async (url: string, keys: readonly Uint8Array[] = [first]): Promise<Vault> =>
  openVault({ records: await recordsOn(url), masterKeys: () => Promise.resolve(keys), random: systemRandom });

forEachReadModelServer((server) => {
  describe(`the vault on ${server.name}`, () => {
    test('is made once by processes that start at the same moment, and they agree on every key', async () => {
      const url = mongoDatabase(server);
      const vaults = await Promise.all(Array.from({ length: 4 }, () => vaultOn(url)));
      const serviceKeys = await Promise.all(vaults.map((vault) => vault.indexKey()));
      expect(new Set(serviceKeys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
      for (let person = 0; person < 5; person += 1) {
        const made = await Promise.all(vaults.map((vault) => vault.keyOf(`person/${String(person)}`, true)));
        expect(new Set(made.map(({ id }) => id)).size).toBe(1);
        expect(new Set(made.map(({ encryption }) => Buffer.from(encryption).toString('hex'))).size).toBe(1);
      }
    });

    test('retires and destroys a key for all of them: nobody finds it, and it is nowhere in the collection', async () => {
      const url = mongoDatabase(server);
      const [one, other] = [await vaultOn(url), await vaultOn(url)];
      const { id } = await one.keyOf('person/a', true);
      await other.key(id);
      await Promise.all([one.destroyKey(id), other.destroyKey(id)]);
      const next = await Promise.all([one, other].map((vault) => vault.keyOf('person/a', true)));
      expect(next.map((key) => key.id)).toEqual([next[0]?.id, next[0]?.id]);
      expect(next[0]?.id).not.toBe(id);
      expect(await (await vaultOn(url)).key(id)).toBeNull();
      const client = new MongoClient(url);
      opened.push(client);
      const stored = await client.db().collection<{ _id: string }>('vault').find().toArray();
      expect(
        stored.map(({ _id }) => _id).filter((_id) => _id.startsWith(JSON.stringify(['vaultKeys', id]).slice(0, -1))),
      ).toEqual([]);
      // Only its handle still names it.
      expect(stored.filter((record) => JSON.stringify(record).includes(id))).toHaveLength(1);
    });

    test('goes on in every process while its master key is exchanged, and opens with the new one alone', async () => {
      const url = mongoDatabase(server);
      const running = await vaultOn(url, [first, second]);
      const before = await running.keyOf('person/a', true);
      const rotating = await vaultOn(url, [second, first]);
      const [, during] = await Promise.all([rotating.rotate(), running.keyOf('person/b', true)]);
      const after = await vaultOn(url, [second]);
      expect(await after.key(before.id)).toStrictEqual(before);
      expect(await after.key(during.id)).toStrictEqual(during);
      await expect(vaultOn(url, [first])).rejects.toThrow(MasterKeyUnknown);
    });

    test('keeps a secret with any name, and gives it to nobody once it is destroyed', async () => {
      const url = mongoDatabase(server);
      const [one, other] = [await vaultOn(url), await vaultOn(url)];
      for (const name of ['a', 'a.b', '$a', '__proto__', 'a\0b', '\ud800']) {
        await one.storeSecret(name, Buffer.from(name));
        await other.storeSecret(name, Buffer.from('another'));
        expect(await other.secret(name)).toEqual(Buffer.from(name));
        await other.deleteSecret(name);
        expect(await one.secret(name)).toBeNull();
      }
    });
  });
});

describe('a vault whose entry no majority confirms', () => {
  const isWriteOf =
    (kind: string) =>
    ({ name, fields }: Command): boolean =>
      name === 'update' && JSON.stringify(fields['updates']).includes(kind);
  const unconfirmed = { ok: 1, n: 1, nModified: 0, writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } };

  test.each(['vaultKeys', 'vaultHandles', 'vaultServices', 'vaultSecrets'])('in %s gives nothing out', async (kind) => {
    const server = await createScriptedMongo('replica set');
    opened.push(server);
    const vault = await vaultOn(`mongodb://${server.address}/doorstep`);
    const isWrite = isWriteOf(kind);
    server.script((command) => (isWrite(command) ? unconfirmed : undefined));
    const asking = {
      vaultKeys: () => vault.keyOf('person/a', true),
      vaultHandles: () => vault.keyOf('person/a', true),
      vaultServices: () => vault.indexKey(),
      vaultSecrets: () => vault.storeSecret('token', first),
    }[kind];
    await expect(asking?.()).rejects.toThrow(ReadModelStoreUnavailable);
    server.script(() => undefined);
    await asking?.();
    expect((await vault.keyOf('person/a', true)).id).toBe((await vault.keyOf('person/a', true)).id);
  });

  test('does not open', async () => {
    const server = await createScriptedMongo('replica set');
    opened.push(server);
    server.script((command) => (isWriteOf('vaultRoots')(command) ? unconfirmed : undefined));
    await expect(vaultOn(`mongodb://${server.address}/doorstep`)).rejects.toThrow(ReadModelStoreUnavailable);
  });
});
