import { join } from 'node:path';
import { createEmbeddedFiles } from '../integrations/files/embedded.js';
import type { FileStore } from '../integrations/files/port.js';
import { createS3Files } from '../integrations/files/s3.js';
import { systemRandom } from '../platform/random.js';
import type { Settings } from '../platform/settings/settings.js';

/** The files of a data folder, or of a backup. */
export const filesBelow = (folder: string): FileStore =>
  createEmbeddedFiles({ folder: join(folder, 'files'), random: systemRandom });

/** The bucket that the settings name, or `null`. */
export const filesInBucket = ({ files: { s3 } }: Settings): FileStore | null => (s3 === undefined ? null : createS3Files(s3));
