import { hkdfSync } from 'node:crypto';
import { createCache } from './cache.js';
import { nextTurn } from './eventLoop.js';
import { base32Text } from './ids.js';
import type { Random } from './random.js';
import { createCipher, type Cipher } from './cipher.js';

/**
 * The key vault (docs/adr/0010-personal-data.md, 0017-rotation-after-a-leak.md). The master key
 * wraps roots, and the newest root wraps new keys, so that a rotation of the master key rewraps a
 * handful of roots, however many keys there are. An entry is durable before its key is given out.
 */
export interface Vault {
  /**
   * The current key of `alias`, asked of the store each time.
   * @param make makes a key when there is none; otherwise the answer is `null`
   */
  keyOf(alias: string, make: true): Promise<DataKey>;
  keyOf(alias: string, make: boolean): Promise<DataKey | null>;
  /** `null` when it was destroyed, by any process: what is cached is validated each time. */
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
  /** The newest generation: what is cached is validated each time. */
  generation(): Promise<Generation>;
  /**
   * Encrypts for one purpose of the service itself: with a key of `generation`, or else of the
   * newest one. It decrypts what was encrypted in any generation.
   */
  cipher(purpose: string, generation?: Generation): ServiceCipher;
  /** 32 bytes for one purpose of the service itself, and the same ones for all processes. */
  serviceKey(purpose: string, generation: Generation): Promise<Uint8Array>;
  /** 32 bytes for the names of streams: they outlive every rotation, and so does this key. */
  indexKey(): Promise<Uint8Array>;
  /**
   * Stores a secret under a name that is never used for another one; durable when it resolves.
   * Repeating it changes nothing.
   * @param expiresAt ms since the epoch: from then on it is treated as deleted
   */
  storeSecret(name: string, secret: Uint8Array, expiresAt?: number): Promise<void>;
  /**
   * `null` when it was never stored, or was deleted by any process: the store is asked each time.
   */
  secret(name: string): Promise<Uint8Array | null>;
  /** Removes a secret for good, durably. Repeating it changes nothing. */
  deleteSecret(name: string): Promise<void>;
  /** Removes the secrets that have expired; resolves with their number. */
  purgeSecrets(): Promise<number>;
  /**
   * Wraps every root with the first master key, makes one more root for the keys to come, wraps the
   * index key with it and starts a generation; answers how many roots there are. It may be
   * interrupted anywhere and repeated.
   */
  rotate(): Promise<number>;
  /** Starts a generation that no earlier sign-in is valid in. */
  endSessions(): Promise<void>;
}

/** The keys of the service itself that were made at once. Every process goes on to the newest. */
export interface Generation {
  /** 0 is that of version 0.1.0, whose keys derive from the first master key. */
  readonly number: number;
  /** Sign-ins that began in an earlier generation than this one have ended. */
  readonly sessionsSince: number;
}

/** As `Cipher`, with a key that the vault is asked for. */
export interface ServiceCipher {
  encrypt(plaintext: Uint8Array, context: string): Promise<string>;
  /** @throws Error when the text was encrypted for something else, or was changed */
  decrypt(ciphertext: string, context: string): Promise<Buffer>;
}

/** The number of the generation in which a `ServiceCipher` encrypted the text. */
export const generationOf = (ciphertext: string): number => Number(/^(\d+)\./.exec(ciphertext)?.[1] ?? 0);

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
  insert(collection: string, key: string, value: Entry, expiresAt?: number): Promise<boolean>;
  put(collection: string, key: string, value: Entry): Promise<void>;
  /** When it resolves, the entry is in no file of the store any more. */
  delete(collection: string, key: string): Promise<void>;
  /**
   * Another value after each write of another process that was acknowledged before the call. Absent
   * where asking for it costs as much as `get`.
   */
  revision?(): Promise<bigint>;
  /** Removes what has expired, and resolves with its number. */
  purgeExpired(): Promise<number>;
}

/** None of the master keys given is the one that an entry is wrapped with. */
export class MasterKeyUnknown extends Error {
  override readonly name = 'MasterKeyUnknown';

  constructor() {
    super('The vault is wrapped with a master key that is not among those given');
  }
}

interface Validated<Value> {
  readonly value: Value;
  /** Of the store, from before the value was read there. */
  readonly revision: string | undefined;
}

const isAsOf = ({ revision }: Validated<unknown>, now: string | undefined): boolean => now !== undefined && revision === now;

