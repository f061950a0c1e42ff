import { existsSync } from 'node:fs';
import { hasEntries } from '../integrations/payments/embedded.js';
import { SettingsError } from '../platform/settings/environment.js';
import type { VaultRecords } from '../platform/vault/records.js';

const [collection, key] = ['ledger', 'was there'];

/** Notes in the vault, which is never deleted either, that there is a ledger with something in it. */
export const noteLedger = async (vault: VaultRecords): Promise<void> => {
  await vault.insert(collection, key, {});
};

/**
 * Refuses a start without the ledger that was there: a new one would give the numbers of its invoices again, without a
 * word. One that an earlier version has written is noted. One without entries is not: to read what is not there makes
 * a file too, and machines with external integrations may each have a folder of their own.
 * @throws SettingsError when it is gone; faults of the vault
 */
export const requireLedger = async (vault: VaultRecords, file: string): Promise<void> => {
  const isNoted = (await vault.get(collection, key)) !== null;
  if (existsSync(file)) {
    if (!isNoted && hasEntries(file)) await noteLedger(vault);
    return;
  }
  if (isNoted)
    throw new SettingsError([
      'DATA_DIR (ledger.db): is gone, with the invoices and subscriptions in it. Put it back from the backup; or, if it is lost for good, make an empty file of that name: invoices then begin at number 000001 again',
    ]);
};
