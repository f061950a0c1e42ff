import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { addressChangeKey } from '../../src/commands/client/addressChange.handlers.js';
import { clientFold, pendingChange } from '../../src/events/client/client.state.js';
import { createEmbeddedOutbox } from '../../src/integrations/email/embedded.js';
import type { EmailSender, Outbox } from '../../src/integrations/email/port.js';
import { createEmbeddedIdentity } from '../../src/integrations/identity/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { expireInvitation } from '../support/expiredInvitation.js';
import { hasChromium, startChromium } from '../support/chromium.js';
import { startApi, type RunningApi } from '../support/http.js';
import { mailsFolder } from '../support/mails.js';
import { codeIn } from '../support/signIn.js';
import { screens } from '../support/storm.js';
import { temporaryFolder } from '../support/temporary.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

let api: RunningApi;
let token: string;
let outbox: EmailSender & Outbox;
beforeAll(async () => {
  outbox = createEmbeddedOutbox({
    folder: join(temporaryFolder(), 'outbox'),
    from: 'no-reply@doorstep.example',
    clock: systemClock,
  });
  api = await startApi({
    signIn: (engine, baseUrl) =>
      createEmbeddedIdentity({
        ...engine,
        mailsFolder,
        records: engine.readModels.records,
        email: outbox,
        logsSignInCodes: false,
        baseUrl,
        origins: [],
        adminEmails: [],
      }),
    environment: { BRAND_NAME: 'Corner Studio' },
  });
  token = await api.mintToken();
});

const fetchPage = (path: string, headers: Readonly<Record<string, string>> = { accept: 'text/html' }) =>
  fetch(api.url + path, { redirect: 'manual', headers });

/** An invitation to a website of this name. */
const invite = async (name: string, email: string): Promise<{ id: string; websiteId: string }> => {
  const { body: website } = await api.call('POST', '/websites', {
    token,
    body: { name, slug: `site-${String(email.indexOf('@'))}` },
  });
  const websiteId = (website as { id: string }).id;
  const added = await api.call('POST', `/websites/${websiteId}/clients`, { token, body: { email, role: 'editor' } });
  expect(added.status).toBe(201);
  return { id: (added.body as { invitation: { id: string } }).invitation.id, websiteId };
};

