import type { Clock } from '../../../platform/clock.js';
import type { Cipher } from '../../../platform/cipher.js';
import type { Vault } from '../../../platform/vault.js';

/** What is used of the store's small records: they outlive the process, and every process sees the same ones. */
export interface Records {
  get(collection: string, key: string): Promise<Readonly<Record<string, unknown>> | null>;
  /** Exactly one of many at once writes; an expired record is as good as absent. */
  insert(collection: string, key: string, value: Sealed, expiresAt?: number): Promise<boolean>;
  put(collection: string, key: string, value: Sealed, expiresAt?: number): Promise<void>;
  delete(collection: string, key: string): Promise<void>;
}

interface Sealed {
  readonly sealed: string;
  /** Type literals may be passed as any JSON object, interfaces only with an index. */
  readonly [field: string]: string;
}

/**
 * What sign-in keeps: sessions, codes, tokens, keys and addresses, all of them secret or personal. Values are sealed, and ids, which
 * are credentials or addresses, are kept as keyed hashes: who reads the store can neither sign in nor learn who did.
 */
export interface EncryptedRecords {
  get(kind: string, id: string): Promise<unknown>;
  insert(kind: string, id: string, value: object, lifeMs?: number): Promise<boolean>;
  put(kind: string, id: string, value: object, lifeMs?: number): Promise<void>;
  delete(kind: string, id: string): Promise<void>;
  /**
   * Takes one of `most` places under `id`, each of which becomes free again after `lifeMs`, in whatever process it was taken.
   * Resolves with what gives it back at once, or `null` when all are taken.
   */
  takePlace(kind: string, id: string, most: number, lifeMs: number): Promise<(() => Promise<void>) | null>;
}

/** @param blindIndex a keyed hash */
export const createEncryptedRecords = (
  records: Records,
  vault: Pick<Vault, 'sealer'>,
  blindIndex: (text: string) => string,
  clock: Clock,
): EncryptedRecords => {
  const collectionOf = (kind: string): string => `signIn.${kind}`;
  const keyOf = (id: string): string => blindIndex(`sign-in ${id}`);
  const cipher = (): Promise<Cipher> => vault.sealer('doorstep sign-in');
  const seal = async (kind: string, id: string, value: object): Promise<Sealed> => ({
    sealed: (await cipher()).encrypt(Buffer.from(JSON.stringify(value)), `${kind}/${id}`),
  });
  const end = (lifeMs: number | undefined): number | undefined => (lifeMs === undefined ? undefined : clock.now() + lifeMs);

  const sealed: EncryptedRecords = {
    get: async (kind, id) => {
      const record = await records.get(collectionOf(kind), keyOf(id));
      if (typeof record?.sealed !== 'string') return null;
      return JSON.parse((await cipher()).decrypt(record.sealed, `${kind}/${id}`).toString()) as unknown;
    },
    insert: async (kind, id, value, lifeMs) =>
      records.insert(collectionOf(kind), keyOf(id), await seal(kind, id, value), end(lifeMs)),
    put: async (kind, id, value, lifeMs) => records.put(collectionOf(kind), keyOf(id), await seal(kind, id, value), end(lifeMs)),
    delete: (kind, id) => records.delete(collectionOf(kind), keyOf(id)),
    takePlace: async (kind, id, most, lifeMs) => {
      for (let place = 0; place < most; place += 1) {
        const name = `${id}/${String(place)}`;
        if (await sealed.insert(kind, name, {}, lifeMs)) return () => sealed.delete(kind, name);
      }
      return null;
    },
  };
  return sealed;
};
