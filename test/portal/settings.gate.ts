import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { hold, looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('the settings of a website', () => {
  let seat: PortalSeat;
  let id: string;
  beforeAll(async () => {
    seat = await startPortal();
    ({ id } = await seat.admin.websites.create({ name: 'Corner Café', slug: 'corner-cafe', tier: 'scale' }));
    await seat.admin.websites.domains.add(id, 'www.corner.example');
    await seat.admin.clients.create({ email: 'anna@example.com' });
    await seat.admin.websites.clients.add(id, { email: 'anna@example.com', role: 'viewer' });
    await eventually('the website is active', async () => (await seat.admin.websites.get(id)).status === 'active' || undefined);
  });

  test('a service takes a secret that never comes back', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${id}/settings`, operator);
    const shop = page.getByRole('listitem').filter({ hasText: 'Shop' });
    await shop.getByRole('button', { name: 'Attach' }).click();
    await shop.getByLabel('Shop domain').fill('not a shop');
    await shop.getByLabel('Admin token').fill('shpat_canary');
    await looksRight(page);
    await shop.getByRole('button', { name: 'Attach' }).click();
    await shop.locator('[aria-invalid=true]').waitFor();
    await shop.getByLabel('Shop domain').fill('corner.myshopify.com');
    await shop.getByRole('button', { name: 'Attach' }).click();
    await shop.getByText('corner.myshopify.com · stored: adminToken').waitFor();
    expect(await page.content()).not.toContain('shpat_canary');
    await shop.getByRole('button', { name: 'Detach' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Detach' }).click();
    await shop.getByText('not attached').waitFor();
    // The browser notes what was refused.
    expect(complaints).toEqual([expect.stringContaining('400')]);
  });

  test('the blueprint is arranged by keys and by mouse', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${id}/settings`, operator);
    const node = page.locator('[data-node=hosting]');
    const before = (await seat.admin.websites.blueprint.get(id)).nodes.find((one) => one.id === 'hosting');
    await node.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.getByText(/^corner-.*: \d+ to the right, \d+ down\.$/).waitFor({ state: 'attached' });
    await node.hover();
    await page.mouse.down();
    await page.mouse.move(0, 0);
    const box = await node.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 100, (box?.y ?? 0) + 50);
    await page.mouse.up();
    await looksRight(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
    const after = (await seat.admin.websites.blueprint.get(id)).nodes.find((one) => one.id === 'hosting');
    expect([after?.x, after?.y]).not.toEqual([before?.x, before?.y]);

    const held = await hold(page, 'PUT', '/blueprint');
    await node.press('ArrowRight');
    await page.getByRole('button', { name: 'Save' }).click();
    await held.arrived();
    await node.press('ArrowDown');
    await held.letGo();
    await page.getByRole('button', { name: 'Save' }).and(page.locator(':not([data-loading])')).click();
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
    const last = (await seat.admin.websites.blueprint.get(id)).nodes.find((one) => one.id === 'hosting');
    expect([last?.x, last?.y]).toEqual([(after?.x ?? 0) + 20, (after?.y ?? 0) + 20]);
    expect(complaints).toEqual([]);
  });

  test('what somebody else moves in the blueprint meanwhile stays where they put it', async () => {
    const { page, visit } = await seat.open();
    await visit(`/websites/${id}/settings`, operator);
    const { nodes } = await seat.admin.websites.blueprint.get(id);
    const held = await hold(page, 'PUT', '/blueprint');
    await page.locator('[data-node=hosting]').press('ArrowRight');
    await page.getByRole('button', { name: 'Save' }).click();
    await held.arrived();
    await seat.admin.websites.blueprint.replace(id, {
      nodes: nodes.map(({ id: node, x, y }) => ({ id: node, x: node === 'services' ? x + 60 : x, y })),
    });
    await held.letGo();
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
    const after = (await seat.admin.websites.blueprint.get(id)).nodes;
    expect(after).toEqual(
      nodes.map((node) => {
        const by = { services: 60, hosting: 20 }[node.id] ?? 0;
        return { ...node, x: node.x + by };
      }),
    );
  });

  test('members read domains and blueprint, and change nothing', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${id}/settings`, 'anna@example.com');
    await page.getByText('www.corner.example').first().waitFor();
    await page.locator('[data-node=hosting]').waitFor();
    expect(
      await page
        .getByRole('main')
        .getByRole('button', { name: /Verify|Remove|Add|Save|Archive|Attach/ })
        .count(),
    ).toBe(0);
    await looksRight(page);
    expect(complaints).toEqual([]);
  });
});
