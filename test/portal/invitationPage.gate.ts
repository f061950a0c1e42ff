import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { looksRight, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('an invitation', () => {
  let seat: PortalSeat;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal({ BRAND_NAME: 'Northlight Studio' });
    ({ id: websiteId } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery' }));
    await seat.admin.websites.delivery.replace(websiteId, { estimatedCompletionAt: '2031-12-22T12:00:00.000Z' });
  });

  /** Below `/app`. */
  const pathIn = (address: string | undefined): string => new URL(address ?? '').pathname.slice('/app'.length);

  /** Where the link of the invitation's mail leads: a worker sends it. */
  const invitedTo = (email: string): Promise<string> =>
    eventually(`the mail to ${email}`, async () => {
      const [mail] = await seat.admin.outbox.list({ to: email, limit: 1 });
      return mail === undefined ? undefined : pathIn(mail.links[0]);
    });

  test("leads from the mail's link by a sign-in and one Accept to the Status page", async () => {
    // Longer than a line on a phone.
    const anna = 'annalindqvist@cornerbakeryandconfectionery.example';
    await seat.admin.websites.clients.add(websiteId, { email: anna, role: 'viewer' });
    const { page, complaints, visit } = await seat.open({ viewport: { width: 320, height: 640 } });
    const path = await invitedTo(anna);
    await visit(path, anna);
    await page.getByRole('heading', { level: 1, name: 'Northlight Studio invites you to Corner Bakery' }).waitFor();
    await page.getByText(/^You can follow when the website will be ready/).waitFor();
    await page.getByText(`For ${anna} · valid until `, { exact: false }).waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/app/websites/${websiteId}`);

    // The page's code is held until its data was asked for.
    const asked = page.waitForRequest((request) => request.resourceType() === 'fetch' && request.url().endsWith(path));
    await page.route(/\/InvitationPage-[^/]*\.js$/, async (route) => {
      await asked;
      await route.continue();
    });
    await visit(path, anna);
    await page.getByRole('heading', { level: 1, name: 'You have accepted this invitation' }).waitFor();
    await page.getByRole('link', { name: 'Open Corner Bakery' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' }).waitFor();
    expect(complaints).toEqual([]);

    // Its link would lead to a refusal, once that access was taken away.
    const [link] = (await seat.admin.websites.clients.list(websiteId)).links;
    await seat.admin.websites.clients.remove(websiteId, link?.clientId ?? '');
    await visit(path, anna);
    await page.getByRole('heading', { level: 1, name: 'Your access has ended' }).waitFor();
    await looksRight(page);
    expect(await page.getByRole('link', { name: 'Open Corner Bakery' }).count()).toBe(0);
  });

  test('of somebody else says so, and lets one sign in as that person', async () => {
    const { admin } = seat;
    await admin.websites.clients.add(websiteId, { email: 'ben@example.com', role: 'editor' });
    const path = await invitedTo('ben@example.com');
    const { page, visit, signInAs } = await seat.open();
    await visit(path, 'carla@example.com');
    await page.getByRole('heading', { level: 1, name: 'This invitation is for somebody else' }).waitFor();
    await page.getByText('You are signed in as carla@example.com.').waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Sign in as somebody else' }).click();
    await signInAs('ben@example.com');
    await page.getByText(/edit its content/).waitFor();

    // Withdrawn meanwhile: what was on the page does not hold any more.
    const [invitation] = (await admin.websites.clients.list(websiteId)).invitations;
    await admin.websites.invitations.revoke(websiteId, invitation?.id ?? '');
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { level: 1, name: 'This invitation does not hold any more' }).waitFor();
  });

  test('to own a website says what that comes to before it is accepted', async () => {
    const { claimUrl } = await seat.admin.websites.transfers.offer(websiteId, { email: 'dora@example.com' });
    const { page, visit } = await seat.open();
    await visit(pathIn(claimUrl), 'dora@example.com');
    await page.getByRole('heading', { level: 1, name: 'Northlight Studio hands Corner Bakery over to you' }).waitFor();
    await page.getByRole('heading', { name: 'Who pays from when' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
      'What becomes yours',
      'Who pays from when',
      'What stays as it is',
      'What is still open',
    ]);
    await page.getByText('6 steps of the plan are open.').waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' }).waitFor();
    expect((await seat.admin.websites.get(websiteId)).clientId).toBeDefined();
  });
});
