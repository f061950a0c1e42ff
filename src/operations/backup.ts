import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { integrationDatabases, integrationFolders, presentIn, storesOf } from '../compose/dataFolder.js';
import { filesBelow, filesInBucket } from '../compose/files.js';
import { makeFolders } from '../platform/folders.js';
import { encryptionKeyFile } from '../platform/masterKeys.js';
import { areNested, copyDatabase, copyFolder } from './copyFolder.js';
import { copyFiles } from './copyFiles.js';
import type { Settings } from '../platform/settings/settings.js';
import { argumentOf, requireFiles, runPlainScript, UsageError } from './script.js';

const copyTo = async (target: string, settings: Settings): Promise<void> => {
  const { dataDir } = settings;
  const copyDatabases = async (names: readonly string[]): Promise<void> => {
    for (const name of await presentIn(dataDir, names)) {
      copyDatabase(join(dataDir, name), join(target, name));
      process.stdout.write(`${name}\n`);
    }
  };
  // What a move to servers has left stays where it is: a copy of the old vault would undo erasures.
  await copyDatabases(storesOf(settings));
  // After the log, because a subscription is in the ledger before its event is in the log. Listed only now.
  await copyDatabases(integrationDatabases);
  let files = 0;
  // A folder may be a link to another disk, and beside them is what is not the service's.
  for (const name of await presentIn(dataDir, integrationFolders))
    files += await copyFolder(join(dataDir, name), join(target, name));
  process.stdout.write(`${String(files)} other files\n`);
  // After the log, whose every file is there before its event.
  const bucket = filesInBucket(settings);
  if (bucket !== null) process.stdout.write(`${String(await copyFiles(bucket, filesBelow(target)))} files of the bucket\n`);
  if (settings.encryptionKey === undefined) {
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
  await makeFolders(target);
  if ((await readdir(target)).length > 0) throw new UsageError(`${target} is not empty: name a new or an empty folder`);
  try {
    await copyTo(target, settings);
  } catch (error) {
    throw new UsageError(
      `The backup in ${target} is incomplete: ${(error as Error).message}. Remove that folder, then run this again`,
    );
  }
});
