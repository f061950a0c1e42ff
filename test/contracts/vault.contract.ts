import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '../../src/platform/random.js';
import type { VaultRecords } from '../../src/platform/vault/records.js';
import { MasterKeyUnknown } from '../../src/platform/vault/roots.js';
import { openVault, type Vault } from '../../src/platform/vault/vault.js';

const [first = new Uint8Array(), second = new Uint8Array()] = [1, 2].map((byte) => new Uint8Array(32).fill(byte));

/** A store that holds nothing yet. */
export interface EmptyVaultStore {
  /** Its records, as another process would open them. */
  open(): Promise<VaultRecords>;
  /** Every record that it holds now, as text. */
  stored(): Promise<readonly string[]>;
}

/** What the vault promises processes that share it, on whatever store its records are. */
export const describeVault = (name: string, emptyStore: () => Promise<EmptyVaultStore>): void => {
  describe(`the vault on ${name}`, () => {
    const openOn = async (store: EmptyVaultStore, keys: readonly Uint8Array[] = [first]): Promise<Vault> =>
      openVault({ records: await store.open(), masterKeys: () => Promise.resolve(keys), random: systemRandom });

    test('is made once by processes that start at the same moment, and they agree on every key', async () => {
      const store = await emptyStore();
      const vaults = await Promise.all(Array.from({ length: 4 }, () => openOn(store)));
      const indexKeys = await Promise.all(vaults.map((vault) => vault.indexKey()));
      expect(new Set(indexKeys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
      const cookieKeys = vaults.map(async (vault) => vault.serviceKey('cookies', await vault.generation()));
      expect(new Set((await Promise.all(cookieKeys)).map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
      for (let person = 0; person < 5; person += 1) {
        const made = await Promise.all(vaults.map((vault) => vault.keyOf(`person/${String(person)}`, true)));
        expect(new Set(made.map(({ id }) => id)).size).toBe(1);
        expect(new Set(made.map(({ encryption }) => Buffer.from(encryption).toString('hex'))).size).toBe(1);
      }
    });

    test('gives a destroyed key to no process from then on, however lately it had it', async () => {
      const store = await emptyStore();
      const [one, other] = [await openOn(store), await openOn(store)];
      for (let person = 0; person < 10; person += 1) {
        const { id } = await one.keyOf(`person/${String(person)}`, true);
        expect((await Promise.all([other.key(id), other.key(id), one.key(id)])).map((key) => key?.id)).toEqual([id, id, id]);
        await one.destroyKey(id);
        expect(await Promise.all([other.key(id), other.key(id), one.key(id)])).toEqual([null, null, null]);
      }
    });

    test('retires and destroys a key for all of them: the next one is another, and it is nowhere in the store', async () => {
      const store = await emptyStore();
      const [one, other] = [await openOn(store), await openOn(store)];
      const { id } = await one.keyOf('person/a', true);
      await other.key(id);
      await one.rotate();
      await Promise.all([one.destroyKey(id), other.destroyKey(id)]);
      const next = await Promise.all([one, other].map((vault) => vault.keyOf('person/a', true)));
      expect(next.map((key) => key.id)).toEqual([next[0]?.id, next[0]?.id]);
      expect(next[0]?.id).not.toBe(id);
      expect(await (await openOn(store)).key(id)).toBeNull();
      // Only its handle still names it.
      const naming = (await store.stored()).filter((record) => record.includes(id));
      expect(naming).toEqual([expect.stringContaining('vaultHandles')]);
    });

    test('goes on in every process while its master key is exchanged, and opens with the new one alone', async () => {
      const store = await emptyStore();
      const running = await openOn(store, [first, second]);
      const before = await running.keyOf('person/a', true);
      const rotating = await openOn(store, [second, first]);
      const [, during] = await Promise.all([rotating.rotate(), running.keyOf('person/b', true)]);
      const after = await openOn(store, [second]);
      expect(await after.key(before.id)).toStrictEqual(before);
      expect(await after.key(during.id)).toStrictEqual(during);
      await expect(openOn(store, [first])).rejects.toThrow(MasterKeyUnknown);
    });

    test('has every process on the newest generation of the keys of the service at once', async () => {
      const store = await emptyStore();
      const [one, other] = [await openOn(store), await openOn(store)];
      const bytes = Buffer.from('canary');
      const texts = [await other.cipher('answers').encrypt(bytes, 'a')];
      for (const start of [() => one.rotate(), () => one.endSessions(), () => other.rotate()]) {
        await start();
        expect(await one.generation()).toEqual(await other.generation());
        texts.push(await other.cipher('answers').encrypt(bytes, 'a'), await one.cipher('answers').encrypt(bytes, 'a'));
      }
      expect(texts.map((text) => text.split('.')[0])).toEqual(['1', '2', '2', '3', '3', '4', '4']);
      expect(await other.generation()).toEqual({ number: 4, sessionsSince: 3 });
      for (const vault of [one, other, await openOn(store)]) {
        for (const text of texts) expect(await vault.cipher('answers').decrypt(text, 'a')).toEqual(bytes);
      }
    });

    test('keeps a secret with any name, and gives it to nobody once it is destroyed', async () => {
      const store = await emptyStore();
      const [one, other] = [await openOn(store), await openOn(store)];
      for (const secret of ['a', 'a.b', '$a', '__proto__', 'a\0b', '\ud800']) {
        await one.storeSecret(secret, Buffer.from(secret));
        await other.storeSecret(secret, Buffer.from('another'));
        expect(await other.secret(secret)).toEqual(Buffer.from(secret));
        await other.deleteSecret(secret);
        expect(await one.secret(secret)).toBeNull();
      }
    });
  });
};
