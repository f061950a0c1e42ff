/**
 * `npm run sdk:check`: looks at the SDK as npm would publish it: what is in the package, whether every
 * kind of program finds its modules and types (publint, attw), and how much a page loads.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packWorkspace } from './packages.mjs';
import { prepareOrExit } from './prepare.mjs';
import { report, root, run } from './processes.mjs';

/** Of all of it, minified and compressed, openapi-fetch too. */
const maxGzipBytes = 12_000;

/** @param {string} words */
const fail = (words) => {
  report(words);
  process.exitCode = 1;
};

const checkSize = async () => {
  const { outputFiles } = await build({
    stdin: { contents: "export * from '@doorstep/sdk';", resolveDir: root },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    write: false,
    logLevel: 'warning',
  });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error('esbuild made no bundle');
  const gzipBytes = gzipSync(bundle.contents, { level: 9 }).length;
  const words = `the SDK is ${bundle.contents.length} bytes minified, ${gzipBytes} compressed; at most ${maxGzipBytes}`;
  if (gzipBytes > maxGzipBytes) fail(words);
  else report(words);
};

/** @param {readonly { path: string, size: number }[]} files @param {string} tarball */
const checkFiles = (files, tarball) => {
  const wanted = ['package.json', 'README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts', 'docs/README.md'];
  const missing = wanted.filter((name) => !files.some(({ path }) => path === name));
  const strange = files.filter(({ path }) => !wanted.includes(path) && !/^(?:dist\/.*\.(?:js|d\.ts)|docs\/.*\.md)$/.test(path));
  report(`the package has ${files.length} files, ${readFileSync(tarball).length} bytes packed`);
  if (missing.length > 0) fail(`it lacks ${missing.join(', ')}`);
  if (strange.length > 0) fail(`it has ${strange.map(({ path }) => path).join(', ')}`);
};

/** @param {string} tarball */
const checkModules = async (tarball) => {
  const { buffer, byteOffset, length } = readFileSync(tarball);
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: /** @type {ArrayBuffer} */ (buffer.slice(byteOffset, byteOffset + length)) },
  });
  for (const message of messages) fail(`publint: ${formatMessage(message, pkg) ?? message.code}`);
  // Its program is no export of the package.
  const attw = fileURLToPath(new URL('dist/index.js', import.meta.resolve('@arethetypeswrong/cli/package.json')));
  const args = [attw, '--profile', 'esm-only', '--no-emoji', tarball];
  if ((await run(process.execPath, args)) !== 0) fail('attw: see above');
};

await prepareOrExit('sdk');
await checkSize();
const folder = mkdtempSync(join(tmpdir(), 'doorstep-sdk-'));
try {
  const { file, files } = await packWorkspace('sdk', folder);
  checkFiles(files, file);
  await checkModules(file);
} finally {
  rmSync(folder, { recursive: true });
}
