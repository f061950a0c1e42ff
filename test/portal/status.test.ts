import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('the Status page', () => {
  let seat: PortalSeat;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal();
    ({ id: websiteId } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' }));
    await seat.admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt: '2031-12-22T12:00:00.000Z',
      showPreviewUrl: true,
    });
  });

  test('answers in its first line when the website is ready', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${websiteId}`, operator);
    await page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' }).waitFor();
    await looksRight(page);
    expect(complaints).toEqual([]);
  });
});
