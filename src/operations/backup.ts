import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { filesBelow, filesInBucket } from '../compose/files.js';
import { encryptionKeyFile } from '../platform/masterKeys.js';
import { copyDatabase, copyFolder, noPlainFiles } from './copyFolder.js';
import { copyFiles } from './copyFiles.js';
import { runPlainScript, UsageError } from './script.js';
import { usageOf } from './scriptHelp.js';

/**
 * In this order, because the copied positions of workers and read models must not be ahead of the
 * copied log, and the vault must have the key of everything in the log.
 */
const databases = ['records.db', 'read-models.db', 'events.db', 'vault.db'];

/** `npm run backup -- <new folder>`: copies the data folder while the service is running. */
await runPlainScript(async (settings) => {
  const { dataDir } = settings;
  const [target, ...others] = process.argv.slice(2);
  if (target === undefined || others.length > 0) throw new UsageError(usageOf('backup'));
  const names = await readdir(dataDir);
  await mkdir(target, { recursive: true, mode: 0o700 });
  if ((await readdir(target)).length > 0) throw new UsageError(`${target} is not empty: name a new or an empty folder`);

  const otherDatabases = names.filter((name) => name.endsWith('.db') && !databases.includes(name));
  for (const name of [...otherDatabases, ...databases.filter((known) => names.includes(known))]) {
    copyDatabase(join(dataDir, name), join(target, name));
    process.stdout.write(`${name}\n`);
  }
  process.stdout.write(`${String(await copyFolder(dataDir, target, noPlainFiles))} other files\n`);
  // After the log, whose every file is there before its event.
  const bucket = filesInBucket(settings);
  if (bucket !== null) process.stdout.write(`${String(await copyFiles(bucket, filesBelow(target)))} files of the bucket\n`);
  if (names.includes(encryptionKeyFile)) {
    process.stdout.write(
      `${encryptionKeyFile} is left out: keep a copy of it elsewhere. Without it the backup cannot be decrypted.\n`,
    );
  }
});
