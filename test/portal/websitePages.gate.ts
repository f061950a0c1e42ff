import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(240_000);

const withBrowser = hasChromium ? describe : describe.skip;

const pages = ['content', 'content/company', 'content/services', 'media', 'marketing', 'seo', 'deployments', 'billing'];

withBrowser('the pages of a website, on a narrow dark phone in German', () => {
  let seat: PortalSeat;
  let websiteId: string;
  beforeAll(async () => {
    // Nothing listens there: whoever counts the visits cannot be reached.
    seat = await startPortal({ ANALYTICS_URL: 'http://127.0.0.1:9', ANALYTICS_API_KEY: 'none' });
    const { admin } = seat;
    ({ id: websiteId } = await admin.websites.create({ name: 'Eckbäckerei', slug: 'eckbaeckerei', tier: 'growth' }));
    for await (const { status } of admin.websites.provisioning.watch(websiteId)) if (status === 'succeeded') break;
  });

  test.each([
    ['light', 768],
    ['dark', 320],
  ] as const)('in %s at %s px', async (colorScheme, width) => {
    const { page, complaints, visit } = await seat.open({
      colorScheme,
      locale: 'de-DE',
      viewport: { width, height: 800 },
    });
    for (const path of pages) {
      await visit(`/websites/${websiteId}/${path}`, operator);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('[role=status][aria-label]').waitFor({ state: 'detached' });
      await looksRight(page);
    }
    expect(complaints).toEqual([]);
  });

  test('long words and long names stay within the page', async () => {
    const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
    const { admin, open } = seat;
    const { id } = await admin.websites.create({ name: long, slug: 'long' });
    await admin.websites.delivery.replace(id, {});
    await admin.websites.delivery.replace(id, {
      estimatedCompletionAt: '2027-03-01T12:00:00.000Z',
      showPreviewUrl: false,
      checkpoints: [{ id: 'one', label: long, order: 10, status: 'pending', neededFromClient: long }],
      reason: long,
      reasonVisible: true,
    });
    const { page, visit } = await open({ locale: 'de-DE', viewport: { width: 320, height: 800 } });
    await admin.websites.services.attach(id, { kind: 'analytics', siteId: `${'a'.repeat(60)}.example` });
    for (const path of ['', '/delivery', '/delivery/history', '/people', '/transfer', '/settings', '/provisioning']) {
      await visit(`/websites/${id}${path}`, operator);
      await page.locator(':root:has(h1):not(:has([data-pending]))').waitFor({ state: 'attached' });
      await looksRight(page);
    }
  });

  test('visits that cannot be asked for are told apart from none', async () => {
    const { page, visit } = await seat.open({ locale: 'de-DE' });
    await visit(`/websites/${websiteId}/analytics`, operator);
    await page.getByRole('heading', { level: 1, name: 'Die Besuche lassen sich gerade nicht abfragen' }).waitFor();
    await page.getByRole('button', { name: 'Noch einmal' }).waitFor();
    await looksRight(page);
  });

  test('a page of a feature that the website does not have says so, and asks once', async () => {
    const { id } = await seat.admin.websites.create({ name: 'Klein', slug: 'klein', tier: 'starter' });
    const { page, visit } = await seat.open({ locale: 'de-DE' });
    await visit('/settings/connect', operator);
    const isRefused = (address: string): boolean => new URL(address).pathname === `/websites/${id}/seo`;
    const requests: string[] = [];
    page.on('request', (request) => {
      if (isRefused(request.url())) requests.push(request.url());
    });
    const refused = page.waitForResponse((response) => isRefused(response.url()));
    await page.route(/\/SeoPage-[^/]*\.js$/, async (route) => {
      await (await refused).finished();
      await route.continue();
    });
    await visit(`/websites/${id}/seo`, operator);
    await page.getByRole('heading', { level: 1, name: /nicht Teil dieser Website$/ }).waitFor();
    await looksRight(page);
    expect(requests).toHaveLength(1);
  });
});
