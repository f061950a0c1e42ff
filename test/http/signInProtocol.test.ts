import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify, UnsecuredJWT, type JSONWebKeySet } from 'jose';
import * as client from 'openid-client';
import { startApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { newestMail } from '../support/outbox.js';
import {
  beginSignIn,
  codeIn,
  createBrowser,
  discover,
  errorOf,
  finishSignIn,
  titleOf,
  xsrfIn,
  type Attempt,
  type Place,
} from '../support/signIn.js';
import { baseUrl, callback, portalOrigin, somebody, startSignInService } from '../support/signInService.js';

/** The sign-in as programs see it (OpenID Connect, OAuth 2.1). */

const { api, clock, outbox, place, portal, askForMail, signIn, me } = await startSignInService();

describe('the protocol', () => {
  const code = async (extra?: Readonly<Record<string, string>>): Promise<{ attempt: Attempt; url: string }> => {
    const { attempt, browser, page, mail } = await askForMail(somebody(), undefined, extra);
    return { attempt, url: (await browser.post(page.url, { code: codeIn(mail) })).url };
  };

  test('describes itself by the address of the service, whatever the sender says', async () => {
    const answer = await api.call('GET', '/oidc/.well-known/openid-configuration', {
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' },
    });
    expect(answer.body).toMatchObject({
      issuer: `${baseUrl}/oidc`,
      authorization_endpoint: `${baseUrl}/oidc/authorize`,
      token_endpoint: `${baseUrl}/oidc/token`,
      jwks_uri: `${baseUrl}/oidc/jwks`,
      end_session_endpoint: `${baseUrl}/oidc/sign-out`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    expect(answer.text).not.toContain('evil');
    expect(answer.headers.get('x-request-id')).toMatch(/^[\w.-]+$/);
    expect((await api.call('GET', '/v1/oidc/jwks')).status).toBe(404);
  });

  test('what is not there is an error of the API, in its form', async () => {
    const missing = { error: 'Not found', code: 'not_found', details: null };
    for (const [method, path] of [
      ['GET', '/oidc'],
      ['GET', '/oidc/nothing'],
      ['POST', '/oidc/nothing'],
      ['OPTIONS', '/oidc/nothing'],
      ['GET', '/oidc/sign-in'],
      ['GET', '/oidc/sign-in/one/'],
      ['GET', '/oidc/sign-in/one/nothing'],
    ] as const) {
      const { status, body, headers } = await api.call(method, path);
      expect([method, path, status, body]).toEqual([method, path, 404, missing]);
      expect(headers.get('x-request-id')).not.toBeNull();
    }
  });

  test.each([
    ['/.well-known/openid-configuration', 'GET, HEAD, OPTIONS'],
    ['/.well-known/oauth-authorization-server', 'GET, HEAD, OPTIONS'],
    ['/jwks', 'GET, HEAD, OPTIONS'],
    ['/authorize', 'GET, HEAD, OPTIONS'],
    ['/authorize/one', 'GET, HEAD, OPTIONS'],
    ['/token', 'OPTIONS, POST'],
    ['/Token/', 'OPTIONS, POST'],
    ['/revoke', 'OPTIONS, POST'],
    ['/sign-out', 'GET, HEAD, OPTIONS'],
    ['/sign-out/confirm', 'OPTIONS, POST'],
    ['/sign-out/success', 'GET, HEAD, OPTIONS'],
    ['/device', 'GET, HEAD, OPTIONS, POST'],
    ['/device/auth', 'OPTIONS, POST'],
    ['/device/one', 'GET, HEAD, OPTIONS'],
    ['/sign-in/one', 'GET, HEAD, OPTIONS, POST'],
    ['/sign-in/one/code', 'GET, HEAD, OPTIONS, POST'],
    ['/sign-in/one/link', 'GET, HEAD, OPTIONS, POST'],
  ])('%s takes %s, and says so', async (path, allow) => {
    const refused = { error: 'Method not allowed', code: 'method_not_allowed', details: null };
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (allow.includes(method)) {
        const { status } = await fetch(`${api.url}/oidc${path}`, { method, redirect: 'manual' });
        expect([method, [404, 405, 500].includes(status)]).toEqual([method, false]);
      } else {
        const { status, headers, body } = await api.call(method, `/oidc${path}`);
        expect([method, status, headers.get('allow')]).toEqual([method, 405, allow]);
        if (method !== 'HEAD') expect(body).toEqual(refused);
      }
    }
    const asked = await api.call('OPTIONS', `/oidc${path}`);
    expect([asked.status, asked.headers.get('allow'), asked.text]).toEqual([204, allow, '']);
  });

  test('publishes no private key', async () => {
    const { keys } = JSON.parse((await api.call('GET', '/oidc/jwks')).text) as { keys: Record<string, unknown>[] };
    expect(keys.length).toBeGreaterThanOrEqual(2);
    for (const key of keys) expect(Object.keys(key).sort()).toStrictEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });

  test('cookies go to the sign-in alone, encrypted, and no script reads them', async () => {
    const { browser } = await signIn(somebody());
    const session = browser.setCookies.filter((line) => /^__Secure-doorstep_session=[^;]/.test(line));
    expect(session.length).toBeGreaterThan(0);
    for (const line of session) expect(line).toMatch(/; path=\/oidc; .*samesite=lax; secure; httponly/i);
    for (const line of browser.setCookies) {
      expect(line).toMatch(/^__Secure-doorstep_.*; path=\/oidc(?:\/[^;]*)?; .*samesite=lax; secure; httponly/i);
    }
  });

  test('where websites have hosts of their own, no neighbour can set its cookies', async () => {
    const other = await startApi({
      folder: api.folder,
      clock,
      projector: false,
      signIn: (engine) =>
        createTestIdentity(engine, {
          email: outbox,
          baseUrl: () => baseUrl,
          sitesHaveOrigins: true,
        }),
    });
    const there: Place = { baseUrl, via: () => other.url };
    const browser = createBrowser(there);
    const { tokens } = await signIn(somebody(), browser);
    expect((await me(tokens.access_token)).status).toBe(200);
    const isForHost = (line: string): boolean => /^__Host-doorstep_.*; path=\/; .*samesite=lax; secure; httponly/i.test(line);
    // Its name binds the path of one attempt.
    const isOfResume = (line: string): boolean =>
      /^__Secure-doorstep_sign_in_resume.*; path=\/oidc\/authorize\/[^;]+; /i.test(line);
    for (const line of browser.setCookies) {
      expect([line, isForHost(line) || isOfResume(line)]).toEqual([line, true]);
      expect(line).not.toMatch(/; domain=/i);
    }
    expect(browser.cookies()).toEqual(expect.arrayContaining(['__Host-doorstep_session', '__Host-doorstep_sign_in']));
    // Signed in, nobody is asked again.
    const again = await beginSignIn(portal, callback);
    expect((await finishSignIn(portal, again, (await browser.get(again.url)).url)).claims()?.sub).toBe(tokens.claims()?.sub);
    await other.stop();
  });

  test('a code is exchanged with its verifier only', async () => {
    const { attempt, url } = await code();
    const wrong = finishSignIn(portal, { ...attempt, verifier: client.randomPKCECodeVerifier() }, url);
    expect(await errorOf(wrong)).toBe('invalid_grant');
  });

  test('a request without PKCE is refused', async () => {
    const url = new URL((await beginSignIn(portal, callback)).url);
    url.searchParams.delete('code_challenge');
    url.searchParams.delete('code_challenge_method');
    const answer = await createBrowser(place).get(url.href);
    expect(new URL(answer.url).searchParams.get('error')).toBe('invalid_request');
  });

  test.each([
    ['another place', { redirect_uri: 'https://evil.example/auth/callback' }],
    ['another client', { client_id: 'somebody' }],
  ])('a request for %s leads nowhere', async (_what, extra) => {
    const page = await createBrowser(place).get((await beginSignIn(portal, callback, extra)).url);
    expect([page.status, titleOf(page)]).toStrictEqual([400, 'Signing in did not work']);
  });

  test('a code that comes again is refused, and takes with it what came of it', async () => {
    const { attempt, url } = await code();
    const tokens = await finishSignIn(portal, attempt, url);
    expect(await errorOf(finishSignIn(portal, attempt, url))).toBe('invalid_grant');
    expect(await errorOf(client.refreshTokenGrant(portal, tokens.refresh_token ?? ''))).toBe('invalid_grant');
  });

  test('of several who exchange a code at once, one gets tokens', async () => {
    const { attempt, url } = await code();
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => errorOf(finishSignIn(portal, attempt, url))));
    expect(outcomes.sort()).toStrictEqual(['invalid_grant', 'invalid_grant', 'invalid_grant', 'none']);
  });

  test('refresh tokens rotate, and an old one that comes again ends all', async () => {
    const { tokens } = await signIn(somebody());
    const second = await client.refreshTokenGrant(portal, tokens.refresh_token ?? '');
    expect(second.refresh_token).not.toBe(tokens.refresh_token);
    expect((await me(second.access_token)).status).toBe(200);
    expect(await errorOf(client.refreshTokenGrant(portal, tokens.refresh_token ?? ''))).toBe('invalid_grant');
    expect(await errorOf(client.refreshTokenGrant(portal, second.refresh_token ?? ''))).toBe('invalid_grant');
  });

  test('a refresh token that is given back is no longer taken', async () => {
    const { tokens } = await signIn(somebody());
    await client.tokenRevocation(portal, tokens.refresh_token ?? '');
    expect(await errorOf(client.refreshTokenGrant(portal, tokens.refresh_token ?? ''))).toBe('invalid_grant');
  });

  test('signing out ends the session and what was signed in with it', async () => {
    const { browser, tokens } = await signIn(somebody());
    const url = client.buildEndSessionUrl(portal, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: `${baseUrl}/`,
      state: 'there',
    });
    const page = await browser.get(url.href);
    expect(titleOf(page)).toBe('Sign out?');
    // The ID token says whose session is to end: nobody is asked once more where scripts run.
    const [, script = ''] = /<script>(.+)<\/script>/.exec(page.text) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(page.headers.get('content-security-policy')).toContain(`script-src 'sha256-${hash}'`);
    const end = await browser.post(`${baseUrl}/oidc/sign-out/confirm`, { xsrf: xsrfIn(page), logout: 'yes' });
    expect(end.url).toBe(`${baseUrl}/?state=there`);
    expect(await errorOf(client.refreshTokenGrant(portal, tokens.refresh_token ?? ''))).toBe('invalid_grant');
    expect(titleOf(await browser.get((await beginSignIn(portal, callback)).url))).toBe('Sign in');
  });

  test.each(['no ID token', "another account's ID token"])('signing out with %s asks first', async (hint) => {
    const { browser } = await signIn(somebody());
    const { tokens: others } = await signIn(somebody());
    const url = client.buildEndSessionUrl(portal, hint === 'no ID token' ? {} : { id_token_hint: others.id_token ?? '' });
    const page = await browser.get(url.href);
    expect(titleOf(page)).toBe('Sign out?');
    expect(page.text).not.toContain('<script');
  });

  test('the portal may be at another origin that is named, and nowhere else', async () => {
    const { attempt, browser, page, mail } = await (async () => {
      const begun = await beginSignIn(portal, `${portalOrigin}/auth/callback`);
      const used = createBrowser(place);
      const email = somebody();
      const asked = await used.post((await used.get(begun.url)).url, { email });
      return { attempt: begun, browser: used, page: asked, mail: await newestMail(outbox, email) };
    })();
    expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' ${portalOrigin} `);
    const end = await browser.post(page.url, { code: codeIn(mail) });
    const exchange = (origin: string): Promise<Response> =>
      fetch(`${api.url}/oidc/token`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: 'doorstep-portal',
          code: new URL(end.url).searchParams.get('code') ?? '',
          redirect_uri: `${portalOrigin}/auth/callback`,
          code_verifier: attempt.verifier,
        }).toString(),
      });
    const foreign = await exchange('https://evil.example');
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toStrictEqual([400, null]);
    const own = await exchange(portalOrigin);
    expect([own.status, own.headers.get('access-control-allow-origin')]).toStrictEqual([200, portalOrigin]);
  });

  test('the command line signs in on any port of this machine, and is never let in by the session alone', async () => {
    const config = await discover(place, 'doorstep-cli');
    const redirect = 'http://127.0.0.1:49152/callback';
    const { browser } = await signIn(somebody());
    const attempt = await beginSignIn(config, redirect);
    const first = await browser.get(attempt.url);
    expect(titleOf(first)).toBe('Sign in');
    const email = somebody();
    const fresh = createBrowser(place);
    const begin = await fresh.get(attempt.url);
    const page = await fresh.post(begin.url, { email });
    const end = await fresh.post(page.url, { code: codeIn(await newestMail(outbox, email)) });
    const tokens = await finishSignIn(config, attempt, end.url);
    expect((await me(tokens.access_token)).body).toMatchObject({ email });
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect((await me(refreshed.access_token)).status).toBe(200);
  });

  test('whoever signs in as somebody else in a browser ends the session that was there', async () => {
    const { browser } = await signIn(somebody());
    const other = somebody();
    const { attempt, page, mail } = await askForMail(other, browser, { prompt: 'login' });
    const between = await browser.post(page.url, { code: codeIn(mail) });
    // A form that sends itself: its script is let through by its hash.
    const [, action = ''] = /action="([^"]+)"/.exec(between.text) ?? [];
    expect(between.headers.get('content-security-policy')).toMatch(/script-src 'sha256-/);
    const end = await browser.post(action, { xsrf: xsrfIn(between), logout: 'yes' });
    expect((await finishSignIn(portal, attempt, end.url)).claims()).toMatchObject({ email: other });
  });

  test.each<[string, (token: string) => string]>([
    ['without a signature', (token) => new UnsecuredJWT(decodeJwt(token)).encode()],
    [
      'whose claims were changed',
      (token) => {
        const [head = '', , signature = ''] = token.split('.');
        const claims = JSON.stringify({ ...decodeJwt(token), role: 'admin' });
        return `${head}.${Buffer.from(claims).toString('base64url')}.${signature}`;
      },
    ],
  ])('a token %s is none', async (_what, forge) => {
    const { tokens } = await signIn(somebody());
    expect((await me(forge(tokens.access_token))).status).toBe(401);
  });
});

