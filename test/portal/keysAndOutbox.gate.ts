import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Doorstep } from '@doorstep/sdk';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, withShortPages, type PortalSeat, type PortalWindow } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('pages of the agency', () => {
  let seat: PortalSeat;
  let window: PortalWindow;
  beforeAll(async () => {
    seat = await startPortal();
    const client = await seat.admin.clients.create({ email: 'ada@example.com', name: 'Ada Lovelace' });
    const { id } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' });
    await seat.admin.websites.clients.add(id, { email: client.email, role: 'editor' });
    window = await seat.open({ acceptDownloads: true });
  });

  test('a key is made, shown once, copied, used and revoked with what falls with it', async () => {
    const { page, complaints, visit, context } = window;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit('/settings/api-keys', operator);
    await page.getByRole('heading', { level: 1, name: 'No program acts in your name' }).waitFor();
    await page.getByLabel('An example call').waitFor();
    await looksRight(page);

    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Weekly report');
    await page.getByLabel('Read and change whatever you may').check();
    expect(await page.getByLabel('Works for').inputValue()).toBe('90');
    await page.getByRole('button', { name: 'Make the key' }).click();
    const field = page.getByLabel('Your key');
    await field.waitFor();
    await looksRight(page);
    // Not copied: closing asks.
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('You have not copied the key.').waitFor();
    await page.getByRole('button', { name: 'Copy' }).first().click();
    const token = await field.inputValue();
    await page.getByRole('button', { name: 'Done' }).click();
    await field.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: '1 key acts in your name' }).waitFor();

    const program = new Doorstep({ baseUrl: seat.address, token });
    expect((await program.me.get()).email).toBe(operator);
    await program.apiKeys.create({ name: 'Made by a program' });
    const [parent] = (await program.apiKeys.list()).filter(({ name }) => name === 'Weekly report');
    const days = (Date.parse(parent?.expiresAt ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);

    await page.reload();
    await page.getByText('made with the key “Weekly report”').waitFor();
    await page.getByRole('button', { name: 'Revoke the key Weekly report' }).click();
    await page.getByText('One key was made with it, and is revoked too:').waitFor();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'No program acts in your name' }).waitFor();
    await expect(program.me.get()).rejects.toMatchObject({ status: 401 });
    expect(complaints).toEqual([]);
  });

  test('all keys of somebody are listed, however many there are', async () => {
    const { page, visit } = window;
    await seat.admin.apiKeys.create({ name: 'Export' });
    await seat.admin.apiKeys.create({ name: 'Import' });
    const keys = await seat.admin.apiKeys.list();
    await withShortPages(page);
    const { subject } = await seat.admin.me.get();
    await visit(`/settings/api-keys?subject=${encodeURIComponent(subject)}`, operator);
    await page.getByRole('button', { name: 'Revoke the key Export' }).waitFor();
    expect(await page.getByRole('button', { name: /^Revoke the key/ }).count()).toBe(keys.length);
    await page.unrouteAll();
  });

  test('a device is led to the page on which it is approved, with its code', async () => {
    const { page, complaints, visit } = window;
    await visit('/settings/connect?code=BCDF-GHJK', operator);
    await page.getByText(`doorstep login --url ${seat.address}`).or(page.getByLabel('Sign in')).first().waitFor();
    expect(await page.getByLabel('Sign in').inputValue()).toBe(`doorstep login --url ${seat.address}`);
    expect(await page.getByLabel('Address').inputValue()).toBe(`${seat.address}/mcp`);
    await looksRight(page);
    await page.getByRole('button', { name: 'Check the code' }).click();
    await page.waitForURL(`${seat.address}/oidc/device?user_code=BCDF-GHJK`);
    expect(await page.locator('input[name=user_code]').inputValue()).toBe('BCDF-GHJK');
    expect(complaints).toEqual([]);
  });

  test('the audit says in words who did what, filters by address, and exports what is shown', async () => {
    const { page, complaints, visit } = window;
    await visit('/audit', operator);
    await page.getByText('Ada Lovelace was given access').waitFor();
    await page.getByRole('link', { name: 'Corner Bakery' }).first().waitFor();
    await looksRight(page);

    await page.getByLabel('By whom').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('heading', { name: 'No change matches' }).waitFor();
    expect(new URL(page.url()).search).toBe('?actor=nobody%40example.com');
    await page.getByRole('button', { name: 'Show all' }).click();
    // The form is a new one then.
    await page.getByRole('link', { name: 'Corner Bakery' }).first().waitFor();

    await page.getByLabel('Website').selectOption({ label: 'Corner Bakery' });
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForURL(/websiteId=/);
    await page.getByText('The website was created').waitFor();
    expect(await page.getByText('The API key').count()).toBe(0);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const download = await downloading;
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines[0]).toMatch(/^id,at,type,websiteId,/);
    expect(lines.length - 1).toBe(Number(/^\d+/.exec(await page.getByRole('heading', { level: 1 }).innerText())?.[0]));
    expect(lines.some((line) => line.includes('APIKeyMinted'))).toBe(false);
    expect(complaints).toEqual([]);
  });

  test('the outbox shows the mails to somebody, with their links', async () => {
    const { page, complaints, visit } = window;
    await visit('/outbox?to=admin%40doorstep.local', operator);
    await page.locator('summary').first().click();
    await page.getByRole('tab', { name: 'Text and links' }).click();
    const link = page.getByRole('list', { name: 'Links in this mail' }).getByRole('link').first();
    expect(await link.getAttribute('href')).toMatch(new RegExp(`^${seat.address}/oidc/sign-in/`));
    await looksRight(page);
    await page.getByRole('searchbox').fill('nobody@example.com');
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('heading', { name: 'No mail to this address' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
