import { text as readText } from 'node:stream/consumers';
import type { Doorstep } from '@doorstep/sdk';
import { Refusal } from './command.js';
import type { Chosen, Connection } from './connection.js';
import type { Interruption } from './interruption.js';
import type { Output } from './output.js';

/** What every write hands on to the SDK. */
export interface WriteOptions {
  readonly idempotencyKey?: string;
}

/** The global options, as given. */
export interface Globals extends Chosen {
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly idempotencyKey?: string;
}

/** What a command is given. */
export interface Context {
  readonly output: Output;
  readonly environment: NodeJS.ProcessEnv;
  readonly globals: Globals;
  /** Whether a person can be asked: standard input and standard error are terminals. */
  readonly canAsk: boolean;
  /** Ctrl-C: what is under way is aborted, and what the command says about it. */
  readonly interruption: Interruption;
  /** The service and the token: from the command line, the environment or a profile. */
  readonly connection: () => Promise<Connection>;
  /** The client of the service, made on first use. */
  readonly doorstep: () => Promise<Doorstep>;
  /**
   * Sends a write. With `--dry-run` it prints what would happen and resolves with undefined: the
   * command then ends without a word more.
   * @param explain - the events in words; without it a general wording
   */
  readonly write: <T>(send: (options: WriteOptions) => Promise<T>, explain?: Explain) => Promise<T | undefined>;
  /**
   * Asks before what cannot be taken back; `--yes` answers it, and a dry run needs none.
   * @throws Refusal when the answer is no, or nobody can be asked
   */
  readonly confirm: (question: string) => Promise<void>;
  /**
   * Asks for a word to be typed: an address, a slug.
   * @param given - the option that says it without a terminal
   * @throws Refusal when another word is typed, or nobody can be asked
   */
  readonly confirmTyped: (
    question: string,
    expected: string,
    given: { option: string; value: string | undefined },
  ) => Promise<void>;
  /** Asks for a line. @throws Refusal naming `instead` when nobody can be asked */
  readonly ask: (question: string, instead: string) => Promise<string>;
  /** All of standard input. */
  readonly stdin: () => Promise<string>;
}

/** An event that a dry run would have written. */
export interface PlannedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type Explain = (events: readonly PlannedEvent[]) => readonly string[];

/** Makes what a command is given. */
export const createContext = (
  globals: Globals,
  output: Output,
  interruption: Interruption,
  environment: NodeJS.ProcessEnv,
): Context => {
  const canAsk = process.stdin.isTTY && process.stderr.isTTY;
  let connected: Promise<Connection> | undefined;
  let client: Promise<Doorstep> | undefined;

  const connection = (): Promise<Connection> =>
    (connected ??= import('./connection.js').then(({ connectionFrom }) => connectionFrom(globals, environment)));

  const ask = async (question: string, instead: string): Promise<string> => {
    if (!canAsk) throw new Refusal(`There is no terminal to ask at: ${instead}`);
    const { askLine } = await import('./prompt.js');
    return await askLine(question);
  };

  return {
    output,
    environment,
    globals,
    canAsk,
    interruption,
    connection,
    ask,
    doorstep: () =>
      (client ??= connection().then(async ({ url, token }) => {
        const { createClient } = await import('./client.js');
        return createClient(url, token, { output });
      })),
    write: async (send, explain) => {
      const { idempotencyKey, dryRun } = globals;
      const options = { ...(idempotencyKey !== undefined && { idempotencyKey }), ...(dryRun && { dryRun }) };
      const answer = await send(options);
      if (!dryRun) return answer;
      const { events } = answer as unknown as { events: readonly PlannedEvent[] };
      if (output.isJson) {
        await output.json(answer);
        return undefined;
      }
      const { explainEvents } = await import('./dryRun.js');
      output.lines((explain ?? explainEvents)(events));
      return undefined;
    },
    confirm: async (question) => {
      if (globals.yes || globals.dryRun) return;
      const answer = await ask(`${question} [y/N] `, 'add --yes to confirm.');
      if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('Nothing was changed.');
    },
    confirmTyped: async (question, expected, { option, value }) => {
      if (globals.dryRun) return;
      if (value === undefined && globals.yes) throw new Refusal(`--yes is not enough here: add --${option} "${expected}".`);
      const typed = value ?? (await ask(`${question} `, `add --${option} "${expected}" to confirm.`));
      if (typed.trim() !== expected) throw new Refusal(`"${typed.trim()}" is not "${expected}". Nothing was changed.`);
    },
    stdin: () => readText(process.stdin),
  };
};
