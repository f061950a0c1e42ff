import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from './command.js';
import { variable } from './connection.js';
import type { Context } from './context.js';
import { leaveInterruptions } from './interruption.js';

/**
 * Has a document changed in the caller's editor, and saves it. When it is not JSON, cannot be saved, or
 * is not to be saved (`--dry-run`), the file stays: no work is lost.
 * @param name - of the file
 * @throws Refusal when no editor is set, when it fails, or when what it leaves is not JSON
 */
export const editJson = async (
  { environment, globals, interruption, output }: Context,
  name: string,
  before: unknown,
  save: (after: unknown) => Promise<unknown>,
): Promise<void> => {
  const editor = variable(environment, 'VISUAL') ?? variable(environment, 'EDITOR');
  if (editor === undefined) throw new Refusal('No editor is set. Set EDITOR, or save from a file with --file.');
  const folder = await mkdtemp(join(tmpdir(), 'doorstep-'));
  const file = join(folder, `${name}.json`);
  const text = `${JSON.stringify(before, null, 2)}\n`;
  await writeFile(file, text, { mode: 0o600 });

  const takeBack = leaveInterruptions();
  // By the shell, since the variable may hold options; the file is an argument of its own.
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  takeBack();
  const after = await readFile(file, 'utf8');
  const nameFile = (): void => {
    output.note(`What you wrote is in ${file}`);
  };
  if (after === text) await rm(folder, { recursive: true });
  if (code !== 0) {
    if (after !== text) nameFile();
    throw new Refusal(`The editor ended with ${String(code ?? 'a signal')}. Nothing was changed.`);
  }
  if (after === text) {
    output.note('Nothing was changed.');
    return;
  }
  let isSaved = false;
  interruption.onInterrupt(() => {
    if (!isSaved) nameFile();
  });
  try {
    await save(JSON.parse(after));
  } catch (error) {
    nameFile();
    if (error instanceof SyntaxError) throw new Refusal(`It is not JSON: ${error.message}`);
    throw error;
  }
  isSaved = true;
  if (globals.dryRun) nameFile();
  else await rm(folder, { recursive: true });
};
