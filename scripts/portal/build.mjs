/** The build of the portal. */
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { root } from '../processes.mjs';

const compress = promisify(brotliCompress);

/** @param {string} file */
const compressFile = async (file) => {
  const content = await readFile(file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  await writeFile(`${file}.br`, await compress(content, { params }));
};

/**
 * Builds the portal: files named after their content, each beside itself as brotli; the manifest,
 * which names them; and the paths of the pages, of which the service has to know that they exist.
 * @param {string} folder - an empty one
 */
export const makePortal = async (folder) => {
  const { build } = await import('vite');
  await build({
    configFile: join(root, 'portal', 'vite.config.js'),
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: false },
  });
  await copyFile(join(root, 'portal', 'src', 'paths.json'), join(folder, 'paths.json'));
  const names = (await readdir(folder)).filter((name) => /\.(js|css|svg|json)$/.test(name));
  await Promise.all(names.map((name) => compressFile(join(folder, name))));
};
