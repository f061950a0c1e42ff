import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApi, mintToken, startServer, type ServerProcess } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * Tests the built service with schemathesis against its OpenAPI document, with all checks except
 * `positive_data_acceptance`: a request that matches the document may still be refused, since
 * conflicts are 400 (specification, "Errors").
 */

const schemathesis = fileURLToPath(new URL('../../.venv/bin/schemathesis', import.meta.url));
const isRequired = process.env.CI === 'true';

let server: ServerProcess;
let configuration: string;
const tokens: Record<string, string> = {};

const seed = async (dataDir: string): Promise<Record<string, readonly string[]>> => {
  const admin = await mintToken(dataDir, 'admin');
  tokens.admin = admin;
  tokens.client = await mintToken(dataDir, 'client', 'owner@example.com');
  const api = createApi(server.address, admin);
  const make = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await api.post(path, body);
    expect([path, answer.status]).toStrictEqual([path, 201]);
    return answer.body as Record<string, unknown>;
  };
  const idOf = async (path: string, body: unknown): Promise<string> => (await make(path, body)).id as string;
  const inviteTo = async (websiteId: string, email: string): Promise<string> => {
    const { invitation } = await make(`/websites/${websiteId}/clients`, { email, role: 'editor' });
    return (invitation as { id: string }).id;
  };

  const owner = await idOf('/clients', { email: 'owner@example.com' });
  const linked = await idOf('/clients', { email: 'linked@example.com' });
  const website = await idOf('/websites', { name: 'Bakery', slug: 'bakery', clientId: owner });
  const other = await idOf('/websites', { name: 'Elsewhere', slug: 'elsewhere' });
  await make(`/websites/${website}/clients`, { email: 'linked@example.com', role: 'viewer' });
  expect((await api.put(`/websites/${website}/delivery`, {})).status).toBe(200);
  const invitations = [await inviteTo(website, 'new@example.com'), await inviteTo(other, 'other@example.com')];
  // The event stream ends when the website is active.
  const events = await fetch(`${server.address}/v1/websites/${website}/provisioning/events`, {
    headers: { authorization: `Bearer ${admin}` },
  });
  expect(await events.text()).toContain('"status":"succeeded","createdAt"');
  return {
    websites: [website, other],
    clients: [owner, linked],
    invitations,
    apiKeys: [await idOf('/api-keys', { name: 'spare' })],
    checkpoints: ['kickoff', 'qa'],
  };
};

/** Gives schemathesis existing ids; one in five is random. */
const configurationWith = (ids: Readonly<Record<string, readonly string[]>>): string => {
  const take = (parameter: string, dictionary: string): string =>
    `${JSON.stringify(parameter)} = { dictionary = ${JSON.stringify(dictionary)}, probability = 0.8 }`;
  const inArea = (area: string, dictionary: string): string =>
    `[[operations]]\ninclude-path-regex = "^/${area}"\nparameters = { ${take('path.id', dictionary)} }`;
  return [
    // Later events of the stream are not needed.
    'max-stream-events = 1',
    ...Object.entries(ids).map(([name, values]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}`),
    '[parameters]',
    take('path.id', 'websites'),
    take('path.clientId', 'clients'),
    take('path.invitationId', 'invitations'),
    take('path.checkpointId', 'checkpoints'),
    inArea('clients', 'clients'),
    inArea('invitations', 'invitations'),
    inArea('api-keys', 'apiKeys'),
  ].join('\n');
};

/** Runs it in its own folder; resolves with its exit code and output. */
const run = async (token: string | undefined, phases: string, examples: number): Promise<{ code: number; said: string }> => {
  const folder = temporaryFolder();
  const file = join(folder, 'schemathesis.toml');
  // The token is passed in the environment, which process lists do not show.
  const authorization = token === undefined ? '' : '\n[auth.openapi.accessToken]\nbearer = "${DOORSTEP_TOKEN}"\n';
  writeFileSync(file, configuration + authorization);
  const options = {
    '--exclude-checks': 'positive_data_acceptance',
    '--phases': phases,
    '--max-examples': String(examples),
    '--seed': '1',
    '--generation-database': 'none',
    '--request-timeout': '20',
    // Would only test the machine's speed.
    '--suppress-health-check': 'too_slow',
    '--warnings': 'off',
  };
  const child = spawn(
    schemathesis,
    ['--config-file', file, 'run', `${server.address}/openapi.json`, '--no-color', ...Object.entries(options).flat()],
    {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', HOME: folder, DOORSTEP_TOKEN: token ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
};

const title = 'schemathesis finds nothing wrong';

/** Who sends requests, in which phases, and how many examples of each operation. */
export type Run = readonly [who: string, credential: 'admin' | 'client' | undefined, phases: string, examples: number];

export const schemathesisFindsNothing = (runs: readonly Run[]): void => {
  if (!isRequired && !existsSync(schemathesis)) {
    test.skip(`${title}: .venv/bin/schemathesis is not installed (.ci/run does it)`, () => undefined);
    return;
  }
  describe(title, () => {
    beforeAll(async () => {
      const dataDir = temporaryFolder();
      server = await startServer(dataDir, { COMMERCE_WEBHOOK_SECRET: 'secret' });
      configuration = configurationWith(await seed(dataDir));
    }, 480_000);

    afterAll(async () => {
      await server.kill('SIGTERM');
    });

    test.each(runs)(
      'as %s',
      async (_who, credential, phases, examples) => {
        const { code, said } = await run(credential === undefined ? undefined : tokens[credential], phases, examples);
        if (code !== 0) throw new Error(`schemathesis ended with ${code}:\n${said}`);
        // It has made requests at all.
        expect(said).toMatch(/Tested: [1-9]\d*/);
      },
      960_000,
    );
  });
};
