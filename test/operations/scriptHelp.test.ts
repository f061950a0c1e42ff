import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { commands } from '../../cli/src/commands/index.js';
import { scripts } from '../../src/operations/scriptHelp.js';
import { operate } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('--help of operators’ scripts', () => {
  test('is there for every script of package.json', () => {
    const { scripts: known } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> };
    const operations = Object.entries(known).flatMap(([name, line]) => {
      const operation = /^node scripts\/operate\.mjs (\w+)$/.exec(line)?.[1];
      return operation === undefined ? [] : [[operation, name]];
    });
    const described = Object.entries(scripts).map(([operation, { usage }]) => [
      operation,
      /^npm run (?:--silent )?(\S+)/.exec(usage[0])?.[1],
    ]);
    expect(described.sort()).toStrictEqual(operations.sort());
  });

  test.each<[string, RegExp]>([
    ['mintToken', /`doorstep keys create`/],
    ['auditDelivery', /`doorstep delivery history <website>`/],
  ])('%s names what does the same over HTTP', async (script, command) => {
    const folder = temporaryFolder();
    const help = await operate(folder, script, ['--help']);
    expect(help).toMatch(/^ {2}npm run /m);
    expect(help).toMatch(/Over HTTP, from any machine/);
    expect(help).toMatch(command);
    // Nothing was opened for it.
    expect(readdirSync(folder)).toStrictEqual([]);
  });

  test('names commands that there are', () => {
    const names = commands.map(({ name }) => name);
    const named = Object.values(scripts).flatMap((script) =>
      'elsewhere' in script ? [...script.elsewhere.matchAll(/`doorstep ([a-z ]+?)(?: <\w+>)?`/g)].map(([, name]) => name) : [],
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => name === undefined || !names.includes(name))).toStrictEqual([]);
  });
});
