import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';

/**
 * A small checkout of its own: the scripts and settings of this one, its installed packages, and
 * two lines of source.
 */
let checkout: string;

beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'doorstep-prepare-'));
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts']) {
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

const script = (name: string, ...args: string[]): Promise<Ended> =>
  new Promise((resolveEnded) => {
    execFile(process.execPath, [join(checkout, 'scripts', name), ...args], (error, stdout, stderr) => {
      resolveEnded({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

const greet = (...args: string[]): Promise<Ended> => script('operate.mjs', 'greet', ...args);

const built = 'doorstep: building service\n';

test('the first start builds, concurrent starts wait, and standard output belongs to the program', async () => {
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
  await source('wrong.ts', 'export const wrong = ;\n');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { code, stdout, stderr } = await greet();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('src/wrong.ts:1:21');
    expect(stderr).toContain('doorstep: the build failed\n');
  }
  await rm(join(checkout, 'src', 'wrong.ts'));
  expect(await greet()).toEqual({ code: 0, stdout: 'good morning\n', stderr: '' });
});

describe('what is installed', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doorstep-install-'));
    for (const name of ['package.json', 'package-lock.json', 'scripts']) {
      await cp(resolve(name), join(folder, name), { recursive: true });
    }
    const npm =
      "import { writeFileSync } from 'node:fs';\nwriteFileSync('asked.json', JSON.stringify(process.argv.slice(2)));\nprocess.exitCode = 1;\n";
    await writeFile(join(folder, 'npm-cli.js'), npm);
    await mkdir(join(folder, 'node_modules'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  /** What npm is asked for, by a program in a checkout without its packages. */
  const asked = async (name: string): Promise<unknown> => {
    const env = { ...process.env, npm_execpath: join(folder, 'npm-cli.js') };
    await new Promise((ended) => execFile(process.execPath, [join(folder, 'scripts', name)], { env }, ended));
    return JSON.parse(await readFile(join(folder, 'asked.json'), 'utf8'));
  };

  test('a start takes what runs and builds the service', async () => {
    expect(await asked('start.mjs')).toEqual(['ci', '--omit=dev', '--no-progress']);
  });

  test('tests take all', async () => {
    expect(await asked('test.mjs')).toEqual(['ci', '--include=dev', '--no-progress']);
  });

  test('a start in a checkout with the packages of tests keeps them', async () => {
    await mkdir(join(folder, 'node_modules', 'jest'));
    expect(await asked('start.mjs')).toEqual(['ci', '--include=dev', '--no-progress']);
  });

  test('no tool of tests is among what a start takes', async () => {
    interface Locked {
      readonly dev?: boolean;
      readonly devOptional?: boolean;
    }
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
    const tools = /^node_modules\/(@?jest|@swc\/|playwright|eslint|testcontainers|autocannon|knip|@axe-core\/)/;
    const found = Object.entries(packages).filter(([name]) => tools.test(name));
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)).toEqual([]);
  });
});

describe('the tasks of the build', () => {
  const documentFile = (): string => join(checkout, 'build', 'openapi', 'openapi.json');
  const document = (): Promise<string> => readFile(documentFile(), 'utf8');
  const printed = 'doorstep: building openapi\n';

  /** `npm run build -- openapi`: this checkout has no more. */
  const buildAll = async (): Promise<string> => {
    const { code, stderr } = await script('prepare.mjs', 'openapi');
    return code === 0 ? stderr : `exit code ${code}: ${stderr}`;
  };

  beforeAll(async () => {
    await source('title.ts', "export const title = 'first';\n");
    await source('operations/printOpenApi.ts', "import { title } from '../title.js';\nconsole.log(title);\n");
  });

  test('run in order, and a start builds nothing that it does not need', async () => {
    expect((await greet()).stderr).toBe(built);
    expect(await buildAll()).toBe(printed);
    expect(await document()).toBe('first\n');
    expect(await buildAll()).toBe('');
  });

  test('only the one that is stale runs again', async () => {
    await rm(join(checkout, 'build'), { recursive: true });
    expect(await buildAll()).toBe(printed);
    expect(await document()).toBe('first\n');
  });

  test('a changed input runs its task and those that need it', async () => {
    await source('title.ts', "export const title = 'second';\n");
    expect(await buildAll()).toBe(built + printed);
    expect(await document()).toBe('second\n');
    expect((await readdir(join(checkout, 'build'))).toSorted()).toEqual(['openapi']);
  });

  test('a task that makes the same output as before stops the work there', async () => {
    await appendFile(join(checkout, 'tsconfig.json'), '\n');
    expect(await buildAll()).toBe(built);
    expect(await buildAll()).toBe('');
  });

  test('one that is interrupted leaves its output as it was, and runs again', async () => {
    const started = join(checkout, 'started');
    const hanging = `
      import { existsSync, renameSync, writeFileSync } from 'node:fs';
      console.log('half a document');
      if (!existsSync('finish')) {
        writeFileSync('started.tmp', String(process.pid));
        renameSync('started.tmp', 'started');
        setInterval(() => undefined, 60_000);
      }
    `;
    await source('operations/printOpenApi.ts', hanging);
    const builder = spawn(process.execPath, [join(checkout, 'scripts', 'prepare.mjs')], { stdio: 'ignore' });
    const killed = once(builder, 'exit');
    const pid = await eventually('the start of the task', () => readFile(started, 'utf8').catch(() => undefined));
    builder.kill('SIGKILL');
    await killed;
    process.kill(Number(pid));
    expect(await document()).toBe('second\n');

    await writeFile(join(checkout, 'finish'), '');
    expect(await buildAll()).toBe(printed);
    expect(await document()).toBe('half a document\n');
    expect(await readdir(join(checkout, 'build'))).toEqual(['openapi']);
  });

  test('one that fails leaves its output as it was', async () => {
    await source('operations/printOpenApi.ts', "console.log('text');\nprocess.exitCode = 3;\n");
    expect(await buildAll()).toBe(`exit code 1: ${built}${printed}doorstep: the build failed\n`);
    expect(await document()).toBe('half a document\n');
  });

  test('one that nobody knows is refused with the names of those that there are', async () => {
    expect(await script('prepare.mjs', 'portrait')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'doorstep: no task is called portrait: service, openapi, sdkTypes, sdk, mcp, mcpTypes, cli, portal\n',
    });
  });
});
