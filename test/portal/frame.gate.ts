import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('what stands around a page, when something goes wrong', () => {
  let seat: PortalSeat;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal();
    ({ id: websiteId } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' }));
  });

  test('a form that is not saved is left only when one says so, by a link and by Back', async () => {
    const { page, visit } = await seat.open();
    await visit('/websites', operator);
    await page.goto(`${seat.address}/app/websites`);
    await page.getByRole('link', { name: 'Corner Bakery' }).first().click();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Corner Bakery & Sons');
    await page.getByText('You have changes that are not saved.').waitFor();
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });

    await page.getByRole('link', { name: 'Documents', exact: true }).click();
    await dialog.waitFor();
    await looksRight(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('Corner Bakery & Sons');

    await page.goBack();
    await dialog.waitFor();
    expect(page.url()).toBe(`${seat.address}/app/websites/${websiteId}/settings`);
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(`${seat.address}/app/websites/${websiteId}`);
  });

  test('a busy service and a newer portal are said quietly, and nothing is reloaded by itself', async () => {
    const { page, visit } = await seat.open({ viewport: { width: 320, height: 640 } });
    await visit('/', operator);
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
    const isBusy = { value: true };
    await page.route('**/search?*', (route) =>
      isBusy.value ? route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":"busy"}' }) : route.continue(),
    );
    await page.route('**/app/', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/data-version="[^"]*"/, 'data-version="next"'),
      });
    });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find a website, person or page' }).fill('corner');
    await page.getByText('The service is busy or restarting.').waitFor();
    isBusy.value = false;
    await page.getByText('There is a new version of this page.').waitFor();
    await page.keyboard.press('Escape');
    await looksRight(page);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();

    // What stands around the pages does not come: that is said too.
    await page.unrouteAll();
    await page.route('**/AdminFrame-*.js', (route) => route.abort());
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'This page does not work just now' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
  });

  test('what alone cannot be answered is asked for again, and nothing else is moved by it', async () => {
    const { page, visit } = await seat.open();
    const cannot = (code: string) => ({
      status: 503,
      contentType: 'application/json',
      body: JSON.stringify({ error: 'no', code }),
    });
    const busy = page.getByText('The service is busy or restarting.');
    await seat.admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt: '2031-12-15T12:00:00.000Z',
      showPreviewUrl: false,
    });
    const email = 'eva@example.com';
    await seat.admin.clients.create({ email });
    await seat.admin.websites.clients.add(websiteId, { email, role: 'editor' });
    await page.route('**/delivery/changes?*', (route) => route.fulfill(cannot('unavailable')));
    await visit(`/websites/${websiteId}`, email);
    const title = page.getByRole('heading', { level: 1, name: 'Ready by 15 December 2031' });
    await title.waitFor();
    await busy.waitFor();
    const shown = await title.elementHandle();
    await page.waitForResponse('**/delivery/changes?*');
    expect(await shown.evaluate((node) => (node as { readonly isConnected?: boolean }).isConnected)).toBe(true);
    await page.unrouteAll();

    // Who hosts the website is another service.
    await page.route('**/deployments?*', (route) => route.fulfill(cannot('provider_unavailable')));
    await visit(`/websites/${websiteId}/deployments`, email);
    await page.getByRole('heading', { level: 1, name: 'The deployments cannot be loaded just now' }).waitFor();
    expect(await busy.count()).toBe(0);

    // Without the website it is not known who may write: that is said.
    await page.route('**/websites/*', (route) =>
      route.request().resourceType() === 'document' ? route.continue() : route.fulfill(cannot('unavailable')),
    );
    await visit(`/websites/${websiteId}/content/company`, email);
    await page.getByRole('heading', { name: 'Not just now' }).waitFor();
    await page.unrouteAll();
  });

  test('a service that is back is asked soon, however often the connection broke before', async () => {
    const { page, context, visit } = await seat.open();
    const email = 'fay@example.com';
    await seat.admin.clients.create({ email });
    await seat.admin.websites.clients.add(websiteId, { email, role: 'viewer' });
    await visit(`/websites/${websiteId}/documents`, email);
    await page.getByRole('heading', { level: 1, name: 'Documents' }).waitFor();
    const bar = page.getByText(/^The service (cannot be reached|is busy or restarting)\./);
    const breakOff = async (): Promise<void> => {
      await context.setOffline(true);
      await bar.waitFor();
      await context.setOffline(false);
    };
    for (let count = 0; count < 4; count += 1) {
      await breakOff();
      await bar.waitFor({ state: 'detached' });
    }
    let isBack = false;
    await page.route('**/me', (route) =>
      isBack ? route.continue() : route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":"busy"}' }),
    );
    await breakOff();
    await page.getByText('The service is busy or restarting.').waitFor();
    isBack = true;
    await bar.waitFor({ state: 'detached', timeout: 20_000 });
  });

  test('the sign-in page says that the service is away for as long as there is no connection', async () => {
    const { page, context } = await seat.open();
    await page.goto(`${seat.address}/app/sign-in`);
    await page.getByRole('heading', { level: 1, name: 'Welcome to Doorstep' }).waitFor();
    await context.setOffline(true);
    const away = page.getByText('The service cannot be reached.');
    await away.waitFor();
    await context.setOffline(false);
    await away.waitFor({ state: 'detached' });
  });

  test('a page whose code does not come without a connection comes by itself once there is one', async () => {
    const { page, context, visit } = await seat.open();
    await visit('/websites', operator);
    await page.getByRole('heading', { level: 1, name: '1 website' }).waitFor();
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'The service cannot be reached' }).waitFor({ timeout: 20_000 });
    await looksRight(page);
    await context.setOffline(false);
    await page.getByRole('heading', { level: 1, name: / changes$/ }).waitFor({ timeout: 20_000 });
  });

  test('an address of an admin who looks as somebody else shows clients their own', async () => {
    const email = 'anna@example.com';
    await seat.admin.clients.create({ email });
    await seat.admin.websites.clients.add(websiteId, { email, role: 'viewer' });
    const { page, signInAs } = await seat.open();
    await page.goto(`${seat.address}/app/websites/${websiteId}/documents?as=ben%40example.com`);
    await signInAs(email);
    await page.getByRole('heading', { level: 1, name: 'Documents' }).waitFor();
    expect(page.url()).toBe(`${seat.address}/app/websites/${websiteId}/documents`);

    // An invitation stands by itself.
    const added = await seat.admin.websites.clients.add(websiteId, { email: 'ben@example.com', role: 'viewer' });
    const path = `/invitations/${added.kind === 'invited' ? added.invitation.id : ''}`;
    await page.goto(`${seat.address}/app${path}?as=ben%40example.com`);
    await page.getByRole('heading', { level: 1, name: 'Invitation' }).waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { level: 1, name: 'This invitation is for somebody else' }).waitFor();
    expect(page.url()).toBe(`${seat.address}/app${path}`);
  });

  test('an admin who looks as nobody is told what the service refuses, and stops', async () => {
    const { page, signInAs } = await seat.open();
    await page.goto(`${seat.address}/app/?as=anna`);
    await signInAs(operator);
    await page.getByRole('heading', { level: 1, name: 'That did not work' }).waitFor();
    await page.getByText(/^Invalid query — as: /).waitFor();
    expect(await page.getByText('The service made a mistake.').count()).toBe(0);
    await looksRight(page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { level: 1, name: 'What needs you' }).waitFor();
  });

  test('a service that stops while nothing is asked of it is said to be away', async () => {
    const { page, visit } = await seat.open();
    const following = page.waitForResponse(`**/websites/${websiteId}/events`);
    await visit(`/websites/${websiteId}/people`, operator);
    await following;
    await page.locator(':root:has(h1):not(:has([data-pending]))').waitFor({ state: 'attached' });
    await seat.server.kill('SIGTERM');
    await page.getByText('The service cannot be reached.').waitFor({ timeout: 20_000 });
  });
});
