import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import {
  hold,
  looksRight,
  operator,
  startPortal,
  transitionsEnd,
  type PortalSeat,
  type PortalWindow,
} from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('what is typed into a form', () => {
  let seat: PortalSeat;
  let browser: PortalWindow;
  let path: string;
  beforeAll(async () => {
    seat = await startPortal();
    const { id } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery', tier: 'scale' });
    path = `/websites/${id}`;
    browser = await seat.open({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
    await browser.visit('/clients?q=nobody', operator);
  });

  test('of a dialog stays when it is closed by a slip, and is dropped on purpose', async () => {
    const { page, complaints } = browser;
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('button', { name: 'New client' }).click();
    const form = page.getByRole('dialog', { name: 'New client' });
    const address = form.getByLabel('E-mail address');
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });

    // Nothing is typed yet: nothing is asked.
    await address.press('Escape');
    await form.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'New client' }).click();
    await address.fill('anna@example.com');

    await address.press('Escape');
    await question.waitFor();
    await looksRight(page);
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    await page.mouse.click(5, 5);
    await question.getByRole('button', { name: 'Cancel' }).click();
    // The search before it is the same page, whose dialog stays.
    await page.goBack();
    await page.waitForURL(/q=nobody/);
    expect(await address.inputValue()).toBe('anna@example.com');

    await form.getByRole('button', { name: 'Close' }).click();
    await question.getByRole('button', { name: 'Leave' }).click();
    await form.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'New client' }).click();
    expect(await address.inputValue()).toBe('');
    await address.fill('anna@example.com');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'anna@example.com' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('of a dialog is asked about by Escape while it is sent, too, and not when the key is for what lies over it', async () => {
    const { page, visit } = browser;
    await visit('/clients', operator);
    await page.getByRole('button', { name: 'New client' }).click();
    const form = page.getByRole('dialog', { name: 'New client' });
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await form.getByLabel('E-mail address').fill('anna@example.com');
    const held = await hold(page, 'POST', '/clients');
    await form.getByRole('button', { name: 'Create' }).click();
    await held.arrived();
    // Disabled while it sends, the button loses the focus.
    await form.locator(':focus').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'hidden' });
    await held.letGo();
    await form.getByText('A client with this email already exists').waitFor();

    await page.keyboard.press('Control+k');
    const palette = page.getByRole('combobox');
    await palette.waitFor();
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'hidden' });
    expect(await question.count()).toBe(0);
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Leave' }).click();
    await form.waitFor({ state: 'hidden' });
  });

  test('of a key is not asked about once the key is made, which is shown until it is copied', async () => {
    const { page, visit } = browser;
    await visit('/settings/api-keys', operator);
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Weekly report');
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    const held = await hold(page, 'POST', '/api-keys');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await held.arrived();
    await page.mouse.click(5, 5);
    await question.waitFor();
    await held.letGo();
    await question.waitFor({ state: 'hidden' });
    await page.getByLabel('Your key').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('You have not copied the key.').waitFor();
    await page.getByLabel('Your key').waitFor();
  });

  test('to confirm something stays within a narrow window, however long the word is', async () => {
    const { page, visit } = browser;
    await page.setViewportSize({ width: 320, height: 640 });
    const email = 'annalindqvist@cornerbakeryandconfectionery.example';
    const { id } = await seat.admin.clients.create({ email });
    await visit(`/clients/${id}`, operator);
    await page.getByRole('button', { name: 'Erase', exact: true }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('textbox').fill(email);
    await transitionsEnd(page);
    const { x = 0, width = 0 } = (await form.getByRole('button', { name: 'Erase', exact: true }).boundingBox()) ?? {};
    expect(x + width).toBeLessThan(320);
  });

  test('a question stays when Escape is for the search that lies over it', async () => {
    const { page } = browser;
    // Without the transition that it would go with, it would be gone at once.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const question = page.getByRole('dialog', { name: /^Erase/ });
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('combobox');
    await palette.press('Escape');
    await palette.waitFor({ state: 'hidden' });
    await transitionsEnd(page);
    expect(await question.count()).toBe(1);
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
  });

  test.each([
    ['People', 'E-mail address'],
    ['Transfer', 'E-mail address of the new owner'],
    ['Settings', 'Domain'],
  ])('of the page %s stays until the reader says that they leave', async (name, label) => {
    const { page, visit } = browser;
    await page.setViewportSize({ width: 1280, height: 800 });
    await visit(path, operator);
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    const field = page.getByLabel(label, { exact: true }).first();
    await field.fill('anna@example.com');
    await page.goBack();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await field.inputValue()).toBe('anna@example.com');
    await page.goBack();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { level: 1, name: 'There is no plan yet' }).waitFor();
  });
});