const collections = {
  roots: 'vaultRoots',
  keys: 'vaultKeys',
  aliases: 'vaultHandles',
  services: 'vaultServices',
  generations: 'vaultGenerations',
  secrets: 'vaultSecrets',
} as const;

/** Whether nothing was ever encrypted with it: then any master key will do. */
export const isNewVault = async (records: Pick<VaultRecords, 'get'>): Promise<boolean> =>
  (await records.get(collections.roots, '0')) === null;

const indexPurpose = 'doorstep blind index';
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
  random: Random;
}): Promise<Vault> => {
  const { records, random } = parts;
  let masters = await parts.masterKeys();
  // What an entry unwraps to never changes. Whether it is still there is asked of the store.
  const roots: Uint8Array[] = [];
  const dataKeys = createCache<Validated<DataKey | null>>(10_000);
  const serviceKeys = new Map<string, Uint8Array>();
  let newest: Validated<Generation> = { value: { number: 0, sessionsSince: 0 }, revision: undefined };

  /** What this process destroyed or started, which the store's revision does not show. */
  let ownChanges = 0;
  let asking: Promise<string | undefined> | undefined;
  /** Asked once for all who ask in one turn of the event loop, after the last of them did. */
  const revision = (): Promise<string | undefined> => {
    asking ??= nextTurn().then(async () => {
      asking = undefined;
      const own = ownChanges;
      const stored = await records.revision?.();
      return stored === undefined ? undefined : `${String(stored)}/${String(own)}`;
    });
    return asking;
  };

  const cipherOf = (master: Uint8Array): Cipher => createCipher(derived(master, 'doorstep vault'), random);

  const masterNamed = async (id: unknown): Promise<Uint8Array | undefined> => {
    const known = masters.find((master) => masterId(master) === id);
    if (known !== undefined) return known;
    masters = await parts.masterKeys();
    return masters.find((master) => masterId(master) === id);
  };

  const rootEntry = (root: Uint8Array, index: number): Entry => {
    const [current] = masters;
    if (current === undefined) throw new MasterKeyUnknown();
    return { master: masterId(current), wrapped: cipherOf(current).encrypt(root, `root/${String(index)}`) };
  };

  const rootAt = async (index: number): Promise<Uint8Array | null> => {
    const known = roots[index];
    if (known !== undefined) return known;
    for (let refused: unknown; ;) {
      const entry = await records.get(collections.roots, String(index));
      if (entry === null) return null;
      const master = await masterNamed(entry.master);
      if (master !== undefined) {
        const root = cipherOf(master).decrypt(String(entry.wrapped), `root/${String(index)}`);
        roots[index] = root;
        return root;
      }
      // The entry may be from before a rotation that has dropped its master key since.
      if (entry.master === refused) throw new MasterKeyUnknown();
      refused = entry.master;
    }
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

  const dataKey = (id: string, bytes: Uint8Array): DataKey => ({
    id,
    encryption: derived(bytes, 'doorstep personal data'),
    mac: derived(bytes, 'doorstep personal data iv'),
  });

  const key = async (id: string): Promise<DataKey | null> => {
    const now = await revision();
    const known = dataKeys.get(id);
    if (known !== undefined && isAsOf(known, now)) return known.value;
    const entry = await records.get(collections.keys, id);
    const found = entry === null ? null : (known?.value ?? dataKey(id, await unwrap(entry, `key/${id}`)));
    dataKeys.set(id, { value: found, revision: now });
    return found;
  };

  /** Null when another process was the first. */
  const makeKey = async (pointer: string): Promise<DataKey | null> => {
    const id = base32Text(random.bytes(17), 26);
    const bytes = random.bytes(keyBytes);
    await records.insert(collections.keys, id, { ...(await wrap(bytes, `key/${id}`)), pointer });
    if (await records.insert(collections.aliases, pointer, { key: id, retired: false })) return dataKey(id, bytes);
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

  const generation = async (): Promise<Generation> => {
    const now = await revision();
    if (isAsOf(newest, now)) return newest.value;
    for (let found = newest.value; ;) {
      const number = found.number + 1;
      const entry = await records.get(collections.generations, String(number));
      if (entry === null) {
        if (found.number >= newest.value.number) newest = { value: found, revision: now };
        return newest.value;
      }
      found = { number, sessionsSince: entry.endsSessions === true ? number : found.sessionsSince };
    }
  };

  const generationEntry = async (number: number, endsSessions: boolean): Promise<Entry> => ({
    ...(await wrap(random.bytes(keyBytes), `generation/${String(number)}`)),
    endsSessions,
  });

  const startGeneration = async (endsSessions: boolean): Promise<void> => {
    for (let isFirst = false; !isFirst;) {
      const { number: last } = await generation();
      const number = last + 1;
      // Keys of generation 0 may derive from the first master key, and so may have been copied.
      const entry = await generationEntry(number, endsSessions || last === 0);
      isFirst = await records.insert(collections.generations, String(number), entry);
      ownChanges += 1;
    }
  };

  /** A key that was stored under its purpose alone, as all were in version 0.1.0. */
  const storedKey = async (purpose: string): Promise<Uint8Array> => {
    const bound = `service/${purpose}`;
    const stored = await records.get(collections.services, purpose);
    if (stored !== null) return unwrap(stored, bound);
    await records.insert(collections.services, purpose, await wrap(random.bytes(keyBytes), bound));
    return storedKey(purpose);
  };

  const generationKey = async (purpose: string, number: number): Promise<Uint8Array> => {
    const entry = await records.get(collections.generations, String(number));
    if (entry === null) throw new Error(`the vault has lost generation ${String(number)} of its keys`);
    return derived(await unwrap(entry, `generation/${String(number)}`), purpose);
  };

  const serviceKey = async (purpose: string, number: number): Promise<Uint8Array> => {
    const name = `${String(number)} ${purpose}`;
    const known = serviceKeys.get(name);
    if (known !== undefined) return known;
    const found = await (number === 0 ? storedKey(purpose) : generationKey(purpose, number));
    serviceKeys.set(name, found);
    return found;
  };

  const cipher = (purpose: string, of?: Generation): ServiceCipher => ({
    encrypt: async (plaintext, context) => {
      const { number } = of ?? (await generation());
      const text = createCipher(await serviceKey(purpose, number), random).encrypt(plaintext, context);
      // Processes of version 0.1.0 read it during an upgrade.
      return number === 0 ? text : `${String(number)}.${text}`;
    },
    decrypt: async (ciphertext, context) => {
      const opened = createCipher(await serviceKey(purpose, generationOf(ciphertext)), random);
      return opened.decrypt(ciphertext.slice(ciphertext.indexOf('.') + 1), context);
    },
  });

  if ((await rootAt(0)) === null) {
    await addRoot(0);
    await records.insert(collections.generations, '1', await generationEntry(1, false));
  }

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
      dataKeys.delete(id);
      ownChanges += 1;
    },
    generation,
    cipher,
    serviceKey: (purpose, { number }) => serviceKey(purpose, number),
    indexKey: () => storedKey(indexPurpose),
    storeSecret: async (name, secret, expiresAt) => {
      await records.insert(collections.secrets, name, await wrap(secret, `secret/${name}`), expiresAt);
    },
    secret: async (name) => {
      const entry = await records.get(collections.secrets, name);
      return entry === null ? null : unwrap(entry, `secret/${name}`);
    },
    deleteSecret: (name) => records.delete(collections.secrets, name),
    purgeSecrets: () => records.purgeExpired(),
    rotate: async () => {
      masters = await parts.masterKeys();
      const { index: last } = await newestRoot();
      for (let index = 0; index <= last; index += 1) {
        const root = await rootAt(index);
        if (root === null) throw new Error('the vault has lost a root');
        await records.put(collections.roots, String(index), rootEntry(root, index));
      }
      await addRoot(last + 1);
      const indexKey = await storedKey(indexPurpose);
      await records.put(collections.services, indexPurpose, await wrap(indexKey, `service/${indexPurpose}`));
      await startGeneration(false);
      return roots.length;
    },
    endSessions: () => startGeneration(true),
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
    purgeSecrets: () => Promise.reject(new Error('a plan cannot purge the vault')),
    generation: () => vault.generation(),
    cipher: (purpose, generation) => vault.cipher(purpose, generation),
    serviceKey: (purpose, generation) => vault.serviceKey(purpose, generation),
    indexKey: () => vault.indexKey(),
    rotate: () => Promise.reject(new Error('a plan cannot rotate the vault')),
    endSessions: () => Promise.reject(new Error('a plan cannot end sessions')),
  };
};
