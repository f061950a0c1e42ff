/** The packages as npm would publish them. */
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { root } from './processes.mjs';

/**
 * Packs a workspace.
 * @param {string} workspace - its folder
 * @param {string} folder - where the tarball goes
 * @returns {Promise<{ file: string, files: { path: string, size: number }[] }>}
 */
export const packWorkspace = async (workspace, folder) => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: join(root, workspace),
  });
  const [packed] = /** @type {{ filename: string, files: { path: string, size: number }[] }[]} */ (JSON.parse(stdout));
  if (packed === undefined) throw new Error(`npm packed nothing of ${workspace}`);
  return { file: join(folder, packed.filename), files: packed.files };
};
