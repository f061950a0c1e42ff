import type { Clock } from '../../../platform/clock.js';
import { generationOf, type Generation } from '../../../platform/vault/serviceKeys.js';
import type { Vault } from '../../../platform/vault/vault.js';

/** The store's records: durable, and shared by all processes. */
export interface Records {
  get(collection: string, key: string): Promise<Readonly<Record<string, unknown>> | null>;
  /** Of several concurrent inserts exactly one succeeds. An expired record counts as absent. */
  insert(collection: string, key: string, value: EncryptedValue, expiresAt?: number): Promise<boolean>;
  put(collection: string, key: string, value: EncryptedValue, expiresAt?: number): Promise<void>;
  /** Writes only over a record that is equal to `expected`; resolves with whether it did. */
  replace(
    collection: string,
    key: string,
    expected: Readonly<Record<string, unknown>>,
    value: EncryptedValue,
    expiresAt?: number,
  ): Promise<boolean>;
  delete(collection: string, key: string): Promise<void>;
}

interface EncryptedValue {
  readonly encrypted: string;
  /** TypeScript accepts an interface as a JSON object only with an index signature. */
  readonly [field: string]: string;
}

/**
 * The state of sign-in: sessions, codes, tokens, keys and addresses, all of them secret or
 * personal. Values are encrypted, and ids, which are credentials or addresses, are stored as keyed
 * hashes: reading the store is not enough to sign in, or to learn who did.
 */
export interface EncryptedRecords {
  get(kind: string, id: string): Promise<unknown>;
  insert(kind: string, id: string, value: object, lifeMs?: number): Promise<boolean>;
  put(kind: string, id: string, value: object, lifeMs?: number): Promise<void>;
  /** Writes only over a record that is there and that nobody else writes or deletes meanwhile; resolves with whether it did. */
  replace(kind: string, id: string, value: object, lifeMs?: number): Promise<boolean>;
  delete(kind: string, id: string): Promise<void>;
  /**
   * Acquires one of `max` slots of `id`, shared by all processes. A slot becomes free after
   * `lifeMs`, or when the returned function is called. `null` when all are taken.
   */
  acquireSlot(kind: string, id: string, max: number, lifeMs: number): Promise<(() => Promise<void>) | null>;
}

/**
 * @param blindIndex a keyed hash
 * @param generation of which sign-in the records are: they are encrypted with its keys, and those
 *   of sign-ins that have ended are absent. Default: the newest keys, and all records
 */
export const createEncryptedRecords = (
  records: Records,
  vault: Pick<Vault, 'cipher'>,
  blindIndex: (text: string) => string,
  clock: Clock,
  generation?: Generation,
): EncryptedRecords => {
  const collectionOf = (kind: string): string => `signIn.${kind}`;
  const keyOf = (id: string): string => blindIndex(`sign-in ${id}`);
  const cipher = vault.cipher('doorstep sign-in', generation);
  const encrypt = async (kind: string, id: string, value: object): Promise<EncryptedValue> => ({
    encrypted: await cipher.encrypt(Buffer.from(JSON.stringify(value)), `${kind}/${id}`),
  });
  const expiresAt = (lifeMs: number | undefined): number | undefined => (lifeMs === undefined ? undefined : clock.now() + lifeMs);

  const encrypted: EncryptedRecords = {
    get: async (kind, id) => {
      const record = await records.get(collectionOf(kind), keyOf(id));
      if (typeof record?.encrypted !== 'string') return null;
      if (generation !== undefined && generationOf(record.encrypted) < generation.sessionsSince) return null;
      return JSON.parse((await cipher.decrypt(record.encrypted, `${kind}/${id}`)).toString()) as unknown;
    },
    insert: async (kind, id, value, lifeMs) =>
      records.insert(collectionOf(kind), keyOf(id), await encrypt(kind, id, value), expiresAt(lifeMs)),
    put: async (kind, id, value, lifeMs) =>
      records.put(collectionOf(kind), keyOf(id), await encrypt(kind, id, value), expiresAt(lifeMs)),
    replace: async (kind, id, value, lifeMs) => {
      const record = await records.get(collectionOf(kind), keyOf(id));
      if (record === null) return false;
      return records.replace(collectionOf(kind), keyOf(id), record, await encrypt(kind, id, value), expiresAt(lifeMs));
    },
    delete: (kind, id) => records.delete(collectionOf(kind), keyOf(id)),
    acquireSlot: async (kind, id, max, lifeMs) => {
      for (let slot = 0; slot < max; slot += 1) {
        const name = `${id}/${String(slot)}`;
        if (await encrypted.insert(kind, name, {}, lifeMs)) return () => encrypted.delete(kind, name);
      }
      return null;
    },
  };
  return encrypted;
};
