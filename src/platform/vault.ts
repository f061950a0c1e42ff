import { hkdfSync } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.js';
import { base32Text } from './ids.js';
import type { Random } from './random.js';
import { createCipher, type Cipher } from './cipher.js';

/**
 * The key vault (docs/adr/0010-personal-data.md). The master key wraps roots, and the newest root
 * wraps new keys, so that a rotation of the master key rewraps a handful of roots, however many
 * keys there are. An entry is durable before its key is given out.
 */
export interface Vault {
  /**
   * The current key of `alias`, asked of the store each time.
   * @param make makes a key when there is none; otherwise the answer is `null`
   */
  keyOf(alias: string, make: true): Promise<DataKey>;
  keyOf(alias: string, make: boolean): Promise<DataKey | null>;
  /** `null` when it was destroyed; another process may have done so up to 30 s ago. */
  key(id: string): Promise<DataKey | null>;
  /** From now on its alias leads to the next key; what it encrypted can still be decrypted. */
  retireKey(id: string): Promise<void>;
  /** Whether its alias still leads to it, asked of the store each time. */
  isCurrent(id: string): Promise<boolean>;
  /**
   * Retires the key and removes it for good, durably: what it encrypted cannot be decrypted any
   * more. Repeating it changes nothing.
   */
  destroyKey(id: string): Promise<void>;
  /** Encrypts for one purpose of the service itself, with a key that lasts. */
  cipher(purpose: string): Promise<Cipher>;
  /**
   * 32 bytes for one purpose of the service itself: derived from the master key at the first use,
   * and the same ever since.
   */
  serviceKey(purpose: string): Promise<Uint8Array>;
  /**
   * Stores a secret under a name that is never used for another one; durable when it resolves.
   * Repeating it changes nothing.
   */
  storeSecret(name: string, secret: Uint8Array): Promise<void>;
  /**
   * `null` when it was never stored, or was deleted by any process: the store is asked each time.
   */
  secret(name: string): Promise<Uint8Array | null>;
  /** Removes a secret for good, durably. Repeating it changes nothing. */
  deleteSecret(name: string): Promise<void>;
  /**
   * Wraps every root with the first master key and makes one more root for the keys to come;
   * answers how many roots there are.
   */
  rotate(): Promise<number>;
}

/** The vault without the keys of people, which only `PersonalData` uses. */
export type SecretVault = Omit<Vault, 'keyOf' | 'key' | 'retireKey' | 'isCurrent' | 'destroyKey'>;

/** Two keys, derived from 32 random bytes that only the vault has. */
export interface DataKey {
  readonly id: string;
  readonly encryption: Uint8Array;
  readonly mac: Uint8Array;
}

type Entry = Readonly<Record<string, string | number | boolean>>;

/** Where entries are kept: durable before a call resolves, and the same for every process. */
export interface VaultRecords {
  get(collection: string, key: string): Promise<Readonly<Record<string, unknown>> | null>;
  /** Returns whether there was no entry before. */
  insert(collection: string, key: string, value: Entry): Promise<boolean>;
  put(collection: string, key: string, value: Entry): Promise<void>;
  /** When it resolves, the entry is in no file of the store any more. */
  delete(collection: string, key: string): Promise<void>;
}

/** None of the master keys given is the one that an entry is wrapped with. */
export class MasterKeyUnknown extends Error {
  override readonly name = 'MasterKeyUnknown';

  constructor() {
    super('The vault is wrapped with a master key that is not among those given');
  }
}

const collections = {
  roots: 'vaultRoots',
  keys: 'vaultKeys',
  aliases: 'vaultHandles',
  services: 'vaultServices',
  secrets: 'vaultSecrets',
} as const;

/** How long a key is cached, in milliseconds: another process may destroy it meanwhile. */
const cacheMs = 30_000;
const keyBytes = 32;

const derived = (from: Uint8Array, purpose: string, length = keyBytes): Buffer =>
  Buffer.from(hkdfSync('sha256', from, '', purpose, length));

const masterId = (master: Uint8Array): string => derived(master, 'doorstep master key id', 8).toString('hex');

