import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { addMasterKey, dropPreviousMasterKeys, encryptionKeyFile, giveToOwner } from '../platform/masterKeys.js';
import { sqlite, sqliteCode } from '../platform/sqliteFault.js';
import { optionsOf, runScript, UsageError } from './script.js';

/**
 * Of two rotations at once, one could drop the key that the other wraps with. The system releases
 * this lock when the process ends, however it ends.
 */
const lockRotation = async (dataDir: string): Promise<{ close(): void }> => {
  const file = join(dataDir, `${encryptionKeyFile}.lock`);
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    // The next rotation may be the service's user's.
    if (process.getuid?.() === 0) await giveToOwner(dataDir, file);
    return lock;
  } catch (error) {
    lock.close();
    if (sqliteCode(error) !== sqlite.busy) throw error;
    throw new UsageError('Another rotation is under way. Wait until it ends, then run this again if it is still needed.');
  }
};

/**
 * `npm run vault:rotate`: wraps the vault with the current master key and gives the service new
 * keys, also while it is running. The current key is `ENCRYPTION_KEY` when it is set; else a new
 * one is created in the data folder. After an interruption it is run again.
 */
await runScript(async ({ engine }, { encryptionKey, dataDir }) => {
  optionsOf('rotateVault', {});
  const ownKey = encryptionKey === undefined;
  const lock = await lockRotation(dataDir);
  try {
    if (ownKey) await addMasterKey(dataDir);
    const before = await engine.vault.generation();
    const entries = await engine.vault.rotate();
    const after = await engine.vault.generation();
    // After an interruption before this, the old key stays in the file until the next rotation.
    if (ownKey) await dropPreviousMasterKeys(dataDir);
    const wrapped = `${String(entries)} entries of the vault are wrapped with`;
    process.stdout.write(
      ownKey
        ? `${wrapped} the new key in ${encryptionKeyFile}; the old one is gone. Running processes read the file again by themselves. Copy the new key to where you keep it.\n`
        : `${wrapped} ENCRYPTION_KEY. Once every process runs with it, PREVIOUS_ENCRYPTION_KEYS can be removed.\n`,
    );
    process.stdout.write(
      'Keep your copy of the old key as long as the last backup from before this, which nothing else decrypts (except after a leak).\n',
    );
    process.stdout.write(
      after.sessionsSince > before.sessionsSince
        ? 'Everybody is signed out, because the keys of version 0.1.0 derived from its first master key.\n'
        : 'Access tokens of the embedded sign-in are signed with a new key; those from before are refused. After a leak, run `npm run sessions:end` too.\n',
    );
  } finally {
    lock.close();
  }
});
