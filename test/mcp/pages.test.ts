import { beforeAll, expect, test } from '@jest/globals';
import { loadCaller } from '@doorstep/mcp';
import { Doorstep } from '@doorstep/sdk';
import type { Assistant } from '../support/assistant.js';
import { startEverybody, type Everybody } from '../support/everybody.js';
import { connectTools } from '../support/toolServer.js';

/** Answers from lists that are longer than a page of the API. */

let everybody: Everybody;
let doorstep: Doorstep;
let admin: Assistant;

const website = 'bakery';

beforeAll(async () => {
  everybody = await startEverybody();
  doorstep = new Doorstep({ baseUrl: everybody.api.url, token: everybody.credentials.admin.token });
  admin = await connectTools({ doorstep, caller: await loadCaller(doorstep) });
});

/** As many writes at a time as a page of them would be. */
const times = async (count: number, write: (number: number) => Promise<unknown>): Promise<void> => {
  await Promise.all([...Array(count).keys()].map(write));
};

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

const countOf = (list: unknown): number => (list as readonly unknown[]).length;

test('read_content counts all files of a website, and says when it does not list all', async () => {
  await times(210, async (number) =>
    doorstep.websites.documents.upload(everybody.websiteId, {
      file: new Blob([String(number)], { type: 'text/plain' }),
      name: `${String(number)}.txt`,
    }),
  );

  const { text, data } = await admin.call('read_content', { website, kind: 'documents' });

  const listed = countOf(data.items);
  expect(listed).toBeGreaterThan(100);
  expect(listed).toBeLessThan(210);
  expect(firstLine(text)).toBe(`bakery: 210 in documents, the first ${String(listed)} of them; the portal has all.`);
  expect(data.cut).toBe(true);
});

test('read_content lists as many content documents as an assistant can read at once', async () => {
  await times(120, async (number) =>
    doorstep.websites.content.save(everybody.websiteId, `page-${String(number)}`, { baseHash: null, body: {} }),
  );

  const { text, data } = await admin.call('read_content', { website, kind: 'content' });

  expect([firstLine(text), countOf(data.items), data.cut]).toEqual(['bakery: 120 in content.', 120, undefined]);
});

test.each([
  ['all websites', {}, '50 invoices; there are more: name a website or a status, or raise the limit.', '52 invoices.'],
  [
    'a website',
    { website },
    'bakery: no subscription, 50 invoices; there are more: name a status, or raise the limit.',
    'bakery: no subscription, 52 invoices.',
  ],
])('billing_summary says that %s has more invoices than it lists', async (_, args, cut, whole) => {
  const missing = 52 - countOf(await doorstep.invoices.list({ limit: 200 }));
  await times(missing, async (number) =>
    doorstep.websites.invoices.create(everybody.websiteId, {
      total: 100 + number,
      currency: 'eur',
      description: `Of ${String(number)}`,
    }),
  );

  const some = await admin.call('billing_summary', args);
  const all = await admin.call('billing_summary', { ...args, limit: 100 });

  expect([firstLine(some.text), countOf(some.data.invoices), some.data.more]).toEqual([cut, 50, true]);
  expect([firstLine(all.text), countOf(all.data.invoices), all.data.more]).toEqual([whole, 52, false]);
});

test('an offer of the ownership that is older than a page of them is listed, and taken back', async () => {
  const offer = async (email: string) => doorstep.websites.transfers.offer(everybody.websiteId, { email });
  const email = 'first@example.com';
  const { id } = await offer(email);
  await times(201, async (number) => offer(`later-${String(number)}@example.com`));

  const { data } = await admin.call('explain_access', { website });
  const access = data.access as readonly { readonly email: string }[];
  expect(access.filter((one) => /^(first|later)/.test(one.email))).toHaveLength(202);

  const asked = await admin.call('remove_access', { website, email });
  expect(asked.data.wouldHappen).toEqual(['The offer of the ownership of bakery is taken back.']);
  const removed = await admin.call('remove_access', { website, email, confirmation: asked.data.confirmation });
  expect(removed.data).toMatchObject({ done: true, removed: ['offer'] });
  expect(await doorstep.websites.transfers.list(everybody.websiteId, { ids: id })).toEqual([]);
});

test('audit_log leaves out what is long, and lists as much as an assistant can read at once', async () => {
  let baseHash: string | null = null;
  for (const number of [1, 2]) {
    const body = { text: 'x'.repeat(12_000), number };
    ({ hash: baseHash } = await doorstep.websites.content.save(everybody.websiteId, 'long', { baseHash, body }));
  }
  const short = await admin.call('audit_log', { website, limit: 2 });
  expect(short.data).toMatchObject({
    entries: [
      { type: 'ContentSaved', data: { documentId: 'long' }, omitted: ['body'] },
      { type: 'ContentSaved', omitted: ['body'] },
    ],
    more: true,
  });
  expect(firstLine(short.text)).toBe('2 changes; there are more: narrow the time, or raise the limit.');

  for (let number = 1; number <= 30; number += 1) {
    const body = { text: 'x'.repeat(900), number };
    ({ hash: baseHash } = await doorstep.websites.content.save(everybody.websiteId, 'long', { baseHash, body }));
  }
  const { text, data } = await admin.call('audit_log', { website, limit: 100 });
  expect(JSON.stringify(data).length).toBeLessThan(25_000);
  expect(data.more).toBe(true);
  expect(firstLine(text)).toBe(`${String(countOf(data.entries))} changes; there are more: narrow the time.`);
});

test.each([
  ['content', true],
  ['marketing', false],
])('save_content of %s says how it gets onto the site: %s', async (kind, isPublished) => {
  const { text } = await admin.call('save_content', { website, kind, id: 'new', body: {} });
  expect([text.includes('is saved'), text.includes('publish_website')]).toEqual([true, isPublished]);
});
