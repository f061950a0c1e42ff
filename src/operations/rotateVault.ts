import { addMasterKey, dropPreviousMasterKeys, encryptionKeyFile } from '../platform/masterKeys.js';
import { runScript } from './script.js';

/**
 * `npm run vault:rotate`: wraps the vault with the current master key alone, also while the server runs. With `ENCRYPTION_KEY` that is
 * the key which the operator has set; else a new one is made in the data folder.
 */
await runScript(async ({ engine }, { encryptionKey, dataDir }) => {
  const ownKey = encryptionKey === undefined;
  if (ownKey) await addMasterKey(dataDir);
  const entries = await engine.vault.rotate();
  // Interrupted before this, the old key stays, and harms nothing; the next rotation drops it.
  if (ownKey) await dropPreviousMasterKeys(dataDir);
  const count = entries === 1 ? '1 entry of the vault is' : `${String(entries)} entries of the vault are`;
  process.stdout.write(
    ownKey
      ? `${count} wrapped with the new key in ${encryptionKeyFile}; the old one is gone. Processes that run read the file again by themselves. Copy the new key to where you keep it.\n`
      : `${count} wrapped with ENCRYPTION_KEY. Once every process runs with it, PREVIOUS_ENCRYPTION_KEYS may be dropped.\n`,
  );
});
