import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '../../src/platform/random.js';
import { MasterKeyUnknown, openVault, planSecrets, type Vault, type VaultRecords } from '../../src/platform/vault.js';
import { createTestClock } from '../support/testClock.js';
import { createMemoryRecords } from '../workers/memoryStores.js';

const masters = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
const [first = new Uint8Array(), second = new Uint8Array()] = masters;
const bytes = Buffer.from('canary');

const world = () => {
  const clock = createTestClock();
  const records = createMemoryRecords();
  /** As a process with these master keys has it; they may be others when it asks again. */
  const open = (keys: readonly Uint8Array[] = [first], now = () => keys): Promise<Vault> => {
    let asked = 0;
    const masterKeys = () => Promise.resolve((asked += 1) === 1 ? keys : now());
    return openVault({ records, masterKeys, clock, random: systemRandom });
  };
  return { clock, records, open };
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

  test('that was destroyed is gone here at once and everywhere within 30 s, and never comes back', async () => {
    const { open, clock, records } = world();
    const [local, other] = [await open(), await open()];
    const { id } = await local.keyOf('person/a', true);
    await other.key(id);
    await local.destroyKey(id);
    expect(await local.key(id)).toBeNull();
    await clock.advance(30_000);
    expect(await other.key(id)).toBeNull();
    expect(await records.get('vaultKeys', id)).toBeNull();
    expect(await other.isCurrent(id)).toBe(false);
    expect((await other.keyOf('person/a', true)).id).not.toBe(id);
    await other.destroyKey(id);
    expect(await (await open()).key(id)).toBeNull();
  });

  test('is not believed for longer because the clock was set back', async () => {
    const { open, clock } = world();
    const [local, other] = [await open(), await open()];
    const { id } = await local.keyOf('person/a', true);
    await other.key(id);
    await local.destroyKey(id);
    clock.setTime(clock.now() - 3_600_000);
    expect(await other.key(id)).toBeNull();
  });

  test('that is destroyed while it is being fetched is gone all the same', async () => {
    const { open, clock, records } = world();
    const { id } = await (await open()).keyOf('person/a', true);
    let arrive = (): void => undefined;
    const late = new Promise<void>((resolve) => (arrive = resolve));
    let fetched = false;
    const slow: VaultRecords = {
      ...records,
      get: async (collection, key) => {
        const found = await records.get(collection, key);
        const isFirst = key === id && !fetched;
        fetched ||= isFirst;
        if (isFirst) await late;
        return found;
      },
    };
    const vault = await openVault({ records: slow, masterKeys: () => Promise.resolve([first]), clock, random: systemRandom });
    const fetching = vault.key(id);
    await vault.destroyKey(id);
    arrive();
    expect(await fetching).toBeNull();
    expect(await vault.key(id)).toBeNull();
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
    const encrypted = (await before.cipher('answers')).encrypt(bytes, 'a');
    const index = await before.serviceKey('index');

    await expect(open([second])).rejects.toThrow(MasterKeyUnknown);
    const rotating = await open([second, first]);
    expect(await rotating.rotate()).toBe(2);
    expect(await (await open([second, first])).rotate()).toBe(3);

    await expect(open([first])).rejects.toThrow(MasterKeyUnknown);
    const after = await open([second]);
    expect(await after.key(key.id)).toStrictEqual(key);
    expect(await after.keyOf('person/a', true)).toStrictEqual(key);
    expect((await after.cipher('answers')).decrypt(encrypted, 'a')).toStrictEqual(bytes);
    expect(await after.serviceKey('index')).toEqual(index);
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

  test('seeds the keys of the service as they were derived before there was a vault', async () => {
    const { open } = world();
    const seeded = await (await open([first])).serviceKey('doorstep blind index');
    expect(Buffer.from(seeded).toString('hex')).toBe('304beb2fd19296fecfaf11d93367d1e23de14fc3b4fd31193e8882fa75749812');
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
  const service = await vault.serviceKey('index');
  expect(kept.length).toBeGreaterThan(3);
  for (const secret of [encryption, service, first]) {
    for (const encoding of ['base64', 'base64url', 'hex'] as const) {
      expect(kept.join()).not.toContain(Buffer.from(secret).toString(encoding));
    }
  }
});
