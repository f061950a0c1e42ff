import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { packWorkspace } from '../../scripts/packages.mjs';
import { createApi, mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** The package as npm installs it, alone in an empty folder. */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const isCi = process.env.CI === 'true';

let prefix: string;
let own: string;
let program: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  const { file } = await packWorkspace('cli', temporaryFolder());
  prefix = temporaryFolder();
  await run('npm', ['install', '--global', '--no-audit', '--no-fund', '--prefix', prefix, file]);
  own = join(prefix, 'lib', 'node_modules', '@doorstep', 'cli');
  program = join(own, 'dist', 'doorstep.js');

  const dataDir = temporaryFolder();
  const { address } = await startServer(dataDir);
  const token = await mintToken(dataDir);
  await createApi(address, token).post('/websites', { name: 'Corner Bakery', slug: 'corner-bakery' });
  environment = { PATH: process.env.PATH, HOME: temporaryFolder(), DOORSTEP_URL: address, DOORSTEP_TOKEN: token };
}, 720_000);

test('it comes with its licence, and without sources, tests and the packages of the workspace', () => {
  expect(
    readdirSync(own)
      .filter((name) => name !== 'node_modules')
      .sort(),
  ).toEqual(['LICENSE', 'README.md', 'dist', 'doorstep.svg', 'package.json']);
  const files = readdirSync(join(own, 'dist'), { recursive: true }).map(String);
  expect(files.filter((file) => /\.ts$|\.map$|test|\.built-from|registry/.test(file))).toEqual([]);
  // The keyring is native: it is there where its platform has it.
  const packages = existsSync(join(own, 'node_modules')) ? readdirSync(join(own, 'node_modules')) : [];
  expect(packages.filter((name) => !name.startsWith('.') && name !== '@napi-rs')).toEqual([]);
  expect(JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))).toMatchObject({ license: 'MIT' });
});

test('the command is on the PATH', async () => {
  const { stdout } = await run(join(prefix, 'bin', 'doorstep'), ['--help'], { env: environment });
  expect(stdout).toMatch(/^Examples\n {2}# Sign in\n/);
});

test('man finds its pages', async () => {
  const env = { ...environment, MANPATH: join(prefix, 'share', 'man'), MANWIDTH: '80', LC_ALL: 'C.UTF-8' };
  const main = await run('man', ['doorstep'], { env });
  expect(main.stdout).toContain('Create a website, and watch it being built');
  const { stdout } = await run('man', ['doorstep-websites'], { env });
  expect(stdout).toContain('doorstep websites create');
  const pages = readdirSync(join(own, 'dist', 'man')).map((page) => join(own, 'dist', 'man', page));
  const faults = execFileSync('groff', ['-man', '-ww', '-Wbreak', '-z', '-Tutf8', ...pages], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(faults.toString()).toBe('');
});

const script = readFileSync(`${root}/test/support/node/install`, 'utf8');
const others = (/^versions=\((.*)\)$/m.exec(script)?.[1]?.split(' ') ?? []).map((version) => ({
  version,
  node: `${root}/.servers/node/${version}/bin/node`,
}));

for (const { version, node } of [{ version: process.versions.node, node: process.execPath }, ...others]) {
  const isThere = existsSync(node);
  if (!isThere && !isCi) console.info(`Node.js ${version} is not tried: run test/support/node/install.`);
  (isThere || isCi ? test : test.skip)(`it works under Node.js ${version}`, async () => {
    const cli = async (...args: readonly string[]): Promise<string> =>
      (await run(node, [program, ...args], { env: environment })).stdout;

    expect(await cli('version')).toBe('0.1.0\n');
    expect(await cli('websites', 'list', '--jq', '.[].slug')).toBe('corner-bakery\n');
    expect(await cli('api', 'GET', '/me', '--jq', '.role')).toBe('admin\n');
    await expect(cli('websites', 'get', 'corner-bakry')).rejects.toMatchObject({
      code: 1,
      stderr: 'doorstep: Website corner-bakry not found. Did you mean corner-bakery?\n',
    });
  });
}

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

test('help starts within three times of an empty program', () => {
  const msOf = (...args: readonly string[]): number => {
    const begun = performance.now();
    execFileSync(process.execPath, args, { env: environment, stdio: 'pipe' });
    return performance.now() - begun;
  };
  const empty: number[] = [];
  const help: number[] = [];
  // In turns, so that a busy machine slows both.
  for (let turn = 0; turn < 10; turn += 1) {
    empty.push(msOf('-e', '0'));
    help.push(msOf(program, '--help'));
  }
  console.info(`node -e 0: ${median(empty).toFixed(0)} ms; doorstep --help: ${median(help).toFixed(0)} ms (medians of 10)`);
  expect(median(help)).toBeLessThan(3 * median(empty));
});
