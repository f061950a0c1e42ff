import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { OutboxMail } from '@doorstep/sdk';
import type { Locator, Route } from 'playwright-core';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { looksRight, operator, startPortal, withShortPages, type PortalSeat, type PortalWindow } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(180_000);

const withBrowser = hasChromium ? describe : describe.skip;

/** As the smallest phone shows it, dark, in German. */
const phone = { viewport: { width: 320, height: 700 }, colorScheme: 'dark', locale: 'de-DE', acceptDownloads: true } as const;

withBrowser('pages of the agency on a small phone', () => {
  let seat: PortalSeat;
  let window: PortalWindow;
  let websiteId: string;
  let clientId: string;
  const hostile = '<img src="https://evil.example/a.png" onerror="document.title=1"><b>Bakery</b>';

  beforeAll(async () => {
    seat = await startPortal({ BRAND_NAME: 'Northlight Studio' });
    const { admin } = seat;
    ({ id: clientId } = await admin.clients.create({ email: 'anna@example.com', name: 'Anna Weber' }));
    ({ id: websiteId } = await admin.websites.create({ name: hostile, slug: 'corner-bakery', clientId }));
    await admin.websites.clients.add(websiteId, { email: 'ada@example.com', role: 'viewer' });
    await admin.clients.update(clientId, { email: 'anna@new.example' });
    window = await seat.open(phone);
  });

  const isOfEachKind = (mails: readonly OutboxMail[]): boolean =>
    [operator, 'ada@example.com', 'anna@new.example'].every((address) => mails.some(({ to }) => to === address));

  test('mails of each kind show as they look, with a name that is markup as text', async () => {
    const { page, complaints, visit } = window;
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (/^https?:/.test(request.url()) && !request.url().startsWith(seat.address)) elsewhere.push(request.url());
    });
    await visit('/settings/connect', operator);
    const mails = await eventually('a mail of each kind', async () => {
      const all = await seat.admin.outbox.list({ limit: 50 });
      return isOfEachKind(all) ? all : undefined;
    });
    await visit('/outbox', operator);
    const summaries = page.locator('main summary');
    await summaries.first().waitFor();
    expect(await summaries.count()).toBe(mails.length);
    for (const summary of await summaries.all()) await summary.click();
    const looks = page.getByRole('tabpanel', { name: 'Ansicht' });
    for (const { heading, panel } of mails.map(({ subject }, index) => ({ heading: subject, panel: looks.nth(index) }))) {
      expect(await panel.getByRole('heading', { level: 2 }).innerText()).toBe(heading);
    }
    await page.getByText('<b>Bakery</b>').first().waitFor();
    expect(await looks.locator('img').count()).toBe(0);
    await looksRight(page);

    await page.getByRole('tab', { name: 'Text und Links' }).first().click();
    await page.getByRole('list', { name: 'Links in dieser Mail' }).first().waitFor();
    await looksRight(page);
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('a mail that is markup of an attacker runs nothing and asks for nothing', async () => {
    const { page, complaints, visit } = await seat.open(phone);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (/evil\.example|api\/steal/.test(request.url())) elsewhere.push(request.url());
    });
    const html = `<html lang="en"><head><style>p { background: url(https://evil.example/s.png) } @import "https://evil.example/i.css";</style>
      <link rel="stylesheet" href="https://evil.example/l.css"><meta http-equiv="refresh" content="0;url=https://evil.example/"></head>
      <body onload="document.title='run'"><h1 onclick="document.title='run'">Hello</h1>
      <img src="https://evil.example/p.png" onerror="document.title='run'"><script>document.title='run'</script>
      <iframe src="https://evil.example/"></iframe><svg onload="document.title='run'"><a href="javascript:1">x</a></svg>
      <form action="https://evil.example/"><input name="password"></form>
      <a href="javascript:document.title='run'" onclick="document.title='run'">A script</a>
      <a href="https://example.com/" id="root" onclick="document.title='run'">A page</a>
      <p style="position: fixed; inset: 0; z-index: 9999">Over all</p></body></html>`;
    // The service escapes every name: only its answer changed on the way has such a mail.
    await page.route(/\/outbox\?/, async (route) => {
      const response = await route.fetch();
      const mails = (await response.json()) as readonly OutboxMail[];
      await route.fulfill({ response, json: mails.slice(0, 1).map((mail) => ({ ...mail, html })) });
    });
    await visit('/outbox', operator);
    await page.locator('main summary').click();
    const look = page.getByRole('tabpanel', { name: 'Ansicht' });
    await look.getByRole('heading', { name: 'Hello' }).dispatchEvent('click');
    await look.getByText('A script').dispatchEvent('click');
    const link = look.getByRole('link');
    expect(await link.count()).toBe(1);
    expect(await link.and(look.locator('[href][rel][style][target]:not([id], [class], [onmouseover])')).count()).toBe(1);
    expect(await look.locator('script, iframe, svg, form, input, [onclick], [onerror], [onload], img[src]').count()).toBe(0);
    const [inner, outer] = [await look.getByText('Over all').boundingBox(), await look.boundingBox()];
    expect(inner?.width).toBeLessThanOrEqual(outer?.width ?? 0);
    expect(await page.title()).not.toBe('run');
    expect(elsewhere).toEqual([]);
    // All that the browser notes is that it refused the handlers.
    expect(complaints.filter((words) => !words.startsWith('Executing inline event handler violates'))).toEqual([]);
  });

  test.each([
    ['people', () => `/websites/${websiteId}/people?access=ada%40example.com`],
    ['the offer of a transfer', () => `/websites/${websiteId}/transfer`],
    ['clients', () => '/clients'],
    ['a client', () => `/clients/${clientId}`],
    ['clients of whom none matches', () => '/clients?q=nobody'],
    ['keys', () => '/settings/api-keys'],
    ['keys of nobody known', () => '/settings/api-keys?subject=nobody'],
    ['connect', () => '/settings/connect?code=BCDF-GHJK'],
    ['the audit', () => '/audit'],
  ])('%s', async (_name, path) => {
    const { page, complaints, visit } = window;
    const seen = complaints.length;
    await visit(path(), operator);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('[data-pending]').waitFor({ state: 'detached' });
    await looksRight(page);
    expect(complaints.slice(seen)).toEqual([]);
  });

  test('the table of websites fits its card, and breaks no word but of an owner or a step', async () => {
    const { page, visit } = window;
    const { clients, websites } = seat.admin;
    const owner = await clients.create({ email: 'maximiliane.oldenburg@konditorei-hofmeister-und-soehne.example' });
    const { id } = await websites.create({ name: 'Konditorei', slug: 'konditorei', clientId: owner.id });
    const label = 'Besucherzählungsauswertungsbesprechungsvorbereitungsunterlagen';
    await websites.delivery.replace(id, {
      estimatedCompletionAt: '2020-09-29T12:00:00.000Z',
      checkpoints: [{ id: 'step', label, order: 10, status: 'in_progress' }],
    });
    await visit('/websites', operator);
    await page.getByText('Tage überfällig').waitFor();
    await page.getByText('maximiliane').waitFor();
    // A window of 1440 at 200 %, the narrowest table, and all kinds of it beside the side bar: the last one has the step.
    for (const width of [720, 770, 900, 1000, 1200]) {
      await page.setViewportSize({ width, height: 450 });
      await looksRight(page);
      const fit = await page.evaluate(`(() => {
        const card = document.querySelector('main table').parentElement;
        const texts = [...card.querySelectorAll('td')].map(({ firstChild }) => firstChild);
        const late = texts.find((text) => text?.data?.endsWith('überfällig'));
        const word = document.createRange();
        word.setStart(late, late.data.indexOf('überfällig'));
        word.setEnd(late, late.data.length);
        return { lines: word.getClientRects().length, beyond: card.scrollWidth - card.clientWidth };
      })()`);
      expect({ width, fit }).toEqual({ width, fit: { lines: 1, beyond: 0 } });
    }
    await page.setViewportSize(phone.viewport);
  });

  test('the audit goes by pages in either order, says what is wrong with a date, and exports lines', async () => {
    const { page, visit } = window;
    const slugs = Array.from({ length: 12 }, (_, index) => `bakery-${String(index)}`);
    for (const slug of slugs) await seat.admin.websites.create({ name: slug, slug });
    await visit('/audit?sort=at', operator);
    const rows = page.locator('main ol > li');
    await rows.first().waitFor();
    const first = await rows.first().innerText();
    await page.getByRole('button', { name: 'Mehr' }).first().click();
    await rows.nth(50).waitFor();
    await looksRight(page);
    await page.getByLabel('Reihenfolge').selectOption({ label: 'Neueste zuerst' });
    await page.getByRole('button', { name: 'Zeigen', exact: true }).click();
    await page.waitForURL((url) => url.search === '');
    await rows.first().waitFor();
    expect(await rows.first().innerText()).not.toBe(first);

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'NDJSON exportieren' }).click();
    const lines = readFileSync(await (await downloading).path(), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly type: string });
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.some(({ type }) => type === 'WebsiteCreated')).toBe(true);

    await page.getByLabel('Von', { exact: true }).fill('2031-12-22');
    await page.getByLabel('Bis', { exact: true }).fill('2031-12-21');
    await page.getByRole('button', { name: 'Zeigen', exact: true }).click();
    await page.getByText('Dieser Tag liegt vor dem ersten.').waitFor();
    expect(await page.getByLabel('Bis', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    expect(new URL(page.url()).search).toBe('');
    await looksRight(page);

    await visit('/audit?from=yesterday', operator);
    await page.locator('[aria-invalid=true]').waitFor();
    await looksRight(page);
  });

  test('the audit of a website that its list does not hold is found by name, and by a link', async () => {
    const { page, visit } = window;
    const { id, name } = await seat.admin.websites.create({ name: 'Zuckerbäcker', slug: 'zuckerbaecker' });
    await withShortPages(page);
    await visit('/audit', operator);
    const website = page.getByLabel('Website', { exact: true });
    const find = page.getByPlaceholder('Name oder Adresse');
    await find.waitFor();
    expect(await website.getByRole('option', { name }).count()).toBe(0);
    await looksRight(page);
    await find.fill('zucker');
    await website.getByRole('option', { name }).waitFor({ state: 'attached' });
    await website.selectOption({ label: name });
    await page.getByRole('button', { name: 'Zeigen', exact: true }).click();
    await page.waitForURL((url) => url.search === `?websiteId=${id}`);
    // The form is a new one then, as a link leads to.
    await website.getByRole('option', { name }).waitFor({ state: 'attached' });
    expect(await website.inputValue()).toBe(id);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('the audit names a service as the settings do', async () => {
    const { page, visit } = window;
    await seat.admin.websites.services.attach(websiteId, { kind: 'analytics' });
    await visit('/audit', operator);
    await page.getByText('Ein Dienst wurde verbunden: Besuche').waitFor({ timeout: 10_000 });
  });

  test('an admin reads the keys of somebody else, and goes back to their own', async () => {
    const { page, visit } = window;
    const { subject } = await seat.admin.me.get();
    await visit(`/settings/api-keys?subject=${encodeURIComponent(subject)}`, operator);
    await page.getByRole('heading', { level: 1, name: new RegExp(`^\\d+ Schlüssel von `) }).waitFor();
    expect(await page.getByRole('button', { name: 'Neuer Schlüssel' }).count()).toBe(0);
    await looksRight(page);
    await page.getByRole('link', { name: 'Zurück zu den eigenen' }).click();
    await page.getByRole('heading', { level: 1, name: 'Kein Programm handelt in Ihrem Namen' }).waitFor();
  });

  test('a transfer that was accepted says when each part was done', async () => {
    const { claimUrl } = await seat.admin.websites.transfers.offer(websiteId, { email: 'grace@example.com' });
    const heir = await seat.open(phone);
    await heir.visit(new URL(claimUrl ?? '').pathname.slice('/app'.length), 'grace@example.com');
    await heir.page.getByRole('button', { name: 'Annehmen' }).click();
    await heir.page.waitForURL(`${seat.address}/app/websites/${websiteId}`);
    const { page, visit } = window;
    await visit(`/websites/${websiteId}/transfer`, operator);
    await page.getByRole('heading', { level: 2, name: 'grace@example.com hat übernommen' }).waitFor();
    const moved = page.getByRole('listitem').filter({ hasText: 'Die Website gehört dem neuen Eigentümer.' });
    await moved.locator('time').waitFor();
    await looksRight(page);
  });
});

