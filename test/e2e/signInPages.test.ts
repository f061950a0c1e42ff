import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { EmailSender, Outbox } from '../../src/integrations/email/port.js';
import { hasChromium, startChromium } from '../support/chromium.js';
import { startApi, type RunningApi } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { createTestOutbox, newestMail } from '../support/outbox.js';
import { codeIn, linkIn } from '../support/signIn.js';
import { screens } from '../support/storm.js';
import { temporaryFolder } from '../support/temporary.js';

// A browser is slow on a busy machine.
jest.setTimeout(60_000);

/** The sign-in pages in a real browser. */
const withBrowser = hasChromium ? describe : describe.skip;

let api: RunningApi;
let outbox: EmailSender & Outbox;
let chromium: Browser;
/** Closed after each test. */
let contexts: BrowserContext[] = [];

beforeAll(async () => {
  if (!hasChromium) return;
  outbox = createTestOutbox({ folder: join(temporaryFolder(), 'outbox') });
  api = await startApi({
    projector: false,
    signIn: (engine, baseUrl) =>
      createTestIdentity(engine, {
        email: outbox,
        // Too pale for text, on white.
        brand: { name: 'Corner Studio', color: '#fff59d', logo: undefined },
        baseUrl,
      }),
  });
  chromium = await startChromium();
}, 60_000);

afterAll(async () => {
  if (hasChromium) await chromium.close();
});

beforeEach(() => {
  contexts = [];
});

afterEach(async () => {
  for (const context of contexts) await context.close();
});

const open = async (options: BrowserContextOptions = {}): Promise<Page> => {
  const context = await chromium.newContext(options);
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  return page;
};

/**
 * The portal's authorization request. The challenge is that of RFC 7636, appendix B: nothing here
 * exchanges the code.
 */
const signInUrl = (): string => {
  const url = new URL(`${api.url}/oidc/authorize`);
  url.search = new URLSearchParams({
    client_id: 'doorstep-portal',
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: `${api.url}/auth/callback`,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }).toString();
  return url.href;
};

interface DeviceAuthorization {
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
}

/** What a program without a browser begins with. */
const askAsDevice = async (): Promise<DeviceAuthorization> => {
  const answer = await fetch(`${api.url}/oidc/device/auth`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'doorstep-cli', scope: 'openid email' }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as DeviceAuthorization;
};

const isAccessible = async (page: Page): Promise<void> => {
  // The pages have no frames, so axe needs no separate tab to combine their results.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toStrictEqual([]);
};

/** No text is cut off, and nothing needs horizontal scrolling. */
const fits = async (page: Page): Promise<void> => {
  const [content, window] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(content).toBeLessThanOrEqual(window);
};

const looksRight = async (page: Page): Promise<void> => {
  await isAccessible(page);
  await fits(page);
};

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

const heading = (page: Page): Promise<string | null> => page.getByRole('heading', { level: 1 }).textContent();

const arrived = async (page: Page): Promise<void> => {
  await page.waitForURL(/\/auth\/callback\?code=/);
};

/** Messages of the browser's console, such as violations of the content security policy. */
const complaints = (page: Page): string[] => {
  const heard: string[] = [];
  page.on('console', (message) => {
    // The favicon, and the portal, which does not exist here.
    if (message.type() === 'error' && !/favicon|\/auth\/callback/.test(message.location().url)) heard.push(message.text());
  });
  page.on('pageerror', (error) => heard.push(error.message));
  return heard;
};

