import type { Random } from '../random.js';
import { createDataKeys, type DataKeys } from './dataKeys.js';
import type { VaultRecords } from './records.js';
import { createRevision } from './revision.js';
import { openRoots } from './roots.js';
import { createSecrets, type Secrets } from './secrets.js';
import { createServiceKeys, type ServiceKeys } from './serviceKeys.js';

/**
 * The key vault (docs/adr/0010-personal-data.md, 0017-rotation-after-a-leak.md). The master key
 * wraps roots, and the newest root wraps new keys, so that a rotation of the master key rewraps a
 * handful of roots, however many keys there are. An entry is durable before its key is given out.
 */
export interface Vault extends DataKeys, ServiceKeys, Secrets {
  /**
   * Wraps every root with the first master key, makes one more root for the keys to come, wraps the
   * index key with it and starts a generation; answers how many roots there are. It may be
   * interrupted anywhere and repeated.
   */
  rotate(): Promise<number>;
}

/** The vault without the keys of people, which only `PersonalData` uses. */
export type SecretVault = Omit<Vault, keyof DataKeys>;

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
  const roots = await openRoots(parts);
  const shared = { records, roots, revision: createRevision(records), random };
  const { startFirst, renew, ...serviceKeys } = createServiceKeys(shared);
  if (await roots.makeFirst()) await startFirst();
  return {
    ...createDataKeys(shared),
    ...serviceKeys,
    ...createSecrets(shared),
    rotate: async () => {
      await roots.rotate();
      await renew();
      return roots.count();
    },
  };
};
