import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

/** A small checkout of its own: the scripts and settings of this one, its installed packages, and two lines of source. */
let checkout: string;

beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'doorstep-prepare-'));
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts']) {
    await cp(resolve(name), join(checkout, name), { recursive: true });
  }
  await symlink(resolve('node_modules'), join(checkout, 'node_modules'));
  await mkdir(join(checkout, 'src', 'operations'), { recursive: true });
  await source('operations/greet.ts', "console.log('hello', ...process.argv.slice(2));\n");
});

afterAll(async () => {
  await rm(checkout, { recursive: true });
});

const source = (name: string, text: string): Promise<void> => writeFile(join(checkout, 'src', name), text);

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const greet = (...args: string[]): Promise<Ended> =>
  new Promise((resolveEnded) => {
    execFile(process.execPath, [join(checkout, 'scripts', 'operate.mjs'), 'greet', ...args], (error, stdout, stderr) => {
      resolveEnded({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

const built = 'doorstep: building\n';

test('the first start builds, whoever comes meanwhile waits, and standard output belongs to the program', async () => {
  const all = await Promise.all([greet('one'), greet('two'), greet('three')]);
  expect(all.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
    { code: 0, stdout: 'hello one\n' },
    { code: 0, stdout: 'hello two\n' },
    { code: 0, stdout: 'hello three\n' },
  ]);
  expect(all.filter(({ stderr }) => stderr === built)).toHaveLength(1);
});

test('a later start finds nothing to do', async () => {
  expect(await greet('again')).toEqual({ code: 0, stdout: 'hello again\n', stderr: '' });
});

test('a changed source is built, and what was built from a removed one goes', async () => {
  await source('old.ts', 'export const old = 1;\n');
  expect((await greet()).stderr).toBe(built);
  await rm(join(checkout, 'src', 'old.ts'));
  await source('operations/greet.ts', "console.log('good morning');\n");
  expect(await greet()).toEqual({ code: 0, stdout: 'good morning\n', stderr: built });
  expect((await readdir(join(checkout, 'dist'))).toSorted()).toEqual(['.built-from', 'operations']);
  expect((await readdir(checkout)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
});

test('a build that fails stops the start and is tried again', async () => {
  await source('wrong.ts', "export const wrong: number = 'text';\n");
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { code, stdout, stderr } = await greet();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('src/wrong.ts(1,14): error TS2322');
    expect(stderr).toContain('doorstep: the build failed\n');
  }
  await rm(join(checkout, 'src', 'wrong.ts'));
  expect(await greet()).toEqual({ code: 0, stdout: 'good morning\n', stderr: '' });
});
