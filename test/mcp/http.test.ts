import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { START } from '../../src/events/store/eventStore.js';
import type * as shippedProgram from '../../mcp/src/index.js';
import type { McpProgram } from '../../src/http/mcp/port.js';
import { createOidcIssuer } from '../../src/integrations/identity/oidcIssuer.js';
import { systemClock } from '../../src/platform/clock.js';
import { startApi, type CallOptions, type RunningApi } from '../support/http.js';
import { connectOverHttp, modern, textOf } from '../support/mcp.js';
import { audience, startTestIssuer, type TestIssuer } from '../support/oidcIssuer.js';

let issuer: TestIssuer;
let api: RunningApi;
let admin: string;
let bakeryId: string;

const owner = 'owner@mcp.example';
const accept = 'application/json, text/event-stream';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** Sends one message as it is. */
const post = (token: string | undefined, { headers = {}, path = '/mcp', ...options }: CallOptions & { path?: string } = {}) =>
  api.call('POST', path, {
    ...(options.raw === undefined && { body: initialize }),
    ...options,
    headers: {
      accept,
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });

const call = (client: Client, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> =>
  client.callTool({ name, arguments: args });

const history = async (): Promise<readonly { readonly actor: Record<string, unknown> }[]> => {
  const { body } = await api.call('GET', `/websites/${bakeryId}/delivery/history`, { token: admin });
  return body as { actor: Record<string, unknown> }[];
};

const lines = (): readonly Readonly<Record<string, unknown>>[] => api.log.filter(({ msg }) => msg === 'request');

/** What an issuer outside gives a person for the MCP server. */
const signedFor = (claims: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  issuer.sign({
    aud: `${api.url}/mcp`,
    sub: 'ines',
    role: 'admin',
    client_id: 'https://assistant.example/oauth.json',
    ...claims,
  });

beforeAll(async () => {
  issuer = await startTestIssuer();
  api = await startApi({
    signIn: (_engine, baseUrl) => {
      const external = { url: issuer.url, audience, roleClaim: ['role'], subjectCheck: { kind: 'none' } } as const;
      return { identityProvider: createOidcIssuer(external, { clock: systemClock, baseUrl }), mounts: {} };
    },
  });
  admin = await api.mintToken();
  const client = await api.call('POST', '/clients', { token: admin, body: { email: owner } });
  const website = { name: 'Bakery', slug: 'bakery', clientId: (client.body as { id: string }).id };
  bakeryId = ((await api.call('POST', '/websites', { token: admin, body: website })).body as { id: string }).id;
  await api.call('PUT', `/websites/${bakeryId}/delivery`, { token: admin, body: {} });
});

afterAll(() => issuer.stop());

describe('the tools over HTTP', () => {
  test.each([
    ['2026-07-28', modern],
    ['2025', 'legacy'],
  ] as const)('a program of %s lists tools and creates a website: one line of the log for each', async (name, mode) => {
    const client = await connectOverHttp(`${api.url}/mcp`, admin, { mode });
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('create_website');
    const before = lines().length;
    const slug = `made-${name}`;
    const made = await call(client, 'create_website', { name: 'Corner Bakery', slug, wait: false });
    expect([made.isError ?? false, textOf(made)]).toEqual([false, expect.stringContaining(slug)]);
    expect(lines().slice(before)).toMatchObject([
      { path: '/mcp', mcp: 'tools/call create_website', tokenId: expect.anything() as unknown },
    ]);
    expect((await api.call('GET', `/websites?q=${slug}`, { token: admin })).body).toMatchObject([{ slug }]);
  });

  test('the history says by which token, or by which program, an assistant acted for whom', async () => {
    const byToken = await connectOverHttp(`${api.url}/mcp`, admin);
    const bySignIn = await connectOverHttp(`${api.url}/mcp`, await signedFor());
    for (const client of [byToken, bySignIn]) {
      const moved = await call(client, 'move_eta', {
        website: 'bakery',
        readyBy: client === byToken ? '2030-03-01' : '2030-03-02',
        reason: 'The photos come later.',
      });
      expect([moved.isError ?? false, textOf(moved)]).toEqual([false, expect.stringContaining('2030')]);
    }
    const [one, other] = (await history()).slice(-2);
    expect(one?.actor).toMatchObject({ subject: 'ops@example.com', via: 'mcp', tokenId: expect.anything() as unknown });
    expect(one?.actor).not.toHaveProperty('program');
    expect(other?.actor).toMatchObject({ subject: 'ines', via: 'mcp', program: 'https://assistant.example/oauth.json' });
    expect(other?.actor).not.toHaveProperty('tokenId');
    const audit = (await api.call('GET', '/audit?actor=ines', { token: admin })).body as { actor: object; requestId: string }[];
    expect(audit[0]?.actor).toMatchObject({ via: 'mcp', program: 'https://assistant.example/oauth.json' });
    // All that a call of a tool did has the id of its line in the log.
    expect(lines().find(({ requestId }) => requestId === audit[0]?.requestId)).toMatchObject({ mcp: 'tools/call move_eta' });
  });
});

describe('who is let in', () => {
  const challenge = (): string => `resource_metadata="${api.url}/.well-known/oauth-protected-resource/mcp"`;

  // An issuer outside need not have scopes of ours, and refuses those that it does not have.
  test('without a credential the answer says where to get one (RFC 9728), and names no scope', async () => {
    const none = ['POST', 'GET', 'DELETE'].map((method) => [method, {}] as const);
    // No token either: one that is said to be invalid is thrown away and asked for anew.
    const others = ['Basic YTpi', 'Bearer'].map((authorization) => ['POST', { authorization }] as const);
    for (const [method, headers] of [...none, ...others]) {
      const answer = await api.call(method, '/mcp', { headers, ...(method === 'POST' && { body: initialize }) });
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, `Bearer ${challenge()}`]);
      expect(answer.body).toMatchObject({ error: 'No Authorization header' });
    }
  });

  test.each<[string, () => Promise<string> | string]>([
    ['a token for the API', () => issuer.sign()],
    ['a token for another service', () => signedFor({ aud: 'https://elsewhere.example/mcp' })],
    ['an expired token', () => signedFor({ exp: 1 })],
    ['a token of another issuer', () => signedFor({ iss: 'https://elsewhere.example' })],
    ['a mistyped personal access token', () => `${admin.slice(0, -1)}!`],
    ['anything else', () => 'anything'],
  ])('%s is refused', async (_what, token) => {
    const answer = await post(await token());
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer error="invalid_token", ${challenge()}`,
    ]);
  });

  test('a token for the MCP server is refused at the API', async () => {
    const token = await signedFor();
    expect((await post(token)).status).toBe(200);
    expect((await api.call('GET', '/me', { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    expect((await api.call('GET', '/me', { token })).status).toBe(401);
  });

  test('a token that was revoked does nothing more', async () => {
    const token = await api.mintToken();
    const client = await connectOverHttp(`${api.url}/mcp`, token);
    await call(client, 'find_websites');
    const { body } = await api.call('GET', '/me', { token });
    const { id } = (body as { credential: { id: string } }).credential;
    expect((await api.call('DELETE', `/api-keys/${id}`, { token: admin })).status).toBe(204);
    await expect(call(client, 'find_websites')).rejects.toThrow();
    expect((await post(token)).status).toBe(401);
  });

  test.each([
    ['a name that is not ours as Host', { host: 'rebound.example' }, 'host_not_allowed'],
    ['a page of another origin', { origin: 'https://page.example' }, 'origin_not_allowed'],
    ['a page without an origin', { origin: 'null' }, 'origin_not_allowed'],
  ])('%s is refused before the credential is looked at', async (_what, headers, code) => {
    const { status, body } = await rawPost(headers);
    expect([status, body.code]).toEqual([403, code]);
  });

  test('pages of this machine may call a service of this machine, and read the answer', async () => {
    const origin = 'http://localhost:6274';
    const preflight = await api.call('OPTIONS', '/mcp', { headers: { origin, 'access-control-request-method': 'POST' } });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, '*, authorization']);
    const answer = await post(admin, { headers: { origin } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
  });
});

/** With a `Host` of its own, which `fetch` does not send. */
const rawPost = (headers: Readonly<Record<string, string>>): Promise<{ status: number; body: Record<string, unknown> }> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${api.url}/mcp`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => {
          resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> });
        });
      },
    );
    sent.on('error', reject).end(JSON.stringify(initialize));
  });