type Screen = [string, BrowserContextOptions];
const desktop: Screen = ['on a desktop', { viewport: { width: 1280, height: 800 } }];
const inTheDark: Screen = ['on a desktop in the dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }];
const phone = { viewport: { width: 360, height: 640 }, isMobile: true };
const onAPhone: Screen = ['on a phone', { ...phone, hasTouch: true }];
const withoutJavaScript: Screen = ['on a phone without JavaScript', { ...phone, javaScriptEnabled: false }];

withBrowser('sign-in in a browser', () => {
  test.each([...screens([desktop, inTheDark, onAPhone], 2), withoutJavaScript])(
    '%s: address, wrong code, right code',
    async (how, options) => {
      const email = `${how.replaceAll(' ', '-')}-and-a-rather-long-name-that-hardly-fits@a-long-domain.example.com`.toLowerCase();
      const page = await open(options);
      const heard = complaints(page);
      // axe needs JavaScript.
      const look = options.javaScriptEnabled === false ? () => Promise.resolve() : () => looksRight(page);
      await page.goto(signInUrl());
      await page.getByLabel('E-mail address').fill('nobody');
      await press(page, 'Send me the mail');
      expect(await page.getByRole('alert').textContent()).toBe('This is not an e-mail address.');
      await look();
      await page.getByLabel('E-mail address').fill(email);
      await press(page, 'Send me the mail');
      expect(await heading(page)).toBe('Look at your mail');
      await page.getByLabel('Code').fill('1');
      await press(page, 'Sign in');
      expect(await page.getByRole('alert').textContent()).toBe('This is not the code in the newest mail.');
      await look();
      await press(page, 'Send another mail');
      expect(await heading(page)).toBe('Look at your mail');
      await page.getByLabel('Code').fill(codeIn(await newestMail(outbox, email)));
      await press(page, 'Sign in');
      await arrived(page);
      // The browser logs the 400 of a wrong code.
      expect(heard.filter((text) => !text.includes('400'))).toStrictEqual([]);
    },
  );

  test('by the link: another browser says that it does not work there, this one shows a button', async () => {
    const email = 'link@example.com';
    const page = await open();
    await page.goto(signInUrl());
    await page.getByLabel('E-mail address').fill(email);
    await press(page, 'Send me the mail');
    expect(await heading(page)).toBe('Look at your mail');
    const link = linkIn(await newestMail(outbox, email));

    const elsewhere = await open({ viewport: { width: 360, height: 640 } });
    await elsewhere.goto(link);
    expect(await heading(elsewhere)).toBe('This link does not work here');
    await looksRight(elsewhere);

    const tab = await page.context().newPage();
    await tab.goto(link);
    await looksRight(tab);
    await press(tab, 'Sign in');
    await arrived(tab);

    // The first tab still works.
    await page.getByLabel('Code').fill('1234 5678');
    await press(page, 'Sign in');
    expect(await heading(page)).toBe('Begin again');
    await looksRight(page);
    await tab.goBack();
    await tab.goto(signInUrl());
    await arrived(tab);
  });

  test('by keyboard alone', async () => {
    const email = 'keyboard@example.com';
    const page = await open();
    await page.goto(signInUrl());
    const focused = page.locator(':focus');
    const tabTo = async (target: Locator): Promise<void> => {
      for (let presses = 0; presses < 10; presses += 1) {
        await page.keyboard.press('Tab');
        if ((await target.and(focused).count()) === 1) return;
      }
      throw new Error('the keyboard does not lead there');
    };
    await page.getByLabel('E-mail address').and(focused).waitFor();
    await page.keyboard.type(email);
    await tabTo(page.getByRole('button', { name: 'Send me the mail' }));
    await page.keyboard.press('Enter');
    await page.getByLabel('Code').and(focused).waitFor();
    await page.keyboard.type(codeIn(await newestMail(outbox, email)));
    await page.keyboard.press('Enter');
    await arrived(page);
  });

  test.each([...screens([inTheDark, onAPhone], 0), withoutJavaScript])(
    '%s: a device is connected, and another is not',
    async (how, options) => {
      const look = options.javaScriptEnabled === false ? () => Promise.resolve() : looksRight;
      const page = await open(options);
      const heard = complaints(page);
      const device = await askAsDevice();
      await page.goto(device.verification_uri);
      await page.getByLabel('Code').fill('BBBB-BBBB');
      await press(page, 'Continue');
      expect(await page.getByRole('alert').textContent()).toMatch(/^No device waits with this code\./);
      await look(page);
      await page.getByLabel('Code').fill(device.user_code.toLowerCase());
      await press(page, 'Continue');
      expect(await heading(page)).toBe('Connect this device?');
      expect(await page.getByText(device.user_code, { exact: true }).textContent()).toBe(device.user_code);
      await look(page);
      await press(page, 'Codes match, connect');
      const email = `${how.replaceAll(' ', '-')}-device@example.com`.toLowerCase();
      await page.getByLabel('E-mail address').fill(email);
      await press(page, 'Send me the mail');
      await page.getByLabel('Code').fill(codeIn(await newestMail(outbox, email)));
      await press(page, 'Sign in');
      expect(await heading(page)).toBe('Your device is connected');
      await look(page);

      await page.goto((await askAsDevice()).verification_uri_complete);
      await press(page, 'Continue');
      await press(page, 'Deny');
      expect(await heading(page)).toBe('Nothing was connected');
      await look(page);
      expect(heard.filter((text) => !text.includes('400'))).toStrictEqual([]);
    },
  );

  test('signing in as somebody else, and signing out', async () => {
    const page = await open();
    const heard = complaints(page);
    const signInAs = async (email: string, url: string): Promise<void> => {
      await page.goto(url);
      await page.getByLabel('E-mail address').fill(email);
      await press(page, 'Send me the mail');
      await page.getByLabel('Code').fill(codeIn(await newestMail(outbox, email)));
      await press(page, 'Sign in');
      await arrived(page);
    };
    await signInAs('first@example.com', signInUrl());
    await signInAs('second@example.com', `${signInUrl()}&prompt=login`);
    await page.goto(`${api.url}/oidc/sign-out`);
    expect(await heading(page)).toBe('Sign out?');
    await looksRight(page);
    await press(page, 'Sign out');
    expect(await heading(page)).toBe('You are signed out');
    await looksRight(page);
    await page.goto(signInUrl());
    expect(await heading(page)).toBe('Sign in');
    await page.goto(`${api.url}/oidc/authorize?client_id=nobody`);
    expect(await heading(page)).toBe('Signing in did not work');
    await looksRight(page);
    expect(heard.filter((text) => !text.includes('400'))).toStrictEqual([]);
  });
});
