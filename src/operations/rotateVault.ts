import { addMasterKey, dropPreviousMasterKeys, encryptionKeyFile } from '../platform/masterKeys.js';
import { runScript } from './script.js';

/**
 * `npm run vault:rotate`: wraps the vault's root keys with the current master key, also while the
 * service is running. The current key is `ENCRYPTION_KEY` when it is set; else a new one is created
 * in the data folder.
 */
await runScript(async ({ engine }, { encryptionKey, dataDir }) => {
  const ownKey = encryptionKey === undefined;
  if (ownKey) await addMasterKey(dataDir);
  const entries = await engine.vault.rotate();
  // After an interruption before this, the old key stays unused in the file until the next
  // rotation.
  if (ownKey) await dropPreviousMasterKeys(dataDir);
  const count = entries === 1 ? '1 entry of the vault is' : `${String(entries)} entries of the vault are`;
  process.stdout.write(
    ownKey
      ? `${count} wrapped with the new key in ${encryptionKeyFile}; the old one is gone. Running processes read the file again by themselves. Copy the new key to where you keep it.\n`
      : `${count} wrapped with ENCRYPTION_KEY. Once every process runs with it, PREVIOUS_ENCRYPTION_KEYS can be removed.\n`,
  );
});
