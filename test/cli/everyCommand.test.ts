import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import pc from 'picocolors';
import type { Command } from '../../cli/src/command.js';
import { commands } from '../../cli/src/commands/index.js';
import { readCommandLine } from '../../cli/src/program.js';

const read = (path: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')) as unknown;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
}

const page = { width: 80, style: pc.createColors(false) };
const methods = new Map(
  Object.values((read('build/openapi/openapi.json') as Document).paths).flatMap((path) =>
    Object.entries(path).flatMap(([method, { operationId }]) =>
      operationId === undefined ? [] : [[operationId, method] as const],
    ),
  ),
);
const without = read('cli/without.json') as Record<string, string>;
const shown = commands.filter(({ hidden }) => hidden !== true);

/** The words of a line as a shell reads them. */
const wordsOf = (line: string): string[] =>
  (line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []).map((word) => word.replaceAll(/["']/g, ''));

it('every operation has a command, or a reason for none', () => {
  const called = new Set(commands.flatMap(({ operations }) => operations));
  expect([...methods.keys()].filter((id) => !called.has(id) && !(id in without))).toEqual([]);
  expect(Object.keys(without).filter((id) => called.has(id) || !methods.has(id))).toEqual([]);
  expect([...called].filter((id) => !methods.has(id))).toEqual([]);
});

describe.each(shown.map((command): [string, Command] => [command.name, command]))('%s', (name, command) => {
  it('has examples that parse, each for this command', async () => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const [, line] of command.examples) {
      // What the shell does with the output is not the program's.
      const [called = ''] = line.split(/ (?:[<>|;]|>>|&&) /);
      const asked = await readCommandLine(wordsOf(called), commands, page);
      expect('call' in asked ? asked.call.command.name : asked.help).toBe(name);
    }
  });

  it('has a page of help that begins with its examples', async () => {
    const asked = await readCommandLine([...name.split(' '), '--help'], commands, page);
    const help = 'help' in asked ? asked.help : '';
    const [first] = command.examples;
    expect(help.indexOf(first?.[1] ?? '')).toBeGreaterThan(-1);
    expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
  });

  it('takes --dry-run if and only if it changes something', () => {
    const changes = command.operations.some((id) => !['get', undefined].includes(methods.get(id)));
    // Signing in and out is about this machine.
    if (command.operations.length > 0 && !['login', 'logout'].includes(name)) expect(command.write === true).toBe(changes);
  });
});
