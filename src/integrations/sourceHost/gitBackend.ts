import { spawn, type ChildProcess } from 'node:child_process';
import { devNull } from 'node:os';
import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import { lazily } from '../../platform/lazily.js';
import { createSemaphore, type Semaphore } from '../../platform/semaphore.js';
import { systemErrorCode } from '../../platform/systemError.js';
import { embedded } from '../embeddedFiles.js';
import { ProviderFault } from '../fault.js';
import { maxPushBytes, type GitRequest, type GitResponse, type GitService } from './port.js';

/** How long git may take once the body is whole, in milliseconds. */
const maxServeMs: Readonly<Record<GitService, number>> = { 'git-upload-pack': 600_000, 'git-receive-pack': 120_000 };
const maxTidyMs = 120_000;
/** Pushes are short, since their bodies are whole, so they wait for each other. */
const maxPushes = 4;
/** Clones last as long as their readers take. */
const maxClones = 32;
const maxHeadBytes = 8_192;
const maxComplaintBytes = 2_048;
/** As of a shell: there is no such program, or it is none. */
const noSuchProgram = 127;
const noProgramCodes: readonly (string | undefined)[] = ['ENOENT', 'EACCES'];

/** Beyond these git would do more than serve, or take more than a request may. */
const config: Readonly<Record<string, string>> = {
  // A program with access to the repository's folder could otherwise have the service run another one.
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
  'safe.directory': '*',
  'http.receivepack': 'true',
  'http.uploadarchive': 'false',
  'receive.fsckObjects': 'true',
  'receive.maxInputSize': String(maxPushBytes),
  'receive.autogc': 'false',
  // History may be rewritten, as on GitHub, but the branch that is deployed stays.
  'receive.denyNonFastForwards': 'false',
  'receive.denyDeleteCurrent': 'refuse',
  // What the service keeps beside branches and tags is nobody's to see or to change.
  'transfer.hideRefs': 'refs/doorstep',
  'gc.autoDetach': 'false',
  'pack.threads': '1',
  'pack.windowMemory': '32m',
  'pack.deltaCacheSize': '32m',
  'core.deltaBaseCacheLimit': '32m',
  'core.packedGitLimit': '256m',
  // Larger files are passed through in pieces.
  'core.bigFileThreshold': '16m',
};
const configArguments = Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** Of this process's settings and secrets git gets none. */
const cleanEnvironment = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin',
  LC_ALL: 'C',
  HOME: devNull,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_TERMINAL_PROMPT: '0',
  // A small pack can hold a tree of gigabytes: git gives up when it would take this much at once.
  GIT_ALLOC_LIMIT: '134217728',
};

/** How a process ended: without a code it was killed, or not started. */
interface Ended {
  readonly code: number | null;
  readonly byItself: boolean;
}

export interface GitBackend {
  isInstalled(): Promise<boolean>;
  serve(gitdir: string, request: GitRequest, signal: AbortSignal): Promise<GitResponse>;
  tidyUp(gitdir: string): Promise<void>;
  /** Ends all that is under way. */
  close(): void;
}

/**
 * Runs git in processes of its own, each in a group that is killed as a whole.
 * @param program git
 */
