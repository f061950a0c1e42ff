import { access, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isoTime, sleep, type Clock } from '../../platform/clock.js';
import { canonicalAddress } from '../../platform/emailAddress.js';
import { timeOfId } from '../../platform/ids.js';
import { createKeyedMutex } from '../../platform/keyedMutex.js';
import { lazily } from '../../platform/lazily.js';
import { embedded, makeFolder, nullIfMissing, parseFile, permanentFault, replaceFile, withDiskFaults } from '../embeddedFiles.js';
import { ProviderFault } from '../fault.js';
import { messageOf } from './message.js';
import type { EmailSender, Mail, Outbox, OutboxMail } from './port.js';

interface StoredMail extends OutboxMail {
  readonly person?: string;
}

/** A mail by its id and the index of its recipient, which together name its two files. */
interface Place {
  readonly id: string;
  readonly recipient: string;
}

/** Mails that are moved at once: each waits for the disk, and for its turn in a busy process. */
const movedAtOnce = 32;
const dayMs = 86_400_000;
const keptMs = 30 * dayMs;
/** As long as other lists wait for what they show. */
const moveTimeoutMs = 2_000;

const isDay = (name: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(name);
const isMinute = (name: string): boolean => /^\d{4}$/.test(name);

/** The names of the folders of a time: `2026-01-31` and `0900`, UTC. */
const foldersOf = (epochMs: number): { readonly day: string; readonly minute: string } => {
  const at = isoTime(epochMs);
  return { day: at.slice(0, 10), minute: at.slice(11, 16).replace(':', '') };
};

/** It begins with its time, and can be part of a file's name. */
const isMailId = (id: string): boolean => timeOfId(id) !== undefined && /^\w[\w.-]{0,199}$/.test(id);
const timeOf = (id: string): number => timeOfId(id) ?? 0;

/** Newest first. Ids of different kinds begin with their time in different forms. */
const byTime = (one: string, other: string): number => timeOf(other) - timeOf(one) || Number(one < other) - Number(one > other);

/** Newest first: those that come after the mail with the id `after`. */
const placesAfter = (places: readonly Place[], after: string | undefined): readonly Place[] =>
  places
    .filter(({ id }) => after === undefined || byTime(after, id) < 0)
    .sort(({ id: one }, { id: other }) => byTime(one, other));

const namesIn = async (path: string): Promise<readonly string[]> => (await nullIfMissing(readdir(path))) ?? [];

const idsOf = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : [])).filter(isMailId);

/** Not synced: after a power cut the file is where it was or where it belongs. */
const moveIfThere = async (from: string, to: string): Promise<void> => {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await nullIfMissing(rename(from, to));
};

/** The files of a mail, the one that says that it exists first. */
const kinds = ['eml', 'json'] as const;
type Kind = (typeof kinds)[number];

const transientFault = (message: string): ProviderFault => new ProviderFault({ provider: embedded, message, transient: true });

/** Loaded with the first mail, because most API processes never send one. */
const loadComposer = () => import('nodemailer/lib/mail-composer');

/**
 * An e-mail sender that sends nothing: it stores each mail in `folder`, below the day of its id, for 30 days:
 *
 * - `<day>/<hour and minute>/<id>.<recipient>.eml`, an RFC 5322 file for people and mail programs;
 * - `<day>/to/<two characters>/<recipient>/<id>.json`, with what `list` returns.
 *
 * `<recipient>` is a keyed index of the address, so no name reveals it. Each path follows from id and recipient:
 * the newest mails, and those of one recipient, are found without reading any other. A mail exists once its
 * `.eml` file does, which is written last and removed first.
 * @param options `blindIndex`: a keyed hash of text, 26 characters (`platform/personal.ts`)
 */
