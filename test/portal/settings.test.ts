import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { startDnsServer, type DnsServer } from '../support/dnsServer.js';
import { eventually } from '../support/eventually.js';
import { looksRight, operator, startPortal, type PortalSeat, type PortalWindow } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('the settings of a website', () => {
  let seat: PortalSeat;
  let dns: DnsServer;
  let browser: PortalWindow;
  let id: string;
  beforeAll(async () => {
    dns = await startDnsServer();
    seat = await startPortal({ DNS_SERVERS: dns.address });
    ({ id } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' }));
    await seat.admin.clients.create({ email: 'anna@example.com' });
    await seat.admin.websites.clients.add(id, { email: 'anna@example.com', role: 'viewer' });
    await eventually('the website is active', async () => (await seat.admin.websites.get(id)).status === 'active' || undefined);
    browser = await seat.open();
  });

  test('name, address and tier are changed at once, and the site is built anew', async () => {
    const { page, complaints, visit } = browser;
    await visit(`/websites/${id}/settings`, operator);
    await page.getByRole('heading', { level: 1, name: 'Corner Bakery' }).waitFor();
    expect(await page.getByRole('checkbox', { name: 'shop' }).isDisabled()).toBe(true);
    await page.getByText('from the Scale tier on').first().waitFor();
    await looksRight(page);

    await page.getByLabel('Name', { exact: true }).fill('Corner Café');
    await page.getByLabel('Address', { exact: true }).fill('corner-cafe');
    await page.getByText('“corner-bakery” leads to it for 90 days').waitFor();
    await page.getByRole('radio', { name: 'Scale' }).check();
    await page.getByRole('checkbox', { name: 'search scans' }).uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Corner Café' }).waitFor();
    expect(await seat.admin.websites.get(id)).toMatchObject({ slug: 'corner-cafe', tier: 'scale' });
    expect((await seat.admin.websites.get(id)).features).not.toContain('seo');

    await page.getByRole('button', { name: 'Redeploy' }).click();
    await page.getByRole('region', { name: 'Notice' }).getByText('The site is being built.').waitFor();
    expect(complaints).toEqual([]);
  });

  test('a domain shows its records, and is verified once they are set', async () => {
    const { page, complaints } = browser;
    await page.getByLabel('Domain', { exact: true }).fill('www.corner.example');
    await page.getByRole('button', { name: 'Add the domain' }).click();
    const domain = page.getByRole('listitem').filter({ hasText: 'www.corner.example' });
    await domain.getByText('waits for its records').waitFor();
    await domain.getByRole('button', { name: 'Verify' }).click();
    await domain.getByText('The record that proves it is not there yet.').waitFor();
    await looksRight(page);
    const name = await domain.getByLabel('Name').first().inputValue();
    const value = await domain.getByLabel('Value').first().inputValue();
    dns.zone.set(name, { TXT: [value] });
    await domain.getByRole('button', { name: 'Verify' }).click();
    await domain.getByText('verified', { exact: true }).waitFor();
    expect(await seat.admin.websites.domains.get(id, 'www.corner.example')).toMatchObject({ status: 'verified' });
    expect(complaints).toEqual([]);
  });

  test('a service takes a secret that never comes back', async () => {
    const { page, complaints } = browser;
    const shop = page.getByRole('listitem').filter({ hasText: 'Shop' });
    await shop.getByRole('button', { name: 'Attach' }).click();
    await shop.getByLabel('Shop domain').fill('not a shop');
    await shop.getByLabel('Admin token').fill('shpat_canary');
    await looksRight(page);
    await shop.getByRole('button', { name: 'Attach' }).click();
    await shop.locator('[aria-invalid=true]').waitFor();
    await shop.getByLabel('Shop domain').fill('corner.myshopify.com');
    await shop.getByRole('button', { name: 'Attach' }).click();
    await shop.getByText('corner.myshopify.com · stored: adminToken').waitFor();
    expect(await page.content()).not.toContain('shpat_canary');
    await shop.getByRole('button', { name: 'Detach' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Detach' }).click();
    await shop.getByText('not attached').waitFor();
    expect(complaints).toEqual([]);
  });

  test('the blueprint is arranged by keys and by mouse', async () => {
    const { page, complaints } = browser;
    const node = page.locator('[data-node=hosting]');
    const before = (await seat.admin.websites.blueprint.get(id)).nodes.find((one) => one.id === 'hosting');
    await node.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.getByText(/^corner-.*: \d+ to the right, \d+ down\.$/).waitFor({ state: 'attached' });
    await node.hover();
    await page.mouse.down();
    await page.mouse.move(0, 0);
    const box = await node.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 100, (box?.y ?? 0) + 50);
    await page.mouse.up();
    await looksRight(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
    const after = (await seat.admin.websites.blueprint.get(id)).nodes.find((one) => one.id === 'hosting');
    expect([after?.x, after?.y]).not.toEqual([before?.x, before?.y]);
    expect(complaints).toEqual([]);
  });

  test('members read domains and blueprint, and change nothing', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${id}/settings`, 'anna@example.com');
    await page.getByText('www.corner.example').first().waitFor();
    await page.locator('[data-node=hosting]').waitFor();
    expect(await page.getByRole('main').getByRole('button', { name: /Verify|Remove|Add|Save|Archive|Attach/ }).count()).toBe(0);
    await looksRight(page);
    expect(complaints).toEqual([]);
  });

  test('a website is archived by typing its address, deleted for good in 30 days, and kept', async () => {
    const { page, complaints } = browser;
    await page.getByRole('button', { name: 'Archive this website' }).click();
    const dialog = page.getByRole('dialog');
    const archive = dialog.getByRole('button', { name: 'Archive' });
    expect(await archive.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('corner-cafe');
    await looksRight(page);
    await archive.click();
    await page.getByRole('heading', { name: /^Archived on / }).waitFor();
    expect(await page.getByRole('button', { name: 'Add the domain' }).count()).toBe(0);
    await looksRight(page);

    await page.getByRole('button', { name: 'Delete for good' }).click();
    await dialog.getByRole('textbox').fill('corner-cafe');
    await dialog.getByLabel('Leave the repository where it is').check();
    await dialog.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('heading', { name: /^Deleted for good on / }).waitFor();
    expect((await seat.admin.websites.get(id)).purgeAt).toBeDefined();
    await page.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('button', { name: 'Archive this website' }).waitFor();
    const { archivedAt, purgeAt } = await seat.admin.websites.get(id);
    expect([archivedAt, purgeAt]).toEqual([undefined, undefined]);
    expect(complaints).toEqual([]);
  });
});
