import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import type { Response } from 'playwright-core';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

const anna = 'anna@example.com';
/** What the Status page may load, in bytes of gzip. */
const maxScripts = 150_000;
const maxStyles = 20_000;

const gzipBytes = async (response: Response): Promise<number> => gzipSync(await response.body(), { level: 9 }).length;

withBrowser('what is loaded', () => {
  let seat: PortalSeat;
  let path: string;
  beforeAll(async () => {
    seat = await startPortal();
    const { id: clientId } = await seat.admin.clients.create({ email: anna });
    const { id } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery', tier: 'growth', clientId });
    await seat.admin.websites.delivery.replace(id, { estimatedCompletionAt: '2031-12-22T12:00:00.000Z' });
    path = `/websites/${id}`;
  });

  test('the Status page of a client is light, asks for its data while its code comes, and asks nobody else', async () => {
    const { page, visit, context } = await seat.open();
    const heading = page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' });
    await visit(path, anna);
    await heading.waitFor();

    // Not what signing in has loaded: a load of its own, as if nothing were kept.
    await (await context.newCDPSession(page)).send('Network.setCacheDisabled', { cacheDisabled: true });
    const responses: Response[] = [];
    page.on('response', (response) => responses.push(response));
    await visit(path, anna);
    await heading.waitFor();
    await page.waitForLoadState('load');
    expect(responses.filter((response) => new URL(response.url()).origin !== new URL(seat.address).origin)).toEqual([]);

    const loaded = { script: 0, stylesheet: 0 };
    for (const response of responses) {
      const type = response.request().resourceType();
      if (type === 'script' || type === 'stylesheet') {
        const bytes = await gzipBytes(response);
        loaded[type] += bytes;
        console.info(`${String(bytes).padStart(7)} ${new URL(response.url()).pathname}`);
      }
    }
    console.info(`${String(loaded.script)} bytes of scripts, ${String(loaded.stylesheet)} bytes of style sheets (gzip)`);
    expect(loaded.script).toBeLessThanOrEqual(maxScripts);
    expect(loaded.stylesheet).toBeLessThanOrEqual(maxStyles);

    // The page's code is held until all of its data was asked for.
    const asked = [/\/me$/, /\/websites\/[^/]+$/, /\/delivery$/, /\/delivery\/changes\?.*since=0/].map((address) =>
      page.waitForRequest((request) => request.resourceType() === 'fetch' && address.test(request.url())),
    );
    await page.route(/\/StatusPage-[^/]*\.js$/, async (route) => {
      await Promise.all(asked);
      await route.continue();
    });
    await visit(path, anna);
    await heading.waitFor();
    await Promise.all(asked);
  });

  test('pages of the agency ask for what they show while their code comes, once, and again only for what has changed', async () => {
    const { websites } = seat.admin;
    const { id } = await websites.create({ name: 'Tea House', slug: 'tea-house', tier: 'growth' });
    const { revision } = await websites.delivery.replace(id, {});
    // Steps of its building would be asked for too.
    await eventually('the website is active', async () => (await websites.get(id)).status === 'active' || undefined);

    const { page, visit } = await seat.open();
    await visit('/settings/connect', operator);
    const lists = ['failed', 'late', 'waiting'].map((attention) => page.waitForRequest((one) => one.url().includes(attention)));
    await page.route(/\/HomePage-[^/]*\.js$/, async (route) => {
      await Promise.all(lists);
      await route.continue();
    });
    await visit('/', operator);
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();

    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (request.resourceType() === 'fetch' && !pathname.endsWith('/events')) asked.push(`${pathname}${search}`);
    });
    for (const part of ['content', 'content/company', 'marketing']) {
      asked.length = 0;
      await visit(`/websites/${id}/${part}`, operator);
      await page.locator(':root:has(h1):not(:has([data-pending]))').waitFor({ state: 'attached' });
      expect(asked).toEqual([...new Set(asked)]);
    }

    // That somebody has read the plan changes no more than the list of its readers.
    const following = page.waitForResponse(`**/websites/${id}/events`);
    await visit(`/websites/${id}/delivery/history`, operator);
    await page.getByText('Nobody has looked yet').waitFor();
    await following;
    asked.length = 0;
    await websites.delivery.markSeen(id, revision);
    await page.getByRole('columnheader', { name: 'Who' }).waitFor();
    expect(asked).toEqual([`/websites/${id}/delivery/readers?limit=200`]);
  });
});
