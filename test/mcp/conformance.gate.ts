import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { startApi, type ApiOptions } from '../support/http.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * The scenarios of `@modelcontextprotocol/conformance` for servers: those that need nothing of the
 * server's own on the real `/mcp`, the others on the same transport with fixtures.
 */
const onTheService = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
] as const;

/**
 * Answers of the program to requests of the server need a session, and so the process that holds
 * it. We keep none, so that any process answers any request: what 2026-07-28 has instead (the answer
 * says what is missing, and the program calls again) these scenarios of 2025 do not know.
 */
const needASession = [
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'server-sse-polling',
  'server-sse-multiple-streams',
] as const;

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** It needs Node 22. */
const node = [process.execPath, join(root, '.servers/node/22.23.3/bin/node')].find(
  (one) => existsSync(one) && (one !== process.execPath || Number(process.versions.node.split('.')[0]) >= 22),
);

const run = async (...args: readonly string[]): Promise<string> => {
  if (node === undefined) throw new Error('Node.js 22 is not there: run test/support/node/install');
  const child = spawn(node, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  return output;
};

/** A server at `/mcp`, behind a door that adds the token: the scenarios have none. */
const startServer = async (options: ApiOptions): Promise<{ url: string; stop: () => Promise<void> }> => {
  const api = await startApi(options);
  const token = await api.mintToken();
  const door = createServer((asked, answer) => {
    const sent = httpRequest(
      api.url + (asked.url ?? ''),
      { method: asked.method, headers: { ...asked.headers, authorization: `Bearer ${token}` } },
      (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(answer);
      },
    );
    sent.on('error', () => answer.destroy());
    asked.pipe(sent);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: `http://127.0.0.1:${String((door.address() as AddressInfo).port)}/mcp`,
    stop: async () => {
      door.closeAllConnections();
      door.close();
      await api.stop();
    },
  };
};

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** What failed in each scenario; a scenario that checked nothing has failed. */
const failuresOf = async (url: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const folder = temporaryFolder();
  await run('server', '--url', url, '--suite', 'all', '--output-dir', folder);
  const failures = new Map<string, readonly string[]>();
  for (const name of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T/.exec(name)?.[1];
    if (scenario === undefined) continue;
    const checks = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as readonly Check[];
    const failed = checks
      .filter(({ status }) => status === 'FAILURE')
      .map(({ id, errorMessage = '' }) => `${id}: ${errorMessage}`);
    failures.set(
      scenario,
      checks.some(({ status }) => status === 'SUCCESS') || failed.length > 0 ? failed : ['nothing was checked'],
    );
  }
  return failures;
};

const scenarios = async (): Promise<readonly string[]> =>
  [...(await run('list', '--server')).matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);

test('the service’s own server passes what needs no fixtures', async () => {
  const server = await startServer({});
  const failures = await failuresOf(server.url);
  await server.stop();
  for (const name of onTheService) expect([name, failures.get(name)]).toEqual([name, []]);
  console.info(`on the service: ${onTheService.join(', ')}`);
}, 300_000);

test('its transport passes the others with fixtures, but for those that need a session', async () => {
  const server = await startServer({ mcpProgram: fileURLToPath(new URL('../support/mcpFixtures.ts', import.meta.url)) });
  const failures = await failuresOf(server.url);
  await server.stop();
  const all = await scenarios();
  expect(all.length).toBeGreaterThan(30);
  const failed = all.filter((name) => failures.get(name)?.length !== 0);
  for (const name of failed) console.info(name, failures.get(name));
  expect(failed).toEqual(all.filter((name) => (needASession as readonly string[]).includes(name)));
  console.info(`with fixtures: ${all.filter((name) => !failed.includes(name)).join(', ')}`);
}, 300_000);
