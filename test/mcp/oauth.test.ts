import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import type { EmailSender, Outbox } from '../../src/integrations/email/port.js';
import { startApi, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { modern } from '../support/mcp.js';
import { createTestOutbox, newestMail } from '../support/outbox.js';
import { codeIn, createBrowser, type Place } from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

/** A program finds the sign-in from the address of the MCP server alone, and signs somebody in by their browser. */

const admin = 'admin@doorstep.local';
const redirectUrl = 'http://127.0.0.1:49152/callback';
let api: RunningApi;
let place: Place;
let outbox: EmailSender & Outbox;

beforeAll(async () => {
  outbox = createTestOutbox({ folder: join(temporaryFolder(), 'outbox') });
  api = await startApi({
    signIn: (engine, baseUrl) => createTestIdentity(engine, { email: outbox, baseUrl, adminEmails: [admin] }),
  });
  place = { baseUrl: api.url, via: () => api.url };
});

/** Signs in by a mail, as a person does. @returns where the browser is sent in the end */
const signIn = async (url: string): Promise<string> => {
  const browser = createBrowser(place);
  const code = await browser.post((await browser.get(url)).url, { email: admin });
  const mail = await newestMail(outbox, admin);
  return (await browser.post(code.url, { code: codeIn(mail) })).url;
};

test('a program signs somebody in by discovery, PKCE and the resource indicator', async () => {
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let asked: URL | undefined;
  const authProvider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], client_name: 'Test' },
    clientInformation: () => ({ client_id: 'doorstep-cli' }),
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    redirectToAuthorization: (url) => {
      asked = url;
    },
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
  const transport = (): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { authProvider });
  const client = (): Client => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: modern } });

  const first = transport();
  await expect(client().connect(first)).rejects.toThrow(UnauthorizedError);
  expect(Object.fromEntries(asked?.searchParams ?? [])).toMatchObject({
    resource: `${api.url}/mcp`,
    scope: 'mcp',
    code_challenge_method: 'S256',
  });
  await first.finishAuth(new URL(await signIn(asked?.href ?? '')).searchParams);
  expect(decodeJwt(tokens?.access_token ?? '')).toMatchObject({ aud: `${api.url}/mcp`, scope: 'mcp', client_id: 'doorstep-cli' });

  const signedIn = client();
  await signedIn.connect(transport());
  const made = await signedIn.callTool({ name: 'create_website', arguments: { name: 'Bakery', slug: 'bakery', wait: false } });
  expect(made.isError ?? false).toBe(false);
  const audit = (await api.call('GET', '/audit?limit=200', { token: await api.mintToken() })).body as {
    type: string;
    actor: Record<string, unknown>;
  }[];
  expect(audit.find(({ type }) => type === 'WebsiteCreated')?.actor).toMatchObject({
    via: 'mcp',
    program: 'doorstep-cli',
    role: 'admin',
  });

  // When it has expired, the program gets another one without the person.
  const before = tokens?.access_token;
  tokens = { ...(tokens as OAuthTokens), access_token: 'expired' };
  expect((await signedIn.listTools()).tools.length).toBeGreaterThan(0);
  expect(tokens.access_token).not.toBe('expired');
  expect(before).toBeDefined();
  await signedIn.close();
  expect(JSON.stringify(api.log)).not.toMatch(/eyJ[\w-]+\.|svc_pat_\w{20}/);
});

test('a token without the scope is sent back for it', async () => {
  const verifier = oidc.randomPKCECodeVerifier();
  const request = { client_id: 'doorstep-cli', redirect_uri: redirectUrl };
  const query = new URLSearchParams({
    ...request,
    response_type: 'code',
    scope: 'openid',
    resource: `${api.url}/mcp`,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const end = new URL(await signIn(`${api.url}/oidc/authorize?${query.toString()}`));
  const code = end.searchParams.get('code') ?? '';
  const exchanged = await fetch(`${api.url}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...request, grant_type: 'authorization_code', code, code_verifier: verifier }),
  });
  const { access_token: token } = (await exchanged.json()) as { access_token: string };
  expect(decodeJwt(token).aud).toBe(`${api.url}/mcp`);
  const answer = await api.call('POST', '/mcp', { body: {}, headers: { authorization: `Bearer ${token}` } });
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
    403,
    `Bearer error="insufficient_scope", resource_metadata="${api.url}/.well-known/oauth-protected-resource/mcp", scope="mcp"`,
  ]);
});
