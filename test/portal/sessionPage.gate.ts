import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { startOpenIdProvider } from '../support/openIdProvider.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';
import { codeIn } from '../support/signIn.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

/** Makes the token that the page keeps one that has to be renewed. */
const expireToken = async (page: Page): Promise<void> => {
  await page.evaluate(`(() => {
    const key = Object.keys(sessionStorage).find((name) => name.startsWith('oidc.user:'));
    sessionStorage.setItem(key, JSON.stringify({ ...JSON.parse(sessionStorage.getItem(key)), expires_at: 0 }));
  })()`);
};

/** Asks the service for something that only whoever is signed in is told. */
const ask = (page: Page, name: string): Promise<void> => page.getByLabel('Name', { exact: true }).fill(name);

/** It was told. @param slug - of the name that was asked about */
const told = (page: Page, slug: string): Promise<void> => page.getByText(`The address “${slug}” is kept for it.`).waitFor();

const ended = (page: Page): Promise<void> => page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();

/** The same page in another tab, as “Duplicate” does: a window that a page opens begins with a copy of its session storage. */
const duplicate = async (page: Page): Promise<Page> => {
  const [copy] = await Promise.all([page.context().waitForEvent('page'), page.evaluate('void open(location.href)')]);
  await copy.getByLabel('Name', { exact: true }).waitFor();
  return copy;
};

const withBrowser = hasChromium ? describe : describe.skip;

/** Makes the token that the page keeps one that no service takes. */
const spoilToken = async (page: Page): Promise<void> => {
  await page.evaluate(`(() => {
    const key = Object.keys(sessionStorage).find((name) => name.startsWith('oidc.user:'));
    const kept = JSON.parse(sessionStorage.getItem(key));
    sessionStorage.setItem(key, JSON.stringify({ ...kept, access_token: 'nonsense' }));
  })()`);
};

