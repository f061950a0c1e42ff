import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generateKeyPair, UnsecuredJWT, SignJWT } from 'jose';
import { createOidcIssuer } from '../../src/integrations/identity/oidcIssuer.js';
import type { IdentityProvider } from '../../src/integrations/identity/port.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import type { SubjectCheck } from '../../src/platform/settings/auth.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { audience, startTestIssuer, type TestIssuer } from '../support/oidcIssuer.js';
import { probe } from '../support/probeRoutes.js';
import { createShiftedClock } from '../support/shiftedClock.js';

let issuer: TestIssuer;
const clock = createShiftedClock();

const whoami = probe({
  path: '/whoami',
  answer: ({ caller }) => Promise.resolve({ body: caller }),
});

/** One API for all: which issuer it asks, and how, is changed from test to test. */
let portal: RunningApi;
let provider: IdentityProvider;

const trust = (
  subjectCheck: SubjectCheck = { kind: 'none' },
  roleClaim = ['role'],
  keyCooldownMs = 0,
  on: Clock = clock,
): void => {
  provider = createOidcIssuer({ url: issuer.url, audience, roleClaim, subjectCheck }, { clock: on, keyCooldownMs });
};

const whoIs = (jwt: string | undefined, path = '/whoami'): Promise<ApiAnswer> =>
  portal.call('GET', path, jwt === undefined ? {} : { headers: { authorization: `Bearer ${jwt}` } });

const outcome = ({ status, body }: ApiAnswer): unknown => [status, (body as { error?: string }).error ?? 'let in'];

/**
 * Seconds since the epoch, when the test runs: what is in a table is made when the file is loaded.
 */
const at = (seconds: number) => Math.floor(clock.now() / 1_000) + seconds;

beforeAll(async () => {
  issuer = await startTestIssuer();
  portal = await startApi({
    identityProvider: {
      identify: (token) => provider.identify(token),
      exists: (identity, token) => provider.exists(identity, token),
    },
    routes: () => [whoami],
    clock,
    projector: false,
  });
});

afterAll(async () => {
  await issuer.stop();
});

beforeEach(() => {
  issuer.broken = false;
  issuer.silent = false;
  issuer.keysBroken = false;
  issuer.asked.length = 0;
  trust();
});

