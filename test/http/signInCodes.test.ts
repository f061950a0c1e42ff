import { describe, expect, test } from '@jest/globals';
import { ProviderFault } from '../../src/integrations/fault.js';
import { newestMail } from '../support/outbox.js';
import { beginSignIn, codeIn, createBrowser, linkIn, pressLink, titleOf, type Page } from '../support/signIn.js';
import { baseUrl, callback, somebody, startSignInService } from '../support/signInService.js';

/** The mail that a person asks for, and its code. */

/** While set, no mail can be sent. */
let mailFault: ProviderFault | undefined;
const { clock, outbox, place, portal, askForMail, signIn } = await startSignInService({
  email: (own) => ({ ...own, send: (mail) => (mailFault === undefined ? own.send(mail) : Promise.reject(mailFault)) }),
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

  test('may be guessed ten times an hour for an address by one sender, in whatever browsers', async () => {
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
    expect((await pressLink(browser, mail)).url).toMatch(callback);
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
