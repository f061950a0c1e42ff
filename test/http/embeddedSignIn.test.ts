import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify, UnsecuredJWT, type JSONWebKeySet } from 'jose';
import * as client from 'openid-client';
import { ProviderFault } from '../../src/integrations/fault.js';
import type { EmailSender, Outbox, OutboxMail } from '../../src/integrations/email/port.js';
import type { EmbeddedIdentity } from '../../src/integrations/identity/embedded.js';
import { ReadModelStoreUnavailable, type RecordStore } from '../../src/projections/store/readModelStore.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { createTestOutbox, newestMail } from '../support/outbox.js';
import { createShiftedClock } from '../support/shiftedClock.js';
import {
  beginSignIn,
  codeIn,
  createBrowser,
  discover,
  finishSignIn,
  linkIn,
  type Attempt,
  type Browser,
  type Page,
  type Place,
} from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

const clock = createShiftedClock();
const baseUrl = 'https://doorstep.test';
const callback = `${baseUrl}/auth/callback`;
const place: Place = { baseUrl, via: () => api.url };
const portalOrigin = 'https://portal.example.com';
let api: RunningApi;
let outbox: EmailSender & Outbox;
let isStoreAway = false;
/** While set, no mail can be sent. */
let mailFault: ProviderFault | undefined;
let identity: EmbeddedIdentity;
let portal: client.Configuration;

beforeAll(async () => {
  outbox = createTestOutbox({ folder: join(temporaryFolder(), 'outbox'), clock });
  api = await startApi({
    clock,
    holders: [
      {
        forget: (address, person) => identity.identityProvider.forget?.(address, person) ?? Promise.reject(new Error('not ours')),
      },
    ],
    signIn: (engine) =>
      (identity = createTestIdentity(engine, {
        records: mayBeAway(engine.readModels.records),
        email: {
          ...outbox,
          send: (mail) => (mailFault === undefined ? outbox.send(mail) : Promise.reject(mailFault)),
        },
        logsSignInCodes: true,
        baseUrl: () => baseUrl,
        origins: [portalOrigin],
        adminEmails: ['admin@doorstep.local'],
      })),
  });
  portal = await discover(place);
});

const mayBeAway = (records: RecordStore): RecordStore => ({
  get: (...asked) => (isStoreAway ? away() : records.get(...asked)),
  insert: (...asked) => (isStoreAway ? away() : records.insert(...asked)),
  replace: (...asked) => (isStoreAway ? away() : records.replace(...asked)),
  put: (...asked) => (isStoreAway ? away() : records.put(...asked)),
  delete: (...asked) => (isStoreAway ? away() : records.delete(...asked)),
  purgeExpired: (...asked) => records.purgeExpired(...asked),
  entries: () => records.entries(),
});
const away = (): Promise<never> => Promise.reject(new ReadModelStoreUnavailable('away'));

let people = 0;
/** An address that nobody had: limits are by address. */
const somebody = (): string => `person-${(people += 1)}@example.com`;

/** Up to the page that asks for the code. */
const askForMail = async (
  email: string,
  browser: Browser = createBrowser(place),
  extra: Readonly<Record<string, string>> = {},
): Promise<{ attempt: Attempt; browser: Browser; page: Page; mail: OutboxMail }> => {
  const attempt = await beginSignIn(portal, callback, extra);
  const first = await browser.get(attempt.url);
  expect(first.text).toContain('E-mail address');
  const page = await browser.post(first.url, { email });
  expect(page.text).toContain('Look at your mail');
  return { attempt, browser, page, mail: await newestMail(outbox, email) };
};

const signIn = async (email: string, browser?: Browser, extra?: Readonly<Record<string, string>>) => {
  const { attempt, browser: used, page, mail } = await askForMail(email, browser, extra);
  const end = await used.post(page.url, { code: codeIn(mail) });
  return { browser: used, tokens: await finishSignIn(portal, attempt, end.url) };
};

const me = (accessToken: string, path = '/me'): Promise<ApiAnswer> =>
  api.call('GET', path, { headers: { authorization: `Bearer ${accessToken}` } });

const titleOf = ({ text }: Page): string => /<title>(.*?) – Doorstep<\/title>/.exec(text)?.[1] ?? '';

/** The error that a promise of openid-client ends with. */
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof client.ResponseBodyError ? error.error : error),
  );