export const createEmbeddedOutbox = (options: {
  folder: string;
  from: string;
  blindIndex: (text: string) => string;
  clock: Clock;
}): EmailSender & Outbox => {
  const { from, blindIndex, clock } = options;
  const folder = resolve(options.folder);
  const mutex = createKeyedMutex();

  const placeOf = ({ id, to }: Pick<Mail, 'id' | 'to'>): Place => ({ id, recipient: blindIndex(canonicalAddress(to)) });
  const recipientFolder = (day: string, recipient: string): string => join(folder, day, 'to', recipient.slice(0, 2), recipient);
  const filesOf = ({ id, recipient }: Place): Record<Kind, string> => {
    const { day, minute } = foldersOf(timeOf(id));
    return {
      eml: join(folder, day, minute, `${id}.${recipient}.eml`),
      json: join(recipientFolder(day, recipient), `${id}.json`),
    };
  };
  /** Where a mail stands that an earlier version stored. */
  const flatFileOf = (id: string, kind: Kind): string => join(folder, `${id}.${kind}`);

  const isThere = async (path: string): Promise<boolean> => (await nullIfMissing(access(path).then(() => true))) ?? false;

  const readStored = async (path: string): Promise<StoredMail | null> => {
    const text = await nullIfMissing(readFile(path, 'utf8'));
    return text === null ? null : (parseFile(path, text) as StoredMail);
  };

  /** For what removes mails: a damaged one says no more than one that is gone, and must not keep them from it. */
  const readIfWhole = async (path: string): Promise<StoredMail | null> => {
    try {
      return await readStored(path);
    } catch (error) {
      if (error instanceof ProviderFault && !error.transient) return null;
      throw error;
    }
  };

  /**
   * Moves what an earlier version stored, all in one folder. Interrupted, or done by several processes at once, it goes
   * on with what is left. The `.json` file goes last, because it says where the other belongs; where it is damaged,
   * nobody can say whose the mail was, and it is removed.
   */
  const moveFlatFiles = async (): Promise<void> => {
    const names = await namesIn(folder);
    // Drafts of sends that were interrupted, and are repeated where they are still wanted.
    for (const name of names) if (name.endsWith('.new')) await rm(join(folder, name), { force: true });
    const oldest = clock.now() - keptMs;
    const move = async (id: string): Promise<void> => {
      const stored = timeOf(id) < oldest ? null : await readIfWhole(flatFileOf(id, 'json'));
      const files = stored === null ? null : filesOf(placeOf(stored));
      for (const kind of kinds) {
        if (files === null) await rm(flatFileOf(id, kind), { force: true });
        else await moveIfThere(flatFileOf(id, kind), files[kind]);
      }
    };
    const left = idsOf(names).values();
    const moveOn = async (): Promise<void> => {
      for (const id of left) await mutex.run(id, () => move(id));
    };
    await Promise.all(Array.from({ length: movedAtOnce }, moveOn));
  };

  const flatFilesMoved = lazily(moveFlatFiles);

  const withinMoveTimeout = async (work: Promise<void>): Promise<void> => {
    const done = new AbortController();
    const timeout = sleep(clock, moveTimeoutMs, done.signal).then(() => {
      if (done.signal.aborted) return;
      throw transientFault('The mails of an earlier version are still being moved');
    });
    try {
      await Promise.race([work, timeout]);
    } finally {
      done.abort();
    }
  };

  const send = async (mail: Mail): Promise<void> => {
    const { id, to, person, subject, text, html } = mail;
    const at = isoTime(clock.now());
    // First of all, because it refuses what is not one address.
    const message = messageOf(mail, from, at);
    const { eml, json } = filesOf(placeOf(mail));
    // In the order in which a mail is moved.
    if ((await isThere(flatFileOf(id, 'eml'))) || (await isThere(eml))) return;
    const { default: MailComposer } = await loadComposer();
    const content = await new MailComposer({ ...message, newline: 'windows' }).compile().build();
    for (const path of [json, eml]) await makeFolder(dirname(path), 0o700);
    const stored: StoredMail = { id, to, subject, text, html, links: linksIn(html), at, ...(person !== undefined && { person }) };
    await replaceFile(json, JSON.stringify(stored));
    // Its draft stands beside the other file, where `forget` finds what a crash leaves.
    await replaceFile(eml, content, join(dirname(json), `${id}.eml`));
    if (await isThere(json)) return;
    // Another process forgot the recipient in between, and did not see this file yet.
    await rm(eml, { force: true });
    throw transientFault('The mail was removed while it was stored');
  };

  /** Newest first: those of the day of `after` and before. */
  const daysFrom = async (after: string | undefined): Promise<readonly string[]> => {
    const days = (await namesIn(folder)).filter(isDay).sort().reverse();
    return after === undefined ? days : days.filter((day) => day <= foldersOf(timeOf(after)).day);
  };

  const minutesIn = async (day: string): Promise<readonly string[]> => (await namesIn(join(folder, day))).filter(isMinute);

  const placesIn = async (day: string, minute: string): Promise<readonly Place[]> =>
    (await namesIn(join(folder, day, minute))).flatMap((name) => {
      const [, id, recipient] = /^(.+)\.([0-9a-z]{26})\.eml$/.exec(name) ?? [];
      return id === undefined || recipient === undefined || !isMailId(id) ? [] : [{ id, recipient }];
    });

  /** Newest first, after the mail with the id `after`. */
  async function* everyPlace(after: string | undefined): AsyncGenerator<Place> {
    const last = after === undefined ? undefined : foldersOf(timeOf(after));
    for (const day of await daysFrom(after)) {
      for (const minute of (await minutesIn(day)).toSorted().reverse()) {
        if (day === last?.day && minute > last.minute) continue;
        yield* placesAfter(await placesIn(day, minute), after);
      }
    }
  }

  /** As `everyPlace`, of one recipient; also mails that do not exist yet. */
  async function* placesTo(recipient: string, after: string | undefined): AsyncGenerator<Place> {
    const days = await daysFrom(after);
    // All days at once, as `readMails`.
    const found = await Promise.all(days.map((day) => namesIn(recipientFolder(day, recipient))));
    for (const names of found) {
      const places = idsOf(names).map((id) => ({ id, recipient }));
      yield* placesAfter(places, after);
    }
  }

  /** All at once: each look waits for a turn of the event loop, which is long in a busy process. */
  const readMails = async (
    places: readonly Place[],
    isFor: Parameters<Outbox['list']>[0]['isFor'] = () => true,
  ): Promise<readonly OutboxMail[]> => {
    const found = await Promise.all(
      places.map(async (place) => {
        const { eml, json } = filesOf(place);
        const [isMail, stored] = await Promise.all([isThere(eml), readStored(json)]);
        return isMail ? stored : null;
      }),
    );
    return found.flatMap((stored) => {
      // Not there yet, or removed just now.
      if (stored === null) return [];
      const { person, ...mail } = stored;
      return isFor(person) ? [mail] : [];
    });
  };

  const list = async ({ to, limit, after, isFor }: Parameters<Outbox['list']>[0]): Promise<readonly OutboxMail[]> => {
    await withinMoveTimeout(flatFilesMoved());
    if (after !== undefined && !isMailId(after)) return [];
    const mails: OutboxMail[] = [];
    const places = to === undefined ? everyPlace(after) : placesTo(blindIndex(canonicalAddress(to)), after);
    let next: Place[] = [];
    for await (const place of places) {
      next.push(place);
      if (mails.length + next.length < limit) continue;
      mails.push(...(await readMails(next, isFor)));
      next = [];
      if (mails.length >= limit) return mails;
    }
    return [...mails, ...(await readMails(next, isFor))];
  };

  const count = async ({ to }: Parameters<Outbox['count']>[0]): Promise<number> => {
    await withinMoveTimeout(flatFilesMoved());
    let found = 0;
    if (to === undefined) {
      // The names say it, because a mail exists once its `.eml` file does. A day at once, as `readMails`.
      for (const day of await daysFrom(undefined)) {
        const places = await Promise.all((await minutesIn(day)).map((minute) => placesIn(day, minute)));
        found += places.flat().length;
      }
      return found;
    }
    for await (const place of placesTo(blindIndex(canonicalAddress(to)), undefined)) {
      if (await isThere(filesOf(place).eml)) found += 1;
    }
    return found;
  };

  const find = async (id: string): Promise<OutboxMail | null> => {
    await withinMoveTimeout(flatFilesMoved());
    if (!isMailId(id)) return null;
    const { day, minute } = foldersOf(timeOf(id));
    const places = await placesIn(day, minute);
    const [mail] = await readMails(places.filter((place) => place.id === id));
    return mail ?? null;
  };

  const forget = async (address: string, person: string): Promise<void> => {
    await flatFilesMoved();
    const recipient = blindIndex(canonicalAddress(address));
    for (const day of await daysFrom(undefined)) {
      const names = await namesIn(recipientFolder(day, recipient));
      // Drafts left by a crash. If a send is still writing one, that send fails and its retry checks
      // again whether the mail is still wanted.
      for (const name of names) {
        if (name.endsWith('.new')) await rm(join(recipientFolder(day, recipient), name), { force: true });
      }
      for (const id of idsOf(names)) {
        await mutex.run(id, async () => {
          const files = filesOf({ id, recipient });
          const stored = await readIfWhole(files.json);
          if ((stored?.person ?? person) !== person) return;
          for (const kind of kinds) await rm(files[kind], { force: true });
        });
      }
    }
  };

  const removeOld = async (): Promise<number> => {
    await flatFilesMoved();
    const oldest = foldersOf(clock.now() - keptMs).day;
    const old = (await daysFrom(undefined)).filter((day) => day < oldest);
    for (const day of old) await rm(join(folder, day), { recursive: true, force: true });
    return old.length;
  };

  return {
    provider: embedded,
    send: async (mail) => {
      if (!isMailId(mail.id)) throw permanentFault('The id of a mail must begin with its time and be usable as a file name');
      await withDiskFaults(mutex.run(mail.id, () => send(mail)));
    },
    list: (query) => withDiskFaults(list(query)),
    count: (query) => withDiskFaults(count(query)),
    find: (id) => withDiskFaults(find(id)),
    forget: (address, person) => withDiskFaults(forget(address, person)),
    removeOld: () => withDiskFaults(removeOld()),
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
