import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmbeddedFiles } from '../integrations/files/embedded.js';
import { createS3Files } from '../integrations/files/s3.js';
import { systemRandom } from '../platform/random.js';
import { copyFiles } from './copyFiles.js';
import { runPlainScript, UsageError } from './script.js';

/**
 * `npm run files:restore -- <folder>`: puts the documents and media of a backup, or of a data folder,
 * into the bucket of the settings. What is there already stays.
 */
await runPlainScript(async ({ files: { s3 } }) => {
  const [source, ...others] = process.argv.slice(2);
  if (source === undefined || others.length > 0) throw new UsageError('Usage: npm run files:restore -- <backup or data folder>');
  if (s3 === undefined) throw new UsageError('S3_BUCKET: is not set. Without it, files are restored with the data folder');
  const folder = join(source, 'files');
  try {
    await access(folder);
  } catch {
    throw new UsageError(`There is no folder files in ${source}`);
  }
  const copied = await copyFiles(createEmbeddedFiles({ folder, random: systemRandom }), createS3Files(s3));
  process.stdout.write(`${String(copied)} files restored\n`);
});
