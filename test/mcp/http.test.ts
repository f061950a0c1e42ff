import { beforeAll, describe, expect, test } from '@jest/globals';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { createOidcIssuer } from '../../src/integrations/identity/oidcIssuer.js';
import { systemClock } from '../../src/platform/clock.js';
import { startApi, type ApiAnswer, type CallOptions, type RunningApi } from '../support/http.js';
import { connectOverHttp, modern, textOf } from '../support/mcp.js';
import { audience, startTestIssuer, type TestIssuer } from '../support/oidcIssuer.js';

let issuer: TestIssuer;
let api: RunningApi;
let admin: string;

const owner = 'owner@mcp.example';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const accept = 'application/json, text/event-stream';

/** Sends one message as it is. */
const post = (token: string | undefined, { headers = {}, path = '/mcp', ...options }: CallOptions & { path?: string } = {}) =>
  api.call('POST', path, {
    body: initialize,
    ...options,
    headers: { accept, ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
  });

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> =>
  client.callTool({ name, arguments: args });

const delivery = async (): Promise<ApiAnswer> => api.call('GET', '/websites/bakery-id/delivery', { token: admin });

const accessLines = () => api.log.filter(({ msg }) => msg === 'request');

beforeAll(async () => {
  issuer = await startTestIssuer();
  let baseUrl = (): string => '';
  api = await startApi({
    signIn: (_engine, url) => {
      baseUrl = url;
      const subjectCheck = { kind: 'none' } as const;
      const external = { url: issuer.url, audience, roleClaim: ['role'], subjectCheck };
      return { identityProvider: createOidcIssuer(external, { clock: systemClock, baseUrl: () => baseUrl() }), mounts: {} };
    },
  });
  admin = await api.mintToken();
});

describe('the tools over HTTP', () => {
  test.each([
    ['2026-07-28', modern],
    ['2025', 'legacy'],
  ] as const)('a program of %s lists tools, creates a website and reads it', async (name, mode) => {
    const client = await connectOverHttp(`${api.url}/mcp`, admin, { mode });
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(10);
    const before = accessLines().length;
    const slug = `made-${name}`;
    const made = await call(client, 'create_website', { name: 'Corner Bakery', slug, wait: false });
    expect([made.isError ?? false, textOf(made)]).toEqual([false, expect.stringContaining(slug)]);
    expect(accessLines().slice(before)).toMatchObject([{ route: 'none', path: '/mcp', mcp: 'tools/call create_website', mode: 'portal' }]);
  });
});
