import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadCaller, type Caller } from '@doorstep/mcp';
import { Doorstep } from '@doorstep/sdk';
import type { ElicitResult } from '@modelcontextprotocol/client';
import { startAssistant, type Assistant, type ToolAnswer } from '../support/assistant.js';
import { startEverybody, type Everybody } from '../support/everybody.js';
import { connectTools } from '../support/toolServer.js';

let everybody: Everybody;
let doorstep: Doorstep;
let caller: Caller;
let admin: Assistant;

beforeAll(async () => {
  everybody = await startEverybody();
  doorstep = new Doorstep({ baseUrl: everybody.api.url, token: everybody.credentials.admin.token });
  caller = await loadCaller(doorstep);
  admin = await connectTools({ doorstep, caller });
});

const giveAccess = async (email: string): Promise<void> => {
  await doorstep.websites.clients.add(everybody.websiteId, { email, role: 'viewer' });
};

const hasAccess = async (email: string): Promise<boolean> => {
  const { links, invitations } = await doorstep.websites.clients.list(everybody.websiteId);
  return [...links, ...invitations].some((one) => one.email === email);
};

const plan = async (email: string, assistant = admin): Promise<{ answer: ToolAnswer; confirmation: string }> => {
  const answer = await assistant.call('remove_access', { website: 'bakery', email });
  expect(answer).toMatchObject({ isError: false, data: { done: false } });
  return { answer, confirmation: String(answer.data.confirmation) };
};