/**
 * Opens the vault, or makes it.
 * @param masterKeys 32 bytes each, the current one first; asked again when an entry names one that
 *   was not among them
 * @throws MasterKeyUnknown; what the store throws when it cannot be reached
 */
export const openVault = async (parts: {
  records: VaultRecords;
  masterKeys: () => Promise<readonly Uint8Array[]>;
  clock: Clock;
  random: Random;
}): Promise<Vault> => {
  const { records, clock, random } = parts;
  let masters = await parts.masterKeys();
  const roots: Uint8Array[] = [];
  const services = new Map<string, Uint8Array>();
  const cached = new LRUCache<string, { readonly key: DataKey | null; readonly since: number }>({ max: 10_000 });

  const cipherOf = (master: Uint8Array): Cipher => createCipher(derived(master, 'doorstep vault'), random);

  const masterNamed = async (id: unknown): Promise<Uint8Array> => {
    const known = masters.find((master) => masterId(master) === id);
    if (known !== undefined) return known;
    masters = await parts.masterKeys();
    const found = masters.find((master) => masterId(master) === id);
    if (found === undefined) throw new MasterKeyUnknown();
    return found;
  };

  const rootEntry = (root: Uint8Array, index: number): Entry => {
    const [current] = masters;
    if (current === undefined) throw new MasterKeyUnknown();
    return { master: masterId(current), wrapped: cipherOf(current).encrypt(root, `root/${String(index)}`) };
  };

  const rootAt = async (index: number): Promise<Uint8Array | null> => {
    const known = roots[index];
    if (known !== undefined) return known;
    const entry = await records.get(collections.roots, String(index));
    if (entry === null) return null;
    const root = cipherOf(await masterNamed(entry.master)).decrypt(String(entry.wrapped), `root/${String(index)}`);
    roots[index] = root;
    return root;
  };

  /** Another process may have made one meanwhile. */
  const newestRoot = async (): Promise<{ readonly root: Uint8Array; readonly index: number }> => {
    for (let index = roots.length; (await rootAt(index)) !== null; index += 1);
    const root = roots.at(-1);
    if (root === undefined) throw new Error('the vault has no root');
    return { root, index: roots.length - 1 };
  };

  const addRoot = async (index: number): Promise<void> => {
    await records.insert(collections.roots, String(index), rootEntry(random.bytes(keyBytes), index));
    await rootAt(index);
  };

  const wrap = async (bytes: Uint8Array, bound: string): Promise<Entry> => {
    const { root, index } = await newestRoot();
    return { root: index, wrapped: createCipher(root, random).encrypt(bytes, bound) };
  };

  const unwrap = async ({ root: index, wrapped }: Readonly<Record<string, unknown>>, bound: string): Promise<Buffer> => {
    const root = await rootAt(Number(index));
    if (root === null) throw new Error('the vault has lost a root');
    return createCipher(root, random).decrypt(String(wrapped), bound);
  };

  const cache = <Key extends DataKey | null>(id: string, key: Key): Key => {
    cached.set(id, { key, since: clock.now() });
    return key;
  };

  const dataKey = (id: string, bytes: Uint8Array): DataKey => ({
    id,
    encryption: derived(bytes, 'doorstep personal data'),
    mac: derived(bytes, 'doorstep personal data iv'),
  });

  const key = async (id: string): Promise<DataKey | null> => {
    const known = cached.get(id);
    const age = known === undefined ? -1 : clock.now() - known.since;
    // The clock may have been set back.
    if (known !== undefined && age >= 0 && age < cacheMs) return known.key;
    cached.delete(id);
    const entry = await records.get(collections.keys, id);
    const found = entry === null ? null : dataKey(id, await unwrap(entry, `key/${id}`));
    // This process may have destroyed it while it was being fetched.
    return cached.get(id)?.key === null ? null : cache(id, found);
  };

  /** Null when another process was the first. */
  const makeKey = async (pointer: string): Promise<DataKey | null> => {
    const id = base32Text(random.bytes(17), 26);
    const bytes = random.bytes(keyBytes);
    await records.insert(collections.keys, id, { ...(await wrap(bytes, `key/${id}`)), pointer });
    if (await records.insert(collections.aliases, pointer, { key: id, retired: false })) return cache(id, dataKey(id, bytes));
    await records.delete(collections.keys, id);
    return null;
  };

  // The keys of an alias are numbered (`<alias>/0`, `<alias>/1`, …). Entries are only added, so
  // that a late writer cannot replace the next key.
  async function keyOf(alias: string, make: true): Promise<DataKey>;
  async function keyOf(alias: string, make: boolean): Promise<DataKey | null>;
  async function keyOf(alias: string, make: boolean): Promise<DataKey | null> {
    for (let index = 0; ; index += 1) {
      const pointer = `${alias}/${String(index)}`;
      let entry = await records.get(collections.aliases, pointer);
      if (entry === null) {
        if (!make) return null;
        const made = await makeKey(pointer);
        if (made !== null) return made;
        entry = await records.get(collections.aliases, pointer);
      }
      const current = entry === null || entry.retired === true ? null : await key(String(entry.key));
      if (current !== null) return current;
    }
  }

  const retireKey = async (id: string): Promise<void> => {
    const entry = await records.get(collections.keys, id);
    if (entry !== null) await records.put(collections.aliases, String(entry.pointer), { key: id, retired: true });
  };

  const serviceKey = async (purpose: string): Promise<Uint8Array> => {
    const known = services.get(purpose);
    if (known !== undefined) return known;
    const bound = `service/${purpose}`;
    let entry = await records.get(collections.services, purpose);
    if (entry === null) {
      const [current] = masters;
      if (current === undefined) throw new MasterKeyUnknown();
      // Data from before the vault existed was encrypted with this key.
      await records.insert(collections.services, purpose, await wrap(derived(current, purpose), bound));
      entry = await records.get(collections.services, purpose);
      if (entry === null) throw new Error('the vault has lost a key of the service');
    }
    const found = await unwrap(entry, bound);
    services.set(purpose, found);
    return found;
  };

  if ((await rootAt(0)) === null) await addRoot(0);

  return {
    keyOf,
    key,
    retireKey,
    isCurrent: async (id) => {
      const entry = await records.get(collections.keys, id);
      if (entry === null) return false;
      return (await records.get(collections.aliases, String(entry.pointer)))?.retired !== true;
    },
    destroyKey: async (id) => {
      await retireKey(id);
      await records.delete(collections.keys, id);
      cache(id, null);
    },
    serviceKey,
    storeSecret: async (name, secret) => {
      await records.insert(collections.secrets, name, await wrap(secret, `secret/${name}`));
    },
    secret: async (name) => {
      const entry = await records.get(collections.secrets, name);
      return entry === null ? null : unwrap(entry, `secret/${name}`);
    },
    deleteSecret: (name) => records.delete(collections.secrets, name),
    cipher: async (purpose) => createCipher(await serviceKey(purpose), random),
    rotate: async () => {
      masters = await parts.masterKeys();
      const { index: newest } = await newestRoot();
      for (const [index, root] of roots.entries()) await records.put(collections.roots, String(index), rootEntry(root, index));
      await addRoot(newest + 1);
      return roots.length;
    },
  };
};

/**
 * The same secrets for an engine that plans: it writes none and destroys none, but reads them as if
 * it had.
 */
export const planSecrets = (vault: SecretVault): SecretVault => {
  const planned = new Map<string, Uint8Array | null>();
  const secretOf = async (name: string): Promise<Uint8Array | null> => {
    const secret = planned.get(name);
    return secret === undefined ? vault.secret(name) : secret;
  };
  return {
    storeSecret: async (name, secret) => {
      if ((await secretOf(name)) === null) planned.set(name, secret);
    },
    secret: secretOf,
    deleteSecret: (name) => {
      planned.set(name, null);
      return Promise.resolve();
    },
    cipher: (purpose) => vault.cipher(purpose),
    serviceKey: (purpose) => vault.serviceKey(purpose),
    rotate: () => Promise.reject(new Error('a plan cannot rotate the vault')),
  };
};
