import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { hasChromium } from '../support/chromium.js';
import { hold, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('Ctrl+Z in the delivery editor', () => {
  let seat: PortalSeat;
  let page: Page;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal();
    ({ id: websiteId } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' }));
    await seat.admin.websites.delivery.replace(websiteId, {});
    const window = await seat.open();
    ({ page } = window);
    await window.visit(`/websites/${websiteId}/delivery`, operator);
    await status().selectOption('done');
    await undo(false).waitFor();
  });

  const block = () => seat.admin.websites.delivery.get(websiteId);
  const status = (): Locator => page.getByLabel('Status of Kickoff');
  const undo = (disabled: boolean): Locator => page.getByRole('button', { name: 'Undo', disabled });
  /** What the editor sends is sent one after the other: with this, all before it was answered. */
  const redone = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Redo' }).click();
    await undo(false).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/delivery$/);
  };

  test('takes a change back once, however often it is pressed', async () => {
    const { revision } = await block();
    const held = await hold(page, 'POST', '/undo');
    await status().press('Control+z');
    await held.arrived();
    await status().press('Control+z');
    await page.getByRole('button', { name: 'Undo' }).dblclick({ force: true });
    await held.letGo();
    await page.getByText('Undone ·').waitFor();
    expect(await status().inputValue()).toBe('pending');
    await redone();
    expect((await block()).revision).toBe(revision + 2);
  });

  test('leaves alone what was saved before a change that is not saved yet', async () => {
    const { revision } = await block();
    const held = await hold(page, 'PUT', '/checkpoints/kickoff');
    await status().selectOption('in_progress');
    await held.arrived();
    await status().press('Control+z');
    await undo(true).waitFor();
    await held.letGo();
    await undo(false).click();
    await redone();
    expect(await block()).toMatchObject({ revision: revision + 3, checkpoints: [{ status: 'in_progress' }, {}, {}, {}, {}, {}] });
  });

  test('leaves no other Undo of what it has taken back', async () => {
    const { revision } = await block();
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    await page.getByRole('button', { name: 'Remove Launch' }).click();
    const notice = page.getByRole('region', { name: 'Notice' });
    await notice.getByRole('button', { name: 'Undo' }).waitFor();
    await status().press('Control+z');
    await page.getByText('Undone ·').waitFor();
    await page.getByLabel('Status of Launch').waitFor();
    expect(await notice.count()).toBe(0);
    await redone();
    await undo(false).click();
    await page.getByText('Undone ·').waitFor();
    await redone();
    expect((await block()).revision).toBe(revision + 5);
  });

  test.each([
    ['with Shift, which is Redo', { shiftKey: true }],
    ['held down', { repeat: true }],
  ])('does nothing %s', async (_, keys) => {
    const { revision } = await block();
    await status().dispatchEvent('keydown', { key: 'z', metaKey: true, ...keys });
    await undo(false).click();
    await redone();
    expect((await block()).revision).toBe(revision + 2);
  });

  test('closes the notice that the pointer is on, and the next one goes by itself', async () => {
    const notice = page.getByRole('region', { name: 'Notice' });
    const removeQa = async (): Promise<void> => {
      await page.getByRole('button', { name: 'QA', exact: true }).click();
      await page.getByRole('button', { name: 'Remove QA' }).click();
    };
    await removeQa();
    await notice.hover();
    await status().press('Control+z');
    await notice.waitFor({ state: 'detached' });
    await page.mouse.move(0, 0);
    await page.getByLabel('Status of QA').waitFor();

    await page.clock.install();
    await removeQa();
    await notice.waitFor();
    await page.clock.fastForward(12_000);
    await notice.waitFor({ state: 'detached' });
  });
});
