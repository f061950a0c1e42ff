import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import { ReadModelStoreUnavailable, type RecordStore } from '../../src/projections/store/readModelStore.js';
import { startApi, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { newestMail } from '../support/outbox.js';
import {
  beginSignIn,
  codeIn,
  createBrowser,
  errorOf,
  finishSignIn,
  linkIn,
  pressLink,
  secretIn,
  titleOf,
  type Page,
} from '../support/signIn.js';
import { baseUrl, callback, somebody, startSignInService } from '../support/signInService.js';

let isStoreAway = false;
const away = (): Promise<never> => Promise.reject(new ReadModelStoreUnavailable('away'));
const mayBeAway = (records: RecordStore): RecordStore => ({
  get: (...asked) => (isStoreAway ? away() : records.get(...asked)),
  insert: (...asked) => (isStoreAway ? away() : records.insert(...asked)),
  replace: (...asked) => (isStoreAway ? away() : records.replace(...asked)),
  put: (...asked) => (isStoreAway ? away() : records.put(...asked)),
  delete: (...asked) => (isStoreAway ? away() : records.delete(...asked)),
  purgeExpired: (...asked) => records.purgeExpired(...asked),
  entries: () => records.entries(),
});
const { api, clock, outbox, identity, place, portal, askForMail, signIn, me } = await startSignInService({ records: mayBeAway });

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
    const end = await pressLink(browser, mail);
    expect(end.url).toMatch(`${callback}?code=`);
    expect((await finishSignIn(portal, attempt, end.url)).claims()).toMatchObject({ email: mail.to });
  });

  test('the link that signed in, opened once more in the same browser, says so', async () => {
    const { browser, mail } = await askForMail(somebody());
    const link = linkIn(mail);
    await browser.get(link);
    expect((await pressLink(browser, mail)).url).toMatch(`${callback}?code=`);
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
    const pressed = await pressLink(other, mail);
    expect([pressed.status, titleOf(pressed)]).toStrictEqual([400, 'Begin again']);
    // Not even with the interaction's name, which is in the link: the cookie is signed.
    const uid = new URL(link).pathname.split('/')[3] ?? '';
    const forged = await fetch(`${api.url}/oidc/sign-in/${uid}/link`, {
      method: 'POST',
      headers: { cookie: `doorstep_sign_in=${uid}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ secret: secretIn(mail) }).toString(),
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
      secret: secretIn(mail),
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
