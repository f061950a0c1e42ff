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
import { report, root, run, runNpm, StepFailed } from './processes.mjs';
import { distFolder, tasks } from './tasks.mjs';

const lockFile = join(root, 'package-lock.json');
const installedFrom = join(root, 'node_modules', '.installed-from');

/** What only development needs (tests, linters, types): all of it is there, or nothing. */
const developmentPackage = join(root, 'node_modules', 'jest');

const wantedOf = (/** @type {readonly string[]} */ names) =>
  withNeeds(tasks, names.length > 0 ? names : tasks.map(({ name }) => name));

/** @param {readonly import('./graph.mjs').Task[]} wanted @param {boolean} forDevelopment */
const isPrepared = (wanted, forDevelopment) => isInstalled(forDevelopment) && wanted.every(isFresh);

/**
 * Resolves when `node_modules` is what the lock file says and the outputs of these tasks are what
 * their inputs say.
 * @param {readonly string[]} names - all tasks when there is none
 * @param {boolean} forDevelopment - whether the caller needs packages of development
 */
const prepare = async (names, forDevelopment) => {
  checkNode();
  const wanted = wantedOf(names);
  const needsAll = forDevelopment || wanted.some((task) => task.needsDevelopment);
  if (isPrepared(wanted, needsAll)) return;
  const release = await acquireLock(root, () => {
    report('waiting for another process that prepares this folder');
  });
  try {
    if (!isInstalled(needsAll)) await install(needsAll);
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
 * For tools and tests: prepares these tasks (all when there is none) and every package. Exits with
 * code 1 when it fails, having reported why.
 * @param {readonly string[]} names
 */
export const prepareOrExit = (...names) => prepareFor(names, true);

/**
 * As `prepareOrExit`.
 * @param {readonly string[]} names
 * @param {boolean} forDevelopment - whether packages that neither build nor run the service are needed
 */
export const prepareFor = async (names, forDevelopment) => {
  try {
    await prepare(names, forDevelopment);
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
  // In a process of its own: what builds has loaded compilers, and the program never needs them.
  if (!isPrepared(wantedOf(names), false)) {
    const code = await run(process.execPath, [fileURLToPath(import.meta.url), ...names], { stdio: ['ignore', 2, 2] });
    if (code !== 0) process.exit(code);
  }
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

const isInstalled = (/** @type {boolean} */ forDevelopment) =>
  existsSync(installedFrom) &&
  readFileSync(installedFrom, 'utf8') === hashOf([lockFile]) &&
  (!forDevelopment || existsSync(developmentPackage));

const install = async (/** @type {boolean} */ forDevelopment) => {
  report('installing packages (a minute on the first start)');
  // Whatever NODE_ENV says. A developer's start with a new lock file keeps what their tests need.
  const packages = forDevelopment || existsSync(developmentPackage) ? '--include=dev' : '--omit=dev';
  const code = await runNpm(['ci', packages, '--no-progress'], { stdio: ['ignore', 2, 2] });
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
  else await prepareFor(first === undefined ? [] : [first, ...rest], false);
}
