import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, expect, test } from '@jest/globals';
import { loadCaller, tools } from '@doorstep/mcp';
import { Doorstep } from '@doorstep/sdk';
import { mcpProgram, startAssistant } from '../support/assistant.js';
import { startEverybody, type Everybody, type Person } from '../support/everybody.js';
import { connectTools } from '../support/toolServer.js';

let everybody: Everybody;

beforeAll(async () => {
  everybody = await startEverybody();
});

const website = 'bakery';

/** Good arguments for each tool, at the website of `Everybody`. */
const calls: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  find_websites: {},
  website_status: { website },
  create_website: { name: 'New', wait: false },
  retry_provisioning: { website, action: 'retry' },
  change_website: { website, action: 'change', name: 'Changed' },
  move_eta: { website, readyBy: '2027-03-01' },
  set_checkpoint: { website, checkpoint: 'kickoff', status: 'done' },
  plan_delivery: { website, showPreview: true },
  delivery_history: { website },
  undo_delivery_change: { website, revision: 1 },
  explain_access: { website },
  give_access: { website, email: 'new@example.com', role: 'editor' },
  remove_access: { website, email: 'editor@example.com' },
  erase_client: { email: 'editor@example.com' },
  offer_transfer: { website, email: 'new@example.com' },
  billing_summary: { website },
  read_content: { website, kind: 'content' },
  save_content: { website, kind: 'content', id: 'home', body: { title: 'Changed' } },
  publish_website: { website, action: 'rebuild' },
  audit_log: { website },
};

const adminTools = [
  'create_website',
  'retry_provisioning',
  'change_website',
  'move_eta',
  'set_checkpoint',
  'plan_delivery',
  'undo_delivery_change',
  'give_access',
  'remove_access',
  'erase_client',
  'offer_transfer',
  'audit_log',
];

/** How many changes there ever were. */
const countChanges = async (): Promise<string | null> => {
  const { headers } = await everybody.api.call('GET', '/audit?count=true&limit=1', { token: everybody.credentials.admin.token });
  return headers.get('total-count');
};

const connectAs = async (token: string, forged = false) => {
  const doorstep = new Doorstep({ baseUrl: everybody.api.url, token });
  const caller = await loadCaller(doorstep);
  return connectTools({ doorstep, caller: forged ? { ...caller, role: 'admin', scope: 'write' } : caller });
};

test('each tool is tried here', () => {
  expect(Object.keys(calls)).toEqual(tools.map(({ name }) => name));
});

test('an admin is listed all tools; with a read-only token those that read', async () => {
  const { token, readToken } = everybody.credentials.admin;
  const [writes, reads] = await Promise.all([connectAs(token), connectAs(readToken)]);

  expect(await writes.toolNames()).toEqual(tools.map(({ name }) => name));
  expect(await reads.toolNames()).toEqual(tools.filter(({ effect }) => effect === 'reads').map(({ name }) => name));
});

test.each<[Person, readonly string[]]>([
  [
    'owner',
    ['find_websites', 'website_status', 'delivery_history', 'explain_access', 'billing_summary', 'read_content', 'save_content'],
  ],
  ['editor', ['find_websites', 'website_status', 'delivery_history', 'read_content', 'save_content']],
  ['viewer', ['find_websites', 'website_status', 'delivery_history', 'read_content']],
  ['stranger', ['find_websites']],
])('a client (%s) is listed no admin’s tools, and each tool refuses what their role forbids', async (person, allowed) => {
  const { token } = everybody.credentials[person];
  const assistant = await connectAs(token);
  const listed = await assistant.toolNames();
  expect(listed).toEqual(tools.filter(({ callers }) => callers.includes('client')).map(({ name }) => name));
  expect(listed.filter((name) => adminTools.includes(name))).toEqual([]);

  for (const name of adminTools) await expect(assistant.call(name, calls[name] ?? {})).rejects.toThrow(`${name} not found`);

  // The list is no guard: with all tools listed, the API refuses.
  const forged = await connectAs(token, true);
  const before = await countChanges();
  for (const [name, args] of Object.entries(calls)) {
    // Whoever may save may publish: the website here has nothing to publish to.
    if (allowed.includes(name) || (name === 'publish_website' && allowed.includes('save_content'))) continue;
    const answer = await forged.call(name, args);
    expect([name, answer]).toEqual([
      name,
      {
        isError: true,
        data: {},
        text: expect.stringMatching(/Admin role required|Not authorized to|Editor role required|not found/),
      },
    ]);
  }
  expect(await countChanges()).toBe(before);
  for (const name of allowed)
    expect([
      name,
      await assistant.call(name, { ...calls[name], ...(name === 'save_content' && { id: `of-${person}` }) }),
    ]).toMatchObject([name, { isError: false }]);
});

