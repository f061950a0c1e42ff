import { afterEach, expect, describe, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import type { VaultRecords } from '../../src/platform/vault/records.js';
import { openVault, type Vault } from '../../src/platform/vault/vault.js';
import { createMongoReadModelStore } from '../../src/projections/store/mongodb/mongoReadModelStore.js';
import { ReadModelStoreUnavailable } from '../../src/projections/store/readModelStore.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { createScriptedMongo, type Command } from '../support/scriptedMongo.js';
import { describeVault } from './vault.contract.js';

const first = new Uint8Array(32).fill(1);

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

const vaultOn = async (url: string): Promise<Vault> =>
  openVault({ records: await recordsOn(url), masterKeys: () => Promise.resolve([first]), random: systemRandom });

forEachReadModelServer((server) => {
  describeVault(server.name, () => {
    const url = mongoDatabase(server);
    return Promise.resolve({
      open: () => recordsOn(url),
      stored: async () => {
        const client = new MongoClient(url);
        opened.push(client);
        const records = await client.db().collection<{ _id: string }>('vault').find().toArray();
        return records.map((record) => JSON.stringify(record));
      },
    });

    test('gives out no secret that has expired, and removes it in a purge', async () => {
      const vault = await vaultOn(mongoDatabase(server));
      await vault.storeSecret('over', Buffer.from('1'), Date.now() - 1);
      await vault.storeSecret('lasting', Buffer.from('2'), Date.now() + 3_600_000);
      expect([await vault.secret('over'), await vault.purgeSecrets()]).toEqual([null, 1]);
      expect(await vault.secret('lasting')).toEqual(Buffer.from('2'));
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
