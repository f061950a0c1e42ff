import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

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
    await page.getByRole('button', { name: 'Download notes.csv' }).waitFor();
    // A browser that still has it would say nothing of the same file chosen again.
    expect(await page.locator('input[type=file]').inputValue()).toBe('');
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
});
