import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import type { Mail } from '../../src/integrations/email/port.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createIds, entityId } from '../../src/platform/ids.js';
import { systemRandom } from '../../src/platform/random.js';
import { createTestOutbox } from '../support/outbox.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';

const clock = createTestClock();
const ids = createIds(clock, systemRandom);
const dayMs = 86_400_000;

const commandIdOf = () => ids.commandId();
const entityIdOf = () => entityId(ids.commandId(), 'sign-in-mail');
const noticeIdOf = () => `${ids.commandId()}.owner`;

const outboxIn = (folder: string) => createTestOutbox({ folder, clock });

const mail = (changes: Partial<Mail> = {}): Mail => ({
  id: ids.commandId(),
  to: 'ada@example.com',
  subject: 'Hello',
  text: 'Open https://doorstep.example/x?a=1&b=2',
  html: '<p>Open <a class="x" href="https://doorstep.example/x?a=1&amp;b=2">it</a>, <a href="https://doorstep.example/y">y</a> or <a href="https://doorstep.example/y">y</a></p>',
  ...changes,
});

/** The files below `folder`, by their paths in it. */
const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort();
};

const fileIn = async (folder: string, { id }: Mail, kind: 'eml' | 'json'): Promise<string> => {
  const file = (await filesIn(folder)).find((path) => basename(path).startsWith(id) && path.endsWith(`.${kind}`));
  if (file === undefined) throw new Error(`no ${kind} file of mail ${id}`);
  return join(folder, file);
};

const rawIn = async (folder: string, sent: Mail): Promise<string> => readFile(await fileIn(folder, sent, 'eml'), 'utf8');

const messageIn = async (folder: string, sent: Mail) => simpleParser(await rawIn(folder, sent));

const idsIn = async (outbox: ReturnType<typeof outboxIn>, to?: string): Promise<string[]> =>
  (await outbox.list({ limit: 100, ...(to !== undefined && { to }) })).map(({ id }) => id);

describe('a mail that is sent', () => {
  test('is stored as an RFC 5322 file with both bodies', async () => {
    const folder = temporaryFolder();
    const sent = mail({
      subject: 'Grüße aus dem Café ☕',
      text: 'Schöne Grüße\n'.repeat(50),
      html: `<p>${'ü'.repeat(2_000)}</p>`,
    });
    await outboxIn(folder).send(sent);
    const message = await messageIn(folder, sent);
    expect(message.from?.text).toBe('"Doorstep" <no-reply@doorstep.example>');
    expect(message.to).toMatchObject({ text: 'ada@example.com' });
    expect(message.subject).toBe(sent.subject);
    expect(message.text).toBe(sent.text);
    expect(message.html).toBe(sent.html);
    expect(message.messageId).toBe(`<${sent.id}@doorstep.example>`);
    expect(message.date?.getTime()).toBe(clock.now());
    const lines = (await rawIn(folder, sent)).split('\r\n');
    expect(lines.filter((line) => line.includes('\n') || line.length > 998)).toStrictEqual([]);
  });

  test('is listed as it was sent, with its links', async () => {
    const outbox = outboxIn(temporaryFolder());
    const sent = mail();
    await outbox.send(sent);
    expect(await outbox.list({ limit: 10 })).toStrictEqual([
      { ...sent, links: ['https://doorstep.example/x?a=1&b=2', 'https://doorstep.example/y'], at: '2026-01-01T00:00:00.000Z' },
    ]);
  });

  test('twice under one id, even concurrently, is stored once, as first sent', async () => {
    const folder = temporaryFolder();
    const outbox = outboxIn(folder);
    const sent = mail();
    await Promise.all([outbox.send(sent), outbox.send({ ...sent, subject: 'Another' })]);
    await outboxIn(folder).send({ ...sent, subject: 'A third' });
    expect((await outbox.list({ limit: 10 })).map(({ subject }) => subject)).toStrictEqual(['Hello']);
    expect(await filesIn(folder)).toHaveLength(2);
  });

  test('after an interrupted write is not listed, and is written when sent again', async () => {
    const folder = temporaryFolder();
    const outbox = outboxIn(folder);
    const sent = mail();
    await outbox.send(sent);
    await rm(await fileIn(folder, sent, 'eml'));
    expect(await idsIn(outbox)).toStrictEqual([]);
    expect(await idsIn(outbox, sent.to)).toStrictEqual([]);
    await outbox.send(sent);
    expect(await idsIn(outbox)).toStrictEqual([sent.id]);
    expect(await idsIn(outbox, sent.to)).toStrictEqual([sent.id]);
  });

  test('whose file is damaged is a permanent fault that names the file in the log alone', async () => {
    const folder = temporaryFolder();
    const outbox = outboxIn(folder);
    const sent = mail();
    await outbox.send(sent);
    const file = await fileIn(folder, sent, 'json');
    await writeFile(file, '{"id":"');
    const listing = outbox.list({ limit: 10 });
    await expect(listing).rejects.toMatchObject({
      ...{ name: 'ProviderFault', transient: false, message: 'A file of the data folder is damaged' },
      cause: { message: expect.stringContaining(`${file} is damaged: `) },
    });
  });

  test.each([
    ['a line break in the subject', { subject: 'Hello\r\nBcc: eve@example.com\r\n\r\nInjected' }],
    ['a lone line feed in the subject', { subject: 'Hello\nBcc: eve@example.com' }],
  ])('adds no header by %s', async (_, changes) => {
    const folder = temporaryFolder();
    const sent = mail(changes);
    await outboxIn(folder).send(sent);
    const message = await messageIn(folder, sent);
    expect(message.bcc).toBeUndefined();
    expect([...message.headers.keys()]).not.toContain('bcc');
    expect(message.to).toMatchObject({ text: 'ada@example.com' });
    expect(message.text).toBe(sent.text);
  });
});

