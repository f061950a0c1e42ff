import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { check, resolveConfig } from 'prettier';
import { temporaryFolder } from '../support/temporary.js';

/** The recipes of CONTRIBUTING.md, cooked: their blocks are applied to a copy of the sources. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');

interface Block {
  readonly path: string;
  /** `diff` changes the file; any other is the whole of a new one. */
  readonly language: string;
  readonly text: string;
}

const blocksOf = (heading: string): readonly Block[] => {
  const [, section = ''] = contributing.split(`\n## ${heading}\n`);
  const blocks = (section.split('\n## ')[0] ?? '').matchAll(/^\*\*`([^`]+)`\*\*\n\n```(\w+)\n([\s\S]*?)\n```$/gm);
  return [...blocks].map(([, path = '', language = '', text = '']) => ({ path, language, text }));
};

const recipes = [
  { heading: 'Add a command', maxFiles: 8 },
  { heading: 'Add an aggregate', maxFiles: 14 },
].map((recipe) => ({ ...recipe, blocks: blocksOf(recipe.heading) }));

const filesOf = (blocks: readonly Block[]): readonly string[] => [...new Set(blocks.map(({ path }) => path))];
const changed = filesOf(recipes.flatMap(({ blocks }) => blocks));

/** The lines of a part of a diff that stand in the file before, or after it is applied. */
const linesOf = (part: string, sign: '-' | '+'): string =>
  part
    .split('\n')
    .filter((line) => line === '' || [' ', sign].includes(line.charAt(0)))
    .map((line) => `\n${line.slice(1)}`)
    .join('');

/** @throws when a part of the diff does not fit in exactly one place */
const patched = (path: string, content: string, diff: string): string =>
  diff.split('\n@@\n').reduce((before, part) => {
    const places = `\n${before}`.split(`${linesOf(part, '-')}\n`);
    if (places.length !== 2) {
      throw new Error(`CONTRIBUTING.md: this fits in ${String(places.length - 1)} places of ${path}, not in one:\n${part}`);
    }
    return places.join(`${linesOf(part, '+')}\n`).slice(1);
  }, content);

const apply = (folder: string, { path, language, text }: Block): void => {
  const file = join(folder, path);
  if (language === 'diff') writeFileSync(file, patched(path, readFileSync(file, 'utf8'), text));
  else {
    if (existsSync(file)) throw new Error(`CONTRIBUTING.md: ${path} is not new`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
};

const runNode = promisify(execFile);

let copy: string;

beforeAll(() => {
  copy = temporaryFolder();
  for (const name of ['src', 'test', 'package.json', 'tsconfig.json', 'jest.config.js', '.prettierrc.json']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const { blocks } of recipes) for (const block of blocks) apply(copy, block);
});

describe.each(recipes)('$heading', ({ blocks, maxFiles }) => {
  test(`touches at most ${String(maxFiles)} source and test files`, () => {
    const files = filesOf(blocks);
    expect(files.length).toBeGreaterThan(5);
    expect(files.length).toBeLessThanOrEqual(maxFiles);
    for (const file of files) expect(file).toMatch(/^(?:src|test)\//);
  });
});

test('both are written as prettier writes them', async () => {
  for (const path of changed) {
    const options = { ...(await resolveConfig(join(root, path))), filepath: path };
    expect([path, await check(readFileSync(join(copy, path), 'utf8'), options)]).toEqual([path, true]);
  }
});

test('both compile', async () => {
  const include = ['src', ...changed.filter((path) => path.endsWith('.ts'))];
  writeFileSync(join(copy, 'tsconfig.recipes.json'), JSON.stringify({ extends: './tsconfig.json', include }));
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  const { stdout } = await runNode(process.execPath, [tsc, '-p', 'tsconfig.recipes.json'], { cwd: copy }).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(stdout).toBe('');
}, 120_000);

test('their tests pass', async () => {
  const tests = changed.filter((path) => /\.(?:decider|projection)\.test\.ts$/.test(path));
  expect(tests).toHaveLength(3);
  // Without the servers of the contract suites.
  const config = `import { default as all } from './jest.config.js';
    const { globalSetup, globalTeardown, ...config } = all;
    export default config;`;
  writeFileSync(join(copy, 'jest.recipes.js'), config);
  const jest = ['--experimental-vm-modules', join(root, 'node_modules', 'jest', 'bin', 'jest.js'), '--config', 'jest.recipes.js'];
  const args = [...jest, '--ci', '--runInBand', ...tests, 'test/events/codec.test.ts'];
  const { stderr } = await runNode(process.execPath, args, { cwd: copy });
  expect(stderr).toMatch(/^Test Suites: 4 passed, 4 total$/m);
}, 120_000);
