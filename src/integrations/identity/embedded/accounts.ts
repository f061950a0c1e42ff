import type { Clock } from '../../../platform/clock.js';
import type { Identity } from '../port.js';
import type { EncryptedRecords } from './encryptedRecords.js';

/** How long an account is kept after it was last used, in milliseconds. Signing in again makes it anew. */
const keptMs = 60 * 24 * 60 * 60_000;
/** An account that will be kept for less than this is kept for the whole time again when it is used. */
const renewedMs = keptMs / 2;

export interface Account {
  readonly subject: string;
  /** Lower-case, and verified: somebody read a mail that was sent there. */
  readonly email: string;
  readonly role: Identity['role'];
}

/** Who has signed in: which subject an address is, and which address a subject. */
export interface Accounts {
  /** The account of an address whose mail was read. Whoever has an address may sign in; what they see is decided elsewhere. */
  ofEmail(email: string): Promise<Account>;
  /** `null` when nobody has signed in as this subject, or not for long, or when it was forgotten. */
  find(subject: string): Promise<Account | null>;
  /** Whether the address of a subject is among those of admins. Of subjects that are not ours nothing is known: true. */
  isStillAdmin(subject: string, email: string | undefined): boolean;
  /**
   * The subject of the address is no more, at once and in every process; who signs in with the address later is another one, and stays
   * so when `person` is forgotten once more.
   */
  forget(email: string, person: string): Promise<void>;
}

/** How often an address was forgotten. */
interface Forgotten {
  readonly times: number;
}

interface Kept {
  readonly email: string;
  readonly keptUntil: number;
}

/** Nobody else makes such: the operator mints tokens for names that the operator thinks of. */
const ownSubject = /^user-[0-9a-z]{26}$/;

/**
 * A subject is a keyed hash of the address and of how often it was forgotten: it tells nothing of the address, to which events that
 * carry it are no lead once the address is forgotten.
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

  const keep = async (subject: string, email: string): Promise<Account> => {
    const kept: Kept = { email, keptUntil: clock.now() + keptMs };
    await records.put('account', subject, kept, keptMs);
    return accountOf(subject, email);
  };

  const accountOf = (subject: string, email: string): Account => ({
    subject,
    email,
    role: adminEmails.includes(email) ? 'admin' : 'client',
  });

  return {
    ofEmail: async (email) => keep(subjectOf(email, await timesForgotten(email)), email),
    find: async (subject) => {
      const kept = (await records.get('account', subject)) as Kept | null;
      if (kept === null) return null;
      return kept.keptUntil - clock.now() < renewedMs ? keep(subject, kept.email) : accountOf(subject, kept.email);
    },
    isStillAdmin: (subject, email) => !ownSubject.test(subject) || email === undefined || adminEmails.includes(email),
    forget: async (email, person) => {
      const times = await timesForgotten(email);
      // Whose turn it was is settled by the first attempt: one that is repeated ends the same subject.
      await records.insert('erased', person, { times } satisfies Forgotten, keptMs);
      const erased = ((await records.get('erased', person)) as Forgotten | null)?.times ?? times;
      if (times <= erased) await records.put('forgotten', email, { times: erased + 1 } satisfies Forgotten);
      await records.delete('account', subjectOf(email, erased));
    },
  };
};
