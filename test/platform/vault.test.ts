import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '../../src/platform/random.js';
import { planSecrets } from '../../src/platform/vault/plannedSecrets.js';
import type { VaultRecords } from '../../src/platform/vault/records.js';
import { MasterKeyUnknown } from '../../src/platform/vault/roots.js';
import { generationOf } from '../../src/platform/vault/serviceKeys.js';
import { openVault, type Vault } from '../../src/platform/vault/vault.js';
import { createMemoryRecords } from '../workers/memoryStores.js';

const masters = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
const [first = new Uint8Array(), second = new Uint8Array(), third = new Uint8Array()] = masters;
const bytes = Buffer.from('canary');

const world = () => {
  const records = createMemoryRecords();
  /** As a process with these master keys has it; they may be others when it asks again. */
  const open = (keys: readonly Uint8Array[] = [first], now = () => keys): Promise<Vault> => {
    let asked = 0;
    const masterKeys = () => Promise.resolve((asked += 1) === 1 ? keys : now());
    return openVault({ records, masterKeys, random: systemRandom });
  };
  return { records, open };
};

describe('the key of a handle', () => {
  test('is made once by all processes, and only when requested', async () => {
    const { open } = world();
    const [local, other] = [await open(), await open()];
    expect(await local.keyOf('person/a', false)).toBeNull();
    const made = await Promise.all([local, other, local, other].map((vault) => vault.keyOf('person/a', true)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await (await open()).keyOf('person/a', false)).toStrictEqual(made[0]);
    expect((await other.keyOf('person/b', true)).encryption).not.toEqual(made[0]?.encryption);
  });

  test('that was retired is followed by another one, in every process at once, and still opens', async () => {
    const { open } = world();
    const [local, other] = [await open(), await open()];
    const old = await local.keyOf('person/a', true);
    expect((await other.keyOf('person/a', true)).id).toBe(old.id);
    await local.retireKey(old.id);
    await local.retireKey(old.id);
    const next = await other.keyOf('person/a', true);
    expect(next.id).not.toBe(old.id);
    expect((await local.keyOf('person/a', true)).id).toBe(next.id);
    expect(await other.key(old.id)).toStrictEqual(old);
    expect([await local.isCurrent(old.id), await local.isCurrent(next.id)]).toEqual([false, true]);
  });

  test('that was destroyed is used no more, although the store could not wipe every trace of it yet', async () => {
    const { records } = world();
    const unwiped: VaultRecords = {
      ...records,
      revision: () => Promise.resolve(1n),
      delete: async (...of) => {
        await records.delete(...of);
        throw new Error('other processes kept the file busy');
      },
    };
    const vault = await openVault({ records: unwiped, masterKeys: () => Promise.resolve([first]), random: systemRandom });
    const { id } = await vault.keyOf('person/a', true);
    expect((await vault.key(id))?.id).toBe(id);
    await expect(vault.destroyKey(id)).rejects.toThrow('busy');
    expect(await vault.key(id)).toBeNull();
  });

  test('that was destroyed is gone in every process at once, and never comes back', async () => {
    const { open, records } = world();
    const [local, other] = [await open(), await open()];
    const { id } = await local.keyOf('person/a', true);
    await other.key(id);
    await local.destroyKey(id);
    expect([await local.key(id), await other.key(id)]).toEqual([null, null]);
    expect(await records.get('vaultKeys', id)).toBeNull();
    expect(await other.isCurrent(id)).toBe(false);
    expect((await other.keyOf('person/a', true)).id).not.toBe(id);
    await other.destroyKey(id);
    expect(await (await open()).key(id)).toBeNull();
  });
});

test('a secret is stored once, encrypted, read by every process, and deleted for all of them at once', async () => {
  const { open, records } = world();
  const [local, other] = [await open(), await open()];
  expect(await local.secret('s1')).toBeNull();
  await local.storeSecret('s1', bytes);
  await other.storeSecret('s1', Buffer.from('another'));
  expect(await other.secret('s1')).toEqual(bytes);
  await local.rotate();
  expect(await (await open()).secret('s1')).toEqual(bytes);
  const kept = await records.get('vaultSecrets', 's1');
  expect(JSON.stringify(kept)).not.toContain('canary');
  expect(Buffer.from((kept as { wrapped: string }).wrapped, 'base64').includes(bytes)).toBe(false);
  await records.put('vaultSecrets', 's2', kept as Record<string, string>);
  // What is encrypted under one name cannot be decrypted under another.
  await expect(local.secret('s2')).rejects.toThrow();
  await other.deleteSecret('s1');
  await other.deleteSecret('s1');
  expect(await local.secret('s1')).toBeNull();
});

test('a plan reads secrets as if it had kept and destroyed them, and writes nothing', async () => {
  const vault = await world().open();
  await vault.storeSecret('kept', bytes);
  const plan = planSecrets(vault);
  await plan.deleteSecret('kept');
  await plan.storeSecret('new', bytes);
  expect([await plan.secret('kept'), await plan.secret('new')]).toEqual([null, bytes]);
  expect([await vault.secret('kept'), await vault.secret('new')]).toEqual([bytes, null]);
  await expect(plan.rotate()).rejects.toThrow('a plan cannot rotate');
  await expect(plan.endSessions()).rejects.toThrow('a plan cannot end');
});

describe('the master key', () => {
  test('that is another one opens nothing: the vault is not opened', async () => {
    const { open } = world();
    await open([first]);
    await expect(open([second])).rejects.toThrow(MasterKeyUnknown);
    await expect(open([])).rejects.toThrow(MasterKeyUnknown);
  });

  test('is rotated: all is opened with the new one, and nothing with the old', async () => {
    const { open } = world();
    const before = await open([first]);
    const key = await before.keyOf('person/a', true);
    const encrypted = await before.cipher('answers').encrypt(bytes, 'a');
    const index = await before.indexKey();

    await expect(open([second])).rejects.toThrow(MasterKeyUnknown);
    const rotating = await open([second, first]);
    expect(await rotating.rotate()).toBe(2);
    expect(await (await open([second, first])).rotate()).toBe(3);

    await expect(open([first])).rejects.toThrow(MasterKeyUnknown);
    const after = await open([second]);
    expect(await after.key(key.id)).toStrictEqual(key);
    expect(await after.keyOf('person/a', true)).toStrictEqual(key);
    expect(await after.cipher('answers').decrypt(encrypted, 'a')).toStrictEqual(bytes);
    expect(await after.indexKey()).toEqual(index);
  });

  test('is asked for again by a process that runs while it is rotated', async () => {
    const { open } = world();
    const running = await open([first], () => [second]);
    const old = await running.keyOf('person/a', true);
    await (await open([second, first])).rotate();
    const made = await (await open([second])).keyOf('person/b', true);
    expect(await running.key(made.id)).toStrictEqual(made);
    const own = await running.keyOf('person/c', true);
    expect(await (await open([second])).key(own.id)).toStrictEqual(own);
    expect(await (await open([second])).key(old.id)).toStrictEqual(old);
  });

  test('that was exchanged twice while an entry was read is asked for once more', async () => {
    const { open, records } = world();
    const running = await open([first], () => [third]);
    await (await open([second, first])).rotate();
    const stale = await records.get('vaultRoots', '1');
    await (await open([third, second])).rotate();
    const get = records.get.bind(records);
    let isStale = true;
    records.get = async (collection, key) => {
      if (collection !== 'vaultRoots' || key !== '1' || !isStale) return get(collection, key);
      isStale = false;
      return stale;
    };
    const made = await running.keyOf('person/a', true);
    expect(isStale).toBe(false);
    expect(await (await open([third])).key(made.id)).toStrictEqual(made);
  });
});

describe('the keys of the service', () => {
  const keyOf = async (vault: Vault, purpose: string): Promise<string> =>
    Buffer.from(await vault.serviceKey(purpose, await vault.generation())).toString('hex');

  test('follow from no master key', async () => {
    const vaults = [await world().open(), await world().open()];
    for (const purpose of ['sign-in', 'cookies']) {
      expect(new Set(await Promise.all(vaults.map((vault) => keyOf(vault, purpose)))).size).toBe(2);
    }
    expect(await vaults[0]?.indexKey()).not.toEqual(await vaults[1]?.indexKey());
  });

  test('are new ones after a rotation, in every process at once; what the old ones encrypted is read', async () => {
    const { open } = world();
    const [rotating, running] = [await open([first]), await open([first])];
    const before = await running.cipher('answers').encrypt(bytes, 'a');
    const [oldKey, index] = [await keyOf(running, 'cookies'), await running.indexKey()];
    // A request under way goes on with what it began with.
    const underWay = running.cipher('answers', await running.generation());
    await rotating.rotate();

    const after = await running.cipher('answers').encrypt(bytes, 'a');
    const late = await underWay.encrypt(bytes, 'a');
    expect([before, late, after].map(generationOf)).toEqual([1, 1, 2]);
    expect(await keyOf(running, 'cookies')).not.toBe(oldKey);
    expect(await running.indexKey()).toEqual(index);
    for (const vault of [running, rotating, await open([first])]) {
      for (const text of [before, late, after]) expect(await vault.cipher('answers').decrypt(text, 'a')).toEqual(bytes);
      await expect(vault.cipher('answers').decrypt(after, 'b')).rejects.toThrow();
      await expect(vault.cipher('other').decrypt(after, 'a')).rejects.toThrow();
    }
  });

  test('of a generation that a process has not heard of are read when they are needed', async () => {
    const { open } = world();
    const [rotating, running] = [await open([first]), await open([first])];
    const cipher = running.cipher('answers');
    await cipher.encrypt(bytes, 'a');
    await rotating.rotate();
    expect(await cipher.decrypt(await rotating.cipher('answers').encrypt(bytes, 'a'), 'a')).toEqual(bytes);
    await expect(cipher.decrypt('3.AAAA', 'a')).rejects.toThrow('the vault has lost generation 3');
  });

  test('say since when sign-ins are valid: since the last end of all sessions', async () => {
    const { open } = world();
    const [local, other] = [await open(), await open()];
    expect(await other.generation()).toEqual({ number: 1, sessionsSince: 0 });
    await local.rotate();
    expect(await other.generation()).toEqual({ number: 2, sessionsSince: 0 });
    await Promise.all([local.endSessions(), other.endSessions()]);
    await local.rotate();
    for (const vault of [local, other, await open()]) {
      expect(await vault.generation()).toEqual({ number: 5, sessionsSince: 4 });
    }
  });

  test('of version 0.1.0 last until the first rotation, which ends what was signed in with them', async () => {
    const { open, records } = world();
    const vault = await open();
    await records.delete('vaultGenerations', '1');
    const [local, other] = [await open(), await open()];
    // Without a generation, as processes of version 0.1.0 read it.
    const before = await local.cipher('answers').encrypt(bytes, 'a');
    expect(before).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(await records.get('vaultServices', 'answers')).not.toBeNull();
    expect(await other.cipher('answers').decrypt(before, 'a')).toEqual(bytes);
    expect(await other.generation()).toEqual({ number: 0, sessionsSince: 0 });
    const index = await vault.indexKey();
    await local.rotate();
    expect(await other.generation()).toEqual({ number: 1, sessionsSince: 1 });
    expect(await other.cipher('answers').decrypt(before, 'a')).toEqual(bytes);
    expect(await other.cipher('answers').encrypt(bytes, 'a')).toMatch(/^1\./);
    expect(await other.indexKey()).toEqual(index);
  });
});

describe('a rotation that is cut off', () => {
  /** Fails each write after the first `writes`, as if the process had been killed. */
  const killAfter = (records: VaultRecords, writes: number): VaultRecords => {
    let left = writes;
    const orDie =
      <Result>(write: (...given: Parameters<VaultRecords['put']>) => Promise<Result>) =>
      (...given: Parameters<VaultRecords['put']>): Promise<Result> =>
        (left -= 1) < 0 ? Promise.reject(new Error('killed')) : write(...given);
    return {
      ...records,
      put: orDie((...given) => records.put(...given)),
      insert: orDie((...given) => records.insert(...given)),
    };
  };

  test('before any of its writes loses nothing, and is done by running it again', async () => {
    let isWhole = false;
    let cuts = 0;
    for (; !isWhole; cuts += 1) {
      const { open, records } = world();
      const before = await open([first]);
      await before.rotate();
      const key = await before.keyOf('person/a', true);
      await before.storeSecret('s', bytes);
      const [text, index] = [await before.cipher('answers').encrypt(bytes, 'a'), await before.indexKey()];
      const masterKeys = () => Promise.resolve([second, first]);
      const rotating = await openVault({ records: killAfter(records, cuts), masterKeys, random: systemRandom });
      isWhole = await rotating.rotate().then(
        () => true,
        () => false,
      );

      const readAll = async (vault: Vault): Promise<void> => {
        expect(await vault.key(key.id)).toStrictEqual(key);
        expect(await vault.keyOf('person/a', true)).toStrictEqual(key);
        expect(await vault.secret('s')).toEqual(bytes);
        expect(await vault.cipher('answers').decrypt(text, 'a')).toEqual(bytes);
        expect(await vault.indexKey()).toEqual(index);
        expect(await vault.cipher('answers').decrypt(await vault.cipher('answers').encrypt(bytes, 'b'), 'b')).toEqual(bytes);
      };
      await readAll(await open([second, first]));
      // The key file has yet another key when it is run again.
      await (await open([third, second, first])).rotate();
      await readAll(await open([third]));
      await expect(open([second, first])).rejects.toThrow(MasterKeyUnknown);
    }
    // Two roots, a new one, the index key, a generation.
    expect(cuts).toBe(6);
  });
});

test('nothing that the store holds shows a key', async () => {
  const { open, records } = world();
  const kept: string[] = [];
  const put = records.insert.bind(records);
  records.insert = (collection, key, value) => {
    kept.push(JSON.stringify(value));
    return put(collection, key, value);
  };
  const vault = await open();
  const { encryption } = await vault.keyOf('person/a', true);
  const service = await vault.serviceKey('index', await vault.generation());
  expect(kept.length).toBeGreaterThan(3);
  for (const secret of [encryption, service, first]) {
    for (const encoding of ['base64', 'base64url', 'hex'] as const) {
      expect(kept.join()).not.toContain(Buffer.from(secret).toString(encoding));
    }
  }
});
