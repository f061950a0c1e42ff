/**
 * When a task of the build is stale, and how its output is replaced. A task's key is a hash over
 * its inputs and over the outputs of the tasks that it needs; it is stale when its output was built
 * with another key. So a task that makes the same output as before stops the work there: nothing
 * after it runs again.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { root, StepFailed } from './processes.mjs';

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {readonly string[]} inputs - files and folders, from the root; include the file that
 *   defines the task
 * @property {readonly Task[]} needs - their outputs are inputs of this task
 * @property {boolean} [needsDevelopment] - it needs packages that are installed for development only
 * @property {string} output - a folder, from the root, that only this task writes
 * @property {(folder: string) => Promise<void>} run - fills an empty folder that becomes the output
 */

const stampName = '.built-from';

/**
 * The tasks of these names and those that they need, in the order in which they have to run.
 * @param {readonly Task[]} tasks
 * @param {readonly string[]} names
 */
export const withNeeds = (tasks, names) => {
  /** @type {Set<Task>} */
  const ordered = new Set();
  const add = (/** @type {Task} */ task) => {
    task.needs.forEach(add);
    ordered.add(task);
  };
  for (const name of names) {
    const task = tasks.find((candidate) => candidate.name === name);
    if (task === undefined) throw new StepFailed(`no task is called ${name}: ${tasks.map((known) => known.name).join(', ')}`);
    add(task);
  }
  return [...ordered];
};

/**
 * Says nothing about the tasks that it needs: ask for those first.
 * @param {Task} task
 */
export const isFresh = (task) => stampOf(task)?.key === keyOf(task);

/**
 * Builds aside and moves the whole into place. Nobody ever starts half a build, nor a file whose
 * source is gone, and what fails or is interrupted leaves the output as it was.
 * @param {Task} task
 */
export const build = async (task) => {
  // Before the task runs: an input that changes meanwhile makes the output stale.
  const key = keyOf(task);
  const output = join(root, task.output);
  const [next, old] = [`${output}.next`, `${output}.old`];
  for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  await task.run(next);
  writeFileSync(join(next, stampName), `${key}\n${hashOf(filesIn(next), next)}\n`);
  if (existsSync(output)) renameSync(output, old);
  renameSync(next, output);
  rmSync(old, { recursive: true, force: true });
};

/**
 * @param {readonly string[]} files
 * @param {string} [base] - the names that count are from here
 */
export const hashOf = (files, base = root) => {
  const hash = createHash('sha256');
  for (const file of files) {
    const descriptor = openSync(file, 'r');
    hash.update(`${relative(base, file)}\0${fstatSync(descriptor).size}\0`);
    for (let read = -1; read !== 0;) {
      read = readSync(descriptor, chunk);
      hash.update(chunk.subarray(0, read));
    }
    closeSync(descriptor);
  }
  return hash.digest('hex');
};

/**
 * One for all files, because the process that looks for stale tasks becomes the server: what whole
 * files were read into costs it 20 MiB.
 */
const chunk = Buffer.allocUnsafeSlow(65_536);

const keyOf = (/** @type {Task} */ task) => {
  const hash = createHash('sha256').update(hashOf(task.inputs.flatMap((input) => filesIn(join(root, input)))));
  for (const needed of task.needs) hash.update(`\0${needed.name}\0${stampOf(needed)?.content ?? ''}`);
  return hash.digest('hex');
};

const stampOf = (/** @type {Task} */ task) => {
  const file = join(root, task.output, stampName);
  if (!existsSync(file)) return undefined;
  const [key, content] = readFileSync(file, 'utf8').split('\n');
  return { key, content };
};

/** The file itself, or every file in the folder, sorted. */
const filesIn = (/** @type {string} */ path) => {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
};
