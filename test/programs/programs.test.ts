import { expect, test } from '@jest/globals';
import { coverageOf, type Programs } from '../../scripts/programDocs.mjs';
import { readPrograms } from '../../scripts/programs.mjs';

test('every operation has a method, a command and a tool, or a reason for none', async () => {
  const { rows, problems } = coverageOf(await readPrograms());
  expect(problems).toStrictEqual([]);
  expect(rows.length).toBeGreaterThan(110);
});

test('an operation that nothing calls is found, and a reason that is none any more', async () => {
  const programs = await readPrograms();
  const problemsWith = (change: Partial<Programs>): readonly string[] => coverageOf({ ...programs, ...change }).problems;
  const without = (name: string): Programs['commands'] =>
    programs.commands.map((command) => ({ ...command, operations: command.operations.filter((id) => id !== name) }));

  expect(problemsWith({ commands: without('createWebsite') })).toStrictEqual([
    'createWebsite has no command, and cli/without.json does not say why',
  ]);
  expect(problemsWith({ withoutTool: { ...programs.withoutTool, createWebsite: 'Not needed.' } })).toStrictEqual([
    expect.stringMatching(/^createWebsite has the tool create_website, and a reason for none$/),
  ]);
  expect(problemsWith({ withoutCommand: { ...programs.withoutCommand, foldWebsite: 'Not needed.' } })).toStrictEqual([
    'a reason is given for foldWebsite, which no operation is called',
  ]);
  const { createWebsite: _, ...entries } = programs.entries;
  expect(() => coverageOf({ ...programs, entries })).toThrow('sdk/methods.json lacks createWebsite');
  expect(() => coverageOf({ ...programs, entries: { ...programs.entries, foldWebsite: 'websites.fold' } })).toThrow(
    'sdk/methods.json has foldWebsite',
  );
});
