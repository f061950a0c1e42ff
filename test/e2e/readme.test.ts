import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

test("the README's five commands lead from a token to a page and a completed checkpoint, and a push to another page", async () => {
  const readme = await readFile(`${root}README.md`, 'utf8');
  const block = /five commands[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  expect(block.trim().split('\n')).toHaveLength(5);

  const dataDir = temporaryFolder();
  const server = await startServer(dataDir);
  const edit = /## Edit, push, live[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const there = temporaryFolder();
  const script = `${block}cd ${there}\n${edit}`.replaceAll('127.0.0.1:3000', server.address.replace('http://', ''));
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir },
  });
  expect(stdout).toContain('<title>');
  expect(stdout).toContain('Corner Bakery');
  expect(stdout).toMatch(/"id":"kickoff","label":"Kickoff","order":10,"status":"done","completedAt":"\d{4}-/);
  expect(stdout.trimEnd()).toMatch(/Bread, baked this morning\.\S*$/);
  expect(await server.kill('SIGTERM')).toBe(0);
}, 60_000);
