/**
 * What the scripts share: the root of the checkout, progress on standard error, programs that are
 * run to their end, and the end of a service that npm has started.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** A step that failed for a reason that its message names in full: no stack is needed. */
export class StepFailed extends Error {}

/**
 * Standard output belongs to the program that follows.
 * @param {string} text
 */
export const report = (text) => process.stderr.write(`doorstep: ${text}\n`);

/**
 * Runs a program to its end and resolves with its exit code. Signals for this process are passed on
 * to the program, and a program that dies of one takes this process with it.
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

/**
 * Ends a service that npm has started with the shell between the two. npm passes a signal on to that shell, and some
 * shells end by it without passing it on: the service would run on alone.
 * @param {string} script - of `package.json`: whatever else starts the service may end before it
 */
export const endWithShellOf = (script) => {
  if (process.env.npm_lifecycle_event !== script) return;
  const { ppid } = process;
  let isAlone = false;
  const look = setInterval(() => {
    if (process.ppid === ppid) return;
    // A signal to the whole group ends the shell too. The service gets that by itself, and a second one would cut it off.
    if (isAlone) process.kill(process.pid, 'SIGTERM');
    isAlone = true;
  }, 500);
  look.unref();
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT'])) {
    process.once(signal, () => {
      clearInterval(look);
      // Until the service listens, a signal does what it does by itself.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  }
};
