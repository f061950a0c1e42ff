import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Refusal } from './command.js';

/** Long enough to type the password of a locked keyring in. */
const answerMs = 60_000;
const probeMs = 5_000;

/** The program beside this one in the bundle. */
const program = fileURLToPath(new URL('./keyringProgram.js', import.meta.url));

/** The system's keyring: what it holds is encrypted, and opened by the person's sign-in there. */
export interface Keyring {
  /** Whether it keeps, gives back and forgets a word, within a few seconds. */
  answers(): Promise<boolean>;
  write(account: string, secret: string): Promise<void>;
  /** Null when it has none of that account. */
  read(account: string): Promise<string | null>;
  delete(account: string): Promise<void>;
}

export const createKeyring = (environment: NodeJS.ProcessEnv): Keyring => {
  /** @throws Refusal when it refuses, or does not answer in time */
  const ask = async (action: 'write' | 'read' | 'delete', account: string, secret = '', ms = answerMs): Promise<string> => {
    const child = spawn(process.execPath, [program, action, account], {
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: ms,
      killSignal: 'SIGKILL',
    });
    // It may end before it has read; its exit code tells.
    child.stdin.on('error', () => undefined);
    child.stdin.end(secret);
    const ended = once(child, 'close') as Promise<[number | null]>;
    const [answer, problem, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code === 0) return answer;
    if (code === null) throw new Refusal(`The keyring has not answered within ${String(ms / 1_000)} seconds.`);
    throw new Refusal(`The keyring refuses: ${/^(?:\w*Error|\[Error): (.*)$/m.exec(problem)?.[1] ?? 'no reason was given'}`);
  };

  return {
    answers: async () => {
      const [account, word] = [`probe-${randomBytes(6).toString('hex')}`, randomBytes(12).toString('hex')];
      const until = Date.now() + probeMs;
      const left = (): number => Math.max(1, until - Date.now());
      try {
        await ask('write', account, word, left());
        const kept = await ask('read', account, '', left());
        await ask('delete', account, '', left());
        return kept === word;
      } catch (error) {
        if (error instanceof Refusal) return false;
        throw error;
      }
    },
    write: async (account, secret) => {
      await ask('write', account, secret);
    },
    read: async (account) => {
      const secret = await ask('read', account);
      return secret === '' ? null : secret;
    },
    delete: async (account) => {
      await ask('delete', account);
    },
  };
};