describe('pages for people', () => {
  test.each([
    ['/', '/app/'],
    ['/app', '/app/'],
    ['/invitations/01abc', '/app/invitations/01abc'],
  ])('%s leads a browser to %s', async (path, target) => {
    const answer = await fetchPage(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, target]);
  });

  test('programs read the invitation itself at the path that browsers are led away from', async () => {
    expect((await fetchPage('/invitations/01abc', { accept: 'application/json' })).status).toBe(401);
    expect((await fetchPage('/invitations/01abc', { accept: 'text/html', authorization: 'Bearer nonsense' })).status).toBe(401);
    expect((await api.call('GET', '/invitations/01abc', { token, headers: { accept: 'text/html' } })).status).toBe(404);
    expect((await api.call('GET', '/', { token })).status).toBe(404);
  });

  test('are framed by a strict policy, and kept by nobody', async () => {
    const { status, headers } = await fetchPage('/app/invitations/01abc');
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('there are no others: 404, a page below /app/, else an error as JSON', async () => {
    expect((await fetchPage('/app/nonsense')).status).toBe(404);
    expect((await fetchPage('/app/assets/../main.ts')).status).toBe(404);
    expect((await fetchPage('/app/assets/secrets.js')).headers.get('content-type')).toMatch(/json/);
    expect((await fetch(`${api.url}/app/`, { method: 'POST' })).status).toBe(404);
  });

  test('their scripts are asked for again and come when they have changed', async () => {
    const first = await fetchPage('/app/assets/main.js');
    const etag = first.headers.get('etag') ?? '';
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect((await fetchPage('/app/assets/main.js', { 'if-none-match': etag })).status).toBe(304);
  });
});

let chromium: Browser;
let contexts: BrowserContext[] = [];
const withBrowser = hasChromium ? describe : describe.skip;

const forms = screens<[string, BrowserContextOptions]>(
  [
    ['on a desktop', { viewport: { width: 1280, height: 800 } }],
    ['on a narrow phone in the dark', { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
  ],
  1,
);

withBrowser('pages in a browser', () => {
  beforeAll(async () => {
    chromium = await startChromium();
  });
  afterAll(() => chromium.close());
  afterEach(async () => {
    for (const context of contexts) await context.close();
    contexts = [];
  });

  /** Also notes what the console has to complain about, such as violations of the policy. */
  const open = async (options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> => {
    const context = await chromium.newContext(options);
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    return { page, complaints };
  };

  /** Nothing scrolls sideways. */
  const fits = async (page: Page): Promise<void> => {
    const [content, window] = await page.evaluate<[number, number]>(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    );
    expect(content).toBeLessThanOrEqual(window);
  };
  const looksRight = async (page: Page): Promise<void> => {
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toStrictEqual([]);
    await fits(page);
  };

  const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const reads = (page: Page, heading: string): Promise<void> => page.getByRole('heading', { level: 1, name: heading }).waitFor();

  const signInAs = async (page: Page, email: string): Promise<void> => {
    await page.getByLabel('E-mail address').fill(email);
    await press(page, 'Send me the mail');
    await page.getByLabel('Code').waitFor();
    const [mail] = await outbox.list({ to: email, limit: 1 });
    if (mail === undefined) throw new Error(`no mail was sent to ${email}`);
    await page.getByLabel('Code').fill(codeIn(mail));
    await press(page, 'Sign in');
  };

  test.each(forms)('the documentation of the API shows well, %s, in under 500 kB', async (_how, options) => {
    const { page, complaints } = await open(options);
    let bytes = 0;
    page.on('requestfinished', (request) => void request.sizes().then(({ responseBodySize }) => (bytes += responseBodySize)));
    await page.goto(`${api.url}/docs`, { waitUntil: 'networkidle' });
    await reads(page, 'Doorstep API');
    await page.goto(`${api.url}/docs#replaceDelivery`);
    await page.getByRole('heading', { level: 3, name: 'Set the delivery block up, or replace it' }).waitFor();
    await fits(page);
    // axe would take a quarter of a minute: one operation of each group, and one schema, tell enough.
    await page.evaluate('document.querySelectorAll("article ~ article").forEach((more) => more.remove())');
    await looksRight(page);
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThan(500_000);
    expect(complaints).toStrictEqual([]);
  });

  test.each(forms)('is accepted with one button after signing in, %s', async (how, options) => {
    const name = `Bakery ${how} with-a-rather-long-name-that-hardly-fits-anywhere`;
    const email = `${how.replaceAll(' ', '-')}@example.com`;
    const { id } = await invite(name, email);
    const { page, complaints } = await open(options);
    await page.goto(`${api.url}/invitations/${id}`);
    await reads(page, 'Corner Studio has invited you');
    expect(page.url()).toBe(`${api.url}/app/invitations/${id}`);
    await looksRight(page);
    await press(page, 'Sign in');
    await signInAs(page, email);
    await reads(page, `You are invited to ${name}`);
    expect(page.url()).toBe(`${api.url}/app/invitations/${id}`);
    expect(await page.getByRole('main').textContent()).toContain('and to change its content');
    await looksRight(page);
    await press(page, 'Accept the invitation');
    await reads(page, `You have access to ${name}`);
    await looksRight(page);
    await page.getByRole('link', { name: 'Go to your websites' }).click();
    await reads(page, 'Your websites');
    expect(await page.getByRole('main').textContent()).toContain(name);
    await looksRight(page);
    expect(complaints).toStrictEqual([]);

    await press(page, 'Sign out');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await reads(page, 'Welcome to Corner Studio');
    await looksRight(page);
  });

  test('is not for somebody else, who hears as whom they are signed in, and can sign in anew', async () => {
    const { id } = await invite('Florist', 'flora@example.com');
    const { page } = await open();
    await page.goto(`${api.url}/app/`);
    await press(page, 'Sign in');
    await signInAs(page, 'other@example.com');
    await reads(page, 'Your websites');
    await page.goto(`${api.url}/app/invitations/${id}`);
    await reads(page, 'This invitation is for another address');
    expect(await page.getByRole('alert').textContent()).toContain('other@example.com');
    await looksRight(page);
    await press(page, 'Sign in with another address');
    await signInAs(page, 'flora@example.com');
    await reads(page, 'You are invited to Florist');
  });

  test('that has expired can be asked for again', async () => {
    const { id } = await invite('Baker', 'alexandria@example.com');
    await expireInvitation(api.engine, id);
    const { page } = await open();
    await page.goto(`${api.url}/app/invitations/${id}`);
    await press(page, 'Sign in');
    await signInAs(page, 'alexandria@example.com');
    await reads(page, 'This invitation has expired');
    await looksRight(page);
    await press(page, 'Ask for a new one');
    await reads(page, 'Corner Studio has been asked');
    await looksRight(page);
  });

  test('that was withdrawn, and a session that has ended, are said in plain words', async () => {
    const { id, websiteId } = await invite('Butcher', 'bob@example.com');
    const { page } = await open();
    await page.goto(`${api.url}/app/invitations/${id}`);
    await press(page, 'Sign in');
    await signInAs(page, 'bob@example.com');
    await reads(page, 'You are invited to Butcher');
    const gone = await api.call('DELETE', `/websites/${websiteId}/client-invitations/${id}`, { token });
    expect(gone.status).toBe(204);
    await press(page, 'Accept the invitation');
    await reads(page, 'This invitation is no longer valid');
    await looksRight(page);
    await page.evaluate("sessionStorage.setItem('doorstep.token', 'nonsense')");
    await page.reload();
    await reads(page, 'Your session has ended');
    await looksRight(page);
    await page.goto(`${api.url}/app/callback?code=nonsense&state=nonsense`);
    await reads(page, 'You are not signed in');
    await looksRight(page);
    await page.goto(`${api.url}/app/nonsense`);
    await reads(page, 'There is no such page');
    await looksRight(page);
  });

  test('lets the owner of a new address confirm it, who then signs in with it alone', async () => {
    const [old, next] = ['carla@example.com', 'carla@example.org'] as const;
    const { body: created } = await api.call('POST', '/clients', { token, body: { email: old } });
    const { id } = created as { id: string };
    const session = await open();
    await session.page.goto(`${api.url}/app/`);
    await press(session.page, 'Sign in');
    await signInAs(session.page, old);
    await reads(session.page, 'Your websites');

    const pathTo = async (email: string): Promise<string> => {
      expect((await api.call('PATCH', `/clients/${id}`, { token, body: { email } })).status).toBe(200);
      const { state } = await api.engine.state(clientFold, { clientId: id });
      const changeId = state.stage === 'registered' ? pendingChange(state)?.changeId : undefined;
      return `/app/address-changes/${changeId ?? ''}?key=${addressChangeKey(api.engine, changeId ?? '')}`;
    };
    const replaced = await pathTo('carla@example.net');
    const path = await pathTo(next);
    const { page, complaints } = await open({ viewport: { width: 320, height: 640 }, colorScheme: 'dark' });
    await page.goto(api.url + path);
    await reads(page, 'Confirm your new address');
    await looksRight(page);
    await press(page, 'Use this address');
    await reads(page, 'Your address is confirmed');
    await looksRight(page);
    await page.goto(api.url + path);
    await reads(page, 'Your address is confirmed');
    expect(complaints).toStrictEqual([]);
    await page.goto(api.url + replaced);
    await reads(page, 'This link is no longer valid');
    await looksRight(page);

    await session.page.reload();
    await reads(session.page, 'Your session has ended');
    const me = async (email: string): Promise<unknown> => {
      const { page: own } = await open();
      await own.goto(`${api.url}/app/`);
      await press(own, 'Sign in');
      await signInAs(own, email);
      await reads(own, 'Your websites');
      const accessToken = await own.evaluate<string>("sessionStorage.getItem('doorstep.token')");
      const answer = await fetch(`${api.url}/me`, { headers: { authorization: `Bearer ${accessToken}` } });
      return answer.json();
    };
    expect(await me(next)).toMatchObject({ email: next, client: { id, email: next } });
    expect(await me(old)).not.toHaveProperty('client');
  });

  test.each(forms)('leads an owner to what they pay, and to each invoice, %s', async (how, options) => {
    const email = `owner-${how.replaceAll(' ', '-')}@example.com`;
    const make = async (path: string, body: object): Promise<string> =>
      ((await api.call('POST', path, { token, body })).body as { id: string }).id;
    const clientId = await make('/clients', { email });
    const id = await make('/websites', { name: 'Grocery', slug: `grocery-${String(how.length)}`, clientId });
    const invoices = `/websites/${id}/billing/invoices`;
    const words = { total: 123_456, currency: 'eur', description: `Hosting-${'and-more-'.repeat(8)}` };
    await make(invoices, { ...words, dueAt: '2026-12-20T00:00:00.000Z' });
    await api.call('POST', `${invoices}/${await make(invoices, words)}/pay`, { token });

    const { page, complaints } = await open(options);
    await page.goto(`${api.url}/app/websites/${id}/billing`);
    await reads(page, 'Billing');
    await looksRight(page);
    await press(page, 'Sign in');
    await signInAs(page, email);
    await reads(page, 'Grocery');
    const content = (await page.getByRole('main').textContent()) ?? '';
    for (const text of ['There is no subscription', '€1,234.56', 'Paid.', 'To be paid by 20 December 2026.']) {
      expect(content).toContain(text);
    }
    await looksRight(page);
    await page
      .getByRole('link', { name: /^Invoice/ })
      .last()
      .click();
    await reads(page, 'Invoice');
    expect(await page.getByRole('main').textContent()).toContain('To be paid by 20 December 2026.');
    await looksRight(page);
    expect(complaints).toStrictEqual([]);

    await api.call('DELETE', `/websites/${id}/owner`, { token });
    await page.goto(`${api.url}/app/websites/${id}/billing`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('main').textContent()).not.toContain('1,234');
    await looksRight(page);
  });
});
