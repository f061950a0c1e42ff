import { createHash } from 'node:crypto';
import type { FileStore } from '../../integrations/files/port.js';
import { isOurFile } from '../copyFiles.js';
import { createSetDigest, type SetDigest } from './digest.js';
import { NotEqual } from './problems.js';

/**
 * Reads every file of the old store on both sides.
 * @throws NotEqual
 */
export const compareFiles = async (old: FileStore, target: FileStore): Promise<SetDigest> => {
  const digest = createSetDigest();
  for await (const { key } of old.list('')) {
    if (!isOurFile(key)) continue;
    const hash = await hashOf(old, key);
    // It was removed since it was listed.
    if (hash === null) continue;
    if ((await hashOf(target, key)) !== hash) throw new NotEqual(`the file ${key}`);
    digest.add(`${key} ${hash}`);
  }
  return digest;
};

const hashOf = async (files: FileStore, key: string): Promise<string | null> => {
  const found = await files.read(key);
  if (found === null) return null;
  const hash = createHash('sha256');
  for await (const chunk of found.content) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
};
