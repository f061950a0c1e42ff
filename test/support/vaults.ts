import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../src/platform/clock.js';
import { encryptionKeyFile, loadMasterKeys } from '../../src/platform/masterKeys.js';
import { createPersonalData, type PersonalData } from '../../src/platform/personal.js';
import { systemRandom } from '../../src/platform/random.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import type { VaultRecords } from '../../src/platform/vault/records.js';
import { openVault, type Vault } from '../../src/platform/vault/vault.js';
import { createDurableRecords } from '../../src/projections/store/embedded/durableRecords.js';

export interface Secrets {
  readonly vault: Vault;
  readonly personal: PersonalData;
}

/** The master key of every vault that does not say otherwise. */
const someMasterKey = new Uint8Array(32);

export const openSecrets = async (
  records: VaultRecords,
  masterKeys: readonly Uint8Array[] = [someMasterKey],
): Promise<Secrets> => {
  const vault = await openVault({ records, masterKeys: () => Promise.resolve(masterKeys), random: systemRandom });
  return { vault, personal: await createPersonalData(vault) };
};

/** As the operators' scripts find them: a folder without a key is given the one above. */
const masterKeysIn = async (folder: string): Promise<readonly Uint8Array[]> => {
  const file = join(folder, encryptionKeyFile);
  if (!existsSync(file)) await writeFile(file, `${Buffer.from(someMasterKey).toString('base64')}\n`);
  return loadMasterKeys(loadSettings({ DATA_DIR: folder }));
};

/** The vault of a process on the files in `folder`. */
export const openVaultIn = async (
  folder: string,
  clock: Clock,
): Promise<Secrets & { readonly records: VaultRecords; readonly close: () => Promise<void> }> => {
  const records = await createDurableRecords({ file: join(folder, 'vault.db'), clock });
  return { ...(await openSecrets(records, await masterKeysIn(folder))), records, close: () => records.close() };
};