describe('nobody may do more by a tool than by the API', () => {
  const names = async (client: Client): Promise<readonly string[]> =>
    (await client.listTools()).tools.map(({ name }) => name).sort();

  /** Calls of every tool that changes something, listed or not, which an admin may make. */
  const changes: Readonly<Record<string, Record<string, unknown>>> = {
    create_website: { name: 'Taken', slug: 'taken', wait: false },
    retry_provisioning: { website: 'bakery', action: 'retry' },
    change_website: { website: 'bakery', action: 'change', name: 'Taken' },
    move_eta: { website: 'bakery', readyBy: '2031-01-01' },
    set_checkpoint: { website: 'bakery', checkpoint: 'qa', status: 'done' },
    plan_delivery: { website: 'bakery', showPreview: true },
    undo_delivery_change: { website: 'bakery', revision: 0 },
    give_access: { website: 'bakery', email: 'x@mcp.example', role: 'editor' },
    remove_access: { website: 'bakery', email: owner },
    erase_client: { email: owner },
    offer_transfer: { website: 'bakery', email: 'x@mcp.example' },
  };

  test.each<[string, () => Promise<string>]>([
    ['a read-only token', () => api.mintToken({ scope: 'read' })],
    ['a client', () => api.mintToken({ role: 'client', subject: owner, verifiedEmail: owner })],
    ['a client who signed in', () => signedFor({ sub: 'other', role: 'client', email: owner, email_verified: true })],
    ['a stranger', () => api.mintToken({ role: 'client', subject: 'stranger', verifiedEmail: 'stranger@mcp.example' })],
  ])('%s', async (_who, mint) => {
    const all = await names(await connectOverHttp(`${api.url}/mcp`, admin));
    const client = await connectOverHttp(`${api.url}/mcp`, await mint());
    const offered = await names(client);
    expect(all).toEqual(expect.arrayContaining([...offered, ...Object.keys(changes)]));
    const before = await api.engine.eventStore.readAll({ after: START, filter: {}, max: 100_000 });
    for (const [name, args] of Object.entries(changes)) {
      expect(offered).not.toContain(name);
      await expect(call(client, name, args)).rejects.toThrow(/not found/);
    }
    const after = await api.engine.eventStore.readAll({ after: START, filter: {}, max: 100_000 });
    const isRead = ({ type }: { readonly type: string }): boolean => type === 'DeliverySeen';
    expect(
      after.events
        .slice(before.events.length)
        .filter((event) => !isRead(event))
        .map(({ type }) => type),
    ).toEqual([]);
  });

  test.each([
    ['in the address', { path: '/mcp?readonly=1&toolsets=delivery', headers: {} }],
    ['in headers', { path: '/mcp', headers: { 'x-mcp-readonly': 'true', 'x-mcp-toolsets': 'delivery' } }],
    ['in capitals', { path: '/mcp?readonly=TRUE&toolsets=delivery', headers: {} }],
    ['in both', { path: '/mcp?readonly=0&toolsets=delivery', headers: { 'x-mcp-readonly': '1', 'x-mcp-toolsets': 'audit' } }],
  ])('read-only and toolsets %s', async (_where, { path, headers }) => {
    const client = await connectOverHttp(api.url + path, admin, { headers });
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(0);
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    expect(tools.map(({ name }) => name)).not.toContain('audit_log');
  });

  test.each([
    ['token', () => admin, () => api.mintToken()],
    ['program', () => signedFor(), () => signedFor({ client_id: 'https://another.example/oauth.json' })],
  ] as const)('a confirmation is good for the %s alone that it was given to', async (_what, ownToken, otherToken) => {
    const email = 'bound@mcp.example';
    await api.call('POST', `/websites/${bakeryId}/clients`, { token: admin, body: { email, role: 'viewer' } });
    const own = await connectOverHttp(`${api.url}/mcp`, await ownToken());
    const other = await connectOverHttp(`${api.url}/mcp`, await otherToken());
    const { structuredContent } = await call(own, 'remove_access', { website: 'bakery', email });
    const { confirmation } = structuredContent as { confirmation: string };
    const confirmed = (client: Client) => call(client, 'remove_access', { website: 'bakery', email, confirmation });
    expect(textOf(await confirmed(other))).toContain('the confirmation is for another caller');
    expect((await confirmed(own)).structuredContent).toMatchObject({ done: true });
  });

  test.each([
    ['?readonly', {}, 'Invalid query — readonly: use 1, true, 0 or false'],
    ['?readonly=yes', {}, 'Invalid query — readonly: use 1, true, 0 or false; got 3 characters'],
    ['?readonly=0&readonly=1', {}, 'Invalid query — readonly: must be text; got a list'],
    ['?readOnly=1', {}, 'Invalid query — readOnly: is not a known field'],
    ['?read-only=1', {}, 'Invalid query — read-only: is not a known field'],
    ['?toolsets=audit?readonly=1', {}, expect.stringContaining('audit?readonly=1')],
    ['', { 'x-mcp-readonly': 'yes' }, 'Invalid headers — X-MCP-Readonly: use 1, true, 0 or false; got 3 characters'],
    ['', { 'x-mcp-readonly': '' }, 'Invalid headers — X-MCP-Readonly: use 1, true, 0 or false'],
  ])('a mistyped switch offers nothing: %s %p', async (query, headers, error) => {
    const { status, body } = await post(admin, { path: `/mcp${query}`, headers });
    const { error: told } = body as { error: string | { message: string } };
    expect([status, typeof told === 'string' ? told : told.message]).toEqual([400, error]);
  });

  test.each(['?readonly=0', '?readonly=false', ''])('every tool is offered with "%s"', async (query) => {
    const { tools } = await (await connectOverHttp(`${api.url}/mcp${query}`, admin)).listTools();
    expect(tools.some(({ annotations }) => annotations?.readOnlyHint !== true)).toBe(true);
  });

  test('an unknown toolset is named', async () => {
    const answer = await post(admin, { path: '/mcp?toolsets=everything' });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('everything')]);
  });
});