withBrowser('a list that is read by pages, while it changes', () => {
  let seat: PortalSeat;
  let window: PortalWindow;
  const isFirst = (url: URL): boolean => url.pathname === '/audit' && !url.searchParams.has('cursor');
  const isNext = (url: URL): boolean => url.pathname === '/audit' && url.searchParams.has('cursor');

  beforeAll(async () => {
    seat = await startPortal();
    // More than a page of changes; nothing goes on by itself after them.
    for (let index = 0; index < 60; index += 1) await change();
    window = await seat.open(phone);
    await window.visit('/settings/connect', operator);
  });

  afterEach(() => window.page.unrouteAll({ behavior: 'ignoreErrors' }));

  let changes = 0;
  const change = async (): Promise<void> => {
    changes += 1;
    await seat.admin.clients.create({ email: `anna-${String(changes)}@example.com` });
  };

  const openAudit = async (query = ''): Promise<{ readonly rows: Locator; readonly more: Locator }> => {
    const { page, visit } = window;
    await visit(`/audit${query}`, operator);
    const rows = page.locator('main ol > li');
    await rows.first().waitFor();
    return { rows, more: page.getByRole('button', { name: 'Mehr zeigen' }) };
  };

  /** Holds the requests that fit until it is called. */
  const hold = async (fits: (url: URL) => boolean): Promise<() => void> => {
    const { page } = window;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(fits, async (route) => {
      await released;
      await route.continue();
    });
    return release;
  };

  test('its first page is asked for once, while its code comes', async () => {
    const { page } = window;
    const asked = page.waitForRequest((request) => isFirst(new URL(request.url())));
    await page.route(/\/AuditPage-[^/]*\.js$/, async (route) => {
      await asked;
      await route.continue();
    });
    const requests: string[] = [];
    page.on('request', (request) => {
      if (isFirst(new URL(request.url()))) requests.push(request.url());
    });
    await openAudit();
    await asked;
    expect(requests).toHaveLength(1);
  });

  test('a press on “more” counts when the list is read again before it ends', async () => {
    const { page } = window;
    const { rows, more } = await openAudit();
    await more.hover();
    await page.mouse.down();
    const release = await hold(isFirst);
    const asked = page.waitForRequest((request) => isFirst(new URL(request.url())));
    await change();
    await asked;
    expect(await more.isEnabled()).toBe(true);
    expect(await rows.count()).toBe(50);
    await page.mouse.up();
    release();
    await rows.nth(50).waitFor();
  });

  test('the next page comes though a change has the list read again first', async () => {
    const { page } = window;
    const { rows, more } = await openAudit();
    const release = await hold(isNext);
    const next = page.waitForRequest((request) => isNext(new URL(request.url())));
    await more.click();
    await next;
    const again = page.waitForRequest((request) => isFirst(new URL(request.url())));
    await change();
    await again;
    release();
    await rows.nth(50).waitFor();
  });

  test('changes that arrive leave no gap between two pages, and none stands there twice', async () => {
    const { page } = window;
    const { rows, more } = await openAudit();
    await more.click();
    await rows.nth(50).waitFor();
    for (let index = 0; index < 3; index += 1) await change();
    const entries = await seat.admin.audit.list({ limit: 200, count: true });
    await page.getByRole('heading', { level: 1, name: new RegExp(`^${String(entries.total)} `) }).waitFor();
    const shown = async (): Promise<readonly string[]> => rows.locator('details code').allTextContents();
    await eventually('every change stands there', async () => (await rows.count()) >= entries.length || undefined);
    expect(await shown()).toEqual(entries.flatMap(({ type, requestId }) => [type, requestId]));
  });

  test('changes that come faster than answers are shown while they come', async () => {
    const { page } = window;
    await openAudit();
    let asked = 0;
    let made = 0;
    // Each answer comes after twenty more changes, which take their time on a busy machine.
    const patienceMs = 150_000;
    await page.route(isFirst, async (route) => {
      asked += 1;
      const dueAt = made + 20;
      await eventually('twenty more changes', () => (made >= dueAt ? true : undefined), patienceMs);
      await route.continue();
    });
    const heading = page.getByRole('heading', { level: 1 });
    const before = await heading.innerText();
    const changeAndLook = async (): Promise<true | undefined> => {
      await change();
      made += 1;
      return (await heading.innerText()) === before ? undefined : true;
    };
    await eventually('another number in the heading', changeAndLook, patienceMs);
    expect(asked).toBeLessThan(made);
    // What is still held goes on.
    made = Number.POSITIVE_INFINITY;
  });

  test('says why the next page did not come, and asks for it again by the same button', async () => {
    const { page } = window;
    const { rows, more } = await openAudit('?sort=at');
    const refuse = (route: Route): Promise<void> => route.fulfill({ status: 403, json: { error: 'Not this page' } });
    await page.route(isNext, refuse);
    await more.click();
    await page.getByRole('alert').getByText('Not this page').waitFor();
    expect(await rows.count()).toBe(50);
    await page.unroute(isNext, refuse);
    await more.click();
    await rows.nth(50).waitFor();
    expect(await page.getByText('Not this page').count()).toBe(0);
  });
});

withBrowser('the outbox with a mail server', () => {
  test('says where the mails went', async () => {
    const seat = await startPortal();
    const { page, visit } = await seat.open(phone);
    await visit('/settings/connect', operator);
    // Signing in needs the mail: the page meets the answer that a service with a mail server gives.
    await page.route(/\/outbox\?/, (route) =>
      route.fulfill({ status: 404, json: { error: { code: 'not_found', message: 'Not found' } } }),
    );
    await visit('/outbox', operator);
    await page.getByRole('heading', { level: 1, name: 'Mails gehen über Ihren Mailserver hinaus' }).waitFor();
    await looksRight(page);
  });
});
