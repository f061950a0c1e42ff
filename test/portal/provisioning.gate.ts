import { describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal } from '../support/portal.js';
import { serveFake } from '../support/providers/wire.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('provisioning on a phone, in the dark and in German', () => {
  test('says that nobody has begun', async () => {
    const seat = await startPortal({ PROCESS_ROLES: 'api,projector,cron' });
    const { id } = await seat.admin.websites.create({ name: 'Harbour Yoga', slug: 'harbour-yoga' });
    const { page, complaints, visit } = await seat.open({
      viewport: { width: 320, height: 700 },
      colorScheme: 'dark',
      locale: 'de-DE',
    });
    await visit(`/websites/${id}/provisioning`, operator);
    await page.getByRole('heading', { level: 1, name: 'Wartet auf den Aufbau' }).waitFor();
    expect(await page.locator('[data-status=pending]').count()).toBe(6);
    await looksRight(page);
    expect(complaints).toEqual([]);
  });

  test('stops at the first step, and goes on from it', async () => {
    const { url } = await serveFake(() => ({ status: 404, body: { message: 'Not Found' } }));
    const seat = await startPortal({
      GITHUB_TOKEN: 'token',
      GITHUB_OWNER: 'agency',
      GITHUB_TEMPLATE: 'agency/template',
      GITHUB_API_URL: url,
      VERCEL_TOKEN: 'token',
      VERCEL_API_URL: url,
    });
    const { id } = await seat.admin.websites.create({ name: 'Harbour Yoga', slug: 'harbour-yoga' });
    const { page, complaints, visit } = await seat.open({
      viewport: { width: 320, height: 700 },
      colorScheme: 'dark',
      locale: 'de-DE',
    });
    await visit(`/websites/${id}/provisioning`, operator);
    await page.getByRole('heading', { level: 1, name: 'Angehalten bei „Repository aus der Vorlage“' }).waitFor();
    await looksRight(page);
    const before = await seat.admin.websites.provisioning.get(id);
    await page.getByRole('button', { name: 'Von hier an wiederholen' }).click();
    await page.getByText('2 Versuche').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Angehalten bei „Repository aus der Vorlage“' }).waitFor();
    const after = await seat.admin.websites.provisioning.get(id);
    expect([before.steps[0]?.attempts, after.steps[0]?.attempts]).toEqual([1, 2]);
    expect(complaints).toEqual([]);
  });
});
