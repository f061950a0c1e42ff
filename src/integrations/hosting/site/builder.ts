import { fork, type ChildProcess } from 'node:child_process';
import { constants, type setPriority } from 'node:os';
import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import { lowerPriority } from '../../../platform/lowerPriority.js';
import { embedded } from '../../embeddedFiles.js';
import { ProviderFault } from '../../fault.js';

/** What a building process is asked for. `folder`: where the site's files are to be written. */
export interface BuildRequest {
  readonly gitdir: string;
  readonly commit: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Instead of those of the commit, or beside them: content in base64, by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Where their compressed forms are to be written. */
  readonly compressedFolder: string;
}

/** `maxMs`: how much processor time the build may take. */
export type BuildOrder = BuildRequest & { readonly maxMs: number };

/**
 * `outOfTime`: the build goes on, until its process is ended; `fault`: an error that is not the site's; `code`:
 * the code of a system error.
 */
export type BuildAnswer =
  Built | { readonly outOfMemory: true } | { readonly outOfTime: true } | { readonly fault: string; readonly code?: string };

/** The site; or why it cannot be built, for people to read. */
export type Built = BuiltSite | { readonly failure: string };

export interface BuiltSite {
  /** Content hash by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Names of the files' compressed forms (`encodedName`). */
  readonly compressed: readonly string[];
  /** Whether the repository holds what its template held, and nothing else. */
  readonly isUnedited: boolean;
}

/** Builds sites from repositories that nobody has checked. */
export interface SiteBuilder {
  /**
   * Reads a commit, builds its site and writes it into a folder, durably. Ends in any case, when its turn has
   * come: once the build has taken the processor time that it may take, or has waited for it too long.
   * @throws ProviderFault, or a system error, when the machine fails or is too busy, and when it is closed meanwhile
   */
  build(request: BuildRequest): Promise<Built>;
  /** Ends all builds that are under way. */
  close(): void;
}

/** The processor time that a build may take, in milliseconds. Those of the templates take less than 100. */
const MAX_BUILD_MS = 30_000;
/** How long a build may take by the clock, in milliseconds: on a busy machine it waits for the processor most of the time. */
const MAX_WAIT_MS = 120_000;
/** How long a process that builds waits for the next build, in milliseconds. */
const IDLE_MS = 10_000;
const MAX_PROCESSES = 2;
/** As many files as are synced at once share the disk's work: with four threads a site took twice as long. */
const environment = { UV_THREADPOOL_SIZE: '32' };
const outOfMemory: Built = { failure: 'The build takes more memory than a site may' };
/** How V8 ends a process that is out of memory, depending on the machine. */
const abortSignals: readonly unknown[] = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

const interrupted = (cause: unknown): ProviderFault =>
  new ProviderFault({ provider: embedded, message: 'The build was interrupted', transient: true, cause });

/**
 * Builds in processes of their own, at most two at a time: a large allocation ends the process in
 * spite of a worker thread's limits, and nothing ends what blocks the only thread (ADR 16). They are
 * started when they are needed, with nothing of this process's environment, and end when idle, after
 * a failed build, and with this process.
 * @param options `program`: the file of `buildProgram`
 */
export const createSiteBuilder = (options: {
  program: string;
  clock: Clock;
  logger: Logger;
  maxBuildMs?: number;
  idleMs?: number;
  setPriority?: typeof setPriority;
}): SiteBuilder => {
  const { program, clock, logger, maxBuildMs = MAX_BUILD_MS, idleMs = IDLE_MS } = options;
  let isRefused = false;
  const onRefused = (err: unknown): void => {
    // Every further process meets it.
    if (!isRefused) logger.info({ err }, 'websites are built with the priority of requests');
    isRefused = true;
  };
  const processes = new Set<ChildProcess>();
  const idle = new Map<ChildProcess, () => void>();
  const waiting: (() => void)[] = [];
  let building = 0;
  let isClosed = false;

  const start = (): ChildProcess => {
    const child = fork(program, [], { env: environment, execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    processes.add(child);
    const forget = (): void => {
      processes.delete(child);
      idle.get(child)?.();
      idle.delete(child);
    };
    child.on('exit', forget).on('error', forget);
    // Beside builds of the same priority requests took twice as long (docs/performance.md).
    if (child.pid !== undefined)
      lowerPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL, onRefused, options.setPriority);
    return child;
  };
  const take = (): ChildProcess => {
    const [child] = idle.keys();
    if (child === undefined) return start();
    idle.get(child)?.();
    idle.delete(child);
    hold(child);
    return child;
  };
  const keep = (child: ChildProcess): void => {
    release(child);
    const cancel = clock.schedule(idleMs, () => {
      idle.delete(child);
      child.kill('SIGKILL');
    });
    idle.set(child, cancel);
  };

  const buildIn = (child: ChildProcess, request: BuildRequest): Promise<Built> =>
    new Promise((resolve, reject) => {
      let end: Built | undefined;
      const cancel = clock.schedule(MAX_WAIT_MS, () => child.kill('SIGKILL'));
      const stopListening = (): void => {
        cancel();
        child.off('message', onAnswer).off('exit', onExit).off('error', onError);
      };
      const onAnswer = (answer: BuildAnswer): void => {
        // It was on its way when the build was given up.
        if (end !== undefined) return;
        if ('outOfTime' in answer) {
          end = { failure: `The build takes longer than ${String(maxBuildMs / 1_000)} s` };
          child.kill('SIGKILL');
          return;
        }
        stopListening();
        if ('files' in answer) {
          keep(child);
          resolve(answer);
          return;
        }
        // What a failed build has left in the process meets no other.
        child.kill('SIGKILL');
        if ('failure' in answer) resolve(answer);
        else if ('outOfMemory' in answer) resolve(outOfMemory);
        else if (answer.code === undefined) reject(interrupted(answer.fault));
        else reject(Object.assign(new Error(answer.fault), { code: answer.code }));
      };
      // Only then does it write no more.
      const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
        stopListening();
        if (end !== undefined) resolve(end);
        else if (abortSignals.includes(signal)) resolve(outOfMemory);
        else reject(interrupted(`a building process ended with ${signal ?? String(code)}`));
      };
      const onError = (error: Error): void => {
        stopListening();
        reject(interrupted(error));
      };
      child.on('message', onAnswer).on('exit', onExit).on('error', onError);
      child.send({ ...request, maxMs: maxBuildMs } satisfies BuildOrder);
    });

  return {
    build: async (request) => {
      if (building >= MAX_PROCESSES) await new Promise<void>((resolve) => waiting.push(resolve));
      else building += 1;
      try {
        if (isClosed) throw interrupted('the service is stopping');
        return await buildIn(take(), request);
      } finally {
        // The place goes to the one that has waited longest.
        const next = waiting.shift();
        if (next === undefined) building -= 1;
        else next();
      }
    },
    close: () => {
      isClosed = true;
      for (const child of processes) child.kill('SIGKILL');
    },
  };
};

/** An idle process keeps this one from ending no more than a timer would. */
const release = (child: ChildProcess): void => {
  child.unref();
  child.channel?.unref();
};

const hold = (child: ChildProcess): void => {
  child.ref();
  child.channel?.ref();
};
