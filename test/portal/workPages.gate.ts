import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { photograph } from '../support/mediaFiles.js';
import { hold, looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

const owner = 'anna@example.com';
const viewer = 'tomas@example.com';

withBrowser('the pages of a website', () => {
  let seat: PortalSeat;
  let websiteId: string;
  let path: string;
  beforeAll(async () => {
    seat = await startPortal();
    const { admin } = seat;
    const { id: clientId } = await admin.clients.create({ email: owner, name: 'Anna Weber' });
    await admin.clients.create({ email: viewer });
    const website = { name: 'Corner Bakery', slug: 'corner-bakery', tier: 'growth', clientId } as const;
    ({ id: websiteId } = await admin.websites.create(website));
    path = `/websites/${websiteId}`;
    await admin.websites.clients.add(websiteId, { email: viewer, role: 'viewer' });
    for await (const { status } of admin.websites.provisioning.watch(websiteId)) if (status === 'succeeded') break;
  });

  test('billing: an admin adds an invoice, the owner reads what is to be paid, and it is marked as paid', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`${path}/billing`, operator);
    await page.getByRole('heading', { level: 1, name: 'Nothing is charged' }).waitFor();
    await page.getByRole('button', { name: 'Add an invoice' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('What for').fill('Website, January');
    await form.getByLabel('Amount').fill('forty');
    await form.getByRole('button', { name: 'Add an invoice' }).click();
    await form.getByText('Write an amount such as 49.00.').waitFor();
    await form.getByLabel('Amount').fill('49');
    await form.getByLabel('Due by').fill('0203-12-01');
    await form.getByRole('button', { name: 'Add an invoice' }).click();
    await form.getByText('Write a whole day, or none.').waitFor();
    await looksRight(page);
    await form.getByLabel('Due by').fill('2031-12-01');
    await form.getByRole('button', { name: 'Add an invoice' }).click();
    await page.getByRole('heading', { level: 1, name: '€49.00 to pay by 1 December 2031' }).waitFor();
    await looksRight(page);

    const client = await seat.open();
    await client.visit(`${path}/billing`, owner);
    await client.page.getByRole('heading', { level: 1, name: '€49.00 to pay by 1 December 2031' }).waitFor();
    expect(await client.page.getByRole('button', { name: /Mark as paid|Void|Add an invoice/ }).count()).toBe(0);
    await client.page.getByRole('link', { name: 'Open the invoice Website, January' }).waitFor();
    await looksRight(client.page);
    expect(client.complaints).toEqual([]);

    await page.getByRole('button', { name: 'Mark as paid: Website, January' }).click();
    await page.getByRole('heading', { level: 1, name: 'Everything is paid' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('visits, scans and deployments answer in their first line; a viewer changes none of it', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`${path}/analytics`, operator);
    await page.getByText('Nobody has come yet in these days').waitFor();
    const { url = '' } = await seat.admin.websites.get(websiteId);
    const site = url.replace(/:\d+/, `:${new URL(seat.address).port}`);
    await fetch(site, { headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' } });
    await eventually('the visit', async () => {
      const { visitors } = await seat.admin.websites.analytics.get(websiteId);
      return visitors === 1 ? true : undefined;
    });
    await visit(`${path}/analytics?days=7`, operator);
    await page.getByRole('heading', { level: 1, name: '1 visitor in 7 days' }).waitFor();
    await page.getByText('There were none in the 7 days before.').waitFor();
    await page.getByRole('img', { name: /^Visitors by day\. Most on/ }).waitFor();
    await page.getByText('The same as a table').click();
    await looksRight(page);

    await visit(`${path}/seo`, operator);
    await page.getByRole('heading', { level: 1, name: 'The website was not scanned yet' }).waitFor();
    await page.getByRole('button', { name: 'Scan now' }).click();
    await page.getByRole('heading', { level: 1, name: /keep.? people from finding the website|can be found/ }).waitFor();
    await page.getByText('No assistant is asked: the agency has not set one up.').waitFor();
    await looksRight(page);

    await visit(`${path}/deployments`, operator);
    await page.getByRole('heading', { level: 1, name: /^Last built on/ }).waitFor();
    await page.getByRole('button', { name: 'Build again' }).click();
    await page.getByText('Nothing has changed since the last build, so it stays.').first().waitFor();
    expect(await page.getByText('Built', { exact: true }).count()).toBe(1);
    await seat.admin.websites.update(websiteId, { brandColor: '#aa3300' });
    const build = page.getByRole('button', { name: 'Build again' });
    const held = await hold(page, 'GET', '/deployments');
    let isAnswered = false;
    page.on('response', (response) => {
      isAnswered ||= response.url().endsWith('/redeploy');
    });
    const asked = page.waitForRequest((request) => isAnswered && request.url().includes('/deployments'));
    await build.click();
    await asked;
    // Until the list says that a build is under way, a second press would ask for another one.
    expect(await build.getAttribute('data-loading')).toBe('true');
    await held.letGo();
    await page.getByText('Built', { exact: true }).nth(1).waitFor();
    await looksRight(page);
    expect(complaints).toEqual([]);
    // Not that the service itself is busy.
    await page.route('**/redeploy', (route) =>
      route.fulfill({ status: 502, json: { error: 'Vercel cannot be asked right now', code: 'provider_unavailable' } }),
    );
    await build.click();
    await page.getByRole('alert').filter({ hasText: 'Vercel cannot be asked right now' }).waitFor();

    const reader = await seat.open();
    await reader.visit(`${path}/deployments`, viewer);
    await reader.page.getByText('The agency has not switched the preview on').waitFor();
    expect(await reader.page.getByRole('button', { name: 'Build again' }).count()).toBe(0);
    await reader.visit(`${path}/billing`, viewer);
    await reader.page.getByRole('heading', { level: 1, name: 'Billing is for the owner and the agency' }).waitFor();
    await looksRight(reader.page);
  });

  test('media: a picture is uploaded with what it shows, described anew, removed and brought back', async () => {
    const { page, complaints, visit } = await seat.open();
    const addresses: string[] = [];
    page.on('request', (request) => {
      if (/\/media\/[^/]+\/url/.test(request.url())) addresses.push(request.url());
    });
    await visit(`${path}/media`, owner);
    await page.getByRole('heading', { level: 1, name: 'There are no pictures yet' }).waitFor();
    const file = { name: 'shop.jpg', mimeType: 'image/jpeg', buffer: await photograph(600, 400) };
    await page.locator('input[type=file]').setInputFiles([file]);
    const form = page.getByRole('dialog');
    await form.getByRole('button', { name: 'Upload' }).click();
    await form.getByText('Say what the picture shows.').waitFor();
    await form.getByLabel('What it shows').fill('The shop with its red door');
    await looksRight(page);
    await form.getByRole('button', { name: 'Upload' }).click();
    const picture = page.getByRole('img', { name: 'The shop with its red door' });
    await picture.waitFor();
    await eventually('the picture', async () =>
      (await page.evaluate<boolean>('[...document.images].some(({ naturalWidth }) => naturalWidth > 0)')) ? true : undefined,
    );
    await looksRight(page);

    await page.getByRole('button', { name: 'Describe shop.jpg' }).click();
    await page.getByRole('dialog').getByLabel('What it shows').fill('The shop in the evening');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('img', { name: 'The shop in the evening' }).waitFor();

    // A change of the website is asked for, and loads no picture anew.
    for (const name of ['Corner Café', 'Corner Bakery']) {
      await seat.admin.websites.update(websiteId, { name });
      await eventually('the new name', async () => ((await page.title()).includes(name) ? true : undefined));
    }
    expect(addresses).toHaveLength(1);

    await page.getByRole('button', { name: 'Remove shop.jpg' }).click();
    await page.getByRole('heading', { level: 1, name: 'There are no pictures yet' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('img', { name: 'The shop in the evening' }).waitFor();
    expect(complaints).toEqual([]);

    const broken = { name: 'shop.png', mimeType: 'image/png', buffer: Buffer.from('no picture') };
    await page.locator('input[type=file]').setInputFiles([broken]);
    await form.getByLabel('What it shows').fill('Nothing');
    await form.getByRole('button', { name: 'Upload' }).click();
    await form.getByText('It was not taken:').waitFor();
    // A browser that still has it would say nothing of the same file chosen again.
    expect(await page.locator('input[type=file]').inputValue()).toBe('');
    await form.getByRole('button', { name: 'Cancel' }).click();

    // The others of a batch need not be chosen again because of it.
    await page.locator('input[type=file]').setInputFiles([broken, { ...file, name: 'oven.jpg' }]);
    await form.getByLabel('What it shows').fill('Nothing');
    await form.getByRole('button', { name: 'Upload' }).click();
    await form.getByText('It was not taken:').waitFor();
    await looksRight(page);
    await form.getByRole('button', { name: 'Leave this one out' }).click();
    await form.getByText('oven.jpg').waitFor();
    await form.getByLabel('What it shows').fill('The oven');
    await form.getByRole('button', { name: 'Upload' }).click();
    await page.getByRole('img', { name: 'The oven' }).waitFor();

    // As with more than one page of them.
    await page.route(/\/media\?limit=/, (listed) =>
      listed.continue({
        url: listed
          .request()
          .url()
          .replace(/limit=\d+/, 'limit=1'),
      }),
    );
    await page.reload();
    await page.getByRole('heading', { level: 1, name: '2 pictures and videos' }).waitFor();
    expect(await page.getByRole('button', { name: /^Describe / }).count()).toBe(1);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('button', { name: 'Describe shop.jpg' }).waitFor();
    expect(await page.getByRole('button', { name: /^Describe / }).count()).toBe(2);
  });
});
