import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary.js';

/** The recipes of CONTRIBUTING.md, and a copy of the sources that their blocks are applied to. */

export const root = fileURLToPath(new URL('../..', import.meta.url));
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

export const recipes = [
  { heading: 'Add a command', maxFiles: 15 },
  { heading: 'Add an aggregate', maxFiles: 16 },
].map((recipe) => ({ ...recipe, blocks: blocksOf(recipe.heading) }));

export const filesOf = (blocks: readonly Block[]): readonly string[] => [...new Set(blocks.map(({ path }) => path))];
export const changed = filesOf(recipes.flatMap(({ blocks }) => blocks));

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

/** Applies all of them to a copy of the sources; returns its folder. */
export const cook = (): string => {
  const copy = temporaryFolder();
  for (const name of ['src', 'test', 'templates', 'package.json', 'tsconfig.json', 'jest.config.js', '.prettierrc.json']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const { blocks } of recipes) for (const block of blocks) apply(copy, block);
  return copy;
};
