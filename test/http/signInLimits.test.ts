import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { senderIn } from '../../src/platform/publicAddress.js';
import { startApi, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { createTestOutbox, newestMail } from '../support/outbox.js';
import { codeIn } from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * What nobody has to sign in for is limited by sender; the test is the proxy that tells who that
 * is.
 */

/** Stands still: nothing is allowed anew while a test counts. */
let now = Date.now();
const clock: Clock = { ...systemClock, now: () => now };
const baseUrl = 'https://doorstep.test';
let api: RunningApi;
let outbox: ReturnType<typeof createTestOutbox>;

beforeAll(async () => {
  outbox = createTestOutbox({ folder: join(temporaryFolder(), 'outbox'), clock });
  api = await startApi({
    clock,
    signIn: (engine) => createTestIdentity(engine, { email: outbox, baseUrl: () => baseUrl }),
  });
});

const authorize = `/oidc/authorize?${new URLSearchParams({
  client_id: 'doorstep-portal',
  redirect_uri: `${baseUrl}/auth/callback`,
  response_type: 'code',
  scope: 'openid',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
}).toString()}`;

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly cookie?: string;
}

const ask = async (sender: string, { path, method = 'GET', form, cookie = '' }: Asked): Promise<Response> =>
  fetch(api.url + path, {
    method,
    redirect: 'manual',
    headers: { 'x-forwarded-for': `198.51.100.1, ${sender}`, cookie },
    ...(form !== undefined && { body: new URLSearchParams(form) }),
  });

/** The statuses of so many requests, of which some are under way at the same time. */
const askOften = async (times: number, sender: string, asked: Asked): Promise<Readonly<Record<number, number>>> => {
  const statuses: Record<number, number> = {};
  let left = times;
  const askOn = async (): Promise<void> => {
    while ((left -= 1) >= 0) {
      const { status } = await ask(sender, asked);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 32 }, askOn));
  return statuses;
};

/** What a browser would send on. */
const cookiesOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .join('; ');

describe('attempts to sign in', () => {
  test('300 may begin at once, and one more each second; others are not held up', async () => {
    expect((await ask('93.184.216.1', { path: authorize })).status).toBe(303);
    // Refused for what they are, which is told at once.
    expect(await askOften(310, '93.184.216.1', { path: '/oidc/authorize' })).toStrictEqual({ 400: 299, 429: 11 });
    const refused = await ask('93.184.216.1', { path: authorize });
    expect([refused.status, refused.headers.get('retry-after')]).toStrictEqual([429, '1']);
    expect(refused.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await refused.text()).toContain('Too many attempts');
    expect((await ask('93.184.216.2', { path: authorize })).status).toBe(303);
    expect((await ask('93.184.216.1', { path: '/oidc/jwks' })).status).toBe(200);

    now += 1_000;
    expect(await askOften(2, '93.184.216.1', { path: authorize })).toStrictEqual({ 303: 1, 429: 1 });
  });

  test.each(['/authorize/', '/AUTHORIZE', '/%61uthorize', '//authorize', '/sign-out', '/sign-out/'])(
    'written as %s, a request keeps nothing beyond that',
    async (path) => {
      expect([400, 404, 429]).toContain((await ask('93.184.216.1', { path: authorize.replace('/authorize', path) })).status);
    },
  );

  test('signing out where nobody is signed in keeps nothing for longer than an attempt', async () => {
    const { headers } = await ask('93.184.216.3', { path: '/oidc/sign-out' });
    const session = headers.getSetCookie().find((line) => line.includes('doorstep_session=')) ?? '';
    const expires = Date.parse(/expires=([^;]+)/.exec(session)?.[1] ?? '');
    expect(expires - Date.now()).toBeGreaterThan(0);
    expect(expires - Date.now()).toBeLessThanOrEqual(30 * 60_000);
  });

  test('a clock that is set back locks nobody out', async () => {
    now += 3_600_000;
    expect((await ask('93.184.216.4', { path: authorize })).status).toBe(303);
    now -= 3_600_000;
    expect((await ask('93.184.216.4', { path: authorize })).status).toBe(303);
  });
});

/** The form for an address. */
const begin = async (sender: string): Promise<Asked> => {
  const begun = await ask(sender, { path: authorize });
  return { path: new URL(begun.headers.get('location') ?? '').pathname, method: 'POST', cookie: cookiesOf(begun) };
};

