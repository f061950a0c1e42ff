import { createCache } from '../cache.js';
import { base32Text } from '../ids.js';
import type { Random } from '../random.js';
import { derivedKey, keyBytes } from './derivedKey.js';
import type { VaultRecords } from './records.js';
import { isAsOf, type Revision, type Validated } from './revision.js';
import type { Roots } from './roots.js';

/** Two keys, derived from 32 random bytes that only the vault has. */
export interface DataKey {
  readonly id: string;
  readonly encryption: Uint8Array;
  readonly mac: Uint8Array;
}

/** The keys of people. Each belongs to an alias, which leads to the newest of its keys. */
export interface DataKeys {
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
}

const collections = { keys: 'vaultKeys', aliases: 'vaultHandles' } as const;

const dataKey = (id: string, bytes: Uint8Array): DataKey => ({
  id,
  encryption: derivedKey(bytes, 'doorstep personal data'),
  mac: derivedKey(bytes, 'doorstep personal data iv'),
});

export const createDataKeys = (parts: { records: VaultRecords; roots: Roots; revision: Revision; random: Random }): DataKeys => {
  const { records, roots, revision, random } = parts;
  const dataKeys = createCache<Validated<DataKey | null>>(10_000);

  const key = async (id: string): Promise<DataKey | null> => {
    const now = await revision.now();
    const known = dataKeys.get(id);
    if (known !== undefined && isAsOf(known, now)) return known.value;
    const entry = await records.get(collections.keys, id);
    const found = entry === null ? null : (known?.value ?? dataKey(id, await roots.unwrap(entry, `key/${id}`)));
    dataKeys.set(id, { value: found, revision: now });
    return found;
  };

  /** Null when another process was the first. */
  const makeKey = async (pointer: string): Promise<DataKey | null> => {
    const id = base32Text(random.bytes(17), 26);
    const bytes = random.bytes(keyBytes);
    await records.insert(collections.keys, id, { ...(await roots.wrap(bytes, `key/${id}`)), pointer });
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
      try {
        await records.delete(collections.keys, id);
      } finally {
        // The store may have removed it and failed to wipe its files, which a repetition does.
        dataKeys.delete(id);
        revision.noteOwnChange();
      }
    },
  };
};