describe('the protocol’s errors', () => {
  test('a body beyond 1 MiB', async () => {
    const answer = await post(admin, { raw: JSON.stringify({ ...initialize, padding: 'x'.repeat(1_048_576) }) });
    expect([answer.status, answer.body]).toEqual([
      413,
      { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Request body too large' } },
    ]);
  });

  test('a body that is no JSON', async () => {
    const answer = await post(admin, { raw: '{"jsonrpc":' });
    expect([answer.status, answer.body]).toMatchObject([400, { jsonrpc: '2.0', error: { code: -32_700 } }]);
  });

  test('there are no sessions, so nothing is opened by GET or ended by DELETE', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await api.call(method, '/mcp', { headers: { accept, authorization: `Bearer ${admin}` } });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
    }
  });

  test.each(['/v1/mcp', '/mcp/inside'])('%s is nothing', async (path) => {
    expect((await post(admin, { path })).status).toBe(404);
  });
});

test('what tools ask for counts for their sender: many at once leave places to others', async () => {
  const other = await startApi({ projector: false, limits: { maxUnderWay: 40, maxOfSender: 20 } });
  const token = await other.mintToken();
  const message = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'find_websites', arguments: {} } };
  const body = Array.from({ length: 50 }, (_, id) => ({ ...message, id }));
  const headers = { accept, 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const ended = new AbortController();
  const many = other.call('POST', '/mcp', { body, headers }).finally(() => {
    ended.abort();
  });
  const statuses = new Set<number | undefined>();
  while (!ended.signal.aborted) {
    const asked = request(`${other.url}/v1/me`, {
      localAddress: '127.0.0.2',
      headers: { authorization: `Bearer ${token}` },
    }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    statuses.add(answer.statusCode);
  }
  await many;
  // What is refused is asked for again, and so not always told.
  expect((await other.call('GET', '/metrics')).text).toMatch(/^sender_limit_refusals_total\{what="request"\} [1-9]/m);
  expect([...statuses]).toEqual([200]);
});