describe('a tool that destroys something', () => {
  test('says first what would happen, then does it on the confirmation, once', async () => {
    const email = 'once@example.com';
    await giveAccess(email);

    const { answer, confirmation } = await plan(email);

    expect(answer.data.wouldHappen).toEqual(['Their invitation to bakery as viewer is withdrawn.']);
    expect(answer.text).toContain(confirmation);
    expect(await hasAccess(email)).toBe(true);

    const done = await admin.call('remove_access', { website: 'bakery', email, confirmation });
    expect(done).toMatchObject({ isError: false, data: { done: true, slug: 'bakery', removed: ['invitation'] } });
    expect(await hasAccess(email)).toBe(false);

    await giveAccess(email);
    const again = await admin.call('remove_access', { website: 'bakery', email, confirmation });
    expect(again).toMatchObject({ isError: true, text: expect.stringContaining('Nothing was done') });
    expect(await hasAccess(email)).toBe(true);
  });

  test.each([
    ['the website', { website: 'elsewhere' }],
    ['the person', { email: 'other@example.com' }],
  ])('refuses a confirmation with another value for %s', async (_, changed) => {
    const email = 'changed@example.com';
    await giveAccess(email);
    await giveAccess('other@example.com');
    const elsewhere = await doorstep.websites.find('elsewhere');
    await doorstep.websites.clients.add(elsewhere.id, { email, role: 'viewer' });
    const { confirmation } = await plan(email);

    const answer = await admin.call('remove_access', { website: 'bakery', email, ...changed, confirmation });

    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/Nothing was done.*other arguments/) });
    expect(await hasAccess(email)).toBe(true);
    expect(await hasAccess('other@example.com')).toBe(true);
    const { invitations } = await doorstep.websites.clients.list(elsewhere.id);
    expect(invitations).toContainEqual(expect.objectContaining({ email }));
  });

  test('refuses another caller’s confirmation, and one for another tool', async () => {
    const email = 'caller@example.com';
    await giveAccess(email);
    const token = await everybody.api.mintToken({ role: 'admin', subject: 'other', verifiedEmail: 'other-admin@example.com' });
    const others = new Doorstep({ baseUrl: everybody.api.url, token });
    const other = await connectTools({ doorstep: others, caller: await loadCaller(others) });
    const { confirmation } = await plan(email);

    const answer = await other.call('remove_access', { website: 'bakery', email, confirmation });
    const erased = await admin.call('erase_client', { email: 'viewer@example.com', confirmation });

    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('another caller') });
    expect(erased).toMatchObject({ isError: true, text: expect.stringContaining('Nothing was done') });
    expect(await hasAccess(email)).toBe(true);
    expect(await hasAccess('viewer@example.com')).toBe(true);
  });

  test.each([
    ['made up', (confirmation: string) => `${confirmation.slice(0, -4)}AAAA`],
    ['of another form', () => 'yes'],
    ['with a later end', (confirmation: string) => confirmation.replace(/^\d+/, (end) => String(Number(end) + 60_000))],
  ])('refuses a confirmation that is %s', async (_, forge) => {
    const email = 'forged@example.com';
    await giveAccess(email);
    const { confirmation } = await plan(email);

    const answer = await admin.call('remove_access', { website: 'bakery', email, confirmation: forge(confirmation) });

    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('Nothing was done') });
    expect(await hasAccess(email)).toBe(true);
  });

  test.each([
    ['is good up to', 10 * 60_000 - 1_000, false],
    ['lapses after', 10 * 60_000 + 1_000, true],
  ])('a confirmation %s ten minutes', async (_, afterMs, isError) => {
    const email = `lapse${String(afterMs)}@example.com`;
    await giveAccess(email);
    let now = new Date();
    const assistant = await connectTools({ doorstep, caller, now: () => now });
    const { confirmation } = await plan(email, assistant);
    now = new Date(now.getTime() + afterMs);

    const answer = await assistant.call('remove_access', { website: 'bakery', email, confirmation });

    expect(answer.isError).toBe(isError);
    expect(await hasAccess(email)).toBe(isError);
    if (isError) expect(answer.text).toContain('lapsed');
  });

  test('refuses a confirmation when something else would happen by now', async () => {
    await admin.call('move_eta', { website: 'bakery', readyBy: '2027-03-01' });
    const { revision } = await doorstep.websites.delivery.get(everybody.websiteId);
    const shown = await admin.call('undo_delivery_change', { website: 'bakery', revision });
    expect(shown.data).toMatchObject({ done: false });
    await admin.call('set_checkpoint', { website: 'bakery', checkpoint: 'kickoff', status: 'done' });

    const answer = await admin.call('undo_delivery_change', {
      website: 'bakery',
      revision,
      confirmation: shown.data.confirmation,
    });

    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('would have happened earlier') });
    expect(await doorstep.websites.delivery.get(everybody.websiteId)).toMatchObject({
      estimatedCompletionAt: '2027-03-01T12:00:00.000Z',
      checkpoints: expect.arrayContaining([expect.objectContaining({ id: 'kickoff', status: 'done' })]),
    });
  });

  test('undoes a change, removes a checkpoint, archives and deletes a website, erases a person', async () => {
    await giveAccess('erased@example.com');
    await doorstep.clients.create({ email: 'known@example.com' });
    const { revision } = await doorstep.websites.delivery.setCheckpointStatus(everybody.websiteId, 'launch', 'in_progress');
    const { slug } = await doorstep.websites.create({ name: 'Gone', slug: 'gone' });
    const steps: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
      ['undo_delivery_change', { website: 'bakery', revision }],
      ['plan_delivery', { website: 'bakery', remove: ['qa'] }],
      ['change_website', { website: slug, action: 'archive' }],
      ['change_website', { website: slug, action: 'delete' }],
      ['erase_client', { email: 'known@example.com' }],
    ];
    for (const [tool, args] of steps) {
      const shown = await admin.call(tool, args);
      expect([tool, shown]).toMatchObject([tool, { isError: false, data: { done: false } }]);
      const done = await admin.call(tool, { ...args, confirmation: shown.data.confirmation });
      expect([tool, done]).toMatchObject([tool, { isError: false, data: { done: true } }]);
    }
    const { checkpoints } = await doorstep.websites.delivery.get(everybody.websiteId);
    expect(checkpoints.map(({ id }) => id)).not.toContain('qa');
    expect(checkpoints.find(({ id }) => id === 'launch')).toMatchObject({ status: 'pending' });
    expect(await doorstep.websites.find('gone')).toMatchObject({ purgeAt: expect.any(String) });
    expect(await doorstep.clients.list({ email: 'known@example.com' })).toEqual([]);
  });
});

