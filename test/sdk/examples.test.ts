import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, jest, test } from '@jest/globals';
import ts from 'typescript';
import { temporaryFolder } from '../support/temporary.js';

// A compiler is slow on a busy machine.
jest.setTimeout(120_000);

const sdk = fileURLToPath(new URL('../../sdk', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The built types, as an editor shows them. */
const types = ts.sys
  .readDirectory(join(sdk, 'dist'), ['.d.ts'])
  .filter((file) => !file.endsWith('schema.d.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** The examples in docstrings: blocks of `ts` in comments. */
const examplesIn = (text: string): readonly string[] =>
  [...text.matchAll(/^( *\* )```ts\n([\s\S]*?)^ *\* ```$/gm)].map(([, , block = '']) => block.replaceAll(/^ *\* ?/gm, ''));

const blocksIn = (page: string): readonly string[] =>
  [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);

/** An example as a part of one program. Imports stand at its top, and `doorstep` is there already. */
const partOf = (example: string): string => {
  const source = example.replaceAll(/^import [^;]*;$/gm, '');
  return `async () => {\n${/\bdoorstep\b =/.test(source) ? '' : 'const doorstep = anyDoorstep;\n'}${source}\n};`;
};

/** What the compiler says of a program. */
const problemsIn = (source: string, options: ts.CompilerOptions): readonly string[] => {
  const folder = temporaryFolder();
  const file = join(folder, 'examples.ts');
  writeFileSync(file, source);
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    paths: {
      '@doorstep/sdk': [join(sdk, 'dist', 'index.d.ts')],
      'openapi-fetch': [join(modules, 'openapi-fetch', 'dist', 'index.d.mts')],
    },
    ...options,
  });
  return ts.getPreEmitDiagnostics(program).map(({ file: where, start = 0, messageText }) => {
    const line = where?.text.slice(0, start).split('\n').length ?? 0;
    return `${where?.text.split('\n')[line - 1] ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
};

const problemsOf = (examples: readonly string[]): readonly string[] => {
  const head = `import * as all from '@doorstep/sdk';
import { Doorstep, DoorstepError, nextQuery, NotFoundError, RateLimitError } from '@doorstep/sdk';
declare const anyDoorstep: Doorstep;
declare const process: { env: Record<string, string | undefined> };
export const used = [all, DoorstepError, nextQuery, NotFoundError, RateLimitError];
export const examples = [
`;
  return problemsIn(`${head}${examples.map((example) => partOf(example).replace(/;$/, ',')).join('\n')}\n];\n`, {
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
    target: ts.ScriptTarget.ES2023,
  });
};

test('every method has an example in its docstring', () => {
  const methods = JSON.parse(readFileSync(join(sdk, 'methods.json'), 'utf8')) as Record<string, string | { method?: string }>;
  const names = Object.values(methods).flatMap((entry) => (typeof entry === 'string' ? [entry] : (entry.method ?? [])));
  const examples = examplesIn(types).join('\n');
  expect(names.filter((name) => !examples.includes(`doorstep.${name}(`))).toStrictEqual([]);
});

test('all examples compile against the built types, but not a mistake', () => {
  const readme = blocksIn(readFileSync(join(sdk, 'README.md'), 'utf8'));
  const examples = [...examplesIn(types), ...readme];
  const mistakes = [
    'await doorstep.websites.get(7);',
    "(await doorstep.websites.get('a')).nmae;",
    "(await doorstep.websites.archive('a', { dryRun: Date.now() > 7 })).slug;",
  ];
  expect(examples.length).toBeGreaterThan(110);
  expect(problemsOf([...examples, ...mistakes])).toStrictEqual([
    expect.stringContaining('websites.get(7)'),
    expect.stringContaining('nmae'),
    expect.stringContaining("dryRun: Date.now() > 7 })).slug;: Property 'slug' does not exist"),
  ]);
});

test('the types compile in a program for Node.js, which has none of the DOM', () => {
  const source = `import * as all from '@doorstep/sdk';\nexport const { Doorstep } = all;\n`;
  const options: ts.CompilerOptions = {
    skipLibCheck: false,
    types: ['node'],
    typeRoots: [join(modules, '@types')],
    lib: ['lib.es2022.d.ts'],
    target: ts.ScriptTarget.ES2022,
  };
  expect(problemsIn(source, options)).toStrictEqual([]);
});
