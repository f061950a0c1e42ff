/**
 * `node scripts/fillCodeCaches.mjs <folder>`, started by `codeCaches.mjs`: the service, which writes its code cache and
 * that of its projector's thread when it is told that it is open.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const [folder = ''] = process.argv.slice(2);

/** @param {string} name @returns {Promise<() => Buffer>} what makes its cache */
const start = async (name) => {
  /** @type {{ script: import('node:vm').Script }} */
  const { script } = await import(pathToFileURL(join(folder, `${name}.js`)).href);
  return () => script.createCachedData();
};

if (isMainThread) {
  // The service keeps its files to itself; a cache is for whoever runs it.
  const umask = process.umask(0o077);
  const cacheOfMain = await start('main');
  await once(process, 'message');
  // As before the service set them: V8 takes a cache that was made with the same flags only.
  setFlagsFromString('--heap-growing-percent=0');
  setFlagsFromString('--allocation-site-pretenuring');
  setFlagsFromString('--no-optimize-for-size');
  process.umask(umask);
  /** @param {string} name @param {Uint8Array} cache */
  const write = (name, cache) => {
    writeFileSync(join(folder, `${name}.cjs.cache`), cache);
  };
  write('main', cacheOfMain());
  const thread = new Worker(new URL(import.meta.url), { argv: [folder], workerData: { ...process.env } });
  thread.on('message', (/** @type {Uint8Array | import('../src/compose/projectorThread.js').ThreadMessage} */ message) => {
    if (message instanceof Uint8Array) write('projectorThread', message);
    else if ('isStarted' in message) thread.postMessage('stop');
  });
  await once(thread, 'exit');
  process.exit(0);
} else {
  const cacheOfThread = await start('projectorThread');
  // Beside the program, which stops.
  parentPort?.once('message', () => parentPort?.postMessage(cacheOfThread()));
}