test('a tool asks within the place of its message', async () => {
  const other = await startApi({ limits: { maxOfSender: 1 } });
  const token = await other.mintToken();
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'find_websites', arguments: {} } };
  const headers = { accept, 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const { status, text } = await other.call('POST', '/mcp', { body, headers });
  expect([status, text]).toEqual([200, expect.stringContaining('"structuredContent"')]);
  expect(text).not.toContain('"isError":true');
});

test('the end of the service ends subscriptions at once', async () => {
  const other = await startApi({ projector: false });
  const client = await connectOverHttp(`${other.url}/mcp`, await other.mintToken());
  const subscription = await client.listen({ toolsListChanged: true });
  const since = performance.now();
  await other.stop();
  // What is under way would have 10 s.
  expect(performance.now() - since).toBeLessThan(5_000);
  expect(await subscription.closed).not.toBe('local');
});

/** What is shipped is what the service expects of it: the compiler compares the two. */
const asExpected = (shipped: typeof shippedProgram): McpProgram => shipped;

test('the built program is the one that the service loads', async () => {
  const built: string = '../../mcp/dist/index.js';
  const shipped = (await import(built)) as typeof shippedProgram;
  expect(typeof asExpected(shipped).serveHttp).toBe('function');
});

test('no token stands in the log', () => {
  const text = JSON.stringify(api.log);
  expect(text).toContain('tools/call');
  expect(text).not.toMatch(/svc_pat_\w{20}|eyJ[\w-]+\./);
});
