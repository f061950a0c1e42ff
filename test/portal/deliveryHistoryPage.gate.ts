import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { looksRight, operator, startPortal, type PortalSeat, type PortalWindow } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('the history of a delivery', () => {
  let seat: PortalSeat;
  let window: PortalWindow;
  let page: Page;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal();
    const { websites } = seat.admin;
    ({ id: websiteId } = await websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' }));
    const body = { estimatedCompletionAt: '2031-12-15T12:00:00.000Z', showPreviewUrl: false };
    await websites.delivery.replace(websiteId, body);
    await websites.delivery.setCheckpointStatus(websiteId, 'kickoff', 'done');
    await websites.delivery.replace(websiteId, {
      ...body,
      estimatedCompletionAt: '2031-12-22T12:00:00.000Z',
      reason: 'The photos come a week later.',
      reasonVisible: true,
    });
    await websites.delivery.markSeen(websiteId, 1);
    window = await seat.open({ viewport: { width: 1280, height: 900 } });
    ({ page } = window);
  });

  const block = () => seat.admin.websites.delivery.get(websiteId);
  const change = (words: string) => page.getByRole('listitem').filter({ hasText: words });

  test('says what changed, who did it, why and by which way', async () => {
    await window.visit(`/websites/${websiteId}/delivery/history`, operator);
    const moved = change('Moved the day from 15 December 2031 to 22 December 2031.');
    await moved.getByText('The photos come a week later.', { exact: false }).waitFor();
    await moved.getByText('Clients read this.').waitFor();
    await moved.getByText('with an API key', { exact: false }).waitFor();
    await change('“Kickoff” is done.').waitFor();
    await change('Set the plan up: ready by 15 December 2031, 6 steps.').getByText('The set-up cannot be undone.').waitFor();
    await page.getByRole('row', { name: 'All but the last change' }).waitFor();
    await page.getByText('No forecast yet: it needs five finished deliveries.').waitFor();
    await looksRight(page);
  });

  test('shows the plan as it was, by a link that others can open', async () => {
    await change('“Kickoff” is done.').getByRole('link', { name: 'As it was' }).click();
    const then = page.getByRole('region', { name: 'As it was on' });
    await then.getByRole('heading', { name: 'Ready by 15 December 2031' }).waitFor();
    await looksRight(page);
    const link = await then.getByLabel('Link to this moment').inputValue();
    await page.goto(link);
    await then.getByRole('heading', { name: 'Ready by 15 December 2031' }).waitFor();
    await then.getByRole('button', { name: 'Close' }).click();
    await then.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
  });

  test('takes a change back with those after it, and that again', async () => {
    await change('“Kickoff” is done.').getByRole('button', { name: 'Undo this' }).click();
    const dialog = page.getByRole('dialog', { name: 'Go back to before this change?' });
    await dialog.getByText('The change after it is undone too.', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Undo this' }).click();
    await change('Undid change 1 and what came after it.').waitFor();
    expect(await block()).toMatchObject({ estimatedCompletionAt: '2031-12-15T12:00:00.000Z', revision: 3 });
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await eventually('the change to be back', async () => (await block()).revision === 4 || undefined);
    expect(await block()).toMatchObject({ estimatedCompletionAt: '2031-12-22T12:00:00.000Z' });
    expect(window.complaints).toEqual([]);
  });
});
