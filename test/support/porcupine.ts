import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { test } from '@jest/globals';

const program = fileURLToPath(new URL('../../.servers/porcupine/judge', import.meta.url));

/** Runs `suite` where Porcupine is installed (test/support/porcupine/install). CI must have it. */
export const wherePorcupineIs = (suite: () => void): void => {
  if (existsSync(program) || process.env['CI'] === 'true') suite();
  else test.skip('nothing here judges histories: run test/support/porcupine/install', () => undefined);
};

/** What was answered, as far as the model has it: `revision` and `value` of a block, the role of a person as `value`. */
export interface HistoryAnswer {
  readonly status: number;
  readonly revision?: number;
  readonly value?: string;
}

/** A request of a history, about one register: a delivery block, or one person's access to one website. */
export interface Operation {
  readonly register: string;
  readonly client: number;
  readonly does: 'readBlock' | 'replaceBlock' | 'see' | 'link' | 'changeRole' | 'unlink';
  /** What the block is to say, or the role. */
  readonly value?: string;
  /** The revision that `If-Match` names. */
  readonly expects?: number;
  /** When it was sent and answered, on one clock that never stands still. */
  readonly call: number;
  readonly return?: number;
  /** None: it may have taken effect at any time after it was sent, or never. */
  readonly answer?: HistoryAnswer;
}

/**
 * Whether each request took effect at one moment between its call and its answer, so that all
 * answers are those of the specification; each register on its own.
 * @param picture the file to which a picture of what does not hold is written
 * @returns empty when it is so, else the registers of which it is not, and where they go wrong
 */
export const judge = async (history: readonly Operation[], picture?: string): Promise<string> => {
  const child = spawn(program, picture === undefined ? [] : [picture], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  child.stdin.end(JSON.stringify(history));
  const said = await text(child.stdout);
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`the judge ended with ${String(code)}`);
  return said;
};
