import { access, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { filesBelow, filesInBucket } from '../compose/files.js';
import { encryptionKeyFile } from '../platform/masterKeys.js';
import { areNested, copyDatabase, copyFolder, noPlainFiles } from './copyFolder.js';
import { copyFiles } from './copyFiles.js';
import type { Settings } from '../platform/settings/settings.js';
import { argumentOf, requireFiles, runPlainScript, UsageError } from './script.js';

/**
 * In this order, because the copied positions of workers and read models must not be ahead of the
 * copied log, and the vault must have the key of everything in the log.
 */
const databases = ['records.db', 'read-models.db', 'events.db', 'vault.db'];

const copyTo = async (target: string, settings: Settings): Promise<void> => {
  const { dataDir } = settings;
  const copyDatabases = (names: readonly string[]): void => {
    for (const name of names) {
      copyDatabase(join(dataDir, name), join(target, name));
      process.stdout.write(`${name}\n`);
    }
  };
  const names = await readdir(dataDir);
  copyDatabases(databases.filter((name) => names.includes(name)));
  // Those of the integrations after the log, because a subscription is in the ledger before its event
  // is in the log. Listed only now: each is created when it is first used.
  copyDatabases((await readdir(dataDir)).filter((name) => name.endsWith('.db') && !databases.includes(name)));
  process.stdout.write(`${String(await copyFolder(dataDir, target, noPlainFiles))} other files\n`);
  // After the log, whose every file is there before its event.
  const bucket = filesInBucket(settings);
  if (bucket !== null) process.stdout.write(`${String(await copyFiles(bucket, filesBelow(target)))} files of the bucket\n`);
  if (names.includes(encryptionKeyFile)) {
    process.stdout.write(
      `${encryptionKeyFile} is left out: keep a copy of it elsewhere. Without it the backup cannot be decrypted.\n`,
    );
  }
};

/** `npm run backup -- <new folder>`: copies the data folder while the service is running. */
await runPlainScript(async (settings) => {
  const { dataDir, stores } = settings;
  const target = argumentOf('backup');
  // A backup of a mistyped folder would be empty, and be noticed when it is needed.
  await requireFiles(dataDir, [
    ...(stores.eventStoreUrl === undefined ? ['events.db'] : []),
    ...(stores.readModelUrl === undefined ? ['vault.db'] : []),
  ]);
  await access(dataDir).catch(() => {
    throw new UsageError(`DATA_DIR: there is no folder ${dataDir}. Name the folder of the installation`);
  });
  if (await areNested(target, dataDir)) {
    throw new UsageError(`${target} must be outside the data folder ${dataDir}: name a folder elsewhere, best on another disk`);
  }
  await mkdir(target, { recursive: true, mode: 0o700 });
  if ((await readdir(target)).length > 0) throw new UsageError(`${target} is not empty: name a new or an empty folder`);
  try {
    await copyTo(target, settings);
  } catch (error) {
    throw new UsageError(
      `The backup in ${target} is incomplete: ${(error as Error).message}. Remove that folder, then run this again`,
    );
  }
});