withBrowser('the session', () => {
  let seat: PortalSeat;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal();
    ({ id: websiteId } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner' }));
  });

  test('ends over a form, and goes on over it', async () => {
    const { page, context, visit } = await seat.open();
    await visit('/websites/new?from=mail', operator);
    await page.getByLabel('Name', { exact: true }).waitFor();
    await spoilToken(page);
    // The page asks what would happen.
    await page.getByLabel('Name', { exact: true }).fill('Corner Bakery');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await looksRight(page);
    const [beside] = await Promise.all([context.waitForEvent('page'), dialog.getByRole('button', { name: 'Sign in' }).click()]);
    // The provider still knows them: the window asks nothing, and closes.
    if (!beside.isClosed()) await beside.waitForEvent('close');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Corner Bakery');
    expect(page.url()).toBe(`${seat.address}/app/websites/new?from=mail`);
    // What could not be asked is asked again.
    await page.getByText('The address “corner-bakery” is kept for it.').waitFor();

    // The same after the service has got a newer portal: the files of this one are gone.
    await page.route('**/app/assets/*', (route) => route.fulfill({ status: 404 }));
    await spoilToken(page);
    await ask(page, 'Florist');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Florist');
  });

  test('a second window is signed in without a question; signing out ends it there too', async () => {
    const { page, context, complaints, visit } = await seat.open({ viewport: { width: 320, height: 640 } });
    await visit('/', 'anna@example.com');
    const second = await context.newPage();
    await second.goto(`${seat.address}/app/`);
    await second.getByRole('heading', { level: 1, name: 'Nothing is shared with you yet' }).waitFor();

    await page.getByRole('button', { name: 'Account of anna@example.com' }).click();
    await looksRight(page);
    // It says whose session is to end: otherwise some issuers ask, or do not lead back.
    const leaving = page.waitForRequest((request) => new URL(request.url()).searchParams.has('id_token_hint'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await leaving;
    // Nobody is signed in any more: the portal leads to the sign-in.
    await page.locator('input[type=email]').waitFor();
    expect(complaints).toEqual([]);
  });

  test("goes on where one was in the tab that the mail's link opens", async () => {
    const email = 'ben@example.com';
    const added = await seat.admin.websites.clients.add(websiteId, { email, role: 'viewer' });
    const { page, context } = await seat.open();
    await page.goto(`${seat.address}/app/invitations/${added.kind === 'invited' ? added.invitation.id : ''}`);
    await page.locator('input[type=email]').fill(email);
    await page.locator('button[type=submit]').first().click();
    const { mail, link } = await eventually('the mail with the link', async () => {
      const [newest] = await seat.admin.outbox.list({ to: email, limit: 1 });
      const address = newest?.links.find((one) => one.includes('/sign-in/'));
      return newest === undefined || address === undefined ? undefined : { mail: newest, link: address };
    });
    const tab = await context.newPage();
    await tab.goto(link);
    await tab.locator('button[type=submit]').click();
    await tab.getByRole('heading', { level: 1, name: 'Doorstep invites you to Corner Bakery' }).waitFor();

    // The tab that asked for the mail: its code is used, and home is one link away.
    await page.locator('input[name=code]').fill(codeIn(mail));
    await page.locator('button[type=submit]').first().click();
    await page.getByRole('heading', { level: 1, name: 'Begin again' }).waitFor();
    await page.getByRole('link').first().click();
    await page.getByRole('heading', { level: 1, name: 'You are invited' }).waitFor();
  });

  test('an attempt of which nothing is known here begins again by itself, once', async () => {
    const { page, context, signInAs } = await seat.open();
    const nothingKnown = `${seat.address}/app/callback?code=nonsense&state=nonsense`;
    await page.goto(nothingKnown);
    await signInAs('eva@example.com');
    await page.getByRole('heading', { level: 1, name: 'Nothing is shared with you yet' }).waitFor();

    // A browser that keeps nothing.
    await context.addInitScript(`if (location.pathname === '/app/callback') localStorage.clear()`);
    let attempts = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).searchParams.has('code_challenge')) attempts += 1;
    });
    await page.goto(nothingKnown);
    await page.getByRole('heading', { level: 1, name: 'You are not signed in' }).waitFor();
    await looksRight(page);
    expect(attempts).toBe(1);
    await page.getByRole('button', { name: 'Begin again' }).click();
    await page.getByRole('heading', { level: 1, name: 'You are not signed in' }).waitFor();
  });

  test('leaves nothing of one person to the next in the same tab', async () => {
    const { page, visit, signInAs } = await seat.open();
    await visit('/', operator);
    const palette = page.getByRole('combobox', { name: 'Find a website, person or page' });
    const found = page.getByRole('option', { name: /^Corner Bakery/ }).first();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await palette.fill('corner');
    await found.click();
    await page.getByRole('heading', { level: 1, name: 'There is no plan yet' }).waitFor();
    await page.goto(`${seat.address}/app/websites/${websiteId}?as=ben%40example.com`);
    await page.getByText('You see this as ben@example.com. Read only.').waitFor();
    // What was opened as oneself is not shown as somebody else.
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: /^Home/ }).waitFor();
    expect(await found.count()).toBe(0);
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: /^Account of / }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signInAs('carla@example.com');
    await page.getByRole('heading', { level: 1, name: 'Nothing is shared with you yet' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: /^Home/ }).waitFor();
    expect(await found.count()).toBe(0);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('Corner Bakery');
  });

  test('goes on in a tab and in its duplicate, which have one refresh token', async () => {
    const { page, visit } = await seat.open();
    await visit('/websites/new?from=mail', operator);
    await page.getByLabel('Name', { exact: true }).waitFor();
    const copy = await duplicate(page);

    // The third time its refresh token is one of a grant that the second use of another has ended.
    for (const [number, tab] of [page, copy, page].entries()) {
      await expireToken(tab);
      await ask(tab, `Florist ${String(number)}`);
      await told(tab, `florist-${String(number)}`);
    }
  });

  test('goes on after the answer to a renewal was lost', async () => {
    const { page, visit } = await seat.open();
    await visit('/websites/new?from=mail', operator);
    await page.getByLabel('Name', { exact: true }).waitFor();
    let isLost = false;
    await page.route('**/oidc/token', async (route) => {
      if (isLost) return route.fallback();
      await route.fetch();
      isLost = true;
      return route.abort();
    });
    await expireToken(page);
    await ask(page, 'Tailor');
    await told(page, 'tailor');
    expect(isLost).toBe(true);

    // The same when the code that renews did not come the first time.
    await page.reload();
    await page.getByLabel('Name', { exact: true }).waitFor();
    let isCodeLost = false;
    await page.route('**/oidc-client-ts-*.js', (route) => {
      if (isCodeLost) return route.continue();
      isCodeLost = true;
      return route.abort();
    });
    await expireToken(page);
    await ask(page, 'Milliner');
    await told(page, 'milliner');
    expect(isCodeLost).toBe(true);
  });

  test('is over in a duplicate once nobody, or somebody else, is signed in', async () => {
    const { page, visit, signInAs } = await seat.open();
    await visit('/websites/new?from=mail', operator);
    await page.getByLabel('Name', { exact: true }).waitFor();
    const [copy, another] = [await duplicate(page), await duplicate(page)];
    await page.getByRole('button', { name: `Account of ${operator}` }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('input[type=email]').waitFor();

    await expireToken(copy);
    await ask(copy, 'Bookshop');
    await ended(copy);

    await signInAs('olga@example.com');
    await page.getByRole('heading', { level: 1, name: 'Nothing is shared with you yet' }).waitFor();
    await expireToken(another);
    await ask(another, 'Bookshop');
    await ended(another);

    // Whoever signs in beside it goes on there, with nothing of the person before.
    await another.evaluate(`sessionStorage.setItem('doorstep.recent.somebody', '[]')`);
    await another.getByRole('dialog', { name: 'Your session has ended' }).getByRole('button', { name: 'Sign in' }).click();
    await another.getByRole('button', { name: 'Account of olga@example.com' }).waitFor();
    expect(await another.evaluate(`sessionStorage.getItem('doorstep.recent.somebody')`)).toBeNull();
  });

  test('a token that the service refuses from the start leads to no loop', async () => {
    const { page, visit } = await seat.open();
    await visit('/', 'ida@example.com');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await spoilToken(page);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Your session has ended' }).waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Nothing is shared with you yet' }).waitFor();
  });
});

