import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import { mintApiKey } from '../../src/commands/apiKey/apiKey.handlers.js';
import { openCore } from '../../src/compose/stores.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Servers that a failed test leaves running are stopped at the end of its file. */
const running = new Map<ChildProcess, Promise<unknown>>();

afterAll(async () => {
  for (const child of running.keys()) child.kill('SIGKILL');
  await Promise.all(running.values());
});

/** The built server in a separate process (`npm test` builds it first). */
export interface ServerProcess extends Launched {
  /** As printed, without a trailing slash. */
  readonly address: string;
}

/** A server that may still be starting. */
export interface Launched {
  readonly pid: number;
  /**
   * Resolves with the printed address (empty without the api); rejects with the output when the
   * process ends before that.
   */
  readonly opened: Promise<string>;
  /** Its output so far. */
  readonly written: () => string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<number | string>;
}

type Environment = Readonly<Record<string, string>>;

const environmentFor = (dataDir: string, extra: Environment): Environment => ({
  PATH: process.env.PATH ?? '',
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'warn',
  ...extra,
});

const outcomeOf = (child: ChildProcess): Promise<number | string> =>
  once(child, 'exit').then(([code, signal]) => (code ?? signal ?? 'unknown') as number | string);

/**
 * Starts `dist/main.js`, on a free port unless `extra` sets one.
 * @param command what runs it. Default: this version of Node.js
 * @param stdout a file descriptor to write to: `opened` then never resolves
 */
export const launchServer = (
  dataDir: string,
  extra: Environment = {},
  [program = '', ...options]: readonly string[] = [process.execPath],
  stdout: 'pipe' | number = 'pipe',
): Launched => {
  // Runs beside the data folder, so that a developer's `.env` is not read.
  const child = spawn(program, [...options, `${root}dist/main.js`], {
    cwd: dataDir,
    env: environmentFor(dataDir, extra),
    stdio: ['ignore', stdout, 'pipe'],
  });
  const ended = outcomeOf(child).finally(() => running.delete(child));
  running.set(child, ended);
  let written = '';
  child.stderr?.on('data', (chunk: Buffer) => (written += chunk.toString()));

  const opened = new Promise<string>((resolve, reject) => {
    const read = (line: string): void => {
      written += `${line}\n`;
      const greeting = /^Doorstep (?:is open at (http\S+)|runs its .* here)$/.exec(line);
      if (greeting !== null) resolve(greeting[1] ?? '');
    };
    if (child.stdout !== null) createInterface(child.stdout).on('line', read);
    void ended.then((outcome) => {
      reject(new Error(`the server ended with ${String(outcome)} before it was open:\n${written}`));
    });
  });
  // A test that kills it during the start does not await this.
  opened.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    opened,
    written: () => written,
    ended,
    kill: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
};

/**
 * Starts `dist/main.js` on a free port and resolves once it has printed its address.
 * @throws with the output when the process ends before that
 */
export const startServer = async (dataDir: string, extra: Environment = {}): Promise<ServerProcess> => {
  const server = launchServer(dataDir, extra);
  return { ...server, address: await server.opened };
};

/** Starts an operator's script on a data folder. */
export const launchOperation = (
  dataDir: string,
  script: string,
  args: readonly string[] = [],
  extra: Environment = {},
): ChildProcessByStdio<null, Readable, Readable> =>
  spawn(process.execPath, [`${root}dist/operations/${script}.js`, ...args], {
    cwd: dataDir,
    env: environmentFor(dataDir, extra),
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/**
 * Runs an operator's script on a data folder; returns its standard output without the last line
 * break.
 */
export const operate = async (
  dataDir: string,
  script: string,
  args: readonly string[],
  extra: Environment = {},
): Promise<string> => {
  const child = launchOperation(dataDir, script, args, extra);
  let output = '';
  let problems = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (problems += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${script} ended with ${String(code)}:\n${problems}`);
  return output.trimEnd();
};

/**
 * Mints a token on a server's data folder, as the operator's script does, but faster, in this
 * process.
 */
export const mintToken = async (
  dataDir: string,
  role: 'admin' | 'client' = 'admin',
  subject = 'ops@example.com',
  extra: Environment = {},
): Promise<string> => {
  const open = await openCore(loadSettings({ DATA_DIR: dataDir, ...extra }), createLogger({ level: 'silent' }));
  try {
    const { engine } = open;
    const { token } = await mintApiKey(
      engine,
      { name: 'test', subject, callerRole: 'admin', role, scope: 'write', verifiedEmail: subject },
      engine.random.bytes(64),
      { commandId: engine.ids.commandId(), actor: { subject: 'test', role: 'system', via: 'worker' }, requestId: 'test' },
    );
    return token;
  } finally {
    await open.close();
  }
};

/** A small client of the API under `/v1`. */
export interface Api {
  get(path: string, headers?: Environment): Promise<ApiAnswer>;
  post(path: string, body?: unknown, headers?: Environment): Promise<ApiAnswer>;
  put(path: string, body: unknown, headers?: Environment): Promise<ApiAnswer>;
  patch(path: string, body: unknown, headers?: Environment): Promise<ApiAnswer>;
  delete(path: string, headers?: Environment): Promise<ApiAnswer>;
}

export const createApi = (address: string, token: string): Api => {
  const call = async (method: string, path: string, body?: unknown, headers: Environment = {}): Promise<ApiAnswer> => {
    const response = await fetch(`${address}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : (JSON.parse(text) as unknown) };
  };
  return {
    get: (path: string, headers?: Environment) => call('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Environment) => call('POST', path, body, headers),
    put: (path: string, body: unknown, headers?: Environment) => call('PUT', path, body, headers),
    patch: (path: string, body: unknown, headers?: Environment) => call('PATCH', path, body, headers),
    delete: (path: string, headers?: Environment) => call('DELETE', path, undefined, headers),
  };
};

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed; tests cast it to what they expect. */
  readonly body: unknown;
}