export const createGitBackend = ({
  clock,
  logger,
  program = 'git',
}: {
  clock: Clock;
  logger: Logger;
  program?: string;
}): GitBackend => {
  const running = new Set<ChildProcess>();
  const pushes = createSemaphore(maxPushes);
  const clones = createSemaphore(maxClones);

  const kill = ({ pid }: ChildProcess): void => {
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      // It has ended by itself.
      if (systemErrorCode(error) !== 'ESRCH') throw error;
    }
  };

  const start = (
    args: readonly string[],
    { env = {}, stdin = 'ignore' as const, maxMs }: { env?: Record<string, string>; stdin?: number | 'ignore'; maxMs: number },
  ): { child: ChildProcess; ended: Promise<Ended>; complaint: () => string } => {
    const child = spawn(program, [...configArguments, ...args], {
      env: { ...cleanEnvironment, ...env },
      stdio: [stdin, 'pipe', 'pipe'],
      // A group of its own: git starts further processes.
      detached: true,
      cwd: '/',
    });
    running.add(child);
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < maxComplaintBytes) complaint += chunk.toString('utf8');
    });
    const cancel = clock.schedule(maxMs, () => {
      logger.warn({ maxMs }, 'git took too long and was ended');
      kill(child);
    });
    const ended = new Promise<Ended>((resolve) => {
      child.once('error', (error) => {
        resolve({ code: noProgramCodes.includes(systemErrorCode(error)) ? noSuchProgram : null, byItself: false });
      });
      child.once('close', (code) => {
        resolve({ code, byItself: code !== null });
      });
    }).finally(() => {
      cancel();
      running.delete(child);
    });
    return { child, ended, complaint: () => complaint.trim().slice(0, maxComplaintBytes) };
  };

  const isInstalled = lazily(async (): Promise<boolean> => {
    const { child, ended } = start(['http-backend'], { maxMs: 10_000 });
    child.stdout?.resume();
    const { code } = await ended;
    // The machine was too busy, which says nothing about git: the next call asks again.
    if (code === null) throw fault('git could not be started');
    // Without a request it answers with an error of its own; a git without the program ends with 1.
    return code === 0 || code === 128;
  });

  /** Begins with a permit, which is given back when `begin` throws. */
  const beginWith = async <Begun>(permits: Semaphore, begin: () => Begun): Promise<Begun> => {
    await permits.acquire();
    try {
      return begin();
    } catch (error) {
      permits.release();
      throw error;
    }
  };

  const serve = async (gitdir: string, request: GitRequest, signal: AbortSignal): Promise<GitResponse> => {
    const { service, body, encoding, protocol, user } = request;
    const permits = service === 'git-receive-pack' ? pushes : clones;
    const { child, ended, complaint } = await beginWith(permits, () => {
      if (signal.aborted) throw fault('The caller has gone');
      return start(['http-backend'], {
        stdin: body?.readFrom ?? 'ignore',
        maxMs: maxServeMs[service],
        env: {
          GIT_PROJECT_ROOT: gitdir,
          GIT_HTTP_EXPORT_ALL: '1',
          PATH_INFO: body === undefined ? '/info/refs' : `/${service}`,
          QUERY_STRING: body === undefined ? `service=${service}` : '',
          REQUEST_METHOD: body === undefined ? 'GET' : 'POST',
          REMOTE_USER: user,
          REMOTE_ADDR: '',
          ...(body !== undefined && { CONTENT_TYPE: `application/x-${service}-request`, CONTENT_LENGTH: String(body.bytes) }),
          ...(encoding !== undefined && { HTTP_CONTENT_ENCODING: encoding }),
          ...(protocol !== undefined && { GIT_PROTOCOL: protocol }),
        },
      });
    });
    const stop = (): void => {
      kill(child);
      // Output that nobody reads would keep it from being over, and its permit from the next clone.
      child.stdout?.destroy();
    };
    signal.addEventListener('abort', stop);
    const over = ended.then(({ code, byItself }) => {
      signal.removeEventListener('abort', stop);
      permits.release();
      if (code !== 0 && !signal.aborted) logger.warn({ service, code, git: complaint() }, 'git ended with an error');
      return byItself;
    });
    const content = child.stdout?.[Symbol.asyncIterator]() as AsyncIterator<Buffer> | undefined;
    const head = content === undefined ? null : await readHead(content);
    if (content === undefined || head === null) {
      stop();
      await over;
      throw fault('git gave no answer');
    }
    return { ...head.answer, content: rest(head.more, content), ended: over };
  };

  return {
    isInstalled,
    serve,
    tidyUp: async (gitdir) => {
      const tidy = ['--git-dir', gitdir, 'gc', '--auto', '--quiet'];
      const { child, ended } = await beginWith(pushes, () => start(tidy, { maxMs: maxTidyMs }));
      child.stdout?.resume();
      await ended;
      pushes.release();
    },
    close: () => {
      running.forEach(kill);
    },
  };
};

const fault = (message: string): ProviderFault => new ProviderFault({ provider: embedded, message, transient: true });

interface Head {
  readonly answer: Pick<GitResponse, 'status' | 'headers'>;
  /** What came of the content with it. */
  readonly more: Buffer;
}

/** The head of an answer in the form of RFC 3875, section 6; null when there is none. */
const readHead = async (content: AsyncIterator<Buffer>): Promise<Head | null> => {
  let read = Buffer.alloc(0);
  for (;;) {
    const end = read.indexOf('\r\n\r\n');
    if (end >= 0) return { answer: parseHead(read.toString('latin1', 0, end)), more: read.subarray(end + 4) };
    if (read.length > maxHeadBytes) return null;
    const next = await content.next();
    if (next.done === true) return null;
    read = Buffer.concat([read, next.value]);
  }
};

const parseHead = (text: string): Head['answer'] => {
  const headers: Record<string, string> = {};
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const { status = '200', ...others } = headers;
  return { status: Number.parseInt(status, 10), headers: others };
};

async function* rest(more: Buffer, content: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (more.length > 0) yield more;
  for (let next = await content.next(); next.done !== true; next = await content.next()) yield next.value;
}