describe('signing keys', () => {
  const days = 24 * 60 * 60_000;
  const published = async (): Promise<JSONWebKeySet> => JSON.parse((await api.call('GET', '/oidc/jwks')).text) as JSONWebKeySet;
  const isSignedBy = (token: string, keys: JSONWebKeySet): Promise<boolean> =>
    jwtVerify(token, createLocalJWKSet(keys)).then(
      () => true,
      (error: unknown) => {
        if (error instanceof errors.JWKSNoMatchingKey) return false;
        throw error;
      },
    );

  test('follow one another: published before they sign, and for as long after', async () => {
    const first = await signIn(somebody());
    const before = await published();
    clock.shift(30 * days);
    const second = await signIn(somebody());
    const during = await published();
    clock.shift(30 * days);
    const after = await published();
    clock.shift(-60 * days);

    const [old, young] = [first.tokens.access_token, second.tokens.access_token];
    expect(decodeProtectedHeader(young).kid).not.toBe(decodeProtectedHeader(old).kid);
    expect(await Promise.all([before, during, after].map((keys) => isSignedBy(old, keys)))).toStrictEqual([true, true, false]);
    expect(await Promise.all([before, during, after].map((keys) => isSignedBy(young, keys)))).toStrictEqual([true, true, true]);
  });
});