describe('what stays of a deleted website', () => {
  test('is chosen, shown before and after, and chosen anew while the website waits', async () => {
    const { id } = await doorstep.websites.create({ name: 'Hatter', slug: 'hatter' });
    await doorstep.websites.archive(id);
    const remove = async (keep: { readonly keep?: readonly string[] }): Promise<readonly [unknown, string]> => {
      const args = { website: 'hatter', action: 'delete', ...keep };
      const { data } = await admin.call('change_website', args);
      const { text } = await admin.call('change_website', { ...args, confirmation: data.confirmation });
      return [data.wouldHappen, text];
    };

    const [shown, done] = await remove({ keep: ['repository'] });

    const left = 'with its hosting and content; its repository stays.';
    expect(shown).toEqual([`hatter is deleted for good after 30 days, ${left} Until then it can be restored.`]);
    expect(done).toContain(left);
    expect(await remove({})).toEqual([[expect.stringContaining(left)], expect.stringContaining(left)]);
    expect((await doorstep.websites.get(id)).keep).toEqual(['repository']);
    const [both] = await remove({ keep: ['repository', 'hosting'] });
    expect(both).toEqual([expect.stringContaining('with its content; its repository and hosting stay.')]);
    const [nothing] = await remove({ keep: [] });
    expect(nothing).toEqual([expect.stringContaining('with its repository, hosting and content. ')]);
    expect((await doorstep.websites.get(id)).keep).toEqual([]);
  });

  test('is no matter of other actions', async () => {
    const answer = await admin.call('change_website', { website: 'bakery', action: 'archive', keep: ['hosting'] });
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('The action archive takes no keep.') });
  });
});

describe('a tier', () => {
  test('with fewer features takes them away only when that is confirmed, a higher one at once', async () => {
    await doorstep.websites.create({ name: 'Florist', slug: 'florist', tier: 'growth' });
    const lower = { website: 'florist', action: 'change', tier: 'starter' };

    const shown = await admin.call('change_website', lower);

    expect(shown).toMatchObject({ isError: false, data: { done: false } });
    expect(shown.data.wouldHappen).toEqual(['florist goes from growth to starter: clients lose marketing, seo, scheduling.']);
    expect(await doorstep.websites.find('florist')).toMatchObject({ tier: 'growth' });
    const done = await admin.call('change_website', { ...lower, confirmation: shown.data.confirmation });
    expect(done).toMatchObject({ isError: false, data: { done: true } });
    expect(await doorstep.websites.find('florist')).toMatchObject({ tier: 'starter' });
    expect(await admin.call('change_website', { ...lower, tier: 'scale' })).toMatchObject({ data: { done: true } });
  });
});

describe('a slug', () => {
  test('is changed only when that is confirmed; the former address leads to the new one', async () => {
    await doorstep.websites.create({ name: 'Tailor', slug: 'tailor' });
    const renamed = { website: 'tailor', action: 'change', slug: 'sartor' };

    const shown = await admin.call('change_website', renamed);

    expect(shown).toMatchObject({ isError: false, data: { done: false } });
    expect(shown.data.wouldHappen).toEqual([
      'tailor gets another slug, and the tools know it by that one alone. Where this service serves its site, the site moves to the new address, and the former one leads there for 90 days; at other hosting its address stays.',
    ]);
    const done = await admin.call('change_website', { ...renamed, confirmation: shown.data.confirmation });
    expect(done).toMatchObject({ isError: false, data: { done: true, website: { slug: 'sartor' } } });
    expect(await admin.call('website_status', { website: 'tailor' })).toMatchObject({ isError: true });
  });
});

describe.each(['2025', '2026'] as const)('with a client of %s that shows forms', (era) => {
  let result: ElicitResult;
  const asked: string[] = [];
  let assistant: Assistant;

  beforeAll(async () => {
    const person = (message: string): ElicitResult => {
      asked.push(message);
      return result;
    };
    assistant = await startAssistant({ url: everybody.api.url, token: everybody.credentials.admin.token, era, person });
  });

  test('the person is asked, and the tool acts in one call', async () => {
    const email = `form${era}@example.com`;
    await giveAccess(email);
    result = { action: 'accept', content: { agree: true } };

    const answer = await assistant.call('remove_access', { website: 'bakery', email });

    expect(answer).toMatchObject({ isError: false, data: { done: true } });
    expect(asked).toEqual([expect.stringContaining('Their invitation to bakery as viewer is withdrawn.')]);
    expect(asked[0]).toContain(email);
    expect(await hasAccess(email)).toBe(false);
  });

  test.each<[string, ElicitResult]>([
    ['declines', { action: 'decline' }],
    ['closes the form', { action: 'cancel' }],
    ['leaves it unticked', { action: 'accept', content: { agree: false } }],
  ])('nothing is done when the person %s, whatever the assistant says', async (_, answered) => {
    const email = `declined${era}@example.com`;
    await giveAccess(email);
    const { confirmation } = await plan(email);
    result = answered;

    const answer = await assistant.call('remove_access', { website: 'bakery', email, confirmation });

    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('did not agree') });
    expect(await hasAccess(email)).toBe(true);
  });
});
