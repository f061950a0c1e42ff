import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createOidcIssuer } from '../../src/integrations/identity/oidcIssuer.js';
import type { IdentityProvider, TokenResource } from '../../src/integrations/identity/port.js';
import type { SubjectCheck } from '../../src/platform/settings/auth.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { audience, startTestIssuer, type TestIssuer } from '../support/oidcIssuer.js';
import { probe } from '../support/probeRoutes.js';
import { createShiftedClock } from '../support/shiftedClock.js';

let issuer: TestIssuer;
const clock = createShiftedClock();

/** One API for all: how its issuer is asked is changed from test to test. */
let portal: RunningApi;
let provider: IdentityProvider;
/** What tokens are used for. */
let resource: TokenResource;

const trust = (subjectCheck: SubjectCheck): void => {
  provider = createOidcIssuer({ url: issuer.url, audience, roleClaim: ['role'], subjectCheck }, { clock });
};

const whoIs = (jwt: string): Promise<ApiAnswer> => portal.call('GET', '/whoami', { headers: { authorization: `Bearer ${jwt}` } });

const outcome = ({ status, body }: ApiAnswer): unknown => [status, (body as { error?: string }).error ?? 'let in'];

beforeAll(async () => {
  issuer = await startTestIssuer();
  portal = await startApi({
    identityProvider: {
      identify: (token) => provider.identify(token),
      exists: (identity, token) => provider.exists(identity, token, resource),
    },
    routes: () => [probe({ path: '/whoami', answer: ({ caller }) => Promise.resolve({ body: caller }) })],
    clock,
    projector: false,
  });
});

afterAll(() => issuer.stop());

beforeEach(() => {
  resource = 'api';
  issuer.broken = false;
  issuer.offersUserinfo = true;
  issuer.userinfoWithoutOpenid = undefined;
  issuer.deletedSubjects.clear();
  issuer.inactiveSubjects.clear();
  issuer.asked.length = 0;
});

describe('Your session is stale', () => {
  const checks: readonly [string, () => SubjectCheck][] = [
    ['userinfo', () => ({ kind: 'userinfo' })],
    ['scim', () => ({ kind: 'scim', url: issuer.scimUrl })],
  ];

  test.each(checks)('for a client who is gone, as %s tells', async (_kind, check) => {
    trust(check());
    issuer.deletedSubjects.add('gone');
    expect(outcome(await whoIs(await issuer.sign({ sub: 'gone' })))).toStrictEqual([401, 'Your session is stale']);
    expect((await whoIs(await issuer.sign({ sub: 'there' }))).status).toBe(200);
  });

  test.each(checks)('within a minute after they went, as %s tells', async (_kind, check) => {
    trust(check());
    const jwt = await issuer.sign({ sub: 'leaving', exp: Math.floor(clock.now() / 1_000) + 600 });
    expect((await whoIs(jwt)).status).toBe(200);
    const asked = issuer.asked.length;
    expect((await whoIs(jwt)).status).toBe(200);
    expect(issuer.asked).toHaveLength(asked);
    issuer.deletedSubjects.add('leaving');
    clock.shift(60_000);
    expect(outcome(await whoIs(jwt))).toStrictEqual([401, 'Your session is stale']);
    clock.shift(-60_000);
  });

  test.each(checks)('many requests at once ask %s once, and again after a fault', async (_kind, check) => {
    trust(check());
    const jwt = await issuer.sign({ sub: 'busy' });
    const atOnce = async () => (await Promise.all(Array.from({ length: 5 }, () => whoIs(jwt)))).map(({ status }) => status);
    await whoIs(await issuer.sign({ sub: 'boss', role: 'admin' }));
    issuer.asked.length = 0;
    issuer.broken = true;
    expect(await atOnce()).toStrictEqual(Array(5).fill(503));
    issuer.broken = false;
    issuer.asked.length = 0;
    expect(await atOnce()).toStrictEqual(Array(5).fill(200));
    expect(issuer.asked).toHaveLength(1);
  });

  test.each(checks)('is never asked for admins by %s', async (_kind, check) => {
    trust(check());
    issuer.deletedSubjects.add('boss');
    expect((await whoIs(await issuer.sign({ sub: 'boss', role: 'admin' }))).status).toBe(200);
  });

  test('for a client who is no longer active, as scim tells', async () => {
    trust({ kind: 'scim', url: issuer.scimUrl });
    issuer.inactiveSubjects.add('asleep');
    expect(outcome(await whoIs(await issuer.sign({ sub: 'asleep' })))).toStrictEqual([401, 'Your session is stale']);
  });

  test.each(checks)('503 when %s cannot be asked', async (_kind, check) => {
    trust(check());
    await whoIs(await issuer.sign({ sub: 'boss', role: 'admin' }));
    issuer.broken = true;
    expect(outcome(await whoIs(await issuer.sign({ sub: 'client' })))).toStrictEqual([
      503,
      'The identity provider cannot be reached',
    ]);
  });

  describe('of a token that userinfo does not take', () => {
    const [lacking, invalid] = [
      { status: 403, error: 'insufficient_scope' },
      { status: 401, error: 'invalid_token' },
    ];

    test.each([
      ['which is said', lacking, {}],
      ['which is said, and its scopes are stated', lacking, { scope: 'mcp' }],
      ['which is not said, without the scope for it', invalid, { scope: 'mcp' }],
      ['which is not said, without the scope for it in a list', invalid, { scp: ['mcp'] }],
    ])('nothing is known, %s, and at /mcp alone somebody is let in', async (_how, refusal, claims) => {
      trust({ kind: 'userinfo' });
      issuer.userinfoWithoutOpenid = refusal;
      const jwt = await issuer.sign(claims);
      expect(outcome(await whoIs(jwt))).toStrictEqual([401, 'Your session is stale']);
      resource = 'mcp';
      expect((await whoIs(jwt)).status).toBe(200);
    });

    test('is told all the same when userinfo takes it', async () => {
      trust({ kind: 'userinfo' });
      expect((await whoIs(await issuer.sign({ scope: 'mcp' }))).status).toBe(200);
      issuer.userinfoWithoutOpenid = { status: 404, error: 'no_such_user' };
      expect(outcome(await whoIs(await issuer.sign({ scope: 'mcp', sub: 'gone' })))).toStrictEqual([
        401,
        'Your session is stale',
      ]);
    });

    test.each([
      ['a token that states no scopes', invalid, {}, [401, 'Your session is stale']],
      ['another refusal', { status: 403, error: 'access_denied' }, {}, [503, 'The identity provider cannot be reached']],
    ])('nobody is let in for %s', async (_what, refusal, claims, expected) => {
      trust({ kind: 'userinfo' });
      resource = 'mcp';
      issuer.userinfoWithoutOpenid = refusal;
      expect(outcome(await whoIs(await issuer.sign(claims)))).toStrictEqual(expected);
    });

    test('a client who is gone is stale with the scope for it', async () => {
      trust({ kind: 'userinfo' });
      issuer.deletedSubjects.add('gone');
      const jwt = await issuer.sign({ sub: 'gone', scope: 'openid mcp' });
      expect(outcome(await whoIs(jwt))).toStrictEqual([401, 'Your session is stale']);
    });
  });

  test('is not asked of an issuer that offers no userinfo', async () => {
    issuer.offersUserinfo = false;
    trust({ kind: 'userinfo' });
    issuer.deletedSubjects.add('gone');
    expect((await whoIs(await issuer.sign({ sub: 'gone' }))).status).toBe(200);
  });
});
