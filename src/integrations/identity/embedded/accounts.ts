import type { Clock } from '../../../platform/clock.js';
import type { Language } from '../../../platform/texts/texts.js';
import type { Identity } from '../port.js';
import type { EncryptedRecords } from './encryptedRecords.js';

/**
 * How long an account is stored after its last use, in milliseconds. Signing in again recreates it.
 */
const retentionMs = 60 * 24 * 60 * 60_000;
/**
 * An account that is used with less than this remaining is stored for the whole retention again.
 */
const renewalThresholdMs = retentionMs / 2;

export interface Account {
  readonly subject: string;
  /** Lower-case and verified by a mail. */
  readonly email: string;
  readonly role: Identity['role'];
}

/** The accounts of people who have signed in. */
export interface Accounts {
  /**
   * The account of a verified address, created if absent. Anybody may sign in; authorisation
   * happens elsewhere.
   * @param language in which its person signs in
   */
  ofEmail(email: string, language: Language): Promise<Account>;
  /** `null` when the account does not exist, has expired, or was forgotten. */
  find(subject: string): Promise<Account | null>;
  /** The address of a subject's account; null when there is none. Does not count as a use of it. */
  addressOf(subject: string): Promise<string | null>;
  /** The account that `ofEmail` would give, without making it. `email` is lower-case. */
  preview(email: string): Promise<Account>;
  /** The language in which the person with the address last signed in; null when there is no account. `email` is lower-case. */
  languageOf(email: string): Promise<Language | null>;
  /** Whether the subject's address is an admin's. True for subjects that were not created here. */
  isStillAdmin(subject: string, email: string | undefined): boolean;
  /**
   * Deletes the address's account at once, in every process. A later sign-in with the address
   * creates another subject, which a repeated call for the same `person` leaves alone.
   */
  forget(email: string, person: string): Promise<void>;
}

/** How often an address was forgotten. */
interface Forgotten {
  readonly times: number;
}

interface StoredAccount {
  readonly email: string;
  readonly keptUntil: number;
  /** Absent in accounts from before there were several. */
  readonly language?: Language;
}

/**
 * The form of subjects created here, as opposed to those that an operator chose for a minted token.
 */
const ownSubject = /^user-[0-9a-z]{26}$/;

/**
 * A subject is a keyed hash of the address and of how often it was forgotten, so that events that
 * carry it do not reveal the address.
 */
export const createAccounts = (parts: {
  records: EncryptedRecords;
  clock: Clock;
  /** A keyed hash. */
  blindIndex: (text: string) => string;
  /** Lower-case addresses. */
  adminEmails: readonly string[];
}): Accounts => {
  const { records, clock, blindIndex, adminEmails } = parts;

  const timesForgotten = async (email: string): Promise<number> =>
    ((await records.get('forgotten', email)) as Forgotten | null)?.times ?? 0;

  const subjectOf = (email: string, forgotten: number): string =>
    `user-${blindIndex(`sign-in subject ${String(forgotten)} ${email}`)}`;

  const load = async (subject: string): Promise<StoredAccount | null> =>
    (await records.get('account', subject)) as StoredAccount | null;

  const accountOf = (subject: string, email: string): Account => ({
    subject,
    email,
    role: adminEmails.includes(email) ? 'admin' : 'client',
  });

  const ofEmail: Accounts['ofEmail'] = async (email, language) => {
    const subject = subjectOf(email, await timesForgotten(email));
    const stored: StoredAccount = { email, keptUntil: clock.now() + retentionMs, language };
    await records.put('account', subject, stored, retentionMs);
    if (subjectOf(email, await timesForgotten(email)) === subject) return accountOf(subject, email);
    // The address was forgotten meanwhile, and its account may have been deleted before it was stored.
    await records.delete('account', subject);
    return ofEmail(email, language);
  };

  return {
    preview: async (email) => accountOf(subjectOf(email, await timesForgotten(email)), email),
    addressOf: async (subject) => (await load(subject))?.email ?? null,
    languageOf: async (email) => (await load(subjectOf(email, await timesForgotten(email))))?.language ?? null,
    ofEmail,
    find: async (subject) => {
      const stored = await load(subject);
      if (stored === null) return null;
      if (stored.keptUntil - clock.now() < renewalThresholdMs) {
        const renewed: StoredAccount = { ...stored, keptUntil: clock.now() + retentionMs };
        const isRenewed = await records.replace('account', subject, renewed, retentionMs);
        // Another process has renewed it, or it was forgotten meanwhile.
        if (!isRenewed && (await load(subject)) === null) return null;
      }
      return accountOf(subject, stored.email);
    },
    isStillAdmin: (subject, email) => !ownSubject.test(subject) || email === undefined || adminEmails.includes(email),
    forget: async (email, person) => {
      const times = await timesForgotten(email);
      // The first attempt stores the count, so that a repeated call deletes the same subject.
      await records.insert('erased', person, { times } satisfies Forgotten, retentionMs);
      const erased = ((await records.get('erased', person)) as Forgotten | null)?.times ?? times;
      if (times <= erased) await records.put('forgotten', email, { times: erased + 1 } satisfies Forgotten);
      await records.delete('account', subjectOf(email, erased));
    },
  };
};
