import { beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { createOidcIssuer } from '../../src/integrations/identity/oidcIssuer.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { audience, startTestIssuer } from '../support/oidcIssuer.js';
import { newestMail } from '../support/outbox.js';
import {
  beginSignIn,
  codeIn,
  createBrowser,
  discover,
  finishSignIn,
  titleOf,
  xsrfIn,
  type Browser,
  type Page,
} from '../support/signIn.js';
import { baseUrl, somebody, startSignInService } from '../support/signInService.js';

/** How programs that have no browser sign in (RFC 8628), and what their tokens are good for. */

const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';
const { api, clock, outbox, identity, place } = await startSignInService();
const program = await discover(place, 'doorstep-cli');

const ask = (parameters: Readonly<Record<string, string>> = {}): Promise<client.DeviceAuthorizationResponse> =>
  client.initiateDeviceAuthorization(program, { scope: 'openid email', ...parameters });

/** One question of the device for its tokens; what it does every five seconds. */
const poll = async (device: client.DeviceAuthorizationResponse): Promise<client.TokenEndpointResponse | string> => {
  try {
    return await client.genericGrantRequest(program, deviceGrantType, { device_code: device.device_code });
  } catch (error) {
    if (error instanceof client.ResponseBodyError) return error.error;
    throw error;
  }
};

/** Types the code in. */
const enter = async (browser: Browser, code: string): Promise<Page> => {
  const page = await browser.get(`${baseUrl}/oidc/device`);
  return browser.post(page.url, { xsrf: xsrfIn(page), user_code: code });
};

const choose = (browser: Browser, page: Page, code: string, choice: 'confirm' | 'abort'): Promise<Page> =>
  browser.post(page.url, { xsrf: xsrfIn(page), user_code: code, [choice]: 'yes' });

/** Types the code in, confirms, and signs in. */
const approve = async (
  device: client.DeviceAuthorizationResponse,
  email = somebody(),
  browser = createBrowser(place),
): Promise<Page> => {
  const confirmation = await enter(browser, device.user_code);
  const signIn = await choose(browser, confirmation, device.user_code, 'confirm');
  const code = await browser.post(signIn.url, { email });
  const mail = await newestMail(outbox, email);
  return browser.post(code.url, { code: codeIn(mail) });
};

const tokensFor = async (email = somebody(), parameters: Readonly<Record<string, string>> = {}) => {
  const device = await ask(parameters);
  expect(titleOf(await approve(device, email))).toBe('Your device is connected');
  const tokens = await poll(device);
  if (typeof tokens === 'string') throw new Error(tokens);
  return tokens;
};

const call = (method: string, path: string, jwt: string, body?: object, headers = {}): Promise<ApiAnswer> =>
  api.call(method, path, { headers: { authorization: `Bearer ${jwt}`, ...headers }, ...(body !== undefined && { body }) });

const mint = (jwt: string, body: object = { name: 'laptop' }, headers = {}): Promise<ApiAnswer> =>
  call('POST', '/api-keys', jwt, body, headers);

describe('a device', () => {
  test('waits, is approved in a browser, and gets tokens of whoever signed in there', async () => {
    const device = await ask();
    expect(device.user_code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    expect(device).toMatchObject({ verification_uri: `${baseUrl}/oidc/device`, expires_in: 600 });
    expect(await poll(device)).toBe('authorization_pending');
    const email = somebody();
    expect(titleOf(await approve(device, email))).toBe('Your device is connected');
    // As openid-client does it, but for the five seconds in between.
    const tokens = await client.pollDeviceAuthorizationGrant(program, { ...device, interval: 0.001 });
    expect(tokens.claims()).toMatchObject({ email, aud: 'doorstep-cli' });
    expect((await call('GET', '/me', tokens.access_token)).body).toMatchObject({
      email,
      role: 'client',
      credential: { kind: 'session', scope: 'write' },
    });
    // The code is used up, and what came of it a second time ends what came of it the first.
    expect(await poll(device)).toBe('invalid_grant');
    expect(titleOf(await enter(createBrowser(place), device.user_code))).toBe('Problem: Connect a device');
  });

  test('is shown with its program, its address and its code, to be compared', async () => {
    const device = await ask();
    const page = await enter(createBrowser(place), device.user_code.toLowerCase().replace('-', ' '));
    expect(titleOf(page)).toBe('Connect this device?');
    expect(page.text).toContain(`<strong>${device.user_code}</strong>`);
    expect(page.text).toContain('<strong>Doorstep on the command line</strong> asks to act in your name');
    expect(page.text).toMatch(/Asked from 127\.0\.0\.1, by openid-client/);
    expect(page.text).not.toMatch(/<script| on\w+=/);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none';script-src[ ;]/);
    expect(page.headers.get('cache-control')).toBe('no-store');
  });

  test('that is denied gets nothing, and whoever denies need not sign in', async () => {
    const device = await ask();
    const browser = createBrowser(place);
    const denied = await choose(browser, await enter(browser, device.user_code), device.user_code, 'abort');
    expect([denied.status, titleOf(denied)]).toStrictEqual([200, 'Nothing was connected']);
    expect(await poll(device)).toBe('access_denied');
  });

  // oidc-provider takes each of them.
  test.each(['/device', '/device/', '/Device'])(
    'may show an address with its code, %s: it fills the form in, and submits nothing',
    async (path) => {
      const device = await ask();
      const page = await createBrowser(place).get((device.verification_uri_complete ?? '').replace('/device', path));
      expect([page.status, titleOf(page)]).toStrictEqual([200, 'Connect a device']);
      expect(page.text).toContain(`value="${device.user_code}"`);
      expect(page.text).not.toContain('<script');
      expect(page.headers.get('cache-control')).toBe('no-store');
      const evil = await createBrowser(place).get(`${baseUrl}/oidc/device?user_code=%22%3E%3Cscript%3E`);
      expect(evil.text).toContain('value="&quot;&gt;&lt;script&gt;"');
    },
  );

  test('is not approved by a form of another browser', async () => {
    const device = await ask();
    const [mine, theirs] = [createBrowser(place), createBrowser(place)];
    const confirmation = await enter(theirs, device.user_code);
    await mine.get(`${baseUrl}/oidc/device`);
    const forged = await choose(mine, confirmation, device.user_code, 'confirm');
    expect([forged.status, titleOf(forged)]).toStrictEqual([400, 'Problem: Connect a device']);
    expect(await poll(device)).toBe('authorization_pending');
  });

  test('gets a new form, with its code, in a browser whose session is over', async () => {
    const device = await ask();
    const browser = createBrowser(place);
    const page = await browser.post(`${baseUrl}/oidc/device`, { xsrf: 'of-a-session-before', user_code: device.user_code });
    expect([page.status, titleOf(page)]).toStrictEqual([200, 'Connect a device']);
    expect(page.text).toContain(`value="${device.user_code}"`);
    const next = await browser.post(`${baseUrl}/oidc/device`, { xsrf: xsrfIn(page), user_code: device.user_code });
    expect(titleOf(next)).toBe('Connect this device?');
    const lost = await createBrowser(place).get(`${baseUrl}/oidc/device/nowhere`);
    expect([lost.status, titleOf(lost)]).toStrictEqual([200, 'Connect a device']);
  });

  test('waits for 10 minutes', async () => {
    const device = await ask();
    clock.shift(10.1 * 60_000);
    const [answer, page] = [await poll(device), await enter(createBrowser(place), device.user_code)];
    clock.shift(-10.1 * 60_000);
    expect(answer).toMatch(/^(?:expired_token|invalid_grant)$/);
    expect(titleOf(page)).toBe('Problem: Connect a device');
  });

  test('asks for nothing that is not served here', async () => {
    await expect(ask({ resource: 'https://elsewhere.example.com' })).rejects.toMatchObject({ error: 'invalid_target' });
  });

  test('gives the same code away once, however many ask at once', async () => {
    const device = await ask();
    await approve(device);
    const answers = await Promise.all([1, 2, 3, 4].map(() => poll(device)));
    expect(answers.filter((answer) => typeof answer !== 'string')).toHaveLength(1);
  });
});

describe('the token that a device got', () => {
  const exchanged = {
    error: 'This sign-in of a device was already exchanged for an API key: sign in on the device again',
    code: 'device_grant_exchanged',
    details: null,
  };

  test('is exchanged for one personal access token, whoever refreshes it', async () => {
    const tokens = await tokensFor();
    const planned = await api.call('POST', '/api-keys?dryRun=1', {
      headers: { authorization: `Bearer ${tokens.access_token}` },
      body: { name: 'laptop' },
    });
    expect((planned.body as { events: { type: string }[] }).events.map(({ type }) => type)).toStrictEqual([
      'APIKeyMinted',
      'APIKeyCounted',
      'DeviceGrantExchanged',
    ]);
    const first = await mint(tokens.access_token, { name: 'laptop', scope: 'read' });
    expect(first).toMatchObject({ status: 201, body: { name: 'laptop', role: 'client', scope: 'read' } });
    expect(await mint(tokens.access_token)).toMatchObject({ status: 400, body: exchanged });
    const refreshed = await client.refreshTokenGrant(program, tokens.refresh_token ?? '');
    expect((await mint(refreshed.access_token)).body).toStrictEqual(exchanged);
    // The key stands on its own: it outlives the sign-in of the device.
    await client.tokenRevocation(program, refreshed.refresh_token ?? '');
    clock.shift(20 * 60_000);
    const { token } = first.body as { token: string };
    expect((await api.call('GET', '/me', { token })).status).toBe(200);
    expect((await call('GET', '/me', tokens.access_token)).status).toBe(401);
    expect((await api.call('GET', '/api-keys', { token })).body).toMatchObject([{ name: 'laptop' }]);
    clock.shift(-20 * 60_000);
  });

  test('makes one key of several requests at once, and leaves none of the others', async () => {
    const { access_token: jwt } = await tokensFor();
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => mint(jwt, { name })));
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([201, 400, 400, 400]);
    expect((await call('GET', '/api-keys', jwt)).body).toHaveLength(1);
  });

  test('is answered again for its Idempotency-Key', async () => {
    const { access_token: jwt } = await tokensFor();
    const headers = { 'idempotency-key': 'of the device' };
    const [first, again] = [await mint(jwt, undefined, headers), await mint(jwt, undefined, headers)];
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toStrictEqual([201, 201, 'true']);
    expect(again.body).toStrictEqual(first.body);
  });

  test('is still good for an exchange that was refused', async () => {
    const { access_token: jwt } = await tokensFor();
    expect((await mint(jwt, { name: 'too much', role: 'admin' })).status).toBe(403);
    expect((await mint(jwt)).status).toBe(201);
  });

  test('stands on a sign-in of its own for each device, in one browser too', async () => {
    const [email, browser] = [somebody(), createBrowser(place)];
    for (let device = 0; device < 2; device += 1) {
      const asked = await ask();
      expect(titleOf(await approve(asked, email, browser))).toBe('Your device is connected');
      const tokens = await poll(asked);
      if (typeof tokens === 'string') throw new Error(tokens);
      expect((await mint(tokens.access_token)).status).toBe(201);
    }
  });
});

