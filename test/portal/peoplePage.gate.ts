import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, type PortalSeat, type PortalWindow } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('pages of people', () => {
  let seat: PortalSeat;
  let window: PortalWindow;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal();
    const owner = await seat.admin.clients.create({ email: 'anna@example.com', name: 'Anna Weber' });
    await seat.admin.clients.create({ email: 'ada@example.com', name: 'Ada Lovelace' });
    ({ id: websiteId } = await seat.admin.websites.create({
      name: 'Corner Bakery',
      slug: 'corner-bakery',
      clientId: owner.id,
    }));
    window = await seat.open();
  });

  test('access is given, changed, explained, taken away and given back', async () => {
    const { page, complaints, visit } = window;
    await visit(`/websites/${websiteId}/people`, operator);
    await page.getByRole('heading', { level: 1, name: 'Only Anna Weber sees this website' }).waitFor();
    const form = page.getByRole('form', { name: 'Give somebody access' });
    const give = async (email: string): Promise<void> => {
      await form.getByLabel('E-mail address').fill(email);
      await form.getByRole('button', { name: 'Give access' }).click();
    };
    // What will say how it went takes no room before.
    const [hint, button] = [form.getByText('Somebody new is always invited by mail.'), form.getByRole('button')];
    const [above, below] = [await hint.boundingBox(), await button.boundingBox()];
    if (above === null || below === null) throw new Error('the form is not shown');
    expect(below.y - above.y - above.height).toBeLessThan(24);
    await form.getByLabel('Send a mail').uncheck();
    await give('ada@example.com');
    await page.getByText('Ada Lovelace was known and has access now. No mail was sent.').waitFor();
    // The button was disabled while it was sent, and has the focus again.
    await form.locator('button:focus', { hasText: 'Give access' }).waitFor();
    await give('grace@example.com');
    await page.getByText('grace@example.com is invited by mail.').waitFor();
    await give('anna@example.com');
    await page.getByText('Client already owns this website').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Anna Weber and 1 other see this website' }).waitFor();

    await page.getByLabel('Role of Ada Lovelace').selectOption('Editor');
    await page.getByText('Ada Lovelace is now: Editor.').waitFor({ state: 'attached' });
    await page.getByRole('link', { name: 'What may Ada Lovelace see, and why?' }).click();
    await page.getByText('has access as an editor.').waitFor();
    await page.getByRole('group').filter({ hasText: 'Delivery' }).first().locator('summary').click();
    await page.getByText('Only admins may.').filter({ visible: true }).first().waitFor();
    expect(new URL(page.url()).search).toBe('?access=ada%40example.com');
    await looksRight(page);
    const link = page.getByRole('link', { name: 'Open the website as Ada Lovelace, in a new tab' });
    expect(await link.getAttribute('href')).toBe(`/app/websites/${websiteId}?as=ada%40example.com`);

    // The words of a link that looks like a button stand in its middle, with room for their tails.
    const [box, inside] = [await link.boundingBox(), await link.getByText('Open as them').boundingBox()];
    if (box === null || inside === null) throw new Error('the link is not shown');
    expect(Math.abs(box.y + box.height / 2 - inside.y - inside.height / 2)).toBeLessThan(2);
    expect(await page.evaluate("getComputedStyle(document.querySelector('.mantine-Button-label')).overflow")).toBe('visible');

    await page.getByRole('button', { name: 'Remove Ada Lovelace' }).click();
    await page.getByRole('heading', { level: 1, name: 'Only Anna Weber sees this website' }).waitFor();
    // What stands behind the row that went away has the focus.
    await page.locator('main :focus').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByLabel('Role of Ada Lovelace').waitFor();
    expect(await page.getByLabel('Role of Ada Lovelace').inputValue()).toBe('editor');

    await page.getByRole('button', { name: 'Revoke the invitation of grace@example.com' }).click();
    await page.getByText('The invitation of grace@example.com is revoked.').first().waitFor();
    expect((await seat.admin.websites.clients.list(websiteId)).invitations).toEqual([]);
    expect(complaints.filter((words) => !words.includes('400 (Bad Request)'))).toEqual([]);
  });

  test('an owner reads who has access, and changes nothing', async () => {
    const { page, visit } = await seat.open();
    await visit(`/websites/${websiteId}/people`, 'anna@example.com');
    await page.getByText('Ada Lovelace').waitFor();
    expect(await page.getByRole('button', { name: /Remove|Give access/ }).count()).toBe(0);
    await looksRight(page);
  });

  test('what came of it stands there until it is no longer so', async () => {
    const { page, visit } = window;
    await visit(`/websites/${websiteId}/people`, operator);
    const form = page.getByRole('form', { name: 'Give somebody access' });
    const give = async (email: string): Promise<void> => {
      await form.getByLabel('E-mail address').fill(email);
      await form.getByRole('button', { name: 'Give access' }).click();
    };
    await give('nina@example.com');
    const invited = form.getByText('nina@example.com is invited by mail.');
    await invited.waitFor();
    await page.getByRole('button', { name: 'Revoke the invitation of nina@example.com' }).waitFor();
    expect(await invited.count()).toBe(1);

    const { invitations } = await seat.admin.websites.clients.list(websiteId);
    const elsewhere = await seat.open();
    await elsewhere.visit(`/invitations/${invitations[0]?.id ?? ''}`, 'nina@example.com');
    await elsewhere.page.getByRole('button', { name: 'Accept' }).click();
    await page.getByLabel('Role of nina@example.com').waitFor();
    await invited.waitFor({ state: 'detached' });

    await seat.admin.clients.create({ email: 'omar@example.com' });
    await give('omar@example.com');
    const linked = form.getByText('omar@example.com was known and has access now.');
    await linked.waitFor();
    for (const name of ['nina@example.com', 'omar@example.com']) {
      await page.getByRole('button', { name: `Remove ${name}` }).click();
      await page.getByLabel(`Role of ${name}`).waitFor({ state: 'detached' });
    }
    await linked.waitFor({ state: 'detached' });
  });

  test('an Undo that is refused says why', async () => {
    const { page, visit } = window;
    const email = 'lin@example.com';
    await seat.admin.clients.create({ email });
    await seat.admin.websites.clients.add(websiteId, { email, role: 'viewer' });
    await visit(`/websites/${websiteId}/people`, operator);
    await page.getByRole('button', { name: `Remove ${email}` }).click();
    await page.route('**/undo', (route) =>
      route.fulfill({ status: 400, contentType: 'application/json', body: '{"error":"Website is archived"}' }),
    );
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('region', { name: 'Notice' }).getByRole('alert').getByText('Website is archived').waitFor();
    await looksRight(page);
    await page.unrouteAll();
  });

  test('a client is created, changed, exported and erased', async () => {
    const { page, complaints, visit } = window;
    await visit('/clients', operator);
    await page.getByRole('heading', { level: 1, name: /^\d+ clients$/ }).waitFor();
    await page.getByRole('link', { name: 'Corner Bakery' }).first().waitFor();
    await looksRight(page);
    await page.getByRole('searchbox').fill('weber');
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('heading', { level: 1, name: '1 client matches “weber”' }).waitFor();
    expect(new URL(page.url()).search).toBe('?q=weber');

    await page.getByRole('button', { name: 'New client' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail address').fill('peter@example.com');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'peter@example.com' }).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Peter Mill');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Peter Mill' }).waitFor();
    await page.getByLabel('E-mail address').fill('p.mill@example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('p.mill@example.com has not confirmed yet.').waitFor();
    await looksRight(page);

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export everything' }).click();
    const file = readFileSync(await (await downloading).path(), 'utf8');
    expect(JSON.parse(file)).toMatchObject({
      client: { name: 'Peter Mill' },
      addresses: expect.arrayContaining(['p.mill@example.com']),
    });

    await page.getByRole('textbox', { name: 'Name' }).fill('Peter Miller');
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });

    // Nothing is asked of what was typed about a person who is erased.
    await page.getByRole('button', { name: 'Erase' }).click();
    const erase = page.getByRole('dialog').getByRole('button', { name: 'Erase' });
    expect(await erase.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill('peter@example.com');
    await looksRight(page);
    await erase.click();
    await page.waitForURL(`${seat.address}/app/clients`);
    await page.getByText('The person is erased.').first().waitFor();
    expect(await seat.admin.clients.list({ q: 'mill' })).toHaveLength(0);
    expect(complaints.filter((words) => !words.includes('400 (Bad Request)'))).toEqual([]);
  });

  test('a website is offered, its link handed over, and taken back', async () => {
    const { page, complaints, visit } = window;
    // Whoever owns the website is not known then: nothing says that nobody does.
    await page.route('**/clients?*', (route) =>
      route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":"busy"}' }),
    );
    await visit(`/websites/${websiteId}/transfer`, operator);
    await page.getByRole('heading', { name: 'Not just now' }).waitFor();
    await page.unrouteAll();
    const seen = complaints.length;
    await visit(`/websites/${websiteId}/transfer`, operator);
    await page.getByRole('heading', { level: 1, name: 'Anna Weber owns this website' }).waitFor();
    await page.getByLabel('E-mail address of the new owner').fill('grace@example.com');
    await page.getByRole('button', { name: 'Offer the website' }).click();
    await page.getByRole('heading', { level: 1, name: /^grace@example.com can take over until/ }).waitFor();
    const [offer] = await seat.admin.websites.transfers.list(websiteId);
    expect(await page.getByLabel('Link to hand over').inputValue()).toBe(offer?.claimUrl);
    await page.getByText('The website belongs to the new owner.').waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Take the offer back' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take the offer back' }).click();
    await page.getByRole('heading', { level: 1, name: 'Anna Weber owns this website' }).waitFor();
    expect(await seat.admin.websites.transfers.list(websiteId)).toHaveLength(0);
    expect(complaints.slice(seen)).toEqual([]);
  });
});
