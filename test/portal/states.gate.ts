import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { BrowserContextOptions } from 'playwright-core';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { expireInvitation } from '../support/expiredInvitation.js';
import { onFolder } from '../support/onFolder.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(240_000);

const withBrowser = hasChromium ? describe : describe.skip;

const anna = 'anna@example.com';
const german: BrowserContextOptions = {
  colorScheme: 'dark',
  locale: 'de-DE',
  viewport: { width: 320, height: 800 },
  acceptDownloads: true,
};
const english: BrowserContextOptions = { viewport: { width: 1280, height: 900 } };

const plan = {
  estimatedCompletionAt: '2031-12-15T12:00:00.000Z',
  showPreviewUrl: false,
};

/** One page that says "Offer". */
const pdf = Buffer.from(
  [
    '%PDF-1.4',
    '1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj',
    '2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj',
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Resources<<>>>>endobj',
    'trailer<</Root 1 0 R>>',
    '%%EOF',
  ].join('\n'),
);

withBrowser('rare states, on a narrow dark phone in German', () => {
  let seat: PortalSeat;
  let clientId: string;
  let built: string;
  beforeAll(async () => {
    seat = await startPortal({ BRAND_NAME: 'Northlight Studio', ADMIN_EMAILS: operator });
    const { admin } = seat;
    ({ id: clientId } = await admin.clients.create({ email: anna }));
    ({ id: built } = await admin.websites.create({ name: 'Eckbäckerei', slug: 'eckbaeckerei', clientId }));
    for await (const { status } of admin.websites.provisioning.watch(built)) if (status === 'succeeded') break;
  });

  test('an invitation that has expired: its reader asks for a new one, and the admins get a mail', async () => {
    const { admin, folder } = seat;
    const email = 'ben@example.com';
    const { id } = await admin.websites.create({ name: 'Mühle & Söhne', slug: 'muehle' });
    await admin.websites.clients.add(id, { email, role: 'viewer' });
    const [invitation] = (await admin.websites.clients.list(id)).invitations;
    const invitationId = invitation?.id ?? '';
    await onFolder(folder, (engine) => expireInvitation(engine, invitationId));
    await eventually('the invitation to have expired', async () => {
      const [renewed] = (await admin.websites.clients.list(id)).invitations;
      return renewed?.status === 'expired' || undefined;
    });

    const { page, complaints, visit } = await seat.open(german);
    await visit(`/invitations/${invitationId}`, email);
    await page.getByRole('heading', { level: 1, name: 'Diese Einladung ist abgelaufen' }).waitFor();
    await page.getByText('galt bis 1. Januar', { exact: false }).waitFor();
    await looksRight(page);
    await page.getByRole('button', { name: 'Um eine neue bitten' }).click();
    await page.getByRole('status').getByText('Northlight Studio weiß Bescheid.', { exact: false }).waitFor();
    await looksRight(page);
    const mail = await eventually('the mail to the admins', async () => {
      const [found] = await admin.outbox
        .list({ to: operator, limit: 20 })
        .then((mails) => mails.filter(({ subject }) => subject.includes('Mühle & Söhne')));
      return found;
    });
    expect(mail.text).toContain(`/app/websites/${id}/people`);
    expect(mail.text).not.toContain(email);
    expect(complaints).toEqual([]);
  });

  test('a website that is still being built, then one without a plan, then an archived one', async () => {
    const { admin } = seat;
    const { page, visit } = await seat.open(german);
    await visit(`/websites/${built}`, anna);
    await page.getByRole('heading', { level: 1, name: 'Der Plan folgt' }).waitFor();
    expect(await page.getByRole('button', { name: 'Plan anlegen' }).count()).toBe(0);
    await looksRight(page);

    // The answer is held as it was: a website of the embedded hosting is built at once.
    await page.route(`**/websites/${built}`, async (route) => {
      if (route.request().resourceType() === 'document') return route.continue();
      const response = await route.fetch();
      const website: unknown = await response.json();
      return route.fulfill({ response, json: { ...(website as object), status: 'provisioning' } });
    });
    await page.reload();
    await page.getByText('Die Website wird aufgebaut.').waitFor();
    await page.getByRole('link', { name: 'Sehen, wie weit sie ist' }).waitFor();
    await looksRight(page);
    await page.unrouteAll();

    const { id } = await admin.websites.create({ name: 'Alte Mühle', slug: 'alte-muehle', clientId });
    await admin.websites.delivery.replace(id, plan);
    await admin.websites.archive(id);
    await visit(`/websites/${id}`, anna);
    await page.getByText(/^Archiviert seit \d/).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Fertig bis 15. Dezember 2031' }).waitFor();
    await looksRight(page);
  });

  test('a preview that clients do not see says so to admins alone', async () => {
    const { admin } = seat;
    await admin.websites.delivery.replace(built, { ...plan, previewUrlOverride: 'https://preview.example.com/eck' });
    const agency = await seat.open(german);
    await agency.visit(`/websites/${built}`, operator);
    await agency.page.getByText('Kunden sehen sie nicht.').waitFor();
    await agency.page.getByRole('link', { name: /^Vorschau öffnen/ }).waitFor();
    await looksRight(agency.page);
    const client = await seat.open(german);
    await client.visit(`/websites/${built}`, anna);
    await client.page.getByRole('heading', { name: 'Der Plan' }).waitFor();
    expect(await client.page.getByText('preview.example.com').count()).toBe(0);
  });

  test('a change that comes while the page is open is shown, and said aloud', async () => {
    const { admin } = seat;
    await admin.websites.delivery.replace(built, plan);
    const { page, complaints, visit } = await seat.open(german);
    const listening = page.waitForResponse((response) => response.url().endsWith(`/websites/${built}/events`));
    await visit(`/websites/${built}`, anna);
    await page.getByRole('heading', { level: 1, name: 'Fertig bis 15. Dezember 2031' }).waitFor();
    await listening;
    // The answer with the change comes after the one with the block: the other order is the easy one.
    await page.route('**/delivery/changes?*', async (route) => {
      await page.getByText('1 von 6 Schritten fertig', { exact: false }).waitFor();
      await route.continue();
    });
    await admin.websites.delivery.setCheckpointStatus(built, 'kickoff', 'done');
    await page.getByRole('status').getByText('„Kickoff“ ist fertig.').waitFor({ state: 'attached' });
    await page.getByRole('listitem').filter({ hasText: '„Kickoff“ ist fertig.' }).waitFor();
    await page.getByText('1 von 6 Schritten fertig', { exact: false }).waitFor();
    await looksRight(page);
    expect(complaints).toEqual([]);
    // The page stays open, and follows what the next tests change.
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('what changed while the reader was on another page is there when they come back', async () => {
    const { admin } = seat;
    await admin.websites.create({ name: 'Zweite Bäckerei', slug: 'zweite-baeckerei', clientId });
    await admin.websites.delivery.replace(built, plan);
    for (const step of ['kickoff', 'design-approved']) await admin.websites.delivery.setCheckpointStatus(built, step, 'pending');
    const { page, complaints, visit } = await seat.open(german);
    await visit(`/websites/${built}`, anna);
    await page.getByRole('heading', { level: 1, name: 'Fertig bis 15. Dezember 2031' }).waitFor();
    const home = page.getByRole('banner').getByRole('link', { name: 'Northlight Studio' });
    await home.click();
    await page.getByRole('link', { name: 'Zweite Bäckerei' }).waitFor();
    await admin.websites.delivery.setCheckpointStatus(built, 'design-approved', 'in_progress');
    await page.getByRole('link', { name: /^Eckbäckerei/ }).click();
    await page.getByText('jetzt: Design approved', { exact: false }).waitFor();

    // The list of all shows what was just seen of one.
    await admin.websites.delivery.setCheckpointStatus(built, 'design-approved', 'done');
    await page.getByRole('listitem').filter({ hasText: '„Design approved“ ist fertig.' }).waitFor();
    await home.click();
    await page.getByRole('link', { name: /^Eckbäckerei.*1 von 6 Schritten erledigt/ }).waitFor();

    // Also where the reader leaves before they are told: this stream never says anything.
    await page.route(`**/websites/${built}/events*`, () => undefined);
    await page.getByRole('link', { name: /^Eckbäckerei/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Fertig bis 15. Dezember 2031' }).waitFor();
    await admin.websites.delivery.setCheckpointStatus(built, 'kickoff', 'done');
    await home.click();
    await page.getByRole('link', { name: /^Eckbäckerei.*2 von 6 Schritten erledigt/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('pages whose reader loses access while they are open show nothing of it any more', async () => {
    const { admin } = seat;
    const email = 'zoe@example.com';
    const reader = await admin.clients.create({ email });
    await admin.websites.clients.add(built, { email, role: 'viewer' });
    const { page, context, visit } = await seat.open(german);
    const second = await context.newPage();
    const following = (tab: typeof page) =>
      tab.waitForResponse((response) => response.url().endsWith(`/websites/${built}/events`));
    const [first, later] = [following(page), following(second)];
    await visit(`/websites/${built}`, email);
    await page.getByRole('heading', { name: 'Der Plan' }).waitFor();
    await second.goto(`${seat.address}/app/websites/${built}/content`);
    await second.locator(':root:has(h1):not(:has([data-pending]))').waitFor({ state: 'attached' });
    await Promise.all([first, later]);
    await admin.websites.clients.remove(built, reader.id);
    for (const tab of [page, second]) {
      await tab.getByRole('heading', { name: 'Das dürfen Sie nicht sehen' }).waitFor();
      await looksRight(tab);
    }
    expect(await page.getByRole('heading', { name: 'Der Plan' }).count()).toBe(0);
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Stand']);
    expect(await page.title()).not.toContain('Eckbäckerei');
  });

  test('what the service refuses is said in the language of the page', async () => {
    const stranger = await seat.open(german);
    await stranger.visit(`/websites/${built}`, 'nobody@example.com');
    await stranger.page.getByText('Sie haben keinen Zugang zu dieser Website, oder er reicht dafür nicht aus.').waitFor();
    await looksRight(stranger.page);

    const { page, visit } = await seat.open(german);
    await visit(`/websites/${built}/settings`, operator);
    await page.getByRole('textbox', { name: 'Domain' }).fill('https://eck.example');
    await page.getByRole('button', { name: 'Domain hinzufügen' }).click();
    await page.getByText('Schreiben Sie einen Namen wie www.example.com', { exact: false }).waitFor();
    await looksRight(page);
  });

  test('the plan is one page of paper', async () => {
    const { page, visit } = await seat.open(english);
    await visit(`/websites/${built}`, anna);
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    const printed = (await page.pdf({ format: 'A4' })).toString('latin1');
    expect(printed.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);

    // Ink is dark, whatever the screen is.
    const inkOn = async (colorScheme: 'light' | 'dark'): Promise<string> => {
      await page.emulateMedia({ media: 'print', colorScheme });
      return page.evaluate<string>('getComputedStyle(document.body).color');
    };
    expect(await inkOn('dark')).toBe(await inkOn('light'));
  });

  test('a PDF is shown within the page, and a file that is too large is not sent', async () => {
    const { page, complaints, visit } = await seat.open(german);
    await visit(`/websites/${built}/documents`, operator);
    await page.getByRole('heading', { level: 1, name: 'Dokumente' }).waitFor();
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Dateien hochladen' }).click(),
    ]);
    await chooser.setFiles([{ name: 'angebot.pdf', mimeType: 'application/pdf', buffer: pdf }]);
    await page.getByRole('button', { name: 'Vorschau von angebot.pdf' }).waitFor();

    // A file of 101 MB is made in the page: its bytes need not cross to it.
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url());
    });
    await page.evaluate(`(() => {
      const files = new DataTransfer();
      files.items.add(new File([new Uint8Array(101 * 1024 * 1024)], 'film.mp4'));
      const drop = new DragEvent('drop', { bubbles: true, dataTransfer: files });
      document.querySelector('h1').dispatchEvent(drop);
    })()`);
    await page.getByRole('alert').getByText('Sie ist zu groß: Eine Datei darf 100 MB haben.').waitFor();
    expect(sent.filter((url) => url.includes('/documents'))).toEqual([]);
    await looksRight(page);

    await page.getByRole('button', { name: 'Vorschau von angebot.pdf' }).click();
    const dialog = page.getByRole('dialog', { name: 'angebot.pdf' });
    const frame = await dialog.locator('iframe').elementHandle();
    const shown = await (await frame.contentFrame())?.waitForFunction('document.readyState === "complete"');
    expect(await shown?.jsonValue()).toBe(true);
    await looksRight(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });
});

withBrowser('a service that keeps nothing of who saw what', () => {
  test('does not say that the agency sees it, and is not asked for it again', async () => {
    const seat = await startPortal({ BRAND_NAME: 'Northlight Studio', READ_RECEIPTS: 'off' });
    const { admin } = seat;
    const { id: clientId } = await admin.clients.create({ email: anna });
    const { id } = await admin.websites.create({ name: 'Eckbäckerei', slug: 'eckbaeckerei', clientId });
    await admin.websites.delivery.replace(id, plan);
    const { page, complaints, visit } = await seat.open(german);
    await visit(`/websites/${id}`, anna);
    await page.getByRole('heading', { level: 1, name: 'Fertig bis 15. Dezember 2031' }).waitFor();
    await page.getByText(/^Zeiten in /).waitFor();
    expect(await page.getByText('sieht, wann Sie zuletzt hier waren', { exact: false }).count()).toBe(0);
    await looksRight(page);

    // What is new is then known to this browser alone.
    await page.goto(`${seat.address}/app/`);
    await admin.websites.delivery.setCheckpointStatus(id, 'kickoff', 'done');
    await visit(`/websites/${id}`, anna);
    await page.getByRole('heading', { level: 2, name: /^Neu seit \d/ }).waitFor();
    await page.getByRole('listitem').filter({ hasText: '„Kickoff“ ist fertig.' }).waitFor();
    // It was asked once, before the browser knew.
    expect(complaints).toEqual([expect.stringContaining(' 400 ')]);
  });
});