test('a program with a browser signs in on a loopback address with any port', async () => {
  for (const redirect of ['http://127.0.0.1:49152/callback', 'http://[::1]:50123/callback']) {
    const attempt = await beginSignIn(program, redirect);
    const browser = createBrowser(place);
    const email = somebody();
    const code = await browser.post((await browser.get(attempt.url)).url, { email });
    const mail = await newestMail(outbox, email);
    const end = await browser.post(code.url, { code: codeIn(mail) });
    const { access_token: jwt } = await finishSignIn(program, attempt, end.url);
    expect(decodeJwt(jwt).device_grant).toBeUndefined();
    expect((await mint(jwt)).status).toBe(201);
  }
});

describe('resource indicators (RFC 8707)', () => {
  const mcp = `${baseUrl}/mcp`;

  test('a token for the MCP server is for it alone, one for the API for that alone', async () => {
    const forMcp = await tokensFor(somebody(), { resource: mcp });
    const forApi = await tokensFor(somebody(), { resource: baseUrl });
    expect([decodeJwt(forMcp.access_token).aud, decodeJwt(forApi.access_token).aud]).toStrictEqual([mcp, baseUrl]);
    const provider = identity.identityProvider;
    for (const [token, isFor] of [[forMcp.access_token, 'mcp'] as const, [forApi.access_token, 'api'] as const]) {
      for (const resource of ['api', 'mcp'] as const) {
        // Twice: an answer is cached for its resource alone.
        expect((await provider.identify(token, resource)) !== null).toBe(resource === isFor);
        expect((await provider.identify(token, resource)) !== null).toBe(resource === isFor);
      }
    }
    expect((await call('GET', '/me', forMcp.access_token)).body).toMatchObject({ error: 'Invalid token' });
    expect((await mint(forMcp.access_token)).status).toBe(401);
    // A refreshed one is for the same resource, and for no other.
    const refreshed = await client.refreshTokenGrant(program, forMcp.refresh_token ?? '');
    expect(decodeJwt(refreshed.access_token).aud).toBe(mcp);
    await expect(client.refreshTokenGrant(program, refreshed.refresh_token ?? '', { resource: baseUrl })).rejects.toMatchObject({
      error: 'invalid_target',
    });
  });

  test('the page says that an assistant asks', async () => {
    const device = await ask({ resource: mcp });
    expect((await enter(createBrowser(place), device.user_code)).text).toContain('let an assistant act in your name');
  });

  test('the portal may ask for a token for the MCP server too', async () => {
    const portal = await discover(place);
    const attempt = await beginSignIn(portal, `${baseUrl}/app/callback`, { resource: mcp });
    const browser = createBrowser(place);
    const email = somebody();
    const code = await browser.post((await browser.get(attempt.url)).url, { email });
    const mail = await newestMail(outbox, email);
    const end = await browser.post(code.url, { code: codeIn(mail) });
    expect(decodeJwt((await finishSignIn(portal, attempt, end.url)).access_token).aud).toBe(mcp);
  });

  test('an outside issuer names the same resource as the audience', async () => {
    const issuer = await startTestIssuer();
    const provider = createOidcIssuer(
      { url: issuer.url, audience, roleClaim: ['role'], subjectCheck: { kind: 'none' } },
      { clock, baseUrl: () => baseUrl },
    );
    const [forMcp, forApi] = [await issuer.sign({ aud: mcp, device_grant: 'x' }), await issuer.sign()];
    expect(await provider.identify(forMcp, 'mcp')).toMatchObject({ role: 'client' });
    // What an outside issuer calls a device's grant is not ours to exchange.
    expect(await provider.identify(forMcp, 'mcp')).not.toHaveProperty('deviceGrant');
    expect([await provider.identify(forMcp), await provider.identify(forApi, 'mcp')]).toStrictEqual([null, null]);
    await issuer.stop();
  });
});

