import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { createEmbeddedOutbox } from '../../src/integrations/email/embedded.js';
import type { Mail } from '../../src/integrations/email/port.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createIds } from '../../src/platform/ids.js';
import { systemRandom } from '../../src/platform/random.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';

const clock = createTestClock();
const ids = createIds(clock, systemRandom);

const outboxIn = (folder: string) => createEmbeddedOutbox({ folder, from: 'Doorstep <no-reply@doorstep.example>', clock });

const mail = (changes: Partial<Mail> = {}): Mail => ({
  id: ids.commandId(),
  to: 'ada@example.com',
  subject: 'Hello',
  text: 'Open https://doorstep.example/x?a=1&b=2',
  html: '<p>Open <a class="x" href="https://doorstep.example/x?a=1&amp;b=2">it</a>, <a href="https://doorstep.example/y">y</a> or <a href="https://doorstep.example/y">y</a></p>',
  ...changes,
});

const messageIn = async (folder: string, { id }: Mail) => simpleParser(await readFile(join(folder, `${id}.eml`)));

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
    const lines = (await readFile(join(folder, `${sent.id}.eml`), 'utf8')).split('\r\n');
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
    expect(await readdir(folder)).toHaveLength(2);
  });

  test('after an interrupted write is not listed, and is written when sent again', async () => {
    const folder = temporaryFolder();
    const outbox = outboxIn(folder);
    const sent = mail();
    await writeFile(join(folder, `${sent.id}.json`), '{"id":');
    expect(await outbox.list({ limit: 10 })).toStrictEqual([]);
    await outbox.send(sent);
    expect(await outbox.list({ limit: 10 })).toHaveLength(1);
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
    ['an empty id', { id: '' }],
  ])('is %s', async (_, changes) => {
    const folder = temporaryFolder();
    const fault = await outboxIn(folder)
      .send(mail(changes))
      .catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ProviderFault);
    expect(fault).toMatchObject({ transient: false });
    expect(await readdir(folder)).toStrictEqual([]);
  });
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
    await rm(join(folder, `${cutOff.id}.eml`));
    await writeFile(join(folder, 'draft.eml.1.new'), 'To: ada@example.com\r\n');
    await writeFile(join(folder, 'draft.json.1.new'), '{"to":"berta@example.com"}');

    await outbox.forget('ada@example.com', 'first');
    await outbox.forget('ada@example.com', 'first');
    const kept = [next, others].flatMap(({ id }) => [`${id}.eml`, `${id}.json`]);
    expect((await readdir(folder)).sort()).toEqual([...kept, 'draft.json.1.new'].sort());
    expect((await outbox.list({ limit: 10 })).map(({ id }) => id).sort()).toEqual([next.id, others.id].sort());
    expect(JSON.stringify(await outbox.list({ limit: 10 }))).not.toContain('second');
  });

  test('may never have had a mail', async () => {
    await outboxIn(join(temporaryFolder(), 'none')).forget('ada@example.com', 'first');
  });
});
