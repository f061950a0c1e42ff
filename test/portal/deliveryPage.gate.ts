import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { hasChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { hold, looksRight, operator, pickUpByKey, startPortal, type PortalSeat, type PortalWindow } from '../support/portal.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('the delivery editor', () => {
  let seat: PortalSeat;
  let window: PortalWindow;
  let page: Page;
  let websiteId: string;
  beforeAll(async () => {
    seat = await startPortal();
    const anna = await seat.admin.clients.create({ email: 'anna@example.com', name: 'Anna Weber' });
    ({ id: websiteId } = await seat.admin.websites.create({ name: 'Corner Bakery', slug: 'corner-bakery', clientId: anna.id }));
    window = await seat.open({ viewport: { width: 1280, height: 900 } });
    ({ page } = window);
  });

  const block = () => seat.admin.websites.delivery.get(websiteId);
  const labels = async () => (await block()).checkpoints.map(({ label }) => label);
  const orders = async () => (await block()).checkpoints.map(({ order }) => order);
  const seen = (): Locator => page.getByRole('region', { name: 'As Anna sees it' });
  const grip = (label: string): Locator => page.getByRole('button', { name: `Move ${label}` });
  const saved = (): Promise<void> => page.getByText('Saved ·').waitFor();
  const until = (what: string, holds: () => Promise<boolean>) => eventually(what, async () => (await holds()) || undefined);

  test('is set up with one button', async () => {
    await window.visit(`/websites/${websiteId}/delivery`, operator);
    await page.getByRole('button', { name: 'Set up the plan' }).click();
    await page.getByRole('heading', { name: 'Corner Bakery', level: 1 }).waitFor();
    await grip('Kickoff').waitFor();
    expect(await labels()).toEqual(['Kickoff', 'Design approved', 'Initial deploy', 'Content loaded', 'QA', 'Launch']);
  });

  test('moves a step with the mouse', async () => {
    const from = await grip('Launch').boundingBox();
    const to = await grip('Design approved').boundingBox();
    if (from === null || to === null) throw new Error('the steps are not shown');
    await page.mouse.move(from.x + 10, from.y + 20);
    await page.mouse.down();
    await page.mouse.move(to.x + 10, to.y + 40, { steps: 4 });
    await page.mouse.move(to.x + 10, to.y + 18, { steps: 4 });
    await page.getByText('Launch is at position 2 of 6.').waitFor({ state: 'attached' });
    await page.mouse.up();
    await saved();
    expect(await labels()).toEqual(['Kickoff', 'Launch', 'Design approved', 'Initial deploy', 'Content loaded', 'QA']);
    expect(await orders()).toEqual([10, 20, 30, 40, 50, 60]);
  });

  test('moves a step by keys, says where it is, and keeps the focus on it', async () => {
    await pickUpByKey(page, grip('Launch'));
    for (const place of [3, 4, 5, 6]) {
      await page.keyboard.press('ArrowDown');
      await page.getByText(`Launch is at position ${String(place)} of 6.`).waitFor({ state: 'attached' });
    }
    await page.keyboard.press('Space');
    await page.getByText('Launch moved to position 6 of 6.').waitFor({ state: 'attached' });
    await until('the order', async () => (await labels()).at(-1) === 'Launch');
    expect(await orders()).toEqual([10, 20, 30, 40, 50, 60]);
    await page.locator('button:focus[aria-label="Move Launch"]').waitFor();
  });

  test('sets a status at once, and takes it back', async () => {
    await page.getByLabel('Status of Kickoff').selectOption('done');
    await seen().getByText('1 of 6 steps done', { exact: false }).waitFor();
    await until('the status', async () => (await block()).checkpoints[0]?.status === 'done');
    await saved();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone ·').waitFor();
    expect((await block()).checkpoints[0]?.status).toBe('pending');
    await page.getByRole('button', { name: 'Redo' }).click();
    await saved();
    expect((await block()).checkpoints[0]?.status).toBe('done');

    // By keys from where one is: the button is far from the steps.
    await page.getByLabel('Status of Kickoff').press('Control+z');
    await page.getByText('Undone ·').waitFor();
    expect((await block()).checkpoints[0]?.status).toBe('pending');
    await page.getByRole('button', { name: 'Redo' }).click();
    await saved();
  });

  test('“set a date” leads to the field, also when the step is open', async () => {
    const ask = page.getByRole('button', { name: 'QA: set a date' });
    await ask.press('Enter');
    const field = page.getByRole('group', { name: 'QA' }).getByLabel('Due date');
    await field.and(page.locator(':focus')).waitFor();
    await ask.press('Enter');
    await field.and(page.locator(':focus')).waitFor();
    await page.getByRole('button', { name: 'QA', exact: true }).click();
    await field.waitFor({ state: 'detached' });
  });

  test('moves the day with a reason that the client reads, and shows it before it is saved', async () => {
    const { revision } = await block();
    await page.getByLabel('Ready by').fill('2031-12-22');
    await page.getByLabel('Why it moved').fill('The photos come a week later.');
    await page.getByLabel('Clients may read this').check();
    await seen().getByRole('heading', { name: 'Ready by 22 December 2031' }).waitFor();
    await seen().getByText('The photos come a week later.', { exact: false }).waitFor();
    expect((await block()).revision).toBe(revision);
    await page.keyboard.press('Control+s');
    await page.getByText('You have changes that are not saved.').waitFor({ state: 'detached' });
    await saved();
    expect((await block()).estimatedCompletionAt).toBe('2031-12-22T12:00:00.000Z');
    const [change] = await seat.admin.websites.delivery.changes(websiteId, { since: revision });
    expect(change?.reason).toBe('The photos come a week later.');
    await page.getByText('Clients read: “The photos come a week later.”', { exact: false }).waitFor();
  });

  test('takes days that are typed, digit by digit', async () => {
    const day = page.getByLabel('Ready by');
    // Days and months that are alike: which comes first is the machine's to say.
    await day.focus();
    await page.keyboard.type('12122');
    await seen().getByRole('heading', { name: 'Ready by 12 December 2031' }).waitFor();
    // The year is not whole: nothing of it may be saved.
    expect(await day.inputValue()).toBe('0002-12-12');
    await page.keyboard.type('032');
    await seen().getByRole('heading', { name: 'Ready by 12 December 2032' }).waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await seen().getByRole('heading', { name: 'Ready by 22 December 2031' }).waitFor();
    expect(await day.inputValue()).toBe('2031-12-22');

    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    const due = page.getByLabel('Due date');
    await due.focus();
    await page.keyboard.type('12122031');
    await page.getByText('due 12 December 2031').waitFor();
    await due.press('Backspace');
    await due.blur();
    expect(await due.inputValue()).toBe('2031-12-12');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('due 12 December 2031').waitFor({ state: 'detached' });
    expect(await due.inputValue()).toBe('');
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
  });

  test('renames a step, says what is needed and when it is due', async () => {
    await page.getByRole('button', { name: 'QA', exact: true }).click();
    await page.getByLabel('Name').fill('Last look');
    await page.getByLabel('Due date').fill('2031-12-10');
    await page.getByLabel('Needed from the client').fill('Ten minutes of your time.');
    await looksRight(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('the edits', async () => (await block()).checkpoints[4]?.label === 'Last look');
    expect((await block()).checkpoints[4]).toMatchObject({
      id: 'qa',
      dueAt: '2031-12-10T12:00:00.000Z',
      neededFromClient: 'Ten minutes of your time.',
    });
    await page.getByText('due 10 December 2031').waitFor();
    // Beside the form stands what the client sees: names keep their room.
    const name = await page.getByRole('button', { name: /^Last look Needed/ }).boundingBox();
    expect(name?.width).toBeGreaterThan(250);
  });

  test('takes a removed step back, and asks first once somebody has saved after it', async () => {
    const undo = page.getByRole('region', { name: 'Notice' }).getByRole('button', { name: 'Undo' });
    const remove = async (): Promise<void> => {
      await page.getByRole('button', { name: /^Last look Needed/ }).click();
      await page.getByRole('button', { name: 'Remove Last look' }).click();
      await undo.waitFor();
    };
    // All steps are closed then.
    await page.reload();
    await remove();
    await undo.click();
    await grip('Last look').waitFor();
    await page.getByText('Undone ·').waitFor();
    await page.getByRole('button', { name: 'Redo' }).waitFor();

    await remove();
    await seat.admin.websites.delivery.setCheckpointStatus(websiteId, 'launch', 'in_progress');
    const { revision } = await block();
    await undo.click();
    const dialog = page.getByRole('dialog', { name: 'Go back to before this change?' });
    await dialog.getByText('The change after it is undone too.', { exact: false }).waitFor();
    expect((await block()).revision).toBe(revision);
    await looksRight(page);
    await dialog.getByRole('button', { name: 'Undo this' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
    expect((await block()).checkpoints.map(({ label, status }) => `${label} ${status}`)).toEqual([
      'Kickoff done',
      'Design approved pending',
      'Initial deploy pending',
      'Content loaded pending',
      'Last look pending',
      'Launch pending',
    ]);
    await window.visit(`/websites/${websiteId}/delivery`, operator);
    await grip('Last look').waitFor();

    // The question is another page: where something is not saved, the notice says why nothing is undone.
    await remove();
    await seat.admin.websites.delivery.setCheckpointStatus(websiteId, 'launch', 'done');
    const { revision: latest } = await block();
    await page.getByLabel('Ready by').fill('2032-03-01');
    await undo.click();
    await page.getByRole('region', { name: 'Notice' }).getByText('Someone else saved while you were editing').waitFor();
    expect(await page.getByLabel('Ready by').inputValue()).toBe('2032-03-01');
    expect((await block()).revision).toBe(latest);
    await page.getByRole('button', { name: 'Discard' }).click();
    await seat.admin.websites.delivery.undo(websiteId, latest - 1);
    await grip('Last look').waitFor();
  });

  test('adds a step, says when there are forty, and removes one', async () => {
    await page.getByRole('button', { name: '+ Add a step' }).click();
    await page.keyboard.type('Train the team');
    await page.getByRole('link', { name: 'Documents', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'In 14 days', exact: false }).click();
    await page.getByRole('button', { name: 'Add the step' }).click();
    await grip('Train the team').waitFor();
    await until('the new step', async () => (await labels()).includes('Train the team'));
    const added = (await block()).checkpoints.at(-1);
    expect(added).toMatchObject({ id: 'train-the-team', order: 70 });
    expect(Date.parse(added?.dueAt ?? '') - Date.now()).toBeGreaterThan(12.9 * 86_400_000);

    const { estimatedCompletionAt, showPreviewUrl, checkpoints } = await block();
    const more = Array.from({ length: 40 - checkpoints.length }, (_, index) => {
      const id = `more-${String(index)}`;
      return { id, label: id, order: 100 + index, status: 'pending' as const };
    });
    await seat.admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt,
      showPreviewUrl,
      checkpoints: [...checkpoints, ...more],
    });
    await page.reload();
    await page.getByText('A plan has at most 40 steps.', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'more-32', exact: true }).click();
    await page.getByRole('button', { name: 'Remove more-32' }).click();
    await page.getByRole('button', { name: '+ Add a step' }).waitFor();
    await until('the step to go', async () => (await labels()).length === 39);
    await seat.admin.websites.delivery.replace(websiteId, { estimatedCompletionAt, showPreviewUrl, checkpoints });
    await page.reload();
    await grip('Train the team').waitFor();
  });

  test('compares what two people changed, and saves what was chosen of each', async () => {
    const { estimatedCompletionAt, showPreviewUrl, checkpoints } = await block();
    await page.getByLabel('Ready by').fill('2032-01-15');
    await page.getByRole('button', { name: 'Launch', exact: true }).click();
    await page.getByLabel('Name').fill('Go live');
    // The stream of events must not be what tells of it: the answer of the service does.
    await seat.admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt: '2032-01-20T12:00:00.000Z',
      showPreviewUrl: !showPreviewUrl,
      checkpoints: checkpoints.map((step) => (step.id === 'launch' ? { ...step, label: 'Opening' } : step)),
    });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else saved this meanwhile' });
    await dialog.waitFor();
    await dialog.getByText('15 January 2032').waitFor();
    await dialog.getByText('20 January 2032').waitFor();
    await looksRight(page);
    await dialog.getByRole('radiogroup', { name: 'Launch: Name' }).getByLabel('Keep mine').check();
    await dialog.getByRole('radiogroup', { name: 'Ready by' }).getByLabel('Take theirs').check();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await until('the merge', async () => (await labels()).includes('Go live'));
    expect(await block()).toMatchObject({
      estimatedCompletionAt: '2032-01-20T12:00:00.000Z',
      showPreviewUrl: !showPreviewUrl,
    });
    expect((await block()).estimatedCompletionAt).not.toBe(estimatedCompletionAt);
  });

  test('keeps what is typed while it saves, and what was typed of a step that stays', async () => {
    const name = page.getByLabel('Name');
    const bar = page.getByRole('region', { name: 'You have changes that are not saved.' });
    await name.fill('Opening day');
    await page.getByLabel('Why (optional)').fill('It is a party.');
    const held = await hold(page, 'PUT', '/delivery');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await held.arrived();
    await name.press('End');
    await name.pressSequentially(', at last');
    await held.letGo();
    await until('the reason to be saved', async () => (await page.getByLabel('Why (optional)').inputValue()) === '');
    expect(await name.inputValue()).toBe('Opening day, at last');
    expect(await labels()).toContain('Opening day');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await labels()).toContain('Opening day, at last');

    await name.fill('Go live');
    await page.route('**/delivery', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 400, json: { error: 'The step stays.', details: null, code: 'website_archived' } })
        : route.continue(),
    );
    await page.getByRole('button', { name: 'Remove Go live' }).click();
    await page.getByRole('alert').getByText('The step stays.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Go live', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await labels()).toContain('Go live');
  });

  test('saves what was edited beside a step that is being removed', async () => {
    const { estimatedCompletionAt, showPreviewUrl, checkpoints } = await block();
    const more = { id: 'extra', label: 'Extra', order: 400, status: 'pending' as const };
    await seat.admin.websites.delivery.replace(websiteId, {
      estimatedCompletionAt,
      showPreviewUrl,
      checkpoints: [...checkpoints, more],
    });
    // All steps are closed then.
    await page.reload();
    await page.getByRole('button', { name: 'Extra', exact: true }).click();
    await page.getByLabel('Name').fill('One more');
    await page.getByLabel('Ready by').fill('2032-02-10');
    const held = await hold(page, 'PUT', '/delivery');
    await page.getByRole('button', { name: 'Remove One more' }).click();
    await held.arrived();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await held.letGo();
    await until('the day', async () => (await block()).estimatedCompletionAt === '2032-02-10T12:00:00.000Z');
    await page.getByRole('region', { name: 'You have changes that are not saved.' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect((await block()).checkpoints.map(({ id }) => id)).not.toContain('extra');
  });

  test('names the field that the service refuses', async () => {
    await page.getByLabel('Another address').fill('https://user:secret@example.com/');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('must be an http or https URL without credentials').first().waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await page.getByLabel('Another address').inputValue()).toBe('');
  });

  test('shows what clients see of the last step before the service has answered', async () => {
    const { id } = await seat.admin.websites.create({ name: 'One Step', slug: 'one-step' });
    await seat.admin.websites.delivery.replace(id, {
      estimatedCompletionAt: '2031-12-22T12:00:00.000Z',
      showPreviewUrl: false,
      checkpoints: [{ id: 'only', label: 'Only step', order: 10, status: 'pending' }],
    });
    await window.visit(`/websites/${id}/delivery`, operator);
    const held = await hold(page, 'PUT', '/checkpoints/only');
    await page.getByLabel('Status of Only step').selectOption('done');
    await held.arrived();
    await page.getByRole('heading', { name: /^Ready since / }).waitFor();
    await held.letGo();
    await saved();
    await page.getByRole('heading', { name: /^Ready since / }).waitFor();
  });

  test('only shows the plan of an archived website', async () => {
    const { id } = await seat.admin.websites.create({ name: 'Old Mill', slug: 'old-mill' });
    await seat.admin.websites.delivery.replace(id, {});
    await seat.admin.websites.archive(id);
    await window.visit(`/websites/${id}/delivery`, operator);
    await page.getByText('This website was archived on', { exact: false }).waitFor();
    expect(await page.getByLabel('Ready by').isDisabled()).toBe(true);
    expect(await grip('Kickoff').count()).toBe(0);
    // Without grips the names keep their room.
    const name = await page.getByRole('button', { name: 'Kickoff', exact: true }).boundingBox();
    expect(name?.width).toBeGreaterThan(100);
    // What the service refuses on the way, browsers report too.
    expect(window.complaints.filter((words) => !/ (400|404) /.test(words))).toEqual([]);
    // Nobody's look at it is reported: the service would refuse it.
    const before = window.complaints.length;
    await window.visit(`/websites/${id}`, operator);
    await page.getByText('Archived since', { exact: false }).waitFor();
    await page.getByText('Kickoff').first().waitFor();
    expect(window.complaints.slice(before)).toEqual([]);
  });
});
