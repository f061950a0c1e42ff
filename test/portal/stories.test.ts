import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { operator, pickUpByKey, startPortal, type PortalSeat, type PortalWindow } from '../support/portal.js';
import { linkIn } from '../support/signIn.js';

// A browser is slow on a busy machine.
jest.setTimeout(180_000);

const withBrowser = hasChromium ? describe : describe.skip;

const client = 'anna@corner-bakery.example';
const editor = 'leila@studio-haddad.example';

withBrowser('the stories of the portal', () => {
  let seat: PortalSeat;
  beforeAll(async () => {
    seat = await startPortal({ BRAND_NAME: 'Northlight' });
  });

  /** The newest mail to an address, once there is one. */
  const mailTo = (email: string, subject: RegExp) =>
    eventually(`a mail to ${email}`, async () =>
      (await seat.admin.outbox.list({ to: email, limit: 5 })).find((mail) => subject.test(mail.subject)),
    );

  const heading = (page: Page, name: RegExp): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor();

  /** Acts as a person does, and counts. */
  const counting = (page: Page) => {
    const counts = { clicks: 0, fields: 0 };
    return {
      counts,
      press: async (name: string | RegExp, role: 'button' | 'link' = 'button'): Promise<void> => {
        counts.clicks += 1;
        await page
          .getByRole(role, { name, exact: typeof name === 'string' })
          .first()
          .click();
      },
      fill: async (label: string, text: string): Promise<void> => {
        counts.fields += 1;
        await page.getByLabel(label).first().fill(text);
      },
    };
  };

  let websiteId = '';

  test('an operator gets from an empty install to an invited client in 12 clicks and 5 fields', async () => {
    const { page, complaints } = await seat.open({ viewport: { width: 1280, height: 900 } });
    const { counts, press, fill } = counting(page);
    await page.goto(seat.address);

    await page.locator('input[type=email]').waitFor();
    await fill('E-mail address', operator);
    await press('Send me the mail');
    await page.getByLabel('Code').waitFor();
    // The link of the mail, clicked, and the button on the page that it opens.
    counts.clicks += 1;
    await page.goto(linkIn(await mailTo(operator, /./)));
    await press('Sign in');

    await heading(page, /./);
    await press('New website', 'link');
    await fill('Name', 'Corner Bakery');
    await page.getByText('The address “corner-bakery” is kept for it.').waitFor();
    await press('Create the website');
    await heading(page, /^Built on/);
    websiteId = /websites\/([^/]+)/.exec(page.url())?.[1] ?? '';

    await press(/^Set the delivery up/, 'link');
    await press('Set up the plan');
    const grip = (label: string) => page.getByRole('button', { name: `Move ${label}` });
    await grip('Kickoff').waitFor();

    // By mouse: Launch before QA. By keys: back again.
    const [from, to] = [await grip('Launch').boundingBox(), await grip('QA').boundingBox()];
    if (from === null || to === null) throw new Error('the steps are not shown');
    await page.mouse.move(from.x + 10, from.y + 18);
    await page.mouse.down();
    await page.mouse.move(to.x + 10, to.y + 30, { steps: 4 });
    await page.mouse.move(to.x + 10, to.y + 12, { steps: 4 });
    await page.getByText('Launch is at position 5 of 6.').waitFor({ state: 'attached' });
    await page.mouse.up();
    await page.getByText('Launch moved to position 5 of 6.').waitFor({ state: 'attached' });
    await pickUpByKey(page, grip('Launch'));
    await page.keyboard.press('ArrowDown');
    await page.getByText('Launch is at position 6 of 6.').waitFor({ state: 'attached' });
    await page.keyboard.press('Space');
    await page.getByText('Launch moved to position 6 of 6.').waitFor({ state: 'attached' });
    await page.getByLabel('Status of Kickoff').selectOption('done');

    await fill('Ready by', '2031-12-22');
    await fill('Why it moved', 'The photos come a week later.');
    await page.keyboard.press('Control+s');
    await page.getByText('You have changes that are not saved.').waitFor({ state: 'detached' });

    await press('People', 'link');
    await heading(page, /Nobody/);
    await fill('E-mail address', client);
    await press('Give access');
    await page.getByText(`${client} is invited by mail.`, { exact: false }).first().waitFor();

    expect(counts.clicks).toBeLessThanOrEqual(12);
    expect(counts.fields).toBeLessThanOrEqual(5);
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
    const block = await seat.admin.websites.delivery.get(websiteId);
    expect(block).toMatchObject({
      estimatedCompletionAt: '2031-12-22T12:00:00.000Z',
      checkpoints: [{ id: 'kickoff', status: 'done' }, {}, {}, {}, {}, { id: 'launch', order: 60 }],
    });
  });

  test('the client opens the mail, accepts, and reads where the website stands', async () => {
    await seat.admin.websites.documents.upload(websiteId, {
      file: new Blob(['%PDF-1.4\n%%EOF\n'], { type: 'application/pdf' }),
      name: 'Offer.pdf',
    });
    const window = await seat.open({ viewport: { width: 390, height: 844 } });
    const { page } = window;
    const link = linkIn(await mailTo(client, /Corner Bakery/));
    await page.goto(link);
    await window.signInAs(client);
    await page.getByRole('button', { name: 'Accept' }).click();
    await heading(page, /^Ready by 22 December 2031$/);
    await page.getByText('1 of 6 steps done', { exact: false }).waitFor();

    await readAgain(window);
    await page.getByRole('link', { name: 'Documents' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Download Offer/ }).click();
    expect((await download).suggestedFilename()).toMatch(/Offer/);
  });

  /** What happened meanwhile, and the preview. */
  const readAgain = async ({ page, context }: PortalWindow): Promise<void> => {
    const { delivery } = seat.admin.websites;
    const { estimatedCompletionAt, revision } = await delivery.get(websiteId);
    await delivery.replace(websiteId, { estimatedCompletionAt, showPreviewUrl: true });
    await delivery.setCheckpointStatus(websiteId, 'design-approved', 'done');
    expect((await delivery.get(websiteId)).revision).toBeGreaterThan(revision);
    await page.reload();
    await page.getByText('“Design approved” is done.').waitFor();
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: /^Open preview/ }).click();
    const preview = await opened;
    await preview.getByText('Corner Bakery').first().waitFor();
    await preview.close();
  };

  test('an editor edits content while somebody else saves, and both changes stay', async () => {
    await seat.admin.websites.clients.add(websiteId, { email: editor, role: 'editor' });
    const window = await seat.open({ viewport: { width: 1280, height: 900 } });
    const { page } = window;
    await page.goto(linkIn(await mailTo(editor, /Corner Bakery/)));
    await window.signInAs(editor);
    await page.getByRole('button', { name: 'Accept' }).click();
    await heading(page, /^Ready by/);
    await page.goto(`${seat.address}/app/websites/${websiteId}/content/company`);
    const phone = page.getByLabel('Phone', { exact: false }).first();
    await phone.fill('+44 113 496 0000');

    const { hash, body } = await seat.admin.websites.content.get(websiteId, 'company');
    await seat.admin.websites.content.save(websiteId, 'company', {
      baseHash: hash,
      body: { ...(body as object), email: 'office@corner-bakery.example' },
    });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('saved while you were editing', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Save both' }).click();
    const merged = await eventually('both changes', async () => {
      const now = (await seat.admin.websites.content.get(websiteId, 'company')).body as Record<string, unknown>;
      return JSON.stringify(now).includes('+44 113 496 0000') ? now : undefined;
    });
    expect(merged).toMatchObject({ email: 'office@corner-bakery.example' });
  });
});
