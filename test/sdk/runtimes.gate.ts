import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { packWorkspace } from '../../scripts/packages.mjs';
import { hasChromium, startChromium } from '../support/chromium.js';
import { mintToken, startServer, type ServerProcess } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** The SDK as npm would publish it, installed in an empty folder, in every runtime that it says it works in. */

jest.setTimeout(180_000);

const runFile = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const installed = (...path: string[]): string => join(root, '.servers', ...path);

const text = 'What stands where in the shop.';
let folder: string;
let pages: Server;
let origin: string;
let server: ServerProcess;
let token: string;

/** What the pages' server gives, by path. */
const files = new Map<string, { type: string; body: string }>([
  ['/', { type: 'text/html', body: '<!doctype html><title>Shop</title>' }],
]);

beforeAll(async () => {
  folder = temporaryFolder();
  pages = createServer(({ url = '' }, response) => {
    const file = files.get(url);
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': file?.type ?? 'text/plain' }).end(file?.body);
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;

  const dataDir = temporaryFolder();
  server = await startServer(dataDir, { CORS_ORIGINS: origin });
  token = await mintToken(dataDir);

  const { file } = await packWorkspace('sdk', folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  await runFile('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', file], { cwd: folder });
  copyFileSync(fileURLToPath(new URL('./smokeProgram.mjs', import.meta.url)), join(folder, 'program.mjs'));
  writeFileSync(join(folder, 'plan.txt'), text);
  const call = "tryService(sdk, ...process.argv.slice(2), './plan.txt').then((result) => console.log(JSON.stringify(result)))";
  writeFileSync(
    join(folder, 'main.mjs'),
    `import * as sdk from '@doorstep/sdk';\nimport { tryService } from './program.mjs';\nawait ${call};\n`,
  );
  writeFileSync(
    join(folder, 'main.cjs'),
    `const sdk = require('@doorstep/sdk');\nimport('./program.mjs').then(({ tryService }) => ${call});\n`,
  );
});

afterAll(async () => {
  pages.close();
  await server.kill('SIGTERM');
});

const expected = {
  status: 'succeeded',
  size: text.length,
  sent: text.length,
  changes: 3,
  planned: ['WebsiteRenamed'],
  error: 'Website nothing not found',
  isNamed: true,
  found: true,
  metrics: true,
  exported: true,
  picture: 'image/webp',
};

/** The name, the program, its options, and what is to be run. */
const runtimes: readonly [string, string, readonly string[], string][] = [
  [`Node ${process.versions.node}`, process.execPath, [], 'main.mjs'],
  [`Node ${process.versions.node} by require`, process.execPath, [], 'main.cjs'],
  ...['22.23.3', '24.21.0'].flatMap((version): [string, string, readonly string[], string][] => {
    const node = installed('node', version, 'bin', 'node');
    return [
      [`Node ${version}`, node, [], 'main.mjs'],
      [`Node ${version} by require`, node, [], 'main.cjs'],
    ];
  }),
  ['Bun', installed('runtimes', 'bin', 'bun'), ['run'], 'main.mjs'],
  ['Deno', installed('runtimes', 'bin', 'deno'), ['run', '--node-modules-dir=manual', '--allow-all'], 'main.mjs'],
];

const slugOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

for (const [name, program, options, file] of runtimes) {
  const isThere = existsSync(program) || process.env.CI === 'true';
  (isThere ? test : test.skip)(`works in ${name}`, async () => {
    const { stdout } = await runFile(program, [...options, file, server.address, token, slugOf(name)], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder },
    });
    expect(JSON.parse(stdout)).toStrictEqual(expected);
  });
}

const bundle = async (source: string): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
};

(hasChromium ? test : test.skip)('works in a page of another origin, and in a worker', async () => {
  const head = "import * as sdk from '@doorstep/sdk';\nimport { tryService } from './program.mjs';\n";
  const call = (slug: string): string =>
    `tryService(sdk, ${JSON.stringify(server.address)}, ${JSON.stringify(token)}, '${slug}', new Blob([${JSON.stringify(text)}]))`;
  const type = 'text/javascript';
  files.set('/page.js', { type, body: await bundle(`${head}globalThis.result = ${call('chromium')};`) });
  files.set('/worker.js', {
    type,
    body: await bundle(`${head}${call('worker')}.then((result) => postMessage(result), (error) => postMessage(String(error)));`),
  });
  const browser: Browser = await startChromium();
  try {
    const page: Page = await browser.newPage();
    await page.goto(`${origin}/`);
    await page.addScriptTag({ url: '/page.js', type: 'module' });
    expect(await page.evaluate('result')).toStrictEqual(expected);
    const inWorker = `new Promise((resolve, reject) => {
      const worker = new Worker('/worker.js', { type: 'module' });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    })`;
    expect(await page.evaluate(inWorker)).toStrictEqual(expected);
  } finally {
    await browser.close();
  }
});
