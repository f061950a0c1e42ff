import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { addressChangeKey } from '../../src/commands/client/addressChange.handlers.js';
import { clientFold, pendingChange } from '../../src/events/client/client.state.js';
import type { EmailSender, Outbox } from '../../src/integrations/email/port.js';
import { hasChromium, startChromium } from '../support/chromium.js';
import { startApi, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { createTestOutbox, newestMail } from '../support/outbox.js';
import { codeIn } from '../support/signIn.js';
import { screens } from '../support/storm.js';
import { temporaryFolder } from '../support/temporary.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

let api: RunningApi;
let token: string;
let outbox: EmailSender & Outbox;
beforeAll(async () => {
  outbox = createTestOutbox({ folder: join(temporaryFolder(), 'outbox') });
  api = await startApi({
    signIn: (engine, baseUrl) => createTestIdentity(engine, { email: outbox, baseUrl }),
    environment: { BRAND_NAME: 'Corner Studio' },
  });
  token = await api.mintToken();
});

const fetchPage = (path: string, headers: Readonly<Record<string, string>> = { accept: 'text/html' }) =>
  fetch(api.url + path, { redirect: 'manual', headers });

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
  });

  test.each([
    ['/', 'GET, HEAD, OPTIONS'],
    ['/app', 'GET, HEAD, OPTIONS'],
    ['/app/', 'GET, HEAD, OPTIONS'],
    ['/app/invoices/01abc', 'GET, HEAD, OPTIONS'],
    ['/app/assets/style.css', 'GET, HEAD, OPTIONS'],
    ['/app/address-changes/01abc', 'GET, HEAD, OPTIONS, POST'],
  ])('%s takes %s, and says so', async (path, allow) => {
    const refused = { error: 'Method not allowed', code: 'method_not_allowed', details: null };
    for (const method of ['POST', 'PUT', 'DELETE'].filter((one) => !allow.includes(one))) {
      const answer = await api.call(method, path, { body: {} });
      expect([method, answer.status, answer.headers.get('allow'), answer.body]).toEqual([method, 405, allow, refused]);
    }
    const asked = await api.call('OPTIONS', path);
    expect([asked.status, asked.headers.get('allow'), asked.text]).toEqual([204, allow, '']);
  });

  test('where there is none, no method is told', async () => {
    for (const path of ['/app/nonsense', '/app/assets/secrets.js']) expect((await api.call('POST', path)).status).toBe(404);
    expect((await api.call('POST', '/', { token })).status).toBe(404);
  });

  test('their scripts have names of their own, and are kept for good', async () => {
    const page = await (await fetchPage('/app/')).text();
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(page) ?? [];
    const { status, headers } = await fetchPage(script);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });
});

let chromium: Browser;
let contexts: BrowserContext[] = [];
const withBrowser = hasChromium ? describe : describe.skip;

/** Reads the access token that the portal keeps. */
const tokenInPage =
  'JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage).find((key) => key.startsWith("oidc.user:")))).access_token';

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
    const mail = await newestMail(outbox, email);
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

  test('lets the owner of a new address confirm it, who then signs in with it alone', async () => {
    const [old, next] = ['carla@example.com', 'carla@example.org'] as const;
    const { body: created } = await api.call('POST', '/clients', { token, body: { email: old } });
    const { id } = created as { id: string };
    const session = await open();
    await session.page.goto(`${api.url}/app/`);
    await signInAs(session.page, old);
    await reads(session.page, 'Nothing is shared with you yet');

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
      await signInAs(own, email);
      await reads(own, 'Nothing is shared with you yet');
      const accessToken = await own.evaluate<string>(tokenInPage);
      const answer = await fetch(`${api.url}/me`, { headers: { authorization: `Bearer ${accessToken}` } });
      return answer.json();
    };
    expect(await me(next)).toMatchObject({ email: next, client: { id, email: next } });
    expect(await me(old)).not.toHaveProperty('client');
  });

  test.each(forms)('an invoice reads as a letter, %s', async (how, options) => {
    const email = `owner-${how.replaceAll(' ', '-')}@example.com`;
    const make = async (path: string, body: object): Promise<string> =>
      ((await api.call('POST', path, { token, body })).body as { id: string }).id;
    const clientId = await make('/clients', { email });
    const id = await make('/websites', { name: 'Grocery', slug: `grocery-${String(how.length)}`, clientId });
    const words = { total: 123_456, currency: 'eur', description: `Hosting-${'and-more-'.repeat(8)}` };
    await make(`/websites/${id}/billing/invoices`, { ...words, dueAt: '2026-12-20T00:00:00.000Z' });
    const { body } = await api.call('GET', `/websites/${id}/billing`, { token });
    const [invoice] = (body as { invoices: { url: string }[] }).invoices;

    const { page, complaints } = await open(options);
    await page.goto(invoice?.url ?? '');
    await reads(page, 'Invoice');
    const content = (await page.getByRole('main').textContent()) ?? '';
    for (const text of ['€1,234.56', 'To be paid by 20 December 2026.']) expect(content).toContain(text);
    await looksRight(page);
    expect(complaints).toStrictEqual([]);
  });
});