withBrowser('the session at another issuer', () => {
  test('begins, goes on in a second window, and ends there', async () => {
    const issuer = await startOpenIdProvider('acme-doorstep');
    try {
      const seat = await startPortal({
        AUTH_ISSUER: issuer.url,
        AUTH_AUDIENCE: 'acme-doorstep',
        AUTH_CLIENT_ID: 'acme-portal',
        AUTH_SUBJECT_CHECK: 'none',
      });
      const { page, context } = await seat.open();
      await page.goto(`${seat.address}/app/?from=mail`);
      await page.locator('input[name=login]').fill('mara');
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      // The issuer's own consent.
      await page.locator('button[type=submit]').click();
      await page.getByRole('heading', { level: 1, name: 'Begin with a website' }).waitFor();
      expect(page.url()).toBe(`${seat.address}/app?from=mail`);

      await spoilToken(page);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Find a website, person or page' }).fill('corner');
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      const [beside] = await Promise.all([context.waitForEvent('page'), dialog.getByRole('button', { name: 'Sign in' }).click()]);
      // This issuer asks programs that are not websites for consent each time.
      await beside.locator('button[type=submit]').click();
      await dialog.waitFor({ state: 'detached' });
      if (!beside.isClosed()) await beside.waitForEvent('close');

      const second = await context.newPage();
      await second.goto(`${seat.address}/app/`);
      await second.locator('button[type=submit]').click();
      await second.getByRole('heading', { level: 1, name: 'Begin with a website' }).waitFor();
    } finally {
      await issuer.stop();
    }
  });
});
