import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Checkpoint, CheckpointStatus } from '@doorstep/sdk';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

const anna = 'anna@example.com';
type Step = Pick<Checkpoint, 'id' | 'label' | 'order' | 'status'>;

/** A plan of three steps, those not named to come. */
const steps = (
  ...[first = 'pending', second = 'pending', third = 'pending']: readonly CheckpointStatus[]
): [Step, Step, Step] => [
  { id: 'kickoff', label: 'Kickoff', order: 10, status: first },
  { id: 'design', label: 'Design approved', order: 20, status: second },
  { id: 'launch', label: 'Launch', order: 30, status: third },
];

withBrowser('the Status page', () => {
  let seat: PortalSeat;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal({ BRAND_NAME: 'Northlight Studio' });
    const { admin } = seat;
    const { id: clientId } = await admin.clients.create({ email: anna });
    ({ id: websiteId } = await admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery', clientId }));
    for await (const { status } of admin.websites.provisioning.watch(websiteId)) if (status === 'succeeded') break;
  });

  test('says a client that the plan follows, and lets an admin make one', async () => {
    const client = await seat.open();
    await client.visit(`/websites/${websiteId}`, anna);
    await client.page.getByRole('heading', { level: 1, name: 'The plan follows' }).waitFor();
    expect(await client.page.getByRole('button', { name: 'Set up the plan' }).count()).toBe(0);
    await looksRight(client.page);

    const { page, visit } = await seat.open();
    await visit(`/websites/${websiteId}`, operator);
    await page.getByRole('button', { name: 'Set up the plan' }).click();
    await page.waitForURL(`**/websites/${websiteId}/delivery`);
    expect((await seat.admin.websites.delivery.get(websiteId)).checkpoints).toHaveLength(6);
  });

  test('answers in its first line, says why the date moved, what is needed and what is new', async () => {
    const { admin } = seat;
    const path = `/websites/${websiteId}`;
    await admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt: '2031-12-15T12:00:00.000Z',
      showPreviewUrl: false,
      checkpoints: steps('in_progress'),
    });
    const { page, complaints, visit } = await seat.open();
    const seen = page.waitForResponse((response) => response.url().endsWith('/delivery/seen'));
    await visit(path, anna);
    await page.getByRole('heading', { level: 1, name: 'Ready by 15 December 2031' }).waitFor();
    await page.getByText('0 of 3 steps done; now: Kickoff.').waitFor();
    // At the first look nothing is new, and a preview that is not shown is nothing.
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(['The plan']);
    expect((await seen).status()).toBe(204);

    const [kickoff, design, launch] = steps('done', 'in_progress');
    await admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt: '2031-12-22T12:00:00.000Z',
      showPreviewUrl: true,
      previewUrlOverride: 'https://preview.example.com/bakery',
      reason: 'The photos come a week later.',
      reasonVisible: true,
      checkpoints: [
        kickoff,
        { ...design, neededFromClient: 'Three photos of the shop.', dueAt: '2020-11-20T12:00:00.000Z' },
        { ...launch, dueAt: '2031-12-10T12:00:00.000Z' },
      ],
    });
    await visit(path, anna);
    await page.getByRole('heading', { level: 1, name: 'Ready by 22 December 2031' }).waitFor();
    await page.getByText('1 of 3 steps done; now: Design approved.').waitFor();
    await page.getByText('Moved from 15 December 2031: “The photos come a week later.”').waitFor();
    await page.getByRole('img', { name: '1 done, 1 under way, 1 to come' }).waitFor();
    const sections = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    expect(sections).toEqual(['Needed from you', expect.stringMatching(/^New since \d/), 'Preview', 'The plan']);
    expect(await page.getByRole('link', { name: 'Add it under Content' }).getAttribute('href')).toBe(`/app${path}/content`);
    expect(await page.getByRole('link', { name: /Open preview/ }).getAttribute('href')).toBe(
      'https://preview.example.com/bakery',
    );
    const news = page.locator('section', { has: page.getByRole('button', { name: 'Dismiss' }) }).getByRole('listitem');
    expect(await news.allInnerTexts()).toEqual([
      'The date moved from 15 December 2031 to 22 December 2031: “The photos come a week later.”',
      '“Kickoff” is done.',
      '“Design approved” is under way.',
      '“Design approved” was due on 20 November 2020.',
      '“Design approved” needs something from you: Three photos of the shop.',
      '“Launch” is due on 10 December 2031.',
      'You can open the preview.',
    ]);
    const rows = page.locator('ol > li');
    await rows.nth(1).getByText('Was due on 20 November 2020').waitFor();
    await rows.nth(2).getByText('due 10 December 2031').waitFor();
    await page.getByText('Northlight Studio can see when you last looked.').waitFor();
    await looksRight(page);

    // It stays over a reload until it is dismissed.
    await visit(path, anna);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await visit(path, anna);
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    expect(await page.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
    const readers = await admin.websites.delivery.readers(websiteId);
    const { revision } = await admin.websites.delivery.get(websiteId);
    expect(readers.find(({ email }) => email === anna)).toMatchObject({ revision });
    expect(complaints).toEqual([]);
  });

  test('says that it is late, then ready', async () => {
    const { admin } = seat;
    const late = { estimatedCompletionAt: '2020-11-18T12:00:00.000Z', showPreviewUrl: false };
    await admin.websites.delivery.replace(websiteId, { ...late, checkpoints: steps('done', 'done') });
    const { page, visit } = await seat.open();
    await visit(`/websites/${websiteId}`, anna);
    await page.getByRole('heading', { level: 1, name: 'Was to be ready by 18 November 2020' }).waitFor();
    await page.getByText('2 of 3 steps done; next: Launch.').waitFor();

    await admin.websites.delivery.replace(websiteId, { ...late, checkpoints: steps('done', 'done', 'done') });
    await visit(`/websites/${websiteId}`, anna);
    await page.getByRole('heading', { level: 1, name: /^Ready since / }).waitFor();
    await page.getByText('All 3 steps are done.').waitFor();
  });
});
