import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(180_000);

const withBrowser = hasChromium ? describe : describe.skip;

const anna = 'anna@example.com';
/** A moment that is three calendar days in the zones of the earth. */
const now = '2026-10-25T00:30:00.000Z';

withBrowser('the Status page', () => {
  let seat: PortalSeat;
  let path: string;
  beforeAll(async () => {
    seat = await startPortal();
    const { id: clientId } = await seat.admin.clients.create({ email: anna });
    const { id } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery', clientId });
    await seat.admin.websites.delivery.replace(id, {
      estimatedCompletionAt: '2026-10-26T12:00:00.000Z',
      checkpoints: [
        { id: 'first', label: 'First', order: 10, status: 'in_progress', dueAt: '2026-10-25T00:00:00.000Z' },
        { id: 'second', label: 'Second', order: 20, status: 'pending', dueAt: '2026-10-25T23:59:59.999Z' },
      ],
    });
    path = `/websites/${id}`;
  });

  // Far west it is still the 24th; in Berlin the clocks go back that night.
  test.each([
    ['Etc/GMT+12', 'In 2 days.'],
    ['America/New_York', 'In 2 days.'],
    ['Europe/Berlin', 'Tomorrow.'],
    ['Pacific/Kiritimati', 'Tomorrow.'],
  ])('says the same days in %s, and how far they are by its calendar', async (timezoneId, relative) => {
    const { page, visit } = await seat.open({ timezoneId });
    await visit(path, anna);
    await page.getByRole('heading', { level: 1, name: /^(Ready|Was to be ready) by 26 October/ }).waitFor();
    await page.clock.setFixedTime(now);
    await visit(path, anna);
    await page.getByRole('heading', { level: 1, name: 'Ready by 26 October' }).waitFor();
    await page.getByText(relative, { exact: false }).first().waitFor();
    const rows = page.locator('ol > li');
    expect(await rows.nth(0).innerText()).toMatch(/^First\s+under way\s+Due 25 October/);
    expect(await rows.nth(1).innerText()).toMatch(/^Second\s+due 25 October/);
    await page.getByText(`Times in ${timezoneId}`).waitFor();
  });
});
