import { createCipher } from '../cipher.js';
import type { Random } from '../random.js';
import { derivedKey, keyBytes } from './derivedKey.js';
import type { Entry, VaultRecords } from './records.js';
import { isAsOf, type Revision, type Validated } from './revision.js';
import type { Roots } from './roots.js';

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

/** The keys of the service itself. */
export interface ServiceKeys {
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
  /** Starts a generation that no earlier sign-in is valid in. */
  endSessions(): Promise<void>;
}

/** What opening and rotating the vault do with these keys. */
interface Upkeep {
  /** Starts the first generation of a new vault. */
  readonly startFirst: () => Promise<void>;
  /** Wraps the index key with the newest root and starts a generation. */
  readonly renew: () => Promise<void>;
}

const collections = { services: 'vaultServices', generations: 'vaultGenerations' } as const;

const indexPurpose = 'doorstep blind index';

export const createServiceKeys = (parts: {
  records: VaultRecords;
  roots: Roots;
  revision: Revision;
  random: Random;
}): ServiceKeys & Upkeep => {
  const { records, roots, revision, random } = parts;
  const serviceKeys = new Map<string, Uint8Array>();
  let newest: Validated<Generation> = { value: { number: 0, sessionsSince: 0 }, revision: undefined };

  const generation = async (): Promise<Generation> => {
    const now = await revision.now();
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
    ...(await roots.wrap(random.bytes(keyBytes), `generation/${String(number)}`)),
    endsSessions,
  });

  const startGeneration = async (endsSessions: boolean): Promise<void> => {
    for (let isFirst = false; !isFirst;) {
      const { number: last } = await generation();
      const number = last + 1;
      // Keys of generation 0 may derive from the first master key, and so may have been copied.
      const entry = await generationEntry(number, endsSessions || last === 0);
      isFirst = await records.insert(collections.generations, String(number), entry);
      revision.noteOwnChange();
    }
  };

  /** A key that was stored under its purpose alone, as all were in version 0.1.0. */
  const storedKey = async (purpose: string): Promise<Uint8Array> => {
    const bound = `service/${purpose}`;
    const stored = await records.get(collections.services, purpose);
    if (stored !== null) return roots.unwrap(stored, bound);
    await records.insert(collections.services, purpose, await roots.wrap(random.bytes(keyBytes), bound));
    return storedKey(purpose);
  };

  const generationKey = async (purpose: string, number: number): Promise<Uint8Array> => {
    const entry = await records.get(collections.generations, String(number));
    if (entry === null) throw new Error(`the vault has lost generation ${String(number)} of its keys`);
    return derivedKey(await roots.unwrap(entry, `generation/${String(number)}`), purpose);
  };

  const serviceKey = async (purpose: string, number: number): Promise<Uint8Array> => {
    const name = `${String(number)} ${purpose}`;
    const known = serviceKeys.get(name);
    if (known !== undefined) return known;
    const found = await (number === 0 ? storedKey(purpose) : generationKey(purpose, number));
    serviceKeys.set(name, found);
    return found;
  };

  return {
    generation,
    cipher: (purpose, of) => ({
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
    }),
    serviceKey: (purpose, { number }) => serviceKey(purpose, number),
    indexKey: () => storedKey(indexPurpose),
    endSessions: () => startGeneration(true),
    startFirst: async () => {
      await records.insert(collections.generations, '1', await generationEntry(1, false));
    },
    renew: async () => {
      const indexKey = await storedKey(indexPurpose);
      await records.put(collections.services, indexPurpose, await roots.wrap(indexKey, `service/${indexPurpose}`));
      await startGeneration(false);
    },
  };
};
