import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { tokenCommand } from '../../src/programs.js';
import { eventually } from '../support/eventually.js';
import { launchServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** A port in use. */
const other = createServer();
let taken: string;
/** A file where a folder should be. */
const file = join(temporaryFolder(), 'file');

beforeAll(async () => {
  writeFileSync(file, '');
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  taken = String((other.address() as AddressInfo).port);
});
afterAll(() => {
  other.close();
});

test.each<[string, () => Record<string, string>]>([
  ['PORT: must be', () => ({ PORT: 'http' })],
  ['SMTP_URL: is needed because BASE_URL leads', () => ({ BASE_URL: 'https://doorstep.example' })],
  ['HOST, PORT: listen EADDRINUSE', () => ({ PORT: taken })],
  ['HOST, PORT: listen EADDRNOTAVAIL', () => ({ HOST: '192.0.2.1', BASE_URL: 'http://localhost' })],
  ['HOST, HEALTH_PORT: listen EADDRINUSE', () => ({ HEALTH_PORT: taken })],
  ['DATA_DIR: EEXIST', () => ({ DATA_DIR: file })],
  ['DATA_DIR: ENOTDIR', () => ({ DATA_DIR: join(file, 'data') })],
  // Where nobody can make a folder, Linux says that the one above is missing; other systems say something else.
  ['DATA_DIR: E', () => ({ DATA_DIR: '/proc/doorstep/data' })],
])('an unusable setting stops the start with a message: %s', async (words, settings) => {
  const server = launchServer(temporaryFolder(), settings());
  expect(await server.ended).toBe(1);
  // Output of a process may arrive after its exit.
  await eventually('what it wrote', () => server.written().endsWith('\n') || undefined);
  expect(server.written()).toMatch(/^Doorstep cannot start with these settings:\n {2}[^\n]+\n$/);
  expect(server.written()).toContain(`\n  ${words}`);
});

test('the start says what mints a token, in an image without scripts too', async () => {
  const server = launchServer(temporaryFolder());
  await server.opened;
  expect(server.written()).toContain(' npm run --silent token -- --role admin');
  await server.kill('SIGTERM');
  expect(tokenCommand(temporaryFolder())).toBe('node dist/operations/mintToken.js');
});

test('a port in use says what to set', async () => {
  const server = launchServer(temporaryFolder(), { PORT: taken });
  expect(await server.ended).toBe(1);
  await eventually('what it wrote', () => server.written().endsWith('or set another PORT; 0 picks a free one\n') || undefined);
});

test('a log of a newer version is refused without a stack', async () => {
  const folder = temporaryFolder();
  const first = launchServer(folder);
  await first.opened;
  await first.kill('SIGTERM');
  const database = new DatabaseSync(join(folder, 'events.db'));
  database.exec('PRAGMA user_version = 99');
  database.close();
  const server = launchServer(folder);
  expect(await server.ended).toBe(1);
  await eventually('what it wrote', () => server.written().endsWith('\n') || undefined);
  expect(server.written()).toMatch(
    /^\S+events\.db was written by a newer version of the service\. Start that version, or [^\n]+\n$/,
  );
});

test.each([
  ['info', 'codes are written to this log'],
  ['warn', 'outbox, and in this log with LOG_LEVEL=info'],
])('with the log level %s the start says where codes to sign in are', async (level, words) => {
  const server = launchServer(temporaryFolder(), { LOG_LEVEL: level });
  await server.opened;
  await eventually('the line about codes', () => server.written().includes(words) || undefined);
  await server.kill('SIGKILL');
});

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const programs = ['main.cjs', 'projectorThread.cjs'];

test.each(programs)('the text of %s takes a byte for each character in memory', (name) => {
  // It is read as Latin-1, and one character beyond that would double it anyway.
  expect(readFileSync(join(dist, name), 'utf8').match(/.{0,40}[^\0-\x7f].{0,40}/gu)).toBeNull();
});

/** Whether V8 refuses the code cache of a program, as a process of its own finds it. */
const isRefused = (name: string, cacheOf: string): boolean => {
  const source = `
    const { Script } = require('node:vm');
    const { readFileSync } = require('node:fs');
    const [file, cache] = process.argv.slice(1);
    const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData: readFileSync(cache) });
    process.stdout.write(String(script.cachedDataRejected));`;
  const args = ['-e', source, join(dist, name), `${join(dist, cacheOf)}.cache`];
  return execFileSync(process.execPath, args, { encoding: 'utf8', env: {} }) === 'true';
};

test.each(programs)('the code cache of %s is for it, this Node.js and its flags', (name) => {
  expect(isRefused(name, name)).toBe(false);
});

test.each(programs)('%s has a code cache that whoever runs it may read', (name) => {
  expect(statSync(`${join(dist, name)}.cache`).mode).toBe(statSync(join(dist, name)).mode);
});

test('a code cache that is not for the program is left aside', () => {
  expect(isRefused('main.cjs', 'projectorThread.cjs')).toBe(true);
});

/** What the program of the thread throws where there is no thread. */
const faultOf = (...options: readonly string[]): string =>
  spawnSync(process.execPath, [...options, join(dist, 'projectorThread.js')], { encoding: 'utf8', env: {} }).stderr;

test('a stack trace names the line of the program', () => {
  expect(faultOf()).toMatch(/this program runs on a thread of the service\n +at main \(projectorThread\.cjs:\d+:\d+\)/);
});

test('with source maps the programs are modules, and a stack trace names the sources', async () => {
  expect(faultOf('--enable-source-maps')).toMatch(/at main \(.*src\/projectorThread\.ts:\d+:\d+\)/);
  const server = launchServer(temporaryFolder(), {}, [process.execPath, '--enable-source-maps']);
  await server.opened;
  expect(await server.kill('SIGTERM')).toBe(0);
});

test.each<[string, (cache: string) => void]>([
  ['without a code cache', () => undefined],
  [
    'with one that is spoilt',
    (cache) => {
      writeFileSync(cache, randomBytes(2_000));
    },
  ],
  [
    'with one that it may not read',
    (cache) => {
      mkdirSync(cache);
    },
  ],
])('a program runs %s', (_how, make) => {
  const program = join(temporaryFolder(), 'program.cjs');
  writeFileSync(program, "(require, file) => require('node:fs').writeSync(1, `hello from ${file}`)");
  make(`${program}.cache`);
  const source = `import { runProgram } from ${JSON.stringify(join(dist, 'platform/codeCache.js'))}; runProgram(process.argv[1]);`;
  const args = ['--input-type=module', '-e', source, program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', env: {} })).toBe(`hello from ${program}`);
});