describe('refused for good', () => {
  test.each([
    ['a second recipient', { to: 'ada@example.com, eve@example.com' }],
    ['a header in the address', { to: 'ada@example.com\r\nBcc: eve@example.com' }],
    ['no address', { to: 'ada' }],
    ['an id that leaves the folder', { id: '../ada' }],
    ['an id that leaves the folder after its time', { id: `${ids.commandId()}/../ada` }],
    ['an empty id', { id: '' }],
    ['an id without a time', { id: 'ada' }],
  ])('is %s', async (_, changes) => {
    const folder = temporaryFolder();
    const fault = await outboxIn(folder)
      .send(mail(changes))
      .catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ProviderFault);
    expect(fault).toMatchObject({ transient: false });
    expect(await filesIn(folder)).toStrictEqual([]);
  });
});

test('no name of a file or folder reveals the recipient', async () => {
  const folder = temporaryFolder();
  await outboxIn(folder).send(mail());
  expect((await readdir(folder, { recursive: true })).filter((path) => /ada|example/i.test(path))).toStrictEqual([]);
});

test('a folder that cannot be written to is a transient fault that names no path', async () => {
  const file = join(temporaryFolder(), 'file');
  await writeFile(file, '');
  const fault = await outboxIn(join(file, 'outbox'))
    .send(mail())
    .catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(ProviderFault);
  expect(fault).toMatchObject({ transient: true });
  expect(String(fault)).not.toContain(file);
});

describe('the list', () => {
  test('is empty before the first mail', async () => {
    expect(await outboxIn(join(temporaryFolder(), 'not-there')).list({ limit: 10 })).toStrictEqual([]);
  });

  test('goes from the newest to the oldest, page by page, for one recipient or all', async () => {
    const outbox = outboxIn(temporaryFolder());
    const sent: Mail[] = [];
    for (const to of ['ada@example.com', 'bob@example.com', 'ada@example.com', 'ada@example.com']) {
      sent.unshift(mail({ to }));
      await outbox.send(sent[0] ?? mail());
      await clock.advance(1);
    }
    const listed = async (query: Parameters<typeof outbox.list>[0]) => (await outbox.list(query)).map(({ id }) => id);
    const all = sent.map(({ id }) => id);
    const toAda = sent.filter(({ to }) => to === 'ada@example.com').map(({ id }) => id);
    expect(await listed({ limit: 10 })).toStrictEqual(all);
    expect(await listed({ limit: 2, to: 'Ada@Example.com' })).toStrictEqual(toAda.slice(0, 2));
    expect(await listed({ limit: 2, to: 'ada@example.com', after: toAda[1] ?? '' })).toStrictEqual(toAda.slice(2));
    expect(await listed({ limit: 10, to: 'eve@example.com' })).toStrictEqual([]);
    for (const to of [undefined, 'Ada@Example.com', 'eve@example.com']) {
      const query = to === undefined ? {} : { to };
      expect(await outbox.count(query)).toBe((await listed({ limit: 10, ...query })).length);
    }
  });

  test('has each mail by its id', async () => {
    const folder = temporaryFolder();
    const outbox = outboxIn(folder);
    const [first, second] = [mail(), mail({ id: noticeIdOf(), to: 'bob@example.com' })];
    for (const each of [first, second]) await outbox.send(each);
    for (const each of [first, second]) expect(await outbox.find(each.id)).toMatchObject({ id: each.id, to: each.to });
    for (const id of [ids.commandId(), 'nonsense', `${first.id}.x`, '../x']) expect(await outbox.find(id)).toBeNull();
    // What is not there yet is not counted either.
    await rm(await fileIn(folder, second, 'eml'));
    expect([await outbox.find(second.id), await outbox.count({}), await outbox.count({ to: second.to })]).toEqual([null, 1, 0]);
  });
});

