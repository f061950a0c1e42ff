import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { systemClock } from '../../../platform/clock.js';
import { systemErrorCode } from '../../../platform/systemError.js';
import { writeFiles } from '../../embeddedFiles.js';
import { BuildFailure, buildSite, contentHash } from './build.js';
import type { BuildAnswer, BuildOrder, BuildRequest } from './builder.js';
import { compressSite } from './compress.js';
import { readCommit } from './readHead.js';

/**
 * The program of a process that builds sites (`builder.ts`). Its main thread is always free, so that
 * it ends when the service does; a second thread builds, one site at a time, with limits of its own.
 */

/** Beside what is read from the repository, which V8 does not count. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/** How long to wait at least until the processor time is asked for again, in milliseconds. */
const MIN_WAIT_MS = 100;

/** Calls `onEnd` once this process has taken `maxMs` of the processor, which on a busy machine is long after. */
const limitProcessorTime = (maxMs: number, onEnd: () => void): (() => void) => {
  const before = process.cpuUsage();
  let cancel = (): void => undefined;
  const look = (): void => {
    const { user, system } = process.cpuUsage(before);
    const leftMs = maxMs - (user + system) / 1_000;
    if (leftMs <= 0) onEnd();
    else cancel = systemClock.schedule(Math.max(leftMs, MIN_WAIT_MS), look);
  };
  look();
  return () => {
    cancel();
  };
};

const supervise = (): void => {
  let stopTime = (): void => undefined;
  const send = (answer: BuildAnswer): void => {
    stopTime();
    process.send?.(answer);
  };
  const end = (): void => {
    process.kill(process.pid, 'SIGKILL');
  };
  process.on('disconnect', end);
  // The service may have ended while this program was loaded: nothing says so any more.
  if (!process.connected) end();
  // The service ends its processes itself, when their work is done or given up.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const builder = new Worker(fileURLToPath(import.meta.url), { resourceLimits });
  builder.on('message', send);
  builder.on('error', (error) => {
    const isOutOfMemory = systemErrorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
    send(isOutOfMemory ? { outOfMemory: true } : { fault: String(error) });
  });
  process.on('message', ({ maxMs, ...request }: BuildOrder) => {
    stopTime = limitProcessorTime(maxMs, () => {
      send({ outOfTime: true });
    });
    builder.postMessage(request satisfies BuildRequest);
  });
};

const build = async ({
  gitdir,
  commit,
  variables,
  files: others = {},
  folder,
  compressedFolder,
}: BuildRequest): Promise<BuildAnswer> => {
  try {
    const source = await readCommit(gitdir, commit);
    const put = Object.entries(others).map(([path, content]) => [path, Buffer.from(content, 'base64')] as const);
    const files = await buildSite(new Map([...source.files, ...put]), variables);
    await writeFiles(folder, files);
    const compressed = compressSite(files);
    await writeFiles(compressedFolder, compressed);
    return {
      files: Object.fromEntries([...files].map(([path, content]) => [path, contentHash(content)])),
      compressed: [...compressed.keys()],
      isUnedited: source.isUnedited,
    };
  } catch (error) {
    if (error instanceof BuildFailure) return { failure: error.message };
    const code = systemErrorCode(error);
    return { fault: String(error), ...(code !== undefined && { code }) };
  }
};

if (isMainThread) supervise();
else {
  parentPort?.on('message', (request: BuildRequest) => {
    void build(request).then((answer) => parentPort?.postMessage(answer));
  });
}
