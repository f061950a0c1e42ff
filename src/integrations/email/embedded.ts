import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isoTime, type Clock } from '../../platform/clock.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import { embedded, permanentFault, replaceFile, nullIfMissing, withDiskFaults } from '../embeddedFiles.js';
import { messageOf } from './message.js';
import type { EmailSender, Mail, Outbox, OutboxMail } from './port.js';
import { asciiAddress, canonicalAddress } from '../../platform/emailAddress.js';

interface StoredMail extends OutboxMail {
  readonly person?: string;
}

const isTo = ({ to }: StoredMail, address: string): boolean => canonicalAddress(to) === canonicalAddress(address);

/** Loaded with the first mail, because most API processes never send one. */
const loadComposer = () => import('nodemailer/lib/mail-composer');

/**
 * An e-mail sender that sends nothing: it stores each mail in `folder`, as an RFC 5322 file
 * `<id>.eml` for people and mail programs, and `<id>.json` with what `list` returns. A mail exists
 * once its `.eml` file does, which is written last. Ids begin with the time (`platform/ids.ts`), so
 * names sort by it.
 */
export const createEmbeddedOutbox = (options: { folder: string; from: string; clock: Clock }): EmailSender & Outbox => {
  const { from, clock } = options;
  const folder = resolve(options.folder);
  const mutex = createKeyedMutex();
  const fileOf = (id: string, kind: 'eml' | 'json'): string => join(folder, `${id}.${kind}`);

  /** Newest first. */
  const ids = async (): Promise<string[]> => {
    const names = (await nullIfMissing(readdir(folder))) ?? [];
    const mails = names.filter((name) => name.endsWith('.eml')).map((name) => name.slice(0, -'.eml'.length));
    return mails.sort((one, other) => (one < other ? 1 : -1));
  };

  const read = async (id: string): Promise<StoredMail | null> => {
    const text = await nullIfMissing(readFile(fileOf(id, 'json'), 'utf8'));
    return text === null ? null : (JSON.parse(text) as StoredMail);
  };

  const isStored = async (id: string): Promise<boolean> => (await nullIfMissing(readFile(fileOf(id, 'eml')))) !== null;

  const send = async (mail: Mail): Promise<void> => {
    const { id, to, person, subject, text, html } = mail;
    if (await isStored(id)) return;
    const at = isoTime(clock.now());
    const { default: MailComposer } = await loadComposer();
    const message = new MailComposer({ ...messageOf(mail, from, at), newline: 'windows' });
    const content = await message.compile().build();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const stored: StoredMail = { id, to, subject, text, html, links: linksIn(html), at, ...(person !== undefined && { person }) };
    await replaceFile(fileOf(id, 'json'), JSON.stringify(stored));
    await replaceFile(fileOf(id, 'eml'), content);
  };

  const list = async ({ to, limit, after }: Parameters<Outbox['list']>[0]): Promise<readonly OutboxMail[]> => {
    const mails: OutboxMail[] = [];
    for (const id of await ids()) {
      if (after !== undefined && id >= after) continue;
      if (mails.length >= limit) break;
      const stored = await read(id);
      if (stored === null || (to !== undefined && !isTo(stored, to))) continue;
      const { person: _, ...mail } = stored;
      mails.push(mail);
    }
    return mails;
  };

  const forget = async (address: string, person: string): Promise<void> => {
    const names = (await nullIfMissing(readdir(folder))) ?? [];
    for (const name of names) {
      const path = join(folder, name);
      if (name.endsWith('.new')) {
        // A draft left by a crash. If a send is still writing it, that send fails and its retry
        // checks again whether the mail is still wanted.
        const draft = await nullIfMissing(readFile(path, 'utf8'));
        if (draft?.toLowerCase().includes(asciiAddress(address)) === true) await rm(path, { force: true });
      }
      if (!name.endsWith('.json')) continue;
      const id = name.slice(0, -'.json'.length);
      await mutex.run(id, async () => {
        const stored = await read(id);
        if (stored === null || !isTo(stored, address) || (stored.person ?? person) !== person) return;
        for (const kind of ['eml', 'json'] as const) await rm(fileOf(id, kind), { force: true });
      });
    }
  };

  return {
    provider: embedded,
    send: async (mail) => {
      if (!/^\w[\w.-]{0,199}$/.test(mail.id)) throw permanentFault('The id of a mail must be usable as a file name');
      await withDiskFaults(mutex.run(mail.id, () => send(mail)));
    },
    list: (query) => withDiskFaults(list(query)),
    forget: (address, person) => withDiskFaults(forget(address, person)),
  };
};

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

/** Distinct web addresses that the mail links to, in order. */
const linksIn = (html: string): string[] => {
  const links = [...html.matchAll(/<a\s[^>]*?href="(https?:[^"]+)"/gi)].map(([, link = '']) =>
    link.replaceAll(/&(#?\w+);/g, (entity, name: string) => entities[name] ?? entity),
  );
  return [...new Set(links)];
};