describe('a recipient who is forgotten', () => {
  test('leaves no file behind, not even of interrupted writes; mails of others and of the next person with the address stay', async () => {
    const folder = temporaryFolder();
    const outbox = outboxIn(folder);
    const [theirs, unsigned, next, others] = [
      mail({ to: 'Ada@example.com', person: 'first' }),
      mail(),
      mail({ person: 'second' }),
      mail({ to: 'berta@example.com', person: 'third' }),
    ] as [Mail, Mail, Mail, Mail];
    for (const each of [theirs, unsigned, next, others]) await outbox.send(each);
    // Leftovers of an interrupted send and an interrupted deletion.
    const cutOff = mail({ person: 'first' });
    await outbox.send(cutOff);
    await rm(await fileIn(folder, cutOff, 'eml'));
    await writeFile(`${await fileIn(folder, theirs, 'json')}.1.new`, '{"to":"ada@example.com"}');
    const draftOfOthers = `${await fileIn(folder, others, 'json')}.1.new`;
    await writeFile(draftOfOthers, '{"to":"berta@example.com"}');

    await outbox.forget('ada@example.com', 'first');
    await outbox.forget('ada@example.com', 'first');
    const kept = (await filesIn(folder)).map((path) => basename(path));
    expect(kept).toHaveLength(5);
    expect(kept.filter((name) => name.startsWith(next.id))).toHaveLength(2);
    expect(kept).toContain(basename(draftOfOthers));
    expect((await outbox.list({ limit: 10 })).map(({ id }) => id).sort()).toEqual([next.id, others.id].sort());
    expect(JSON.stringify(await outbox.list({ limit: 10 }))).not.toContain('second');
  });

  test('and their mails whose files are damaged are gone too, also where an earlier version stored them', async () => {
    const folder = temporaryFolder();
    const [damaged, earlier, others] = [mail({ person: 'first' }), mail(), mail({ to: 'berta@example.com' })] as [
      Mail,
      Mail,
      Mail,
    ];
    for (const each of [damaged, earlier, others]) await outboxIn(folder).send(each);
    for (const each of [damaged, earlier]) await writeFile(await fileIn(folder, each, 'json'), '{"to":"ada@exam');
    for (const kind of ['eml', 'json'] as const)
      await rename(await fileIn(folder, earlier, kind), join(folder, `${earlier.id}.${kind}`));
    await outboxIn(folder).forget('ada@example.com', 'first');
    const kept = (await filesIn(folder)).map((path) => basename(path));
    expect(kept.map((name) => name.startsWith(others.id))).toStrictEqual([true, true]);
  });

  test('may never have had a mail', async () => {
    await outboxIn(join(temporaryFolder(), 'none')).forget('ada@example.com', 'first');
  });
});

test('a mail whose recipient is forgotten while it is stored leaves nothing behind', async () => {
  const folder = temporaryFolder();
  const sent = mail();
  const [sender, eraser] = [outboxIn(folder), outboxIn(folder)];
  const ended = new AbortController();
  const sending = sender.send(sent).then(
    () => 'stored',
    (error: unknown) => error,
  );
  void sending.then(() => {
    ended.abort();
  });
  while (!ended.signal.aborted) await eraser.forget(sent.to, 'nobody else');
  const outcome = await sending;
  await eraser.forget(sent.to, 'nobody else');
  expect(await filesIn(folder)).toStrictEqual([]);
  if (outcome !== 'stored') expect(outcome).toMatchObject({ transient: true });
});

