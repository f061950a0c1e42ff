import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { filesBelow, filesInBucket } from '../compose/files.js';
import { encryptionKeyFile } from '../platform/masterKeys.js';
import { copyFiles } from './copyFiles.js';
import { runPlainScript, UsageError } from './script.js';
import { usageOf } from './scriptHelp.js';

/**
 * In this order, because the copied read models must not be ahead of the copied log, and the vault
 * must have the key of everything in the log.
 */
const databases = ['read-models.db', 'events.db', 'vault.db'];
/**
 * Databases are copied separately, their side files belong to the running processes, and the key
 * must not lie beside the data that it decrypts.
 */
const excluded = /^encryption\.key|\.db(?:-wal|-shm|-signal|-journal)?$/;

/** Copies a database as of one moment, without deleted data, while other processes write. */
const copyDatabase = (file: string, target: string): void => {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
};

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * Copies a folder except names that match `without`. Files that vanish meanwhile are drafts:
 * finished files are replaced atomically.
 */
const copyFolder = async (folder: string, target: string, without: RegExp | null): Promise<number> => {
  await mkdir(target, { recursive: true, mode: 0o700 });
  let files = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    // Drafts of uploads that are under way, or were cut off.
    if (without?.test(entry.name) === true || entry.name === '.drafts') continue;
    const [from, to] = [join(folder, entry.name), join(target, entry.name)];
    try {
      if (entry.isDirectory()) files += await copyFolder(from, to, null);
      else {
        await copyFile(from, to);
        files += 1;
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return files;
};

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
  process.stdout.write(`${String(await copyFolder(dataDir, target, excluded))} other files\n`);
  // After the log, whose every file is there before its event.
  const bucket = filesInBucket(settings);
  if (bucket !== null) process.stdout.write(`${String(await copyFiles(bucket, filesBelow(target)))} files of the bucket\n`);
  if (names.includes(encryptionKeyFile)) {
    process.stdout.write(
      `${encryptionKeyFile} is left out: keep a copy of it elsewhere. Without it the backup cannot be decrypted.\n`,
    );
  }
});
