import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll } from '@jest/globals';
import { eventually } from './eventually.js';
import { temporaryFolder } from './temporary.js';

/** The built program (`npm test` builds it first). */
const cliProgram = fileURLToPath(new URL('../../cli/dist/doorstep.js', import.meta.url));

export type Environment = Readonly<Record<string, string>>;

/** A person's surroundings: a home of their own, and a PATH on which `doorstep` is the built program. */
export interface Home {
  readonly folder: string;
  readonly environment: Environment;
}

/** Makes a home without settings of this machine's. @param extra - such as DOORSTEP_TOKEN */
export const makeHome = (extra: Environment = {}): Home => {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  chmodSync(cliProgram, 0o755);
  symlinkSync(cliProgram, join(bin, 'doorstep'));
  symlinkSync(process.execPath, join(bin, 'node'));
  const path = `${bin}:${process.env.PATH ?? ''}`;
  return { folder, environment: { PATH: path, HOME: folder, TZ: 'UTC', LANG: 'C.UTF-8', ...extra } };
};

/** How a run of the program ended. */
export interface Ran {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the program in pipes. */
export const startCli = (home: Home, args: readonly string[]): ChildProcessByStdio<Writable, Readable, Readable> =>
  spawn(process.execPath, [cliProgram, ...args], { cwd: home.folder, env: home.environment, stdio: 'pipe' });

/** Runs the program in pipes to its end. @param input - its standard input */
export const runCli = async (home: Home, args: readonly string[], input = ''): Promise<Ran> => {
  const child = startCli(home, args);
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ]);
  return { code: code ?? signal, stdout, stderr };
};

/** A real terminal, by tmux, with a shell in it. */
export interface Terminal {
  /** Types a line and presses Enter. */
  enter(line: string): Promise<void>;
  type(text: string): Promise<void>;
  /** Presses keys by tmux's names for them: `C-c`, `Enter`, `Tab`, `q`. */
  press(...keys: readonly string[]): Promise<void>;
  /** What is on the screen. @param colours - with escape sequences */
  screen(colours?: boolean): Promise<string>;
  /** All that was ever written to it, with escape sequences. */
  written(): string;
  /** Waits until the screen shows something; resolves with the screen. */
  shows(what: RegExp | string): Promise<string>;
}

const run = promisify(execFile);
/** Processes of tmux; their sockets are gone when this file's hooks run. */
const terminals = new Set<number>();

afterAll(() => {
  for (const pid of terminals) process.kill(pid);
});

interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** Default: bash without anybody's settings. */
  readonly shell?: string;
}

/** Opens a terminal. It is closed at the end of the test file. */
export const openTerminal = async (
  { folder, environment }: Home,
  { columns = 80, rows = 24, shell = 'bash --norc --noprofile' }: TerminalOptions = {},
): Promise<Terminal> => {
  const socket = join(temporaryFolder(), 'tmux');
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await run('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { cwd: folder, env: environment })).stdout;
  await tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), shell);
  terminals.add(Number(await tmux('display-message', '-p', '#{pid}')));
  await tmux('set-option', '-g', 'status', 'off');
  const transcript = join(temporaryFolder(), 'transcript');
  writeFileSync(transcript, '');
  await tmux('pipe-pane', '-t', ':0', `cat >> '${transcript}'`);
  const screen = (colours = false): Promise<string> => tmux('capture-pane', '-p', ...(colours ? ['-e'] : []), '-t', ':0');
  const type = async (line: string): Promise<void> => {
    await tmux('send-keys', '-l', line);
  };
  return {
    type,
    enter: async (line) => {
      await type(line);
      await tmux('send-keys', 'Enter');
    },
    press: async (...keys) => {
      await tmux('send-keys', ...keys);
    },
    screen,
    written: () => readFileSync(transcript, 'utf8'),
    shows: async (what) => {
      let last = '';
      return await eventually(
        `${String(what)} on the screen`,
        async () => {
          last = await screen();
          return (typeof what === 'string' ? last.includes(what) : what.test(last)) ? last : undefined;
        },
        20_000,
      ).catch((error: unknown) => {
        throw new Error(`${(error as Error).message}; it shows:\n${last}`);
      });
    },
  };
};
