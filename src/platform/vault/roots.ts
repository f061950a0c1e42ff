import { createCipher, type Cipher } from '../cipher.js';
import type { Random } from '../random.js';
import { derivedKey, keyBytes } from './derivedKey.js';
import type { Entry, VaultRecords } from './records.js';

/** The keys that the master key wraps. The newest of them wraps what is added to the vault. */
export interface Roots {
  /** Makes the first root; returns whether there was none. */
  makeFirst(): Promise<boolean>;
  /** Encrypts with the newest root. What is bound to one entry does not decrypt as another. */
  wrap(bytes: Uint8Array, bound: string): Promise<Entry>;
  /** @throws MasterKeyUnknown; Error when the entry was bound to something else, or was changed */
  unwrap(entry: Readonly<Record<string, unknown>>, bound: string): Promise<Buffer>;
  /**
   * Wraps every root with the first master key, which is asked for again, and makes one more. It may
   * be interrupted anywhere and repeated.
   */
  rotate(): Promise<void>;
  /** How many there are, as far as this process knows. */
  count(): number;
}

/** None of the master keys given is the one that an entry is wrapped with. */
export class MasterKeyUnknown extends Error {
  override readonly name = 'MasterKeyUnknown';

  constructor() {
    super('The vault is wrapped with a master key that is not among those given');
  }
}

const collection = 'vaultRoots';

/** Whether nothing was ever encrypted with it: then any master key will do. */
export const isNewVault = async (records: Pick<VaultRecords, 'get'>): Promise<boolean> =>
  (await records.get(collection, '0')) === null;

const masterId = (master: Uint8Array): string => derivedKey(master, 'doorstep master key id', 8).toString('hex');

/** @param parts as of `openVault` */
export const openRoots = async (parts: {
  records: VaultRecords;
  masterKeys: () => Promise<readonly Uint8Array[]>;
  random: Random;
}): Promise<Roots> => {
  const { records, random } = parts;
  let masters = await parts.masterKeys();
  // What an entry unwraps to never changes. Whether it is still there is asked of the store.
  const roots: Uint8Array[] = [];

  const cipherOf = (master: Uint8Array): Cipher => createCipher(derivedKey(master, 'doorstep vault'), random);

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
      const entry = await records.get(collection, String(index));
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
    await records.insert(collection, String(index), rootEntry(random.bytes(keyBytes), index));
    await rootAt(index);
  };

  return {
    makeFirst: async () => {
      if ((await rootAt(0)) !== null) return false;
      await addRoot(0);
      return true;
    },
    wrap: async (bytes, bound) => {
      const { root, index } = await newestRoot();
      return { root: index, wrapped: createCipher(root, random).encrypt(bytes, bound) };
    },
    unwrap: async ({ root: index, wrapped }, bound) => {
      const root = await rootAt(Number(index));
      if (root === null) throw new Error('the vault has lost a root');
      return createCipher(root, random).decrypt(String(wrapped), bound);
    },
    rotate: async () => {
      masters = await parts.masterKeys();
      const { index: last } = await newestRoot();
      for (let index = 0; index <= last; index += 1) {
        const root = await rootAt(index);
        if (root === null) throw new Error('the vault has lost a root');
        await records.put(collection, String(index), rootEntry(root, index));
      }
      await addRoot(last + 1);
    },
    count: () => roots.length,
  };
};