describe('with many mails', () => {
  test('no mail of somebody else, and none beyond the page, is read', async () => {
    const folder = temporaryFolder();
    const outbox = outboxIn(folder);
    const sent: Mail[] = [];
    for (const to of ['ada@example.com', 'berta@example.com', 'carla@example.com']) {
      sent.push(mail({ to }));
      await outbox.send(sent.at(-1) ?? mail());
      await clock.advance(60_000);
    }
    const [ada, berta, carla] = sent as [Mail, Mail, Mail];
    for (const each of [ada, berta]) await writeFile(await fileIn(folder, each, 'json'), 'not to be read');
    expect(await idsIn(outbox, carla.to)).toStrictEqual([carla.id]);
    expect((await outbox.list({ limit: 1 })).map(({ id }) => id)).toStrictEqual([carla.id]);
    await outbox.forget(carla.to, 'carla');
    expect(await idsIn(outbox, carla.to)).toStrictEqual([]);
  });

  test('those of different kinds are listed by their time', async () => {
    const outbox = outboxIn(temporaryFolder());
    const sent: string[] = [];
    for (const idOf of [entityIdOf, commandIdOf, entityIdOf, noticeIdOf]) {
      sent.unshift(idOf());
      await outbox.send(mail({ id: sent[0] ?? '' }));
      await clock.advance(1);
    }
    expect(await idsIn(outbox)).toStrictEqual(sent);
    expect(await idsIn(outbox, 'ada@example.com')).toStrictEqual(sent);
  });

  test('those of the last 30 days are kept', async () => {
    const folder = temporaryFolder();
    const outbox = outboxIn(folder);
    const [old, recent] = [mail(), mail({ to: 'berta@example.com' })];
    await outbox.send(old);
    await clock.advance(2 * dayMs);
    const kept = { ...recent, id: ids.commandId() };
    await outbox.send(kept);
    await clock.advance(29 * dayMs);
    expect(await outbox.removeOld()).toBe(1);
    expect(await outbox.removeOld()).toBe(0);
    expect(await idsIn(outbox)).toStrictEqual([kept.id]);
    expect(await filesIn(folder)).toHaveLength(2);
  });
});

describe('mails of an earlier version, all in one folder', () => {
  /** Puts a mail where an earlier version stored it. */
  const flatten = async (folder: string, sent: Mail, kinds: readonly ('eml' | 'json')[] = ['eml', 'json']): Promise<void> => {
    for (const kind of kinds) await rename(await fileIn(folder, sent, kind), join(folder, `${sent.id}.${kind}`));
  };
  const flatFilesIn = async (folder: string) => (await filesIn(folder)).filter((path) => basename(path) === path);

  test('are listed, forgotten, and never sent twice', async () => {
    const folder = temporaryFolder();
    const earlier = outboxIn(folder);
    const [ada, berta] = [mail(), mail({ to: 'berta@example.com' })];
    for (const each of [ada, berta]) {
      await earlier.send(each);
      await flatten(folder, each);
    }
    await writeFile(join(folder, `${ids.commandId()}.eml.1.new`), 'To: ada@example.com');
    await outboxIn(folder).send({ ...ada, subject: 'Another' });
    const outbox = outboxIn(folder);
    expect((await outbox.list({ limit: 10, to: ada.to })).map(({ subject }) => subject)).toStrictEqual([ada.subject]);
    expect(await flatFilesIn(folder)).toStrictEqual([]);
    expect((await messageIn(folder, berta)).to).toMatchObject({ text: berta.to });
    await flatten(folder, ada);
    await outboxIn(folder).forget(ada.to, 'ada');
    expect(await idsIn(outboxIn(folder))).toStrictEqual([berta.id]);
    expect(await filesIn(folder)).toHaveLength(2);
  });

  test('move on where a move was interrupted, also by several processes at a time', async () => {
    const folder = temporaryFolder();
    const earlier = outboxIn(folder);
    const sent = Array.from({ length: 20 }, (_, index) => mail({ to: `person-${String(index % 7)}@example.com` }));
    for (const [index, each] of sent.entries()) {
      await earlier.send(each);
      await flatten(folder, each, index % 2 === 0 ? ['json'] : ['eml', 'json']);
    }
    await Promise.all([outboxIn(folder).removeOld(), outboxIn(folder).removeOld()]);
    expect(await flatFilesIn(folder)).toStrictEqual([]);
    expect((await idsIn(outboxIn(folder))).sort()).toStrictEqual(sent.map(({ id }) => id).sort());
  });

  test('go unread when they are older than 30 days', async () => {
    const folder = temporaryFolder();
    const old = ids.commandId();
    for (const kind of ['eml', 'json']) await writeFile(join(folder, `${old}.${kind}`), 'not to be read');
    await clock.advance(31 * dayMs);
    expect(await idsIn(outboxIn(folder))).toStrictEqual([]);
    expect(await filesIn(folder)).toStrictEqual([]);
  });
});
