import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Acquires the lock of a folder, for one process of this machine at a time. The lock is an address
 * that only one process can listen on: the system frees it when that process ends, however it ends.
 * A process that waits keeps a connection open and tries again when it closes.
 * @param {string} folder
 * @param {() => void} onWait - called once when another process holds the lock
 * @returns {Promise<() => void>} releases the lock
 */
export const acquireLock = async (folder, onWait) => {
  const { address, isFile } = addressOf(folder);
  for (let waited = false; ; waited = true) {
    const release = await listen(address);
    if (release !== undefined) return release;
    if (!waited) onWait();
    const fault = await closed(address);
    // A socket file outlives a process that was killed.
    if (isFile && fault === 'ECONNREFUSED') rmSync(address, { force: true });
  }
};

/**
 * Linux and Windows have addresses that vanish with their process; elsewhere it is a socket file.
 */
const addressOf = (/** @type {string} */ folder) => {
  const name = `doorstep-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
  if (process.platform === 'linux') return { address: `\0${name}`, isFile: false };
  if (process.platform === 'win32') return { address: `\\\\.\\pipe\\${name}`, isFile: false };
  return { address: join(tmpdir(), `${name}.sock`), isFile: true };
};

/**
 * Resolves with `undefined` when another process listens there.
 * @param {string} address
 */
const listen = async (address) => {
  /** @type {Set<import('node:net').Socket>} */
  const waiting = new Set();
  const server = createServer((socket) => {
    // A waiting process was killed: it needs no answer.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => waiting.delete(socket));
    waiting.add(socket);
  });
  try {
    await once(server.listen(address), 'listening');
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
  return () => {
    server.close();
    for (const socket of waiting) socket.destroy();
  };
};

/**
 * Resolves when the process that listens there ends, with the code of the fault if there was one.
 * @param {string} address
 * @returns {Promise<unknown>}
 */
const closed = (address) =>
  new Promise((resolve) => {
    createConnection(address)
      .on('error', (error) => {
        resolve(codeOf(error));
      })
      .on('close', () => {
        resolve(undefined);
      })
      .resume();
  });

const codeOf = (/** @type {unknown} */ error) => (error instanceof Error && 'code' in error ? error.code : undefined);
