import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { filesBelow, filesInBucket } from '../compose/files.js';
import { copyFiles } from './copyFiles.js';
import { argumentOf, runPlainScript, UsageError } from './script.js';

/**
 * `npm run files:restore -- <folder>`: puts the documents and media of a backup, or of a data folder,
 * into the bucket of the settings. What is there already stays.
 */
await runPlainScript(async (settings) => {
  const source = argumentOf('restoreFiles');
  const bucket = filesInBucket(settings);
  if (bucket === null) throw new UsageError('S3_BUCKET: is not set. Without it, files are restored with the data folder');
  const folder = join(source, 'files');
  try {
    await access(folder);
  } catch {
    throw new UsageError(`There is no folder files in ${source}`);
  }
  const copied = await copyFiles(filesBelow(source), bucket);
  process.stdout.write(`${String(copied)} files restored\n`);
});