describe('discovery', () => {
  /** At its own address. */
  let other: RunningApi;

  beforeAll(async () => {
    other = await startApi({
      projector: false,
      signIn: (engine, ownUrl) => createTestIdentity(engine, { email: outbox, baseUrl: ownUrl }),
    });
  });

  const get = (path: string, headers = {}): Promise<ApiAnswer> =>
    api.call('GET', path, { headers: { origin: 'https://inspector.example.com', ...headers } });

  test.each([
    ['', '', 'api'],
    ['/mcp', '/mcp', 'mcp'],
  ])('protected resource%s names itself and who issues tokens for it (RFC 9728)', async (suffix, resource, scope) => {
    const answer = await other.call('GET', `/.well-known/oauth-protected-resource${suffix}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      resource: other.url + resource,
      authorization_servers: [`${other.url}/oidc`],
      scopes_supported: [scope],
      bearer_methods_supported: ['header'],
    });
  });

  test.each<[string, (ownUrl: string) => string]>([
    ['elsewhere', () => 'https://login.example.com'],
    ['below the same address', (ownUrl) => `${ownUrl}/auth/realms/agency`],
  ])('with an outside issuer %s they name that one', async (_where, urlOf) => {
    const settings = { audience, roleClaim: ['role'], subjectCheck: { kind: 'none' } } as const;
    const outside = await startApi({
      projector: false,
      signIn: (_engine, ownUrl) => ({
        identityProvider: {
          ...createOidcIssuer({ ...settings, url: 'https://login.example.com' }, { clock, baseUrl: ownUrl }),
          issuer: () => urlOf(ownUrl()),
        },
        mounts: {},
      }),
    });
    const { body } = await outside.call('GET', '/.well-known/oauth-protected-resource/mcp');
    expect(body).toMatchObject({ resource: `${outside.url}/mcp`, authorization_servers: [urlOf(outside.url)] });
    expect(body).not.toHaveProperty('scopes_supported');
    expect(body).not.toHaveProperty('audience');
    expect((await outside.call('GET', '/.well-known/oauth-protected-resource')).body).toMatchObject({ audience });
    expect((await outside.call('GET', '/.well-known/oauth-authorization-server/oidc')).status).toBe(404);
    await outside.stop();
  });

  test.each([
    '/.well-known/oauth-authorization-server/oidc',
    '/.well-known/oauth-authorization-server',
    '/oidc/.well-known/oauth-authorization-server',
    '/oidc/.well-known/openid-configuration',
  ])('the metadata of the issuer is at %s (RFC 8414)', async (path) => {
    const { status, body } = await get(path);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      issuer: `${baseUrl}/oidc`,
      device_authorization_endpoint: `${baseUrl}/oidc/device/auth`,
      token_endpoint: `${baseUrl}/oidc/token`,
      jwks_uri: `${baseUrl}/oidc/jwks`,
      grant_types_supported: expect.arrayContaining([deviceGrantType]) as unknown,
      code_challenge_methods_supported: ['S256'],
    });
  });

  test('other paths below are not found', async () => {
    for (const path of ['/.well-known/oauth-authorization-server/other', '/.well-known/oauth-protected-resource/other']) {
      expect((await get(path)).status).toBe(404);
    }
  });

  test.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server/oidc',
    '/oidc/.well-known/openid-configuration',
    '/oidc/jwks',
  ])('%s is read by pages of any origin, without credentials', async (path) => {
    const { status, headers } = await get(path);
    expect(status).toBe(200);
    expect(['*', 'https://inspector.example.com']).toContain(headers.get('access-control-allow-origin'));
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    const preflight = await api.call('OPTIONS', path, {
      headers: {
        origin: 'https://inspector.example.com',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'mcp-protocol-version',
      },
    });
    expect(preflight.status).toBe(204);
    expect(['*', 'mcp-protocol-version']).toContain(preflight.headers.get('access-control-allow-headers'));
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each(['/me', '/api-keys', '/openapi.json', '/oidc/device'])('%s is not', async (path) => {
    expect((await get(path)).headers.get('access-control-allow-origin')).toBeNull();
  });
});

/** Comes last: the codes of all tests are typed in by one sender. */
test('a sender may type in thirty codes an hour that no device shows', async () => {
  const device = await ask();
  const statuses: number[] = [];
  // The page shows a new form after each, whose code is the one to send.
  const browser = createBrowser(place);
  let page = await browser.get(`${baseUrl}/oidc/device`);
  const paths = ['/device', '/device/', '/DEVICE'];
  for (let guess = 0; guess < 31; guess += 1) {
    const answer = await browser.post(`${baseUrl}/oidc${paths[guess % 3] ?? ''}`, { xsrf: xsrfIn(page), user_code: 'BBBB-BBBB' });
    statuses.push(answer.status);
    if (answer.status === 400) page = answer;
  }
  // Earlier tests of this file used some up.
  const refused = statuses.indexOf(429);
  expect(refused).toBeGreaterThan(15);
  expect(refused).toBeLessThanOrEqual(30);
  expect(statuses.slice(refused).every((status) => status === 429)).toBe(true);
  expect((await enter(browser, device.user_code)).status).toBe(429);
  clock.shift(60 * 60_000);
  const later = await ask();
  expect((await enter(createBrowser(place), later.user_code)).status).toBe(200);
  clock.shift(-60 * 60_000);
});
