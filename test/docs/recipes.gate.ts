import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { changed, cook, root } from './recipes.js';

/** The recipes of CONTRIBUTING.md, cooked. */

const runNode = promisify(execFile);

let copy: string;

beforeAll(() => {
  copy = cook();
});

test('both compile', async () => {
  const include = ['src', ...changed.filter((path) => path.endsWith('.ts'))];
  writeFileSync(join(copy, 'tsconfig.recipes.json'), JSON.stringify({ extends: './tsconfig.json', include }));
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  const { stdout } = await runNode(process.execPath, [tsc, '-p', 'tsconfig.recipes.json'], { cwd: copy }).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(stdout).toBe('');
}, 480_000);

test('their tests pass', async () => {
  const tests = changed.filter((path) => path.endsWith('.test.ts'));
  expect(tests).toHaveLength(7);
  // Without the servers of the contract suites.
  const config = `import { default as all } from './jest.config.js';
    const { globalSetup, globalTeardown, ...config } = all;
    export default config;`;
  writeFileSync(join(copy, 'jest.recipes.js'), config);
  const jest = ['--experimental-vm-modules', join(root, 'node_modules', 'jest', 'bin', 'jest.js'), '--config', 'jest.recipes.js'];
  const args = [...jest, '--ci', '--runInBand', ...tests, 'test/events/codec.test.ts', 'test/http/openapi.test.ts'];
  const { stderr } = await runNode(process.execPath, args, { cwd: copy });
  expect(stderr).toMatch(/^Test Suites: 9 passed, 9 total$/m);
}, 480_000);
