import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

/** An address gets few mails to sign in by within a while. */
const colleague = 'colleague@doorstep.local';

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('what stands around a page', () => {
  let seat: PortalSeat;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal({ ADMIN_EMAILS: `${operator},${colleague}` });
    ({ id: websiteId } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' }));
    await seat.admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt: '2031-12-22T12:00:00.000Z',
      showPreviewUrl: false,
    });
    await seat.admin.websites.clients.add(websiteId, { email: 'anna@example.com', role: 'viewer' });
  });

  test('leads to a website by the palette, moves the focus to its heading, and back to where one was', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit('/', operator);
    await page.getByText('Nothing needs you just now.').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('bakry');
    await page.getByText('Nothing fits “bakry”.').waitFor();
    // By what one wants to do, too; and by words that do not follow each other.
    await page.getByRole('combobox').fill('create');
    await page.getByRole('option', { name: /^New website/, selected: true }).waitFor();
    await page.getByRole('combobox').fill('bäk');
    await page.getByRole('option', { name: /Corner Bakery/, selected: true }).waitFor();
    await looksRight(page);
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' });
    await heading.and(page.locator(':focus')).waitFor();
    expect(await page.title()).toBe('Status · Corner Bakery · Doorstep');
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    expect(links.join(', ')).toBe(
      '‹ Websites, Status, Delivery, History, Provisioning, People, Transfer, Documents, Content, Media, Analytics, Deployments, Billing, Settings',
    );
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).and(page.locator(':focus')).waitFor();
    expect(complaints).toEqual([]);
  });

  test('loads its texts once more, and says so in both languages when they do not come', async () => {
    const { page, visit } = await seat.open();
    let refused = 0;
    const refuse = (times: number): Promise<unknown> =>
      page.route(/\/en-[^/]*\.json$/, (route) => ((refused += 1) <= times ? route.abort() : route.fallback()));
    await refuse(1);
    await visit('/', colleague);
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
    expect(refused).toBeGreaterThan(1);

    await page.unrouteAll();
    refused = 0;
    await refuse(2);
    await page.reload();
    await page.getByText('This page could not be loaded.').waitFor();
    await page.getByText('Diese Seite konnte nicht geladen werden.').waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
  });

  test('shows what others change at once, says when the service is gone, and recovers by itself', async () => {
    const { page, context, visit } = await seat.open();
    await visit(`/websites/${websiteId}`, operator);
    await page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' }).waitFor();
    await seat.admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt: '2031-12-29T12:00:00.000Z',
      showPreviewUrl: false,
    });
    await page.getByRole('heading', { level: 1, name: 'Ready by 29 December 2031' }).waitFor();

    await context.setOffline(true);
    await page.getByText('The service cannot be reached. What you see stays').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Ready by 29 December 2031' }).waitFor();
    await looksRight(page);
    await seat.admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt: '2031-12-22T12:00:00.000Z',
      showPreviewUrl: false,
    });
    await context.setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' }).waitFor();
    await page.getByText('The service cannot be reached').waitFor({ state: 'detached' });
  });

  test('a client on a phone has the pages that are theirs, and no others', async () => {
    const email = 'peter@example.com';
    await seat.admin.clients.create({ email });
    await seat.admin.websites.clients.add(websiteId, { email, role: 'viewer' });
    const { page, complaints, visit } = await seat.open({ viewport: { width: 320, height: 640 } });
    await visit(`/websites/${websiteId}`, email);
    const links = page.getByRole('navigation').getByRole('link');
    await links.filter({ hasText: 'Analytics' }).waitFor();
    expect((await links.allTextContents()).filter((name) => name !== 'Provisioning')).toEqual([
      'Status',
      'Documents',
      'Content',
      'Media',
      'Analytics',
      'Deployments',
    ]);
    await looksRight(page);
    expect(complaints).toEqual([]);
    await page.goto(`${seat.address}/app/audit`);
    await page.getByRole('heading', { level: 1, name: 'You may not see this' }).waitFor();
    await looksRight(page);
    await page.goto(`${seat.address}/app/nonsense`);
    await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
    await looksRight(page);
  });

  test('the agency on a phone has a menu, by keys too', async () => {
    const { page, complaints, visit } = await seat.open({ viewport: { width: 320, height: 640 } });
    await visit('/websites/new', operator);
    await page.getByRole('button', { name: 'Menu' }).press('Enter');
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await menu.waitFor();
    await looksRight(page);
    await menu.getByRole('link', { name: 'Home' }).press('Enter');
    await menu.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
    // Whose page it is, is said while the menu is closed too.
    await visit(`/websites/${websiteId}/billing`, operator);
    await page.getByRole('banner').getByText('Corner Bakery').waitFor();
    await looksRight(page);
    // Which page is open shows in the reader's own colours too.
    await page.emulateMedia({ forcedColors: 'active' });
    await page.getByRole('button', { name: 'Menu' }).click();
    await menu.waitFor();
    const [open, other] = await page.evaluate<string[]>(
      `['[aria-current]', ':not([aria-current])'].map((which) => getComputedStyle(document.querySelector('dialog nav a' + which)).backgroundColor)`,
    );
    expect(open).not.toBe(other);
    expect(complaints).toEqual([]);
  });

  test('a form keeps what was typed when the connection is lost, whatever is pressed', async () => {
    const { page, context, visit } = await seat.open({ viewport: { width: 320, height: 640 } });
    await visit(`/websites/${websiteId}/settings`, operator);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Corner Bakery & Sons');
    await context.setOffline(true);
    await page.getByText('The service cannot be reached.').waitFor();

    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: /Documents/ }).waitFor();
    await looksRight(page);
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Menu' }).click();
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await menu.getByRole('link', { name: 'Documents', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.waitFor();
    await looksRight(page);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await menu.getByRole('button', { name: 'Close' }).click();
    expect(await name.inputValue()).toBe('Corner Bakery & Sons');
  });

  test('an admin sees it as somebody else does, and stops', async () => {
    const { page, visit } = await seat.open();
    await visit('/', operator);
    await page.goto(`${seat.address}/app/?as=anna%40example.com`);
    await page.getByText('You see this as anna@example.com. Read only.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'You are invited' }).waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
  });
});
