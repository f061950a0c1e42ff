/**
 * Installs the packages that are missing and builds what is stale, and does nothing, in a few milliseconds, when there is
 * nothing to do. Needs only Node and npm. Tells its progress on standard error: standard output belongs to the program that
 * follows. Several processes may call it at once: one works, the others wait for it.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { takeLock } from './lock.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

const lockFile = join(root, 'package-lock.json');
const installedFrom = join(root, 'node_modules', '.installed-from');
const dist = join(root, 'dist');
const builtFrom = join(dist, '.built-from');

/** Resolves when `node_modules` is what the lock file says and `dist` is what `src` says. */
export const prepare = async () => {
  checkNode();
  if (isInstalled() && isBuilt()) return;
  const release = await takeLock(root, () => {
    tell('waiting for another process that prepares this folder');
  });
  try {
    if (!isInstalled()) await install();
    if (!isBuilt()) await build();
  } finally {
    release();
  }
};

/** As `prepare`, for programs: exits with code 1 when it fails, having told why. */
export const prepareOrExit = async () => {
  try {
    await prepare();
  } catch (error) {
    tell(error instanceof StepFailed ? error.message : String(error));
    process.exit(1);
  }
};

/**
 * Prepares, then becomes the built program in this very process: a second one would cost its start and the signals.
 * @param {string} file - the program, below `dist/`
 * @param {readonly string[]} args - its arguments
 */
export const become = async (file, args) => {
  await prepareOrExit();
  const program = join(dist, file);
  process.argv = [process.execPath, program, ...args];
  await import(pathToFileURL(program).href);
};

/**
 * Runs a program to its end and resolves with its exit code. Signals for this process are passed on to the program, and a
 * program that dies of one takes this process with it.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>}
 */
export const run = async (command, args, options) => {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
  /** @param {NodeJS.Signals} name */
  const forward = (name) => child.kill(name);
  const names = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const name of names) process.on(name, forward);
  const [code, signal] = /** @type {[number | null, NodeJS.Signals | null]} */ (await once(child, 'exit'));
  for (const name of names) process.off(name, forward);
  if (signal !== null) process.kill(process.pid, signal);
  return code ?? 1;
};

/**
 * Runs the npm that runs this program, else the one on the path.
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export const runNpm = (args, options) => {
  const npm = process.env['npm_execpath'];
  return npm?.endsWith('npm-cli.js')
    ? run(process.execPath, [npm, ...args], options)
    : run('npm', args, { shell: process.platform === 'win32', ...options });
};

class StepFailed extends Error {}

/** @param {string} text */
const tell = (text) => process.stderr.write(`doorstep: ${text}\n`);

const checkNode = () => {
  const { engines } = /** @type {{ engines: { node: string } }} */ (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const [wanted, found] = [engines.node.replace('>=', ''), process.versions.node];
  if (found.localeCompare(wanted, 'en', { numeric: true }) < 0) {
    throw new StepFailed(`needs Node ${wanted} or newer; this is ${found}`);
  }
};

/** @param {readonly string[]} files */
const hashOf = (files) => {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`${relative(root, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
};

/** @type {(stamp: string, hash: () => string) => boolean} */
const isStamped = (stamp, hash) => existsSync(stamp) && readFileSync(stamp, 'utf8') === hash();

const lockHash = () => hashOf([lockFile]);

const isInstalled = () => isStamped(installedFrom, lockHash);

const install = async () => {
  tell('installing packages (a minute on the first start)');
  // The build needs the development packages, whatever NODE_ENV says.
  const code = await runNpm(['ci', '--include=dev', '--no-progress'], { stdio: ['ignore', 2, 2] });
  if (code !== 0) throw new StepFailed('the packages could not be installed: npm ci failed');
  recordInstall();
};

/** Also called by npm itself after every change of `node_modules` (the `dependencies` script). */
const recordInstall = () => {
  writeFileSync(installedFrom, lockHash());
};

const sourceHash = () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return hashOf([join(root, 'tsconfig.json'), join(root, 'tsconfig.build.json'), ...sources.sort()]);
};

const isBuilt = () => isStamped(builtFrom, sourceHash);

/** Builds aside and moves the whole into place, so that nobody ever starts half a build, nor a file whose source is gone. */
const build = async () => {
  tell('building');
  const hash = sourceHash();
  const [next, old] = [`${dist}.next`, `${dist}.old`];
  for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true });
  const tsc = import.meta.resolve('typescript/bin/tsc');
  const code = await run(process.execPath, [fileURLToPath(tsc), '-p', 'tsconfig.build.json', '--outDir', next], {
    stdio: ['ignore', 2, 2],
  });
  if (code !== 0) throw new StepFailed('the build failed');
  await bundle(next);
  writeFileSync(join(next, '.built-from'), hash);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(next, dist);
  rmSync(old, { recursive: true, force: true });
};

/**
 * Makes a few files of the server and the packages that it needs: read as some thousand files they are most of a cold start. What is
 * imported on first use comes in a file of its own beside the others; packages that only such parts need stay outside, and so do those
 * that look for files of their own.
 * @param {string} folder - the compiled sources
 */
const bundle = async (folder) => {
  const server = join(folder, 'main.js');
  if (!existsSync(server)) return;
  const { build: esbuild } = await import('esbuild');
  await esbuild({
    entryPoints: [server],
    outdir: folder,
    splitting: true,
    // Beside the entry: parts that look for the templates do so from where they stand.
    chunkNames: 'part-[hash]',
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    external: [
      '@photostructure/sqlite',
      'pino',
      'isomorphic-git',
      'liquidjs',
      'nodemailer',
      'mjml',
      'swagger-ui-dist',
      '@eventstore/db-client',
      'mongodb',
      'node-cron',
      'oidc-provider',
      '@octokit/rest',
      '@octokit/plugin-throttling',
      'stripe',
      'openai',
      'cheerio',
      'robots-parser',
      'fast-xml-parser',
    ],
    // Packages in the older module form ask for Node's own modules by `require`.
    banner: { js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);" },
    logLevel: 'warning',
  });
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--record-install') recordInstall();
  else await prepareOrExit();
}
