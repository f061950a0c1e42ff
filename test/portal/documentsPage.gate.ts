import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { hold, looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

const anna = 'anna@example.com';
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=', 'base64');

withBrowser('the documents of a website', () => {
  let seat: PortalSeat;
  let path: string;
  beforeAll(async () => {
    seat = await startPortal({ BRAND_NAME: 'Northlight Studio', STORAGE_LIMIT: '1MB' });
    const { id: clientId } = await seat.admin.clients.create({ email: anna });
    const { id } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery', clientId });
    path = `/websites/${id}/documents`;
  });

  test('are uploaded, renamed, deleted and restored by an admin, and read by a client', async () => {
    const client = await seat.open();
    await client.visit(path, anna);
    await client.page.getByRole('heading', { name: 'No documents yet' }).waitFor();
    expect(await client.page.getByRole('button', { name: 'Upload files' }).count()).toBe(0);
    await looksRight(client.page);

    const { page, complaints, visit } = await seat.open();
    await visit(path, operator);
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Upload files' }).click(),
    ]);
    await chooser.setFiles([
      { name: 'photo.png', mimeType: 'image/png', buffer: png },
      { name: 'much.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1_100_000) },
      { name: 'notes.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n') },
    ]);
    await page.getByText('The storage of this website is full.').waitFor();
    // A browser that still has it would say nothing of the same file chosen again.
    expect(await page.locator('input[type=file]').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Download notes.csv' }).waitFor();
    await page.getByRole('button', { name: 'Preview photo.png' }).waitFor();
    expect(await page.getByRole('button', { name: 'Preview notes.csv' }).count()).toBe(0);
    await looksRight(page);

    await page.getByRole('button', { name: 'Rename photo.png' }).click();
    await page.getByLabel('New name of photo.png').fill('shop.png');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Delete shop.png' }).click();
    await page.getByRole('button', { name: 'Delete shop.png' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Delete shop.png' }).waitFor();
    // The browser itself reports the refused upload.
    expect(complaints.filter((complaint) => !complaint.includes('400'))).toEqual([]);

    await client.visit(path, anna);
    await client.page.getByRole('button', { name: 'Preview shop.png' }).click();
    const picture = client.page.getByRole('img', { name: 'shop.png' });
    await picture.waitFor();
    await client.page.waitForFunction(`document.querySelector('[role=dialog] img').naturalWidth === 1`);
    await looksRight(client.page);
    await client.page.keyboard.press('Escape');
    const [download] = await Promise.all([
      client.page.waitForEvent('download'),
      client.page.getByRole('button', { name: 'Download notes.csv' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('notes.csv');
    expect(await readFile(await download.path(), 'utf8')).toBe('a,b\n');
    expect(client.complaints).toEqual([]);
  });

  test('on their way go on when the page is left, and say there too that one was not taken', async () => {
    const { page, visit } = await seat.open();
    await visit(path, operator);
    const title = page.getByRole('heading', { level: 1, name: 'Documents' });
    await title.waitFor();
    const choose = (name: string): Promise<void> =>
      page.locator('input[type=file]').setInputFiles([{ name, mimeType: 'text/csv', buffer: Buffer.from('a,b\n') }]);
    const media = page.getByRole('link', { name: 'Media', exact: true });
    const noMedia = page.getByRole('heading', { level: 1, name: 'There are no pictures yet' });
    const closingAsks = (): Promise<boolean> =>
      page.evaluate(`!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))`);

    const held = await hold(page, 'POST', '/documents');
    await choose('prices.csv');
    await held.arrived();
    await media.click();
    await noMedia.waitFor();
    expect(await closingAsks()).toBe(true);
    await held.letGo();
    await eventually('the file to arrive', async () => !(await closingAsks()) || undefined);
    await page.goBack();
    await page.getByRole('button', { name: 'Download prices.csv' }).waitFor();

    let isLeft = false;
    await page.route('**/documents', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await eventually('the page to be left', () => isLeft || undefined);
      return route.fulfill({ status: 413, json: { error: 'Too large', code: 'payload_too_large' } });
    });
    await choose('rates.csv');
    await media.click();
    await noMedia.waitFor();
    isLeft = true;
    await page.getByText('rates.csv was not uploaded. It is too large: a file may have 100 MB.').first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });

    // A session that has ended is said where a file is sent, as everywhere.
    await page.goBack();
    await page.route('**/documents', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 401, json: { error: 'Invalid token', code: 'invalid_token' } })
        : route.continue(),
    );
    await title.waitFor();
    await choose('rates.csv');
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  });
});
