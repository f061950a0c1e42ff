import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { startDnsServer, type DnsServer } from '../support/dnsServer.js';
import { eventually } from '../support/eventually.js';
import { hold, looksRight, operator, startPortal, type PortalSeat, type PortalWindow } from '../support/portal.js';

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

  test('what others change meanwhile stays, and so does what is typed while it saves', async () => {
    const { page, visit } = browser;
    const { id: other } = await seat.admin.websites.create({ name: 'Old Mill', slug: 'old-mill', tier: 'growth' });
    await visit(`/websites/${other}/settings`, operator);
    const name = page.getByLabel('Name', { exact: true });
    const colour = page.getByLabel('Colour', { exact: true });
    await colour.fill('#112233');
    await page.getByRole('checkbox', { name: 'search scans' }).uncheck();
    await seat.admin.websites.update(other, { name: 'New Mill', features: ['content', 'seo', 'analytics'] });
    await page.getByRole('heading', { level: 1, name: 'New Mill' }).waitFor();
    expect(await name.inputValue()).toBe('New Mill');

    const held = await hold(page, 'PATCH', other);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await held.arrived();
    await name.fill('New Mill, Leeds');
    await held.letGo();
    await page.getByRole('region', { name: 'Notice' }).getByText('Saved', { exact: false }).waitFor();
    const saved = await seat.admin.websites.get(other);
    expect(saved).toMatchObject({ name: 'New Mill', brandColor: '#112233' });
    expect([...saved.features].sort()).toEqual(['analytics', 'content']);
    expect(await name.inputValue()).toBe('New Mill, Leeds');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'New Mill, Leeds' }).waitFor();
    expect((await seat.admin.websites.get(other)).brandColor).toBe('#112233');
    await visit(`/websites/${id}/settings`, operator);
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
    await page.getByRole('region', { name: 'Notice' }).getByText('“Corner Café” is archived.').waitFor();
    expect(await page.getByRole('button', { name: 'Add the domain' }).count()).toBe(0);
    await looksRight(page);
    await page.getByRole('region', { name: 'Notice' }).getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('region', { name: 'Notice' }).getByText('“Corner Café” is back.').waitFor();
    await page.getByRole('button', { name: 'Archive this website' }).click();
    await dialog.getByRole('textbox').fill('corner-cafe');
    await archive.click();
    await page.getByRole('heading', { name: /^Archived on / }).waitFor();

    const archived = page.getByRole('region', { name: /^Archived on / });
    const remove = archived.getByRole('button', { name: 'Delete for good' });
    await remove.click();
    expect(await dialog.getByRole('textbox').inputValue()).toBe('');
    await dialog.getByLabel('Leave the hosting project where it is').check();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await remove.click();
    expect(await dialog.getByLabel('Leave the hosting project where it is').isChecked()).toBe(false);
    await dialog.getByRole('textbox').fill('corner-cafe');
    await dialog.getByLabel('Leave the repository where it is').check();
    await looksRight(page);
    await dialog.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('heading', { name: /^Is deleted for good on / }).waitFor();
    await page.getByText('hosting project and access are gone; the repository stays where it is.').waitFor();
    await looksRight(page);
    expect(await seat.admin.websites.get(id)).toMatchObject({ purgeAt: expect.any(String) as unknown, keep: ['repository'] });

    const { purgeAt: planned } = await seat.admin.websites.get(id);
    await page.getByRole('button', { name: 'Change what stays' }).click();
    expect(await dialog.getByLabel('Leave the repository where it is').isChecked()).toBe(true);
    await dialog.getByLabel('Leave the repository where it is').uncheck();
    await looksRight(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('repository, hosting project and access are gone.').waitFor();
    expect(await seat.admin.websites.get(id)).toMatchObject({ purgeAt: planned, keep: [] });
    await page.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('button', { name: 'Archive this website' }).waitFor();
    const { archivedAt, purgeAt } = await seat.admin.websites.get(id);
    expect([archivedAt, purgeAt]).toEqual([undefined, undefined]);
    expect(complaints).toEqual([]);
  });
});