describe('sign-in by e-mail', () => {
  test('by code: the portal gets tokens that the API takes, in portal mode only', async () => {
    const email = somebody();
    const { tokens } = await signIn(email);
    const claims = tokens.claims();
    expect(claims).toMatchObject({ email, email_verified: true, role: 'client', aud: 'doorstep-portal' });
    expect(claims?.sub).toMatch(/^user-[0-9a-z]{26}$/);
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    expect((await me(tokens.access_token)).body).toStrictEqual({
      subject: claims?.sub,
      email,
      role: 'client',
      credential: { kind: 'session', scope: 'write' },
      websites: [],
      invitations: [],
    });
    expect((await me(tokens.access_token, '/v1/me')).status).toBe(401);
    // What tells the portal who signed in is no key to the API.
    expect((await me(tokens.id_token ?? '')).status).toBe(401);
  });

  test('by link, in the browser that began: looking at it uses nothing up, the button does', async () => {
    const { attempt, browser, mail } = await askForMail(somebody());
    for (let look = 0; look < 3; look += 1) {
      const page = await browser.get(linkIn(mail));
      expect(page.status).toBe(200);
      expect(page.text).toContain(`<strong>${mail.to}</strong>`);
    }
    const secret = new URL(linkIn(mail)).searchParams.get('secret') ?? '';
    const end = await browser.post(linkIn(mail).split('?')[0] ?? '', { secret });
    expect(end.url).toMatch(`${callback}?code=`);
    expect((await finishSignIn(portal, attempt, end.url)).claims()).toMatchObject({ email: mail.to });
  });

  test('the link that signed in, opened once more in the same browser, says so', async () => {
    const { browser, mail } = await askForMail(somebody());
    const link = linkIn(mail);
    const secret = new URL(link).searchParams.get('secret') ?? '';
    await browser.get(link);
    expect((await browser.post(link.split('?')[0] ?? '', { secret })).url).toMatch(`${callback}?code=`);
    const again = await browser.get(link);
    expect([again.status, titleOf(again)]).toStrictEqual([400, 'This link does not work here']);
    expect(again.text).toContain('If you have used the link before');
    expect(again.text).toContain('Begin again');
  });

  test('the link in another browser leads nowhere, nor does its button; the code does, where it began', async () => {
    const { browser, page, mail } = await askForMail(somebody());
    const other = createBrowser(place);
    const link = linkIn(mail);
    expect(titleOf(await other.get(link))).toBe('This link does not work here');
    const secret = new URL(link).searchParams.get('secret') ?? '';
    const pressed = await other.post(link.split('?')[0] ?? '', { secret });
    expect([pressed.status, titleOf(pressed)]).toStrictEqual([400, 'Begin again']);
    // Not even with the interaction's name, which is in the link: the cookie is signed.
    const uid = new URL(link).pathname.split('/')[3] ?? '';
    const forged = await fetch(`${api.url}/oidc/sign-in/${uid}/link`, {
      method: 'POST',
      headers: { cookie: `doorstep_sign_in=${uid}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ secret }).toString(),
      redirect: 'manual',
    });
    expect(forged.status).toBe(400);
    expect((await browser.post(page.url, { code: codeIn(mail) })).url).toMatch(`${callback}?code=`);
  });

  test('admins are those of ADMIN_EMAILS, however they write it', async () => {
    const { attempt, browser, page } = await (async () => {
      const begun = await beginSignIn(portal, callback);
      const used = createBrowser(place);
      const first = await used.get(begun.url);
      return { attempt: begun, browser: used, page: await used.post(first.url, { email: ' Admin@Doorstep.LOCAL ' }) };
    })();
    const end = await browser.post(page.url, { code: codeIn(await newestMail(outbox, 'admin@doorstep.local')) });
    const { access_token: token } = await finishSignIn(portal, attempt, end.url);
    expect((await me(token)).body).toMatchObject({ role: 'admin', email: 'admin@doorstep.local' });
    expect((await me(token, '/clients')).status).toBe(200);

    // Histories name them by their address.
    const headers = { authorization: `Bearer ${token}` };
    const { body: website } = await api.call('POST', '/websites', { headers, body: { name: 'Zoo', slug: 'zoo' } });
    const { id } = website as { id: string };
    await api.call('PUT', `/websites/${id}/delivery`, { headers, body: {} });
    for (const path of [`/websites/${id}/delivery/history`, `/audit?websiteId=${id}`]) {
      const [entry] = (await me(token, path)).body as { actor: object }[];
      expect(entry?.actor).toMatchObject({ name: 'admin@doorstep.local', role: 'admin', via: 'portal' });
    }
  });

  test('who is taken out of ADMIN_EMAILS has no admin token any more; tokens of clients and of the operator live on', async () => {
    const { tokens } = await signIn('admin@doorstep.local');
    const minted = async (role: string): Promise<string> => {
      const headers = { authorization: `Bearer ${tokens.access_token}` };
      const { body } = await api.call('POST', '/api-keys', { headers, body: { name: 'kept', role } });
      return (body as { token: string }).token;
    };
    const theirs = { admin: await minted('admin'), client: await minted('client') };
    const operators = await api.mintToken({ subject: 'ops@example.com', verifiedEmail: 'ops@example.com' });
    const statusOf = async (at: RunningApi, token: string): Promise<number> => (await at.call('GET', '/me', { token })).status;
    for (const token of [theirs.admin, theirs.client, operators]) expect(await statusOf(api, token)).toBe(200);

    const later = await startApi({
      folder: api.folder,
      projector: false,
      signIn: (engine) =>
        createTestIdentity(engine, { email: outbox, baseUrl: () => baseUrl, adminEmails: ['other@doorstep.local'] }),
    });
    const refused = await later.call('GET', '/me', { token: theirs.admin });
    expect([refused.status, refused.body]).toStrictEqual([401, { error: 'Invalid token', code: 'invalid_token', details: null }]);
    for (const token of [theirs.client, operators]) expect(await statusOf(later, token)).toBe(200);
  });

  test('somebody is the same subject every time, and is asked once in a browser', async () => {
    const email = somebody();
    const { browser, tokens } = await signIn(email);
    const attempt = await beginSignIn(portal, callback);
    const again = await finishSignIn(portal, attempt, (await browser.get(attempt.url)).url);
    const elsewhere = await signIn(email, createBrowser(place));
    expect([again.claims()?.sub, elsewhere.tokens.claims()?.sub]).toStrictEqual([tokens.claims()?.sub, tokens.claims()?.sub]);
    expect(titleOf(await browser.get((await beginSignIn(portal, callback, { prompt: 'login' })).url))).toBe('Sign in');
  });

  test('silently where nobody is signed in: the portal is told', async () => {
    const { url } = await createBrowser(place).get((await beginSignIn(portal, callback, { prompt: 'none' })).url);
    expect(new URL(url).searchParams.get('error')).toBe('login_required');
  });

  test('the address that the portal knows is filled in, as text', async () => {
    const hint = '"><script>alert(1)</script>@example.com';
    const { text } = await createBrowser(place).get((await beginSignIn(portal, callback, { login_hint: hint })).url);
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(text).not.toContain('<script');
  });
});

test('the pages are in the name of the agency, and load its logo and nothing else', async () => {
  const other = await startApi({
    folder: api.folder,
    clock,
    projector: false,
    signIn: (engine) =>
      createTestIdentity(engine, {
        email: outbox,
        brand: { name: 'Smith & Co.', color: '#b4532a', logo: 'https://agency.example.com/logo.svg?v=2&size=48' },
        baseUrl: () => baseUrl,
      }),
  });
  const browser = createBrowser({ baseUrl, via: () => other.url });
  const { text } = await browser.get((await beginSignIn(portal, callback)).url);
  expect(text).toContain('<title>Sign in – Smith &amp; Co.</title>');
  expect(text).toMatch(/<meta\s+name="description"\s+content="Sign in to Smith &amp; Co\./);
  expect(text).toContain('<img src="https://agency.example.com/logo.svg?v=2&amp;size=48" alt="" />');
  expect(text).toContain('--brand: #b4532a;');
  const email = somebody();
  await browser.post((await browser.get((await beginSignIn(portal, callback)).url)).url, { email });
  const mail = await newestMail(outbox, email);
  expect(mail.subject).toBe('Sign in to Smith & Co.');
  expect(mail.html).toContain('background:#b4532a');
  expect(mail.html).toContain('@media (prefers-color-scheme: dark)');
  const page = await other.call('GET', '/oidc/sign-out');
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none';.*img-src https:\/\/agency\.example\.com;/);
  await other.stop();
});

describe('in German', () => {
  const languageOfPage = ({ text }: Page): string => /<html lang="(\w+)">/.exec(text)?.[1] ?? '';
  const headingOf = ({ text }: Page): string => /<h1>(.*?)<\/h1>/.exec(text)?.[1] ?? '';

  test.each([
    ['as the program asks', '*', { ui_locales: 'fr de-AT en' }],
    ['as the browser asks', 'fr, de-CH;q=0.9, en;q=0.8', {}],
    ['as the program asks, not the browser', 'en', { ui_locales: 'de' }],
  ])('%s: from the address to the mail, its link and the end', async (_how, acceptLanguage, extra: Record<string, string>) => {
    const email = somebody();
    const browser = createBrowser(place, acceptLanguage);
    const attempt = await beginSignIn(portal, callback, extra);
    const first = await browser.get(attempt.url);
    expect(languageOfPage(first)).toBe('de');
    expect(first.text).toContain('<label for="email">E-Mail-Adresse</label>');
    expect((await browser.post(first.url, { email: 'nobody' })).text).toContain('Das ist keine E-Mail-Adresse.');
    const page = await browser.post(first.url, { email });
    expect(headingOf(page)).toBe('Sehen Sie in Ihr Postfach');
    expect(page.text).toContain(`an <strong>${email}</strong> gesendet`);
    expect((await browser.post(page.url, { code: '1' })).text).toContain('Das ist nicht der Code aus der neuesten E-Mail.');

    const mail = await newestMail(outbox, email);
    expect(mail.subject).toBe('Anmelden bei Doorstep');
    expect(mail.html).toMatch(/<html[^>]* lang="de"/);
    expect(mail.text).toMatch(
      /Oder geben Sie dort diesen Code ein:\n\n\d{4} \d{4}\n\nBeides gilt nur einmal, bis \d\d:\d\d Uhr UTC\./,
    );
    const elsewhere = await createBrowser(place, 'en').get(linkIn(mail));
    expect([languageOfPage(elsewhere), headingOf(elsewhere)]).toStrictEqual(['de', 'Dieser Link gilt hier nicht']);
    const confirmation = await browser.get(linkIn(mail));
    expect(confirmation.text).toContain(`Sie melden sich als <strong>${email}</strong> an.`);

    const { identityProvider } = identity;
    expect(await identityProvider.languageOf?.(email)).toBeNull();
    const end = await browser.post(page.url, { code: codeIn(mail) });
    await finishSignIn(portal, attempt, end.url);
    expect(await identityProvider.languageOf?.(email)).toBe('de');
    await identityProvider.forget?.(email, `person of ${email}`);
    expect(await identityProvider.languageOf?.(email)).toBeNull();
  });

  test('pages around it: a refused request, an attempt that has ended, signing out', async () => {
    const browser = createBrowser(place);
    const refused = await browser.get(`${baseUrl}/oidc/authorize?client_id=nobody&ui_locales=de`);
    expect([refused.status, languageOfPage(refused), headingOf(refused)]).toStrictEqual([
      400,
      'de',
      'Die Anmeldung ist nicht möglich',
    ]);
    const ended = await browser.get(`${baseUrl}/oidc/sign-in/none?ui_locales=de`);
    expect([ended.status, headingOf(ended)]).toStrictEqual([400, 'Beginnen Sie neu']);
    const signedIn = await signIn(somebody());
    const leaving = await signedIn.browser.get(`${baseUrl}/oidc/sign-out?ui_locales=de`);
    expect([languageOfPage(leaving), headingOf(leaving)]).toStrictEqual(['de', 'Abmelden?']);
    const offered = (await (await fetch(`${api.url}/oidc/.well-known/openid-configuration`)).json()) as object;
    expect(offered).toMatchObject({ ui_locales_supported: ['en', 'de'] });
  });
});

describe('a one-time code', () => {
  test('works once', async () => {
    const { browser, page, mail } = await askForMail(somebody());
    const answers = await Promise.all([1, 2, 3, 4].map(() => browser.post(page.url, { code: codeIn(mail) })));
    expect(answers.filter(({ url }) => url.startsWith(callback))).toHaveLength(1);
    const late = await browser.post(page.url, { code: codeIn(mail) });
    expect(late.status).toBe(400);
  });

  test.each([
    ['without its blank', (code: string) => code.replace(' ', '')],
    ['with blanks around it', (code: string) => ` ${code} `],
    ['with a dash', (code: string) => code.replace(' ', '-')],
  ])('may be typed in %s', async (_how, typed) => {
    const { browser, page, mail } = await askForMail(somebody());
    expect((await browser.post(page.url, { code: typed(codeIn(mail)) })).url).toMatch(callback);
  });

  test('and its link work for 10 minutes', async () => {
    const { browser, page, mail } = await askForMail(somebody());
    clock.shift(9.9 * 60_000);
    expect((await browser.get(linkIn(mail))).status).toBe(200);
    clock.shift(0.2 * 60_000);
    const [link, code] = [await browser.get(linkIn(mail)), await browser.post(page.url, { code: codeIn(mail) })];
    clock.shift(-10.1 * 60_000);
    expect([titleOf(link), titleOf(code)]).toStrictEqual(['Ask for another mail', 'Ask for another mail']);
  });

  test('stops working when another mail is sent', async () => {
    const email = somebody();
    const { browser, page, mail } = await askForMail(email);
    await browser.post(page.url.replace(/\/code$/, ''), { email });
    expect(titleOf(await browser.post(page.url, { code: codeIn(mail) }))).toBe('Problem: Look at your mail');
    expect(titleOf(await browser.get(linkIn(mail)))).toBe('Ask for another mail');
    expect((await browser.post(page.url, { code: codeIn(await newestMail(outbox, email)) })).url).toMatch(callback);
  });

  test('may be guessed five times for a mail, however many guess at once; then only the link works', async () => {
    const { browser, page, mail } = await askForMail(somebody());
    const wrong = codeIn(mail) === '0000 0000' ? '1111 1111' : '0000 0000';
    const guesses = await Promise.all(Array.from({ length: 12 }, () => browser.post(page.url, { code: wrong })));
    expect(guesses.map(({ status }) => status).sort()).toStrictEqual([
      ...Array<number>(5).fill(400),
      ...Array<number>(7).fill(429),
    ]);
    const right = await browser.post(page.url, { code: codeIn(mail) });
    expect([right.status, right.text.includes('Too many codes were tried.')]).toStrictEqual([429, true]);
    expect((await browser.get(linkIn(mail))).status).toBe(200);
  });

  test('may be guessed ten times an hour for an address, in whatever browsers', async () => {
    const email = somebody();
    for (let round = 0; round < 2; round += 1) {
      const { browser, page } = await askForMail(email);
      for (let guess = 0; guess < 5; guess += 1) {
        expect((await browser.post(page.url, { code: 'not it' })).status).toBe(400);
      }
    }
    const { browser, page, mail } = await askForMail(email);
    const locked = await browser.post(page.url, { code: codeIn(mail) });
    expect([locked.status, locked.text.includes('for this address')]).toStrictEqual([429, true]);
    const secret = new URL(linkIn(mail)).searchParams.get('secret') ?? '';
    expect((await browser.post(linkIn(mail).split('?')[0] ?? '', { secret })).url).toMatch(callback);
    clock.shift(61 * 60_000);
    const hourLater = await askForMail(email);
    const end = await hourLater.browser.post(hourLater.page.url, { code: codeIn(hourLater.mail) });
    clock.shift(-61 * 60_000);
    expect(end.url).toMatch(callback);
  });

  test('typed in right uses up no guess', async () => {
    const email = somebody();
    for (let round = 0; round < 3; round += 1) {
      await signIn(email);
      clock.shift(6 * 60_000);
    }
    clock.shift(-18 * 60_000);
    const { browser, page } = await askForMail(email);
    expect((await browser.post(page.url, { code: '12' })).status).toBe(400);
  });
});

describe('a mail', () => {
  test('is sent five times in 15 minutes to an address', async () => {
    const email = somebody();
    for (let count = 0; count < 5; count += 1) await askForMail(email);
    const browser = createBrowser(place);
    const ask = async (): Promise<Page> =>
      browser.post((await browser.get((await beginSignIn(portal, callback)).url)).url, { email });
    const page = await ask();
    expect([page.status, page.text.includes('Too many mails')]).toStrictEqual([429, true]);
    expect(await outbox.list({ to: email, limit: 9 })).toHaveLength(5);
    clock.shift(16 * 60_000);
    const later = await ask();
    clock.shift(-16 * 60_000);
    expect(titleOf(later)).toBe('Look at your mail');
  });

  test('is sent five times for one attempt, whatever the addresses', async () => {
    const { browser, page } = await askForMail(somebody());
    const again = (): Promise<Page> => browser.post(page.url.replace(/\/code$/, ''), { email: somebody() });
    for (let count = 1; count < 5; count += 1) expect(titleOf(await again())).toBe('Look at your mail');
    expect((await again()).status).toBe(429);
  });

  test('goes to whoever is asked for: the page does not tell who is known', async () => {
    const [stranger, known] = [somebody(), somebody()];
    await signIn(known);
    const [one, other] = [await askForMail(stranger), await askForMail(known)];
    const plain = ({ text, url }: Page, email: string): string =>
      text.replaceAll(email, '').replaceAll(url.split('/')[5] ?? '', '');
    expect(plain(one.page, stranger)).toBe(plain(other.page, known));
  });

  test('says what it is, in text as well', async () => {
    const { mail } = await askForMail(somebody());
    expect(mail.subject).toBe('Sign in to Doorstep');
    expect(mail.text).toContain(linkIn(mail));
    expect(mail.html).toContain(codeIn(mail));
    // Subjects are shown on locked screens and written into the logs of mail servers.
    expect(mail.subject).not.toMatch(/\d/);
  });

  test.each([
    '',
    'nobody',
    'a@b@c',
    'a b@example.com',
    'a@example.com\nBcc: b@example.com',
    `${'x'.repeat(250)}@b.de`,
    'a@b\u0000',
  ])('is not sent to %j', async (email) => {
    const browser = createBrowser(place);
    const first = await browser.get((await beginSignIn(portal, callback)).url);
    const page = await browser.post(first.url, { email });
    expect([page.status, titleOf(page)]).toStrictEqual([400, 'Problem: Sign in']);
  });

  test('that cannot be sent: the person is told, and may try again', async () => {
    mailFault = new ProviderFault({ provider: 'test', message: 'no', transient: true });
    const browser = createBrowser(place);
    const first = await browser.get((await beginSignIn(portal, callback)).url);
    const email = somebody();
    for (let count = 0; count < 6; count += 1) {
      const page = await browser.post(first.url, { email });
      expect([page.status, page.text.includes('could not be sent')]).toStrictEqual([503, true]);
    }
    mailFault = undefined;
    expect(titleOf(await browser.post(first.url, { email }))).toBe('Look at your mail');
  });

  test.each(['', '/code', '/link?secret=x'])('and the page %j: only in the browser that began', async (page) => {
    const answer = await createBrowser(place).get(`${baseUrl}/oidc/sign-in/nobodys${page}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('that is no form: the person may begin again', async () => {
    const { browser, page } = await askForMail(somebody());
    expect((await browser.post(page.url, { code: 'x'.repeat(5_000) })).status).toBe(413);
  });
});

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
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const end = await browser.post(`${baseUrl}/oidc/sign-out/confirm`, { xsrf, logout: 'yes' });
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
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(between.text)?.[1] ?? '';
    expect(between.headers.get('content-security-policy')).toMatch(/script-src 'sha256-/);
    const end = await browser.post(action, { xsrf, logout: 'yes' });
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

describe('while the store is away', () => {
  test('nobody is let in or turned away: 503, and all goes on when it is back', async () => {
    const { tokens } = await signIn(somebody());
    const { browser, page, mail } = await askForMail(somebody());
    const refresh = (): Promise<Response> =>
      fetch(`${api.url}/oidc/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id: 'doorstep-portal',
          refresh_token: tokens.refresh_token ?? '',
        }),
      });
    isStoreAway = true;
    const answers = [
      (await me(tokens.access_token)).status,
      (await browser.post(page.url, { code: codeIn(mail) })).status,
      (await createBrowser(place).get((await beginSignIn(portal, callback)).url)).status,
      (await refresh()).status,
    ];
    isStoreAway = false;
    expect(answers).toStrictEqual([503, 503, 503, 503]);
    expect((await refresh()).status).toBe(200);
    expect((await browser.post(page.url, { code: codeIn(mail) })).url).toMatch(callback);
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

describe('a person who is forgotten', () => {
  test('is refused at once, and is another one when they come back', async () => {
    const email = somebody();
    const { browser, tokens } = await signIn(email);
    expect((await me(tokens.access_token)).status).toBe(200);
    await identity.identityProvider.forget?.(email.toUpperCase(), 'the person');

    const stale = await me(tokens.access_token);
    expect([stale.status, stale.body]).toMatchObject([401, { error: 'Your session is stale' }]);
    expect(await errorOf(client.refreshTokenGrant(portal, tokens.refresh_token ?? ''))).toBe('invalid_grant');
    const first = await browser.get((await beginSignIn(portal, callback)).url);
    expect(titleOf(first)).toBe('Sign in');

    const back = await signIn(email);
    expect(back.tokens.claims()?.sub).not.toBe(tokens.claims()?.sub);
    expect((await me(back.tokens.access_token)).status).toBe(200);
    expect((await me(tokens.access_token)).status).toBe(401);

    // An erasure that was cut off is repeated; the newcomer is none of its business.
    await identity.identityProvider.forget?.(email, 'the person');
    expect((await me(back.tokens.access_token)).status).toBe(200);
    await identity.identityProvider.forget?.(email, 'the newcomer');
    expect((await me(back.tokens.access_token)).status).toBe(401);
  });

  test('because their client was erased', async () => {
    const token = await api.mintToken();
    const email = somebody();
    const { body: created } = await api.call('POST', '/clients', { token, body: { email } });
    const { id } = created as { id: string };
    const { tokens } = await signIn(email);
    expect((await me(tokens.access_token)).body).toMatchObject({ client: { id } });
    expect((await api.call('DELETE', `/clients/${id}`, { token })).status).toBe(204);
    expect((await me(tokens.access_token)).body).toMatchObject({ error: 'Your session is stale' });
    expect(await errorOf(client.refreshTokenGrant(portal, tokens.refresh_token ?? ''))).toBe('invalid_grant');
    const back = await signIn(email);
    expect((await me(back.tokens.access_token)).body).toStrictEqual({
      subject: back.tokens.claims()?.sub,
      email,
      role: 'client',
      credential: { kind: 'session', scope: 'write' },
      websites: [],
      invitations: [],
    });
  });
});

describe('what is kept and told', () => {
  test('with a mail server: the log tells nothing', async () => {
    const kept = outbox;
    const silent = await startApi({
      projector: false,
      signIn: (engine, url) =>
        createTestIdentity(engine, {
          email: kept,
          baseUrl: url,
        }),
    });
    const here = { baseUrl: silent.url, via: () => silent.url };
    const url = new URL((await beginSignIn(portal, `${silent.url}/auth/callback`)).url);
    const browser = createBrowser(here);
    const email = somebody();
    const first = await browser.get(silent.url + url.href.slice(baseUrl.length));
    expect(titleOf(await browser.post(first.url, { email }))).toBe('Look at your mail');
    const mail = await newestMail(outbox, email);
    const told = JSON.stringify(silent.log);
    expect(told).toContain('request');
    for (const secret of [codeIn(mail), linkIn(mail), email]) expect(told).not.toContain(secret);
  });

  test('is of no use to whoever reads the files or the log, but for the line that says how to sign in', async () => {
    const email = somebody();
    const { attempt, browser, page, mail } = await askForMail(email);
    const end = await browser.post(page.url, { code: codeIn(mail) });
    const tokens = await finishSignIn(portal, attempt, end.url);
    const secrets = {
      email,
      secret: new URL(linkIn(mail)).searchParams.get('secret') ?? '',
      interaction: new URL(linkIn(mail)).pathname.split('/')[3] ?? '',
      code: new URL(end.url).searchParams.get('code') ?? '',
      access: tokens.access_token,
      refresh: tokens.refresh_token ?? '',
    };
    const files = readdirSync(api.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
    expect(files.some((file) => file.includes('signIn.RefreshToken'))).toBe(true);
    const told = api.log.filter(({ link }) => link === linkIn(mail));
    expect(told).toMatchObject([{ level: 'info', code: codeIn(mail) }]);
    const otherLines = JSON.stringify(api.log.filter(({ link }) => link === undefined));
    for (const [what, secret] of Object.entries(secrets)) {
      expect([what, files.some((file) => file.includes(secret))]).toStrictEqual([what, false]);
      expect([what, otherLines.includes(secret)]).toStrictEqual([what, false]);
    }
  });
});
