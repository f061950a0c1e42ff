import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder that an operator names, for this user alone, and those above it that are missing. One by one, because
 * Node.js tries for ever to make a folder with `recursive` where the system says that the one above is missing, as
 * `/proc` does.
 */
export const makeFolders = async (path: string): Promise<void> => {
  if (!existsSync(dirname(path))) await makeFolders(dirname(path));
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const isThere = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isThere) throw error;
  }
};
