/**
 * Installs the packages that are missing and builds what is stale, and does nothing, in a few
 * milliseconds, when there is nothing to do. Needs only Node and npm. Several processes may call it
 * at once: one works, the others wait for it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, hashOf, isFresh, withNeeds } from './graph.mjs';
import { acquireLock } from './lock.mjs';
import { report, root, runNpm, StepFailed } from './processes.mjs';
import { distFolder, tasks } from './tasks.mjs';

const lockFile = join(root, 'package-lock.json');
const installedFrom = join(root, 'node_modules', '.installed-from');

/**
 * Resolves when `node_modules` is what the lock file says and the outputs of these tasks are what
 * their inputs say.
 * @param {readonly string[]} names - all tasks when there is none
 */
const prepare = async (names) => {
  checkNode();
  const wanted = withNeeds(tasks, names.length > 0 ? names : tasks.map(({ name }) => name));
  if (isInstalled() && wanted.every(isFresh)) return;
  const release = await acquireLock(root, () => {
    report('waiting for another process that prepares this folder');
  });
  try {
    if (!isInstalled()) await install();
    for (const task of wanted) {
      if (isFresh(task)) continue;
      report(`building ${task.name}`);
      await build(task);
    }
  } finally {
    release();
  }
};

/**
 * As `prepare`, for programs: exits with code 1 when it fails, having reported why.
 * @param {readonly string[]} names
 */
export const prepareOrExit = async (...names) => {
  try {
    await prepare(names);
  } catch (error) {
    report(error instanceof StepFailed ? error.message : String(error));
    process.exit(1);
  }
};

/**
 * Prepares what is needed, then becomes the built program in this very process: a second one would
 * cost its start and the signals.
 * @param {string} file - the program, below `dist/`
 * @param {readonly string[]} args - its arguments
 * @param {readonly string[]} names - the tasks that it needs
 */
export const become = async (file, args, names = ['service']) => {
  await prepareOrExit(...names);
  const program = join(distFolder, file);
  process.argv = [process.execPath, program, ...args];
  await import(pathToFileURL(program).href);
};

const checkNode = () => {
  const { engines } = /** @type {{ engines: { node: string } }} */ (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const [wanted, found] = [engines.node.replace('>=', ''), process.versions.node];
  if (found.localeCompare(wanted, 'en', { numeric: true }) < 0) {
    throw new StepFailed(`needs Node ${wanted} or newer; this is ${found}`);
  }
};

const isInstalled = () => existsSync(installedFrom) && readFileSync(installedFrom, 'utf8') === hashOf([lockFile]);

const install = async () => {
  report('installing packages (a minute on the first start)');
  // The build needs the development packages, whatever NODE_ENV says.
  const code = await runNpm(['ci', '--include=dev', '--no-progress'], { stdio: ['ignore', 2, 2] });
  if (code !== 0) throw new StepFailed('the packages could not be installed: npm ci failed');
  recordInstall();
};

/** Also called by npm itself after every change of `node_modules` (the `dependencies` script). */
const recordInstall = () => {
  writeFileSync(installedFrom, hashOf([lockFile]));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first, ...rest] = process.argv.slice(2);
  if (first === '--record-install') recordInstall();
  else await prepareOrExit(...(first === undefined ? [] : [first, ...rest]));
}
