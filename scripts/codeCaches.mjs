/**
 * Makes V8's code cache of the built server (docs/adr/0044-code-cache.md): the service is started once on a folder that
 * is thrown away, so that the cache holds what a start runs. Without one the service starts as well, only later.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { report } from './processes.mjs';

const program = fileURLToPath(new URL('fillCodeCaches.mjs', import.meta.url));
const timeoutMs = 60_000;

/** @param {string} folder - the built server */
export const makeCodeCaches = async (folder) => {
  const data = await mkdtemp(join(tmpdir(), 'doorstep-build-'));
  const child = spawn(process.execPath, [program, folder], {
    // Beside the data folder, so that no `.env` is read, and without flags for Node: a cache is good for the same flags only.
    cwd: data,
    env: { PATH: process.env['PATH'], DATA_DIR: data, HOST: '127.0.0.1', PORT: '0', PROCESS_ROLES: 'api,worker,cron' },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  createInterface(/** @type {import('node:stream').Readable} */ (child.stdout)).on('line', (line) => {
    const address = /^Doorstep is open at (http\S+)$/.exec(line)?.[1];
    if (address === undefined) return;
    // What answers belongs to a start. If it does not answer, there is no cache of that part.
    const fill = () => child.send('open', () => undefined);
    fetch(`${address}/healthz`).then(fill, fill);
  });
  const [code] = await once(child, 'exit');
  await rm(data, { recursive: true, force: true });
  if (code !== 0) report('the service starts without a code cache: none could be made');
};