test.each<Person>(['admin', 'editor'])('a read-only token (%s) changes nothing', async (person) => {
  const { readToken } = everybody.credentials[person];
  const assistant = await connectAs(readToken);
  const writing = tools.filter(({ effect }) => effect !== 'reads').map(({ name }) => name);
  const listed = await assistant.toolNames();
  expect(listed.filter((name) => writing.includes(name))).toEqual([]);
  for (const name of writing) await expect(assistant.call(name, calls[name] ?? {})).rejects.toThrow(`${name} not found`);

  const forged = await connectAs(readToken, true);
  const before = await countChanges();
  for (const name of writing)
    expect([name, await forged.call(name, calls[name] ?? {})]).toMatchObject([
      name,
      { isError: true, text: expect.stringMatching(/Admin role required|read-only token|Not authorized/) },
    ]);
  expect(await countChanges()).toBe(before);
});

test('whoever claims to be our program is noted as an assistant, and may do nothing more', async () => {
  const { api, credentials, websiteId } = everybody;
  const claimed = { 'user-agent': 'doorstep-mcp/9.9.9' };
  const before = await countChanges();
  for (const token of [credentials.editor.token, credentials.admin.readToken, 'svc_pat_forged']) {
    for (const [method, path, body] of [
      ['POST', '/websites', { name: 'New' }],
      ['PUT', `/websites/${websiteId}/delivery`, { readyBy: '2027-03-01T12:00:00.000Z' }],
      ['POST', `/websites/${websiteId}/provisioning/retry`, {}],
      ['DELETE', `/websites/${websiteId}`, undefined],
      ['POST', '/api-keys', { name: 'more', role: 'admin' }],
    ] as const) {
      const options = { token, ...(body !== undefined && { body }) };
      const plain = await api.call(method, path, options);
      const forged = await api.call(method, path, { ...options, headers: claimed });
      expect([path, plain.status]).toEqual([path, token === 'svc_pat_forged' ? 401 : 403]);
      expect([path, forged.status, forged.body]).toEqual([path, plain.status, plain.body]);
    }
  }
  expect(await countChanges()).toBe(before);

  const save = (id: string, options: Readonly<Record<string, unknown>>) =>
    api.call('PUT', `/websites/${websiteId}/content/${id}`, { body: { body: {}, baseHash: null }, ...options });
  const { token, jwt } = credentials.editor;
  const answers = [
    await save('by-token', { token }),
    await save('claimed', { token, headers: claimed }),
    await save('by-portal', { headers: { ...claimed, authorization: `Bearer ${jwt}` } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { body } = await api.call('GET', '/audit?limit=3', { token: credentials.admin.token });
  expect(body).toMatchObject([
    { actor: { subject: 'editor', role: 'client', via: 'portal' } },
    { actor: { subject: 'editor', role: 'client', via: 'mcp', tokenId: expect.any(String) } },
    { actor: { subject: 'editor', role: 'client', via: 'token', tokenId: expect.any(String) } },
  ]);
});

test.each([
  [['--read-only'], tools.filter(({ effect }) => effect === 'reads')],
  [['--toolsets', 'delivery,audit'], tools.filter(({ toolset }) => ['always', 'delivery', 'audit'].includes(toolset))],
  [
    ['--read-only', '--toolsets', 'access'],
    tools.filter(({ name }) => ['find_websites', 'website_status', 'explain_access'].includes(name)),
  ],
])('doorstep-mcp %j lists just these', async (args, expected) => {
  const assistant = await startAssistant({ url: everybody.api.url, token: everybody.credentials.admin.token, args });

  expect(await assistant.toolNames()).toEqual(expected.map(({ name }) => name));
});

test.each([
  [
    'a toolset that there is not',
    ['--toolsets', 'delivery,everything'],
    undefined,
    'There is no toolset "everything". Use some of: access,',
  ],
  ['a token that is not good', [], 'svc_pat_wrong', 'Invalid token'],
  ['no token', [], '', 'DOORSTEP_TOKEN is not set'],
  ['an option that there is not', ['--everything'], undefined, '--everything'],
])('doorstep-mcp says what is wrong with %s, and ends', async (_, args, token, words) => {
  const child = spawn(process.execPath, [mcpProgram, ...args], {
    env: { DOORSTEP_URL: everybody.api.url, DOORSTEP_TOKEN: token ?? everybody.credentials.admin.token },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];

  expect({ code, output }).toEqual({ code: 1, output: '' });
  expect(errors).toMatch(/^doorstep-mcp: .+\n$/);
  expect(errors).toContain(words);
});

test('doorstep-mcp says in one line that a line is no message, and goes on', async () => {
  const child = spawn(process.execPath, [mcpProgram], {
    env: { DOORSTEP_URL: everybody.api.url, DOORSTEP_TOKEN: everybody.credentials.admin.token },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = once(child, 'close');
  child.stdin.write('{"jsonrpc":"2.0","id":7}\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  expect(JSON.parse(String((await once(child.stdout, 'data'))[0]))).toMatchObject({ id: 1 });
  child.stdin.end();
  await ended;

  expect(errors).toBe(
    'doorstep-mcp: A line on standard input is no message of the protocol (JSON-RPC 2.0): it is passed over.\n',
  );
});