describe('mails', () => {
  test('200 may be asked for at once from one place, to whomever', async () => {
    const [mail, other] = [await begin('93.184.216.5'), await begin('93.184.216.6')];
    const form = { email: 'somebody@example.com' };
    // The first five are sent, the attempt has no more of them.
    const statuses = await askOften(200, '93.184.216.5', { ...mail, form });
    expect(statuses).toStrictEqual({ 303: 5, 429: 195 });
    const refused = await ask('93.184.216.5', { ...(await begin('93.184.216.5')), form: { email: 'nobody@example.com' } });
    expect([refused.status, refused.headers.get('retry-after')]).toStrictEqual([429, '10']);
    expect(await refused.text()).toContain('from your network');
    expect((await ask('93.184.216.6', { ...other, form: { email: 'nobody@example.com' } })).status).toBe(303);
  });

  test('nobody alone can use up those of another person', async () => {
    const form = { email: 'victim@example.com' };
    const send = async (sender: string): Promise<Response> => ask(sender, { ...(await begin(sender)), form });
    for (let count = 0; count < 5; count += 1) expect((await send('93.184.216.7')).status).toBe(303);
    const refused = await send('93.184.216.7');
    expect([refused.status, refused.headers.get('retry-after')]).toStrictEqual([429, '900']);
    for (const sender of ['93.184.216.8', '93.184.216.9']) {
      for (let count = 0; count < 5; count += 1) expect((await send(sender)).status).toBe(303);
    }
    // And nobody's mailbox is flooded.
    expect((await send('93.184.216.10')).status).toBe(429);
  });
});

describe('wrong codes', () => {
  const email = 'admin@example.com';

  /** The form for the code of a mail. */
  const askForMail = async (sender: string): Promise<Asked> => {
    const asked = await begin(sender);
    expect((await ask(sender, { ...asked, form: { email } })).status).toBe(303);
    return { ...asked, path: `${asked.path}/code` };
  };

  /** Five in a row for each mail. */
  const guess = async (sender: string, mails: number): Promise<readonly number[]> => {
    const statuses: number[] = [];
    for (let mail = 0; mail < mails; mail += 1) {
      const asked = await askForMail(sender);
      for (let count = 0; count < 5; count += 1) {
        statuses.push((await ask(sender, { ...asked, form: { code: 'not it' } })).status);
      }
    }
    return statuses;
  };

  /** Begins anew, with a mail that is newer than all others. */
  const signIn = async (sender: string): Promise<Response> => {
    now += 1_000;
    const asked = await askForMail(sender);
    const mail = await newestMail(outbox, email);
    return ask(sender, { ...asked, form: { code: codeIn(mail) } });
  };

  test('of one sender keep nobody else from signing in; those of all are limited as well', async () => {
    expect(await guess('93.184.216.20', 3)).toStrictEqual([...Array<number>(10).fill(400), ...Array<number>(5).fill(429)]);
    const refused = await signIn('93.184.216.20');
    expect([refused.status, refused.headers.get('retry-after')]).toStrictEqual([429, '3600']);
    expect((await signIn('93.184.216.21')).status).toBe(303);

    for (const sender of ['93.184.216.22', '93.184.216.23']) {
      now += 16 * 60_000;
      expect(await guess(sender, 2)).toStrictEqual(Array<number>(10).fill(400));
    }
    expect((await signIn('93.184.216.24')).status).toBe(429);
    now += 61 * 60_000;
    expect((await signIn('93.184.216.20')).status).toBe(303);
  });
});

test('requests for tokens: 600 may be refused, then nothing is looked at', async () => {
  const asked: Asked = {
    path: '/oidc/token',
    method: 'POST',
    form: { client_id: 'doorstep-portal' },
  };
  expect(await askOften(600, '93.184.216.11', asked)).toStrictEqual({ 400: 600 });
  const refused = await ask('93.184.216.11', asked);
  expect([refused.status, refused.headers.get('retry-after')]).toStrictEqual([429, '1']);
  expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
  expect((await ask('93.184.216.12', asked)).status).toBe(400);
}, 20_000);

const requestFrom = (remoteAddress: string, headers: IncomingHttpHeaders = {}): Parameters<typeof senderIn>[0] => ({
  socket: { remoteAddress },
  headers,
});

test.each([
  ['an IPv4 address', '93.184.216.1', '93.184.216.1', '93.184.216.2'],
  ['an IPv4 address on a socket for both', '::ffff:93.184.216.1', '93.184.216.1', '::ffff:93.184.216.2'],
  ['a network of IPv6', '2606:4700::1', '2606:4700:0:0:1:2:3:4', '2606:4700:0:1::1'],
  ['a short one', '2606::', '2606::ffff:1.1.1.1', '2607::'],
])('a sender is %s', (_what, one, same, other) => {
  const senderOf = (address: string): string => senderIn(requestFrom(address));
  expect(senderOf(one)).toBe(senderOf(same));
  expect(senderOf(one)).not.toBe(senderOf(other));
});

test('what a sender from outside says of itself is not believed', () => {
  const senderOf = (peer: string): string => senderIn(requestFrom(peer, { 'x-forwarded-for': '10.0.0.1, 1.1.1.1' }));
  expect(senderOf('93.184.216.34')).toBe('93.184.216.34');
  expect(senderOf('::ffff:10.0.0.7')).toBe('1.1.1.1');
});
