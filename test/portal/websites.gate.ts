import { describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('many websites on a phone in the dark', () => {
  test('come in pages, each beneath the one before', async () => {
    // Without a worker: none of them has to be built.
    const seat = await startPortal({ PROCESS_ROLES: 'api,projector,cron' });
    for (let number = 10; number < 65; number += 1) {
      await seat.admin.websites.create({ name: `Website ${String(number)}`, slug: `website-${String(number)}` });
    }
    const { page, complaints, visit } = await seat.open({ viewport: { width: 320, height: 700 }, colorScheme: 'dark' });
    await visit('/websites?sort=name', operator);
    await page.getByRole('heading', { level: 1, name: '55 websites' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(51);
    await page.getByRole('button', { name: 'Show more (50 of 55)' }).click();
    await page.getByRole('link', { name: 'Website 64' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(56);
    expect(await page.getByRole('button', { name: /Show more/ }).count()).toBe(0);
    await looksRight(page);
    expect(complaints).toEqual([]);
  });
});
