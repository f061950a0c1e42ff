import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, withShortPages, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('what somebody sees first', () => {
  let seat: PortalSeat;
  beforeAll(async () => {
    seat = await startPortal();
  });

  test('an agency that begins, then one with something late, waiting, and in order', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit('/', operator);
    await page.getByRole('heading', { level: 1, name: 'Begin with a website' }).waitFor();
    expect(await page.getByRole('link', { name: 'New website' }).getAttribute('href')).toBe('/app/websites/new');
    await looksRight(page);

    const { admin } = seat;
    const { id: late } = await admin.websites.create({ name: 'Atelier Roth', slug: 'atelier-roth' });
    await admin.websites.delivery.replace(late, { estimatedCompletionAt: '2020-01-08T12:00:00.000Z', showPreviewUrl: false });
    const { id: waiting } = await admin.websites.create({ name: 'Mill & Sons', slug: 'mill-and-sons' });
    await admin.websites.delivery.replace(waiting, {
      estimatedCompletionAt: '2031-01-14T12:00:00.000Z',
      showPreviewUrl: false,
      checkpoints: [
        { id: 'a', label: 'Design', order: 10, status: 'in_progress', dueAt: '2020-01-04T12:00:00.000Z' },
        { id: 'b', label: 'Content', order: 20, status: 'pending', neededFromClient: 'Opening hours and photos' },
      ],
    });
    // Each change is told to the page, which asks again.
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
    const group = (name: string) =>
      page
        .getByRole('region')
        .or(page.locator('section'))
        .filter({ has: page.getByRole('heading', { name }) });
    await group('Late · 2').getByText('Was to be ready on 8 January 2020').waitFor();
    await group('Late · 2').getByText('“Design” was due on 4 January 2020').waitFor();
    await group('Waiting for the client · 1').getByText('Needed: Opening hours and photos').waitFor();
    await group('All websites · 2')
      .getByRole('row', { name: /Mill & Sons.*14 January 2031/ })
      .waitFor();
    expect(await page.getByRole('link', { name: 'Set a date: Atelier Roth' }).getAttribute('href')).toBe(
      `/app/websites/${late}/delivery`,
    );
    await looksRight(page);
    expect(complaints).toEqual([]);
  });

  test('a client: nothing yet, an invitation, the one website at once, then all', async () => {
    const email = 'peter@example.com';
    const { page, complaints, visit } = await seat.open({ viewport: { width: 320, height: 640 } });
    await visit('/', email);
    await page.getByRole('heading', { level: 1, name: 'Nothing is shared with you yet' }).waitFor();
    await page.getByText(`You are signed in as ${email}`).waitFor();
    await looksRight(page);

    const { admin } = seat;
    const { id } = await admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' });
    const added = await admin.websites.clients.add(id, { email, role: 'viewer' });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'You are invited' }).waitFor();
    await page.getByRole('link', { name: 'Accept: Corner Bakery' }).waitFor();
    await looksRight(page);
    if (added.kind !== 'invited') throw new Error('the client was known');

    const { id: other } = await admin.websites.create({ name: 'Second Shop', slug: 'second-shop' });
    const token = await page.evaluate<string>(
      'JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage).find((key) => key.startsWith("oidc.user:")))).access_token',
    );
    const claimed = await fetch(`${seat.address}/invitations/${added.invitation.id}/claim`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(claimed.status).toBe(200);
    await page.goto(`${seat.address}/app/`);
    await page.waitForURL(`**/app/websites/${id}`);

    await admin.websites.clients.add(other, { email, role: 'viewer' });
    await admin.websites.delivery.replace(other, { estimatedCompletionAt: '2031-12-22T12:00:00.000Z', showPreviewUrl: false });
    await page.goto(`${seat.address}/app/`);
    await page.getByRole('heading', { level: 1, name: 'Your websites' }).waitFor();
    await page.getByRole('link', { name: /Second Shop.*Ready by 22 December 2031\. 0 of 6 steps done/ }).waitFor();
    await page.getByRole('link', { name: /Corner Bakery.*The plan follows/ }).waitFor();
    await looksRight(page);
    await withShortPages(page);
    await page.reload();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page
      .getByRole('link', { name: /Corner Bakery|Second Shop/ })
      .nth(1)
      .waitFor();
    // The browser notes that a delivery which is not set up is none.
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });
});
