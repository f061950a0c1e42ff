import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { encryptionKeyFile } from '../platform/masterKeys.js';
import { runPlainScript, UsageError } from './script.js';

/** Read models never reflect more than the log that is copied after them; every key is in the vault before what it sealed is in the log. */
const databases = ['read-models.db', 'events.db', 'vault.db'];
/** What belongs to a database that is copied, or to whoever has it open; and the key, which is worth nothing as a secret beside what it opens. */
const leftOut = /^encryption\.key|\.db(?:-wal|-shm|-signal|-journal)?$/;

/** A copy as of one moment, complete and without what was deleted, while others write. */
const copyDatabase = (file: string, target: string): void => {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
};

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Copies what is there, but for `without`. What goes meanwhile was a draft: whatever is finished is replaced as a whole. */
const copyFolder = async (folder: string, target: string, without: RegExp | null): Promise<number> => {
  await mkdir(target, { recursive: true, mode: 0o700 });
  let files = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (without?.test(entry.name) === true) continue;
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

/** `npm run backup -- <folder>`: copies the data folder while the service runs on it, in the order in which the parts rest on each other. */
await runPlainScript(async ({ dataDir }) => {
  const [target, ...others] = process.argv.slice(2);
  if (target === undefined || others.length > 0) throw new UsageError('Usage: npm run backup -- <new folder>');
  const there = await readdir(dataDir);
  await mkdir(target, { recursive: true, mode: 0o700 });
  if ((await readdir(target)).length > 0) throw new UsageError(`${target} is not empty`);

  const further = there.filter((name) => name.endsWith('.db') && !databases.includes(name));
  for (const name of [...further, ...databases.filter((known) => there.includes(known))]) {
    copyDatabase(join(dataDir, name), join(target, name));
    process.stdout.write(`${name}\n`);
  }
  process.stdout.write(`${String(await copyFolder(dataDir, target, leftOut))} other files\n`);
  if (there.includes(encryptionKeyFile)) {
    process.stdout.write(`${encryptionKeyFile} is left out: keep it elsewhere. Without it the vault cannot be opened.\n`);
  }
});
