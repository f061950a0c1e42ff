import type { Clock } from '../../../platform/clock.js';
import type { Identity } from '../port.js';
import type { SealedRecords } from './sealedRecords.js';

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
  /** The subject of the address is no more, at once and in every process; who signs in with the address later is another one. */
  forget(email: string): Promise<void>;
}

interface Kept {
  readonly email: string;
  readonly keptUntil: number;
}

/**
 * A subject is a keyed hash of the address and of how often it was forgotten: it tells nothing of the address, to which events that
 * carry it are no lead once the address is forgotten.
 */
export const createAccounts = (parts: {
  records: SealedRecords;
  clock: Clock;
  /** A keyed hash. */
  blindIndex: (text: string) => string;
  /** Lower-case addresses. */
  adminEmails: readonly string[];
}): Accounts => {
  const { records, clock, blindIndex, adminEmails } = parts;

  const subjectOf = async (email: string): Promise<{ subject: string; forgotten: number }> => {
    const forgotten = ((await records.get('forgotten', email)) as { times: number } | null)?.times ?? 0;
    return { subject: `user-${blindIndex(`sign-in subject ${String(forgotten)} ${email}`)}`, forgotten };
  };

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
    ofEmail: async (email) => keep((await subjectOf(email)).subject, email),
    find: async (subject) => {
      const kept = (await records.get('account', subject)) as Kept | null;
      if (kept === null) return null;
      return kept.keptUntil - clock.now() < renewedMs ? keep(subject, kept.email) : accountOf(subject, kept.email);
    },
    forget: async (email) => {
      const { subject, forgotten } = await subjectOf(email);
      await records.put('forgotten', email, { times: forgotten + 1 });
      await records.delete('account', subject);
    },
  };
};
