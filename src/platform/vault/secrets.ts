import type { VaultRecords } from './records.js';
import type { Roots } from './roots.js';

export interface Secrets {
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
}

const collection = 'vaultSecrets';

export const createSecrets = ({ records, roots }: { records: VaultRecords; roots: Roots }): Secrets => ({
  storeSecret: async (name, secret, expiresAt) => {
    await records.insert(collection, name, await roots.wrap(secret, `secret/${name}`), expiresAt);
  },
  secret: async (name) => {
    const entry = await records.get(collection, name);
    return entry === null ? null : roots.unwrap(entry, `secret/${name}`);
  },
  deleteSecret: (name) => records.delete(collection, name),
  purgeSecrets: () => records.purgeExpired(),
});
