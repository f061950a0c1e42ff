import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { looksRight, operator, startPortal, type PortalSeat, type PortalWindow } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('the websites', () => {
  let seat: PortalSeat;
  let browser: PortalWindow;
  beforeAll(async () => {
    seat = await startPortal();
    browser = await seat.open();
  });

  test('an empty installation leads to the first website, which is watched until it is built', async () => {
    const { page, complaints, visit } = browser;
    await visit('/websites', operator);
    await page.getByRole('heading', { level: 1, name: 'No website yet' }).waitFor();
    await looksRight(page);
    await page.getByRole('link', { name: 'New website' }).click();

    await page.getByRole('heading', { level: 1, name: 'A new website' }).waitFor();
    await page.getByRole('radio', { name: 'Business' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Bäckerei Nord');
    await page.getByText('The address “baeckerei-nord” is kept for it.').waitFor();
    expect(await page.getByRole('radio', { name: 'Starter' }).isChecked()).toBe(true);
    expect(await page.getByRole('radio', { name: 'Business' }).isChecked()).toBe(true);
    await looksRight(page);
    expect(await seat.admin.websites.list()).toHaveLength(0);

    await page.getByRole('link', { name: 'Home', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create the website' }).click();
    await page.getByRole('heading', { level: 1, name: /^Built on / }).waitFor();
    expect(await page.locator('[data-status=succeeded]').count()).toBe(6);
    await page.getByRole('link', { name: 'Open the site' }).waitFor();
    await page.getByText('there now').first().waitFor();
    await looksRight(page);
    expect(await page.getByRole('link', { name: 'Invite the client' }).getAttribute('href')).toMatch(/\/people$/);
    expect(complaints).toEqual([]);
  });

  test('an address that is taken is told beside its field, before anything is sent', async () => {
    const { page, visit } = browser;
    await visit('/websites/new', operator);
    await page.getByLabel('Name', { exact: true }).fill('Baeckerei  Nord!');
    await page.getByText('“baeckerei-nord” is taken by another website.').waitFor();
    await page.getByLabel('Address').fill('-nord');
    await page.getByText('with no hyphen at either end').waitFor();
    await looksRight(page);
    // What is wrong in the folded part is opened, and has the focus.
    await page.getByLabel('Address').fill('baeckerei-sued');
    await page.getByText('Owner, colour, collaborators').click();
    await page.getByLabel('Colour', { exact: true }).fill('#12');
    await page.getByText('Owner, colour, collaborators').click();
    await page.getByText('It cannot be created like this.').waitFor();
    await page.getByRole('button', { name: 'Create the website' }).click();
    await page.locator('input:focus[placeholder="#7a4b2a"]').waitFor();
    expect(await seat.admin.websites.list()).toHaveLength(1);
  });

  test('the table is searched by its address, and a website is archived and brought back', async () => {
    const { page, visit } = browser;
    const { id: clientId } = await seat.admin.clients.create({ email: 'anna@example.com', name: 'Anna Weber' });
    const { id } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery', tier: 'growth', clientId });
    await seat.admin.websites.delivery.replace(id, { estimatedCompletionAt: '2031-12-22T12:00:00.000Z', showPreviewUrl: true });
    await seat.admin.websites.delivery.setCheckpointStatus(id, 'kickoff', 'in_progress');

    await eventually('the website is active', async () => (await seat.admin.websites.get(id)).status === 'active' || undefined);

    await visit('/websites?sort=name', operator);
    await page.getByRole('heading', { level: 1, name: '2 websites' }).waitFor();
    expect(await page.getByRole('row').allInnerTexts()).toEqual([
      expect.stringMatching(/^Name/),
      expect.stringMatching(/^Bäckerei Nord/),
      expect.stringMatching(/^Corner Bakery/),
    ]);
    const row = page.getByRole('row', { name: 'Corner Bakery' });
    await row.getByText('Anna Weber').waitFor();
    expect(await row.innerText()).toMatch(/Kickoff[^]*22 December 2031/);
    await looksRight(page);

    await page.getByLabel('Tier').selectOption('growth');
    await page.getByRole('heading', { level: 1, name: '1 website matches' }).waitFor();
    await page.getByRole('searchbox').fill('nord');
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    await looksRight(page);
    await page.waitForURL((url) => url.search === '?q=nord&tier=growth&sort=name');
    await page.reload();
    await page.getByRole('button', { name: 'Show all websites' }).click();
    await page.getByRole('heading', { level: 1, name: '2 websites' }).waitFor();

    await page.getByRole('button', { name: 'More for Corner Bakery' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await page.getByRole('heading', { level: 1, name: '1 website' }).waitFor();
    expect((await seat.admin.websites.get(id)).archivedAt).toBeDefined();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('heading', { level: 1, name: '2 websites' }).waitFor();
    expect((await seat.admin.websites.get(id)).archivedAt).toBeUndefined();
    // The browser notes what was refused before.
    expect(browser.complaints.filter((words) => !words.includes('status of 400'))).toEqual([]);
  });

  test('a website that cannot be archived says why', async () => {
    const { page, visit } = browser;
    await visit('/websites', operator);
    await page.route('**/archive', (route) =>
      route.fulfill({ status: 400, json: { error: 'The website is being built', details: null, code: 'busy' } }),
    );
    await page.getByRole('button', { name: 'More for Corner Bakery' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await page.getByRole('region', { name: 'Notice' }).getByText('The website is being built').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('the search keeps what is typed, on a slow machine and in the middle of the text too', async () => {
    const { page, context, visit } = browser;
    await visit('/websites', operator);
    const field = page.getByRole('searchbox');
    await field.waitFor();
    const devTools = await context.newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    await field.pressSequentially('corner bakery', { delay: 25 });
    await page.waitForURL((url) => url.search === '?q=corner+bakery');
    await page.getByRole('heading', { level: 1, name: '1 website matches' }).waitFor();
    expect(await field.inputValue()).toBe('corner bakery');
    await field.press('Home');
    // Slower than the pause after which the address follows.
    await page.keyboard.type('my ', { delay: 250 });
    await page.waitForURL((url) => url.search === '?q=my+corner+bakery');
    expect(await field.inputValue()).toBe('my corner bakery');
    await devTools.detach();

    await page.getByRole('button', { name: 'Show all websites' }).click();
    await page.getByRole('heading', { level: 1, name: '2 websites' }).waitFor();
    expect(await field.inputValue()).toBe('');
    // The table is left before the typing has paused.
    await field.pressSequentially('nor');
    await page.getByRole('link', { name: 'Bäckerei Nord' }).click();
    await page.getByRole('heading', { level: 1, name: 'There is no plan yet' }).waitFor();
    await page.goto(`${seat.address}/app/websites?q=corner`);
    await page.getByRole('heading', { level: 1, name: '1 website matches' }).waitFor();
    expect(await field.inputValue()).toBe('corner');
    await page.getByRole('link', { name: 'Websites' }).first().click();
    await page.getByRole('heading', { level: 1, name: '2 websites' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: '1 website matches' }).waitFor();
    expect(await field.inputValue()).toBe('corner');

    // The address changes before the typing has paused: no more is searched than the field says.
    await page.clock.install();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: '1 website matches' }).waitFor();
    await page.evaluate(`(() => {
      const search = document.querySelector('input[type=search]');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(search, 'nord');
      search.dispatchEvent(new Event('input', { bubbles: true }));
      document.querySelector('a[href="/app/websites"]').click();
    })()`);
    await page.getByRole('heading', { level: 1, name: '2 websites' }).waitFor();
    await page.clock.runFor(1_000);
    expect([await field.inputValue(), new URL(page.url()).search]).toEqual(['', '']);
    await page.clock.resume();
  });

  test('the pages of the table have no gap when a website comes in between them', async () => {
    const { page, visit } = browser;
    const create = (slug: string): PromiseLike<unknown> => seat.admin.websites.create({ name: slug, slug });
    for (const slug of ['page-one', 'page-two']) await create(slug);
    // The service's own pages, only shorter.
    await page.route(
      (url) => url.pathname === '/websites' && url.searchParams.has('sort'),
      (route) => route.continue({ url: `${route.request().url()}&limit=1` }),
    );
    await visit('/websites', operator);
    const rows = page.locator('tbody tr');
    await rows.filter({ hasText: 'page-two' }).waitFor();
    await page.getByRole('button', { name: 'Show more (1 of ' }).click();
    await rows.filter({ hasText: 'page-one' }).waitFor();
    await create('page-three');
    await rows.filter({ hasText: 'page-three' }).waitFor();
    await rows.filter({ hasText: 'page-two' }).waitFor();
    await page.getByRole('button', { name: 'Show more (2 of ' }).click();
    await rows.filter({ hasText: 'page-one' }).waitFor();
    expect(await rows.count()).toBe(3);
    await page.unrouteAll({ behavior: 'wait' });
  });
});
