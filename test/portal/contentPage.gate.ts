import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { picture } from '../support/mediaFiles.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

const editor = 'leila@example.com';
const viewer = 'tomas@example.com';

withBrowser('the content pages', () => {
  let seat: PortalSeat;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal();
    const { admin } = seat;
    ({ id: websiteId } = await admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery', tier: 'growth' }));
    for (const [email, role] of [[editor, 'editor'] as const, [viewer, 'viewer'] as const]) {
      await admin.clients.create({ email });
      await admin.websites.clients.add(websiteId, { email, role });
    }
    for await (const { status } of admin.websites.provisioning.watch(websiteId)) if (status === 'succeeded') break;
  });

  test('an editor edits while somebody else saves, keeps both, and publishes', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${websiteId}/content`, editor);
    await page.getByRole('heading', { level: 1, name: 'Nothing was changed yet' }).waitFor();
    await page.getByRole('link', { name: 'Company, contact and opening hours' }).click();
    await page.getByLabel('Tagline').fill('Bread from four in the morning');
    await page.getByLabel('Telephone', { exact: true }).fill('+44 20 7946 0000');

    const content = seat.admin.websites.content;
    const { hash, body } = await content.get(websiteId, 'company');
    const theirs = { ...(body as object), tagline: 'Cakes all day', email: 'cakes@corner-bakery.example' };
    await content.save(websiteId, 'company', { baseHash: hash, body: theirs });

    // Told at once, by the stream of changes; saving over it is refused, and leads to the same choice.
    await page.getByText('has saved a newer version').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: /saved while you were editing/ }).waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: 'Telephone' }).count()).toBe(1);
    expect(await page.getByRole('listitem').filter({ hasText: 'E-mail' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: '1 choice is left' }).isDisabled()).toBe(true);
    await looksRight(page);
    await page.getByRole('radiogroup', { name: 'Tagline' }).getByLabel('Mine').check();
    await page.getByRole('button', { name: 'Save both' }).click();
    await page.getByRole('region', { name: 'Notice' }).getByText('Saved. Publish it').waitFor();

    const merged = await content.get(websiteId, 'company');
    expect(merged.body).toEqual({
      ...(body as object),
      tagline: 'Bread from four in the morning',
      phone: '+44 20 7946 0000',
      email: 'cakes@corner-bakery.example',
    });

    await page.getByRole('link', { name: 'All documents' }).click();
    await page.getByRole('heading', { level: 1, name: '1 change is not on the site yet' }).waitFor();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published.', { exact: true }).first().waitFor();
    await page.getByRole('heading', { level: 1, name: 'Everything is on the site' }).waitFor();
    await looksRight(page);
    const { url = '' } = await seat.admin.websites.get(websiteId);
    const { port } = new URL(seat.address);
    const shown = await fetch(url.replace(/:\d+/, `:${port}`));
    expect(await shown.text()).toContain('+44 20 7946 0000');
    expect(complaints.filter((complaint) => !complaint.includes('400'))).toEqual([]);
  });

  test('what the template does not allow is said at its field, and an earlier version is restored', async () => {
    const { page, visit } = await seat.open();
    await visit(`/websites/${websiteId}/content/company`, editor);
    const dialled = page.getByLabel('Telephone, as it is dialled');
    const before = await dialled.inputValue();
    await dialled.fill('call us');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/^use 3 to 20 digits/).waitFor();
    expect(await dialled.getAttribute('aria-invalid')).toBe('true');
    await looksRight(page);
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await dialled.inputValue()).toBe(before);

    await page
      .getByRole('button', { name: /^Look at the version of/ })
      .first()
      .click();
    await page.getByRole('heading', { level: 3, name: 'Tagline' }).waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await eventually('the earlier version in the form', async () =>
      (await page.getByLabel('Tagline').inputValue()) === 'Cakes all day' ? true : undefined,
    );
  });

  test('a text without a form is edited as JSON, and a viewer reads it', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${websiteId}/marketing`, editor);
    await page.getByRole('heading', { level: 1, name: 'There is no marketing text yet' }).waitFor();
    await page.getByLabel('Name of a new text').fill('newsletter');
    await page.getByRole('button', { name: 'Create it' }).click();
    const text = page.getByLabel('Text of the document (JSON)');
    await text.fill('{"headline": "Bread",\n nonsense}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('This is not JSON: look at line 2').waitFor();
    await text.fill('{"headline": "Bread on Sundays"}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('as it is now').waitFor();
    await looksRight(page);
    expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([]);

    const reader = await seat.open();
    await reader.visit(`/websites/${websiteId}/marketing/newsletter`, viewer);
    await reader.page.getByText('Bread on Sundays').waitFor();
    await reader.page.getByText('You may read this, not change it').waitFor();
    // Who wrote it has a name or none, and is never a subject.
    expect(await reader.page.locator('main').innerText()).not.toContain('user-');
    expect(await reader.page.getByRole('textbox').count()).toBe(0);
    await looksRight(reader.page);

    // A picture is shown as one, and what the agency's people saved is the agency's.
    const { media, content } = seat.admin.websites;
    const file = new Blob([new Uint8Array(await picture(120, 80).jpeg().toBuffer())], { type: 'image/jpeg' });
    const { id: mediaId } = await media.upload(websiteId, { file, alt: 'Loaves on a shelf' });
    const { hash, body } = await content.get(websiteId, 'company');
    await content.save(websiteId, 'company', { baseHash: hash, body: { ...(body as object), picture: { mediaId } } });
    await reader.visit(`/websites/${websiteId}/content/company`, viewer);
    await reader.page.getByText('Loaves on a shelf').scrollIntoViewIfNeeded();
    await reader.page.getByRole('img', { name: 'Loaves on a shelf' }).waitFor();
    expect(await reader.page.getByText(mediaId).count()).toBe(0);
    expect(reader.complaints).toEqual([]);

    // With two hundred newer ones it is not among those that are listed at once.
    for (const shown of [reader.page, page]) {
      await shown.route(/\/media\?limit=/, (listed) =>
        listed.fulfill({ headers: { link: `<${listed.request().url()}&cursor=older>; rel="next"` }, json: [] }),
      );
    }
    await reader.page.reload();
    await reader.page.getByText('Loaves on a shelf').scrollIntoViewIfNeeded();
    await reader.page.getByRole('img', { name: 'Loaves on a shelf' }).waitFor();
    await visit(`/websites/${websiteId}/content/company`, editor);
    const option = page.getByRole('option', { name: 'Loaves on a shelf' });
    await option.waitFor({ state: 'attached' });
    for (const shown of [reader.page, page]) expect(await shown.getByText('A picture that was removed').count()).toBe(0);

    // And it can be chosen again: older ones are listed on demand.
    const chooser = page.getByRole('combobox', { name: 'Picture' });
    await chooser.selectOption('');
    await option.waitFor({ state: 'detached' });
    await page.route(/\/media\?limit=.*cursor=older/, (listed) =>
      listed.continue({ url: listed.request().url().replace('cursor=older', '') }),
    );
    await page.getByRole('button', { name: 'List older pictures too' }).click();
    await option.waitFor({ state: 'attached' });
    await chooser.selectOption({ label: 'Loaves on a shelf' });
    await page.getByRole('img', { name: 'Loaves on a shelf' }).waitFor();
    await looksRight(page);
  });

  test('a new entry of a list is typed into at once', async () => {
    const { page, visit } = await seat.open();
    await visit(`/websites/${websiteId}/content/company`, operator);
    await page.getByRole('button', { name: 'Add one to: Address, by line' }).click();
    await page.keyboard.type('Second floor');
    const lines = page.getByRole('group', { name: 'Address, by line' }).getByRole('textbox');
    expect(await lines.last().inputValue()).toBe('Second floor');

    // Longer entries are opened; this one stays open while it gets its first words.
    await visit(`/websites/${websiteId}/content/services`, operator);
    await page.getByRole('button', { name: 'Add one to: Services' }).click();
    await page.keyboard.type('repairs');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Repairs');
    const entry = page.locator('details[open]').last();
    expect(await entry.getByLabel('Name in links').inputValue()).toBe('repairs');
    expect(await entry.getByLabel('Title').inputValue()).toBe('Repairs');
  });

  test('what is typed stays when the feature is switched off meanwhile', async () => {
    const { page, visit } = await seat.open();
    await visit(`/websites/${websiteId}/content/company`, editor);
    await page.getByLabel('Tagline').fill('Bread, and nothing else');
    const { features } = await seat.admin.websites.get(websiteId);
    const refused = page.waitForResponse((answer) => answer.url().includes('/content/company') && answer.status() === 403);
    await seat.admin.websites.update(websiteId, { features: features.filter((feature) => feature !== 'content') });
    await refused;
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Website does not have the content feature enabled').waitFor();
    expect(await page.getByLabel('Tagline').inputValue()).toBe('Bread, and nothing else');
    await seat.admin.websites.update(websiteId, { features: null });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('region', { name: 'Notice' }).getByText('Saved. Publish it').waitFor();
  });

  test('each page follows one stream of changes: a browser opens six connections to a host', async () => {
    const { page, complaints, visit } = await seat.open();
    for (const path of ['content', 'content/company', 'media', 'seo']) {
      const streams: string[] = [];
      const note = (request: { url: () => string }): void => {
        if (request.url().endsWith('/events')) streams.push(request.url());
      };
      page.on('request', note);
      const listening = page.waitForResponse((response) => response.url().endsWith('/events'));
      await visit(`/websites/${websiteId}/${path}`, editor);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('[data-pending]').waitFor({ state: 'detached' });
      await listening;
      page.off('request', note);
      expect(streams).toEqual([`${seat.address}/websites/${websiteId}/events`]);
    }
    expect(complaints).toEqual([]);
  });
});
