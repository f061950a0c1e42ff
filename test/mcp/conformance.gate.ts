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
import { startSessions } from '../support/mcpSessions.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * The scenarios of `@modelcontextprotocol/conformance` for servers: those that need nothing of the
 * server's own on the real `/mcp`, the others with fixtures, on the same transport where they can be.
 * A scenario that no list names fails the test.
 */
const onTheService = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
] as const;

const withFixtures = [
  'logging-set-level',
  'completion-complete',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-with-logging',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
] as const;

/**
 * Questions of the server in the middle of a call, and streams that go on after a break, need a
 * session, and so the process that holds it. The service keeps none, so that any process answers any
 * request: what 2026-07-28 has instead (the answer says what is missing, and the program calls
 * again) these scenarios of 2025 do not know. They run against a transport of tests alone.
 */
const withSessions = [
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
  /** What traces of requests and answers have none of. */
  readonly specReferences?: readonly unknown[];
}

/** What a server should do is asked as well (`WARNING`), and what was left out for lack of it (`INFO`). */
const isPassed = ({ status, specReferences }: Check): boolean =>
  status === 'SUCCESS' || (status === 'INFO' && specReferences === undefined);

/**
 * What did not pass in each scenario; a scenario that checked nothing has failed.
 * @param which - arguments that name the scenarios
 */
const failuresOf = async (url: string, ...which: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
  const folder = temporaryFolder();
  await run('server', '--url', url, ...which, '--output-dir', folder);
  const failures = new Map<string, readonly string[]>();
  for (const name of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T/.exec(name)?.[1];
    if (scenario === undefined) continue;
    const checks = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as readonly Check[];
    const failed = checks
      .filter((check) => !isPassed(check))
      .map(({ id, status, errorMessage = '' }) => `${id}: ${status} ${errorMessage}`);
    const checked = checks.some(({ status }) => status === 'SUCCESS');
    failures.set(scenario, checked || failed.length > 0 ? failed : ['nothing was checked']);
  }
  return failures;
};

const passing = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, []]));

const resultsOf = (failures: ReadonlyMap<string, readonly string[]>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, failures.get(name) ?? ['was not run']]));

test('each scenario of the package stands in one list', async () => {
  const all = [...(await run('list', '--server')).matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
  expect([...onTheService, ...withFixtures, ...withSessions].sort()).toEqual(all.sort());
});

test('the service’s own server passes what needs no fixtures', async () => {
  const server = await startServer({});
  const failures = await failuresOf(server.url, '--suite', 'all');
  await server.stop();
  expect(resultsOf(failures, onTheService)).toEqual(passing(onTheService));
}, 1_200_000);

test('its transport passes the others with fixtures, but for those that need a session', async () => {
  const server = await startServer({ mcpProgram: fileURLToPath(new URL('../support/mcpFixtures.ts', import.meta.url)) });
  const failures = await failuresOf(server.url, '--suite', 'all');
  await server.stop();
  const names = [...onTheService, ...withFixtures];
  expect(resultsOf(failures, names)).toEqual(passing(names));
  // None stays in the list below that the service's own transport can serve.
  expect(withSessions.filter((name) => failures.get(name)?.length === 0)).toEqual([]);
}, 1_200_000);

test.each(withSessions)(
  'with a session of tests alone: %s',
  async (name) => {
    const server = await startSessions();
    const failures = await failuresOf(server.url, '--scenario', name);
    await server.stop();
    expect(resultsOf(failures, [name])).toEqual(passing([name]));
  },
  240_000,
);
