/**
 * The programs that the benchmark starts, and the folders they work in: all gone again when it
 * ends, however it ends.
 */
import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * @typedef {import('node:child_process').ChildProcess} ChildProcess
 * @typedef {{ url: string, process: ChildProcess }} Server
 */

/** @type {Set<ChildProcess>} */
const running = new Set();
/** @type {Set<string>} */
const folders = new Set();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => process.exit(1));
}

/** @param {string} purpose */
export const temporaryFolder = (purpose) => {
  const folder = mkdtempSync(join(tmpdir(), `doorstep-bench-${purpose}-`));
  folders.add(folder);
  return folder;
};

/** @param {string} folder - of `temporaryFolder` */
export const removeFolder = (folder) => {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
};

/**
 * @template {ChildProcess} Child
 * @param {Child} child
 * @returns {Child}
 */
const watched = (child) => {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
};

/**
 * Starts Node on `args`.
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 */
export const startNode = (args, options) => watched(spawn(process.execPath, args, options));

/**
 * Starts a program of the benchmark, which talks by messages.
 * @param {string} file - below `bench/`
 * @param {readonly string[]} [args]
 */
export const startProgram = (file, args = []) =>
  watched(fork(fileURLToPath(new URL(`../${file}`, import.meta.url)), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));

/**
 * The next message of a program.
 * @param {ChildProcess} child
 * @returns {Promise<unknown>}
 */
export const messageFrom = async (child) => {
  const gone = new AbortController();
  const onExit = () => {
    gone.abort();
  };
  child.once('exit', onExit);
  try {
    const [message] = /** @type {unknown[]} */ (await once(child, 'message', { signal: gone.signal }));
    return message;
  } catch (error) {
    throw gone.signal.aborted ? new Error(`${child.spawnargs.join(' ')} ended with code ${child.exitCode}`) : error;
  } finally {
    child.off('exit', onExit);
  }
};

/**
 * Works with a server of the benchmark, which prints its address when it listens.
 * @template Result
 * @param {string} file - below `bench/`
 * @param {readonly string[]} args
 * @param {(server: Server) => Promise<Result>} work
 */
export const withServer = async (file, args, work) => {
  const child = startProgram(file, args);
  try {
    const { url } = /** @type {{ url: string }} */ (await messageFrom(child));
    return await work({ url, process: child });
  } finally {
    await stop(child);
  }
};

/** @param {ChildProcess} child */
export const stop = async (child) => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
};

/**
 * Resolves once none of the processes runs any more, until `SIGCONT`.
 * @param {readonly ChildProcess[]} children
 */
export const suspend = async (children) => {
  for (const child of children) child.kill('SIGSTOP');
  if (process.platform !== 'linux') return;
  while (children.some((child) => !/^State:\s*T/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8')))) await pause(1);
};

/**
 * Runs a program to its end and resolves with what it printed.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').ExecFileOptions} [options]
 */
export const outputOf = async (command, args, options) => {
  const { stdout } = await promisify(execFile)(command, args, { ...options, encoding: 'utf8' });
  return stdout.trim();
};

/**
 * Resident memory of a process, in bytes.
 * @param {ChildProcess} child
 */
export const residentBytes = async ({ pid }) => {
  if (process.platform === 'linux') {
    return Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  }
  return Number(await outputOf('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024;
};

/**
 * Processor time that a process has used so far, in milliseconds; `undefined` where the system has
 * no simple way to say.
 * @param {ChildProcess} child
 */
export const processorMs = ({ pid }) => {
  if (process.platform !== 'linux') return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // User and system time, in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
