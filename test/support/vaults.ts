import { join } from 'node:path';
import type { Clock } from '../../src/platform/clock.js';
import { createPersonalData, type PersonalData } from '../../src/platform/personal.js';
import { systemRandom } from '../../src/platform/random.js';
import { openVault, type Vault, type VaultRecords } from '../../src/platform/vault.js';
import { createLastingRecords } from '../../src/projections/store/embedded/lastingRecords.js';

export interface Secrets {
  readonly vault: Vault;
  readonly personal: PersonalData;
}

/** The master key of every vault that does not say otherwise. */
export const someMasterKey = new Uint8Array(32);

export const openSecrets = async (
  records: VaultRecords,
  clock: Clock,
  masterKeys: readonly Uint8Array[] = [someMasterKey],
): Promise<Secrets> => {
  const vault = await openVault({ records, masterKeys: () => Promise.resolve(masterKeys), clock, random: systemRandom });
  return { vault, personal: await createPersonalData(vault) };
};

/** The vault of a process on the files in `folder`. */
export const openVaultIn = async (
  folder: string,
  clock: Clock,
): Promise<Secrets & { readonly records: VaultRecords; readonly close: () => Promise<void> }> => {
  const records = await createLastingRecords({ file: join(folder, 'vault.db'), clock });
  return { ...(await openSecrets(records, clock)), records, close: () => records.close() };
};