describe('a JWT', () => {
  test('tells who calls', async () => {
    const jwt = await issuer.sign({ sub: 'u1', email: 'Ann@Example.com', email_verified: true, name: 'Ann', role: 'admin' });
    const answer = await whoIs(jwt);
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({
      subject: 'u1',
      role: 'admin',
      via: 'portal',
      scope: 'write',
      verifiedEmail: 'ann@example.com',
      name: 'Ann',
    });
  });

  test.each<[string, Record<string, unknown>, string | undefined]>([
    ['an address that is verified', { email: 'a@b.example', email_verified: true }, 'a@b.example'],
    ['one verified in words', { email: 'a@b.example', email_verified: 'true' }, 'a@b.example'],
    ['one that is not', { email: 'a@b.example', email_verified: false }, undefined],
    ['one of which nothing is said', { email: 'a@b.example' }, undefined],
    ['one that is no text', { email: ['a@b.example'], email_verified: true }, undefined],
    ['an empty one', { email: '', email_verified: true }, undefined],
    ['one verified by a number', { email: 'a@b.example', email_verified: 1 }, undefined],
  ])('counts with %s', async (_what, claims, verifiedEmail) => {
    const { body } = await whoIs(await issuer.sign({ role: 'admin', ...claims }));
    expect((body as { verifiedEmail?: string }).verifiedEmail).toBe(verifiedEmail);
  });

  test.each([5, ['Ann'], {}, null, ''])('with %j for a name has none', async (name) => {
    expect((await whoIs(await issuer.sign({ name }))).body).not.toHaveProperty('name');
  });

  test('without a role is a client’s', async () => {
    expect((await whoIs(await issuer.sign())).body).toMatchObject({ role: 'client' });
  });

  test.each<[string, Record<string, unknown> | (() => Record<string, unknown>)]>([
    ['for another audience', { aud: 'somebody-else' }],
    ['for no audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://login.example.com' }],
    ['of no issuer', { iss: undefined }],
    ['that has lapsed', () => ({ exp: at(-31) })],
    ['that never lapses', { exp: undefined }],
    ['that is not valid yet', () => ({ nbf: at(600) })],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['with a number for a subject', { sub: 5 as unknown as string }],
    ['with nothing for a subject', { sub: null as unknown as string }],
    ['with a list for a subject', { sub: ['u1'] as unknown as string }],
  ])('%s is refused', async (_what, claims) => {
    const made = typeof claims === 'function' ? claims() : claims;
    expect(outcome(await whoIs(await issuer.sign(made)))).toStrictEqual([401, 'Invalid token']);
  });

  test.each<[string, () => Record<string, unknown>]>([
    ['lapsed', () => ({ exp: at(-10) })],
    ['will be valid', () => ({ nbf: at(25) })],
    ['is for several audiences', () => ({ aud: ['other', audience] })],
  ])('that %s within the leeway or among others is taken', async (_what, claims) => {
    expect((await whoIs(await issuer.sign(claims()))).status).toBe(200);
  });

  test.each<[string, () => Promise<string> | string]>([
    ['without a signature', () => new UnsecuredJWT({ sub: 'u', iss: issuer.url, aud: audience, exp: 9_999_999_999 }).encode()],
    [
      'signed with a shared secret',
      () =>
        new SignJWT({ sub: 'u', iss: issuer.url, aud: audience, exp: 9_999_999_999 })
          .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
          .sign(new TextEncoder().encode('a secret that is long enough for it')),
    ],
    ['signed with another key', async () => issuer.sign({}, { key: (await generateKeyPair('ES256')).privateKey })],
    ['that names a key that is not there', () => issuer.sign({}, { header: { kid: 'nobody’s' } })],
    [
      'whose claims were changed',
      async () => {
        const [head, , signature] = (await issuer.sign()).split('.');
        const claims = Buffer.from(
          JSON.stringify({ sub: 'u', role: 'admin', iss: issuer.url, aud: audience, exp: 9_999_999_999 }),
        );
        return `${head ?? ''}.${claims.toString('base64url')}.${signature ?? ''}`;
      },
    ],
    ['that is cut off', async () => (await issuer.sign()).slice(0, -5)],
    ['that is nonsense', () => 'nonsense'],
    ['that is three words', () => 'a.b.c'],
    ['that is a personal access token', () => portal.mintToken()],
  ])('%s is refused', async (_what, make) => {
    expect(outcome(await whoIs(await make()))).toStrictEqual([401, 'Invalid token']);
  });

  test('is refused under /v1, and told where it belongs', async () => {
    const answer = await whoIs(await issuer.sign(), '/v1/whoami');
    expect(outcome(answer)).toStrictEqual([401, 'Invalid token']);
    expect(answer.body).toMatchObject({ code: 'invalid_token', details: { hint: expect.stringContaining('without /v1') } });
  });

  test('a personal access token in its place is told where it belongs', async () => {
    const answer = await whoIs(await portal.mintToken());
    expect(answer.body).toMatchObject({ code: 'invalid_token', details: { hint: expect.stringContaining('with /v1') } });
  });

  test.each(['', 'Basic YTpi', 'Bearer', 'Bearer  ', 'bearer', 'abc', 'Bearerabc'])(
    '%j is no bearer credential: it is missing',
    async (authorization) => {
      const refused = async (path: string) => outcome(await portal.call('GET', path, { headers: { authorization } }));
      expect(await refused('/whoami')).toStrictEqual([401, 'No Authorization header']);
      expect(await refused('/v1/whoami')).toStrictEqual([401, 'Missing token']);
    },
  );

  test.each(['Bearer a b', 'Bearer eyJ', 'Bearer svc_pat_'])('%j is one that is not valid', async (authorization) => {
    for (const path of ['/whoami', '/v1/whoami']) {
      expect(outcome(await portal.call('GET', path, { headers: { authorization } }))).toStrictEqual([401, 'Invalid token']);
    }
  });

  test('is missing: 401 says so, and how to authenticate', async () => {
    const answer = await whoIs(undefined);
    expect(outcome(answer)).toStrictEqual([401, 'No Authorization header']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('that was taken a minute ago is checked again, and lapses', async () => {
    const jwt = await issuer.sign({ exp: Math.floor(clock.now() / 1_000) + 50 });
    expect((await whoIs(jwt)).status).toBe(200);
    clock.shift(81_000);
    expect(outcome(await whoIs(jwt))).toStrictEqual([401, 'Invalid token']);
    clock.shift(-81_000);
  });

  test('is no credential where no issuer is set', async () => {
    const closed = await startApi({ routes: () => [whoami], projector: false });
    expect(
      outcome(await closed.call('GET', '/whoami', { headers: { authorization: `Bearer ${await issuer.sign()}` } })),
    ).toStrictEqual([401, 'Invalid token']);
  });
});

test('an answer whose line for the log cannot be made leaves a fault in the log, and the process goes on', async () => {
  // What no issuer's adapter lets through: the index of a subject is made of text alone.
  const identity = { subject: 5 as unknown as string, role: 'admin' } as const;
  const api = await startApi({
    identityProvider: { identify: () => Promise.resolve(identity), exists: () => Promise.resolve(true) },
    routes: () => [whoami],
    projector: false,
  });
  const jwt = await issuer.sign();
  const call = () => api.call('GET', '/whoami', { headers: { authorization: `Bearer ${jwt}` } });
  const answer = await call();
  expect(answer.status).toBe(200);
  const fault = await eventually('the fault', () => api.log.find(({ msg }) => msg === 'a request could not be logged'));
  expect(fault).toMatchObject({ level: 'error', requestId: answer.headers.get('x-request-id') });
  expect((await call()).status).toBe(200);
});

describe('the role claim', () => {
  test.each<[string, string[], Record<string, unknown>, string]>([
    ['a list with admin', ['role'], { role: ['editor', 'admin'] }, 'admin'],
    ['a list without', ['role'], { role: ['editor'] }, 'client'],
    ['another word', ['role'], { role: 'Admin' }, 'client'],
    ['an object', ['role'], { role: { admin: true } }, 'client'],
    ['a number', ['role'], { role: 1 }, 'client'],
    ['inside objects', ['realm', 'roles'], { realm: { roles: ['admin'] } }, 'admin'],
    ['inside what is no object', ['realm', 'roles'], { realm: 'admin' }, 'client'],
    ['a name with dots', ['https://doorstep', 'example/role'], { 'https://doorstep.example/role': 'admin' }, 'admin'],
    ['what every object has', ['constructor', 'name'], {}, 'client'],
  ])('%s', async (_what, roleClaim, claims, role) => {
    trust({ kind: 'none' }, roleClaim);
    expect((await whoIs(await issuer.sign(claims))).body).toMatchObject({ role });
  });
});

describe('the issuer', () => {
  test('is asked once, not for every request', async () => {
    trust();
    const jwt = await issuer.sign();
    for (let count = 0; count < 3; count += 1) await whoIs(jwt);
    await whoIs(await issuer.sign({ sub: 'other' }));
    expect(issuer.asked).toStrictEqual(['/.well-known/openid-configuration', '/keys']);
  });

  test('takes a new key into use: tokens of both are taken, then of the new one only', async () => {
    trust();
    const old = await issuer.sign({ sub: 'old' });
    expect((await whoIs(old)).status).toBe(200);
    await issuer.rotate(true);
    expect((await whoIs(await issuer.sign({ sub: 'new' }))).status).toBe(200);
    await issuer.rotate(false);
    expect((await whoIs(await issuer.sign({ sub: 'newer' }))).status).toBe(200);
    clock.shift(61_000);
    expect(outcome(await whoIs(old))).toStrictEqual([401, 'Invalid token']);
    clock.shift(-61_000);
  });

  test('is not flooded by tokens that name unknown keys', async () => {
    trust({ kind: 'none' }, ['role'], 60_000);
    await whoIs(await issuer.sign());
    for (let count = 0; count < 5; count += 1) await whoIs(await issuer.sign({}, { header: { kid: `unknown-${count}` } }));
    expect(issuer.asked.filter((path) => path === '/keys')).toHaveLength(1);
  });

  test.each(['broken', 'elsewhere'] as const)('that is %s: 503, not 401, and all is well once it is back', async (how) => {
    trust();
    const { url } = issuer;
    if (how === 'broken') issuer.broken = true;
    // What stands there describes itself as another issuer.
    else (issuer as { url: string }).url = 'https://login.example.com';
    const jwt = await issuer.sign({ iss: url });
    const answer = await whoIs(jwt);
    expect(outcome(answer)).toStrictEqual([503, 'The identity provider cannot be reached']);
    expect(answer.headers.get('retry-after')).toBe('1');
    issuer.broken = false;
    (issuer as { url: string }).url = url;
    expect((await whoIs(jwt)).status).toBe(200);
  });

  test('that is down locks nobody out, nor lets nonsense in: its keys count until others can be loaded', async () => {
    trust();
    expect((await whoIs(await issuer.sign())).status).toBe(200);
    issuer.broken = true;
    let shiftedMs = 0;
    // The keys and the discovery document become stale, one after the other and again.
    for (const afterMs of [0, 660_000, 3_700_000, 7_400_000]) {
      clock.shift(afterMs - shiftedMs);
      shiftedMs = afterMs;
      const jwt = await issuer.sign({ sub: `after ${afterMs}` }, { now: clock.now() });
      expect([afterMs, (await whoIs(jwt)).status]).toStrictEqual([afterMs, 200]);
      expect((await whoIs('nonsense')).status).toBe(401);
    }
    expect(issuer.asked.filter((path) => path === '/keys').length).toBeGreaterThan(1);
    clock.shift(-shiftedMs);
  });

  test('whose keys alone are down locks nobody out, and is not asked by every request', async () => {
    trust();
    await whoIs(await issuer.sign());
    issuer.keysBroken = true;
    clock.shift(3_700_000);
    for (const sub of ['one', 'two', 'three']) {
      expect((await whoIs(await issuer.sign({ sub }, { now: clock.now() }))).status).toBe(200);
    }
    expect(issuer.asked.filter((path) => path === '/keys')).toHaveLength(2);
    clock.shift(-3_700_000);
  });

  test('that withdraws a key: its tokens are refused when the keys are loaded again', async () => {
    trust();
    const old = await issuer.sign({ exp: at(3_600) });
    expect((await whoIs(old)).status).toBe(200);
    await issuer.rotate(false);
    clock.shift(660_000);
    expect(outcome(await whoIs(old))).toStrictEqual([401, 'Invalid token']);
    clock.shift(-660_000);
  });

  test('that takes questions and never answers: 503 within its time', async () => {
    trust({ kind: 'none' }, ['role'], 0, {
      now: () => clock.now(),
      schedule: (delayMs, task) => systemClock.schedule(delayMs / 100, task),
    });
    issuer.silent = true;
    expect(outcome(await whoIs(await issuer.sign()))).toStrictEqual([503, 'The identity provider cannot be reached']);
  });

  test('whose keys cannot be had: 503', async () => {
    trust();
    await whoIs(await issuer.sign());
    issuer.broken = true;
    const answer = await whoIs(await issuer.sign({}, { header: { kid: 'unknown' } }));
    expect(outcome(answer)).toStrictEqual([503, 'The identity provider cannot be reached']);
  });
});
