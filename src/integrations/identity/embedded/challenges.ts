import type { Clock } from '../../../platform/clock.js';
import { entityId, type Ids } from '../../../platform/ids.js';
import type { MailLook } from '../../../platform/mail/composeMail.js';
import type { Random } from '../../../platform/random.js';
import { isSameSecret } from '../../../platform/sameSecret.js';
import type { Language } from '../../../platform/texts/texts.js';
import type { EmailSender } from '../../email/port.js';
import type { EncryptedRecords } from './encryptedRecords.js';
import { composeSignInMail } from './signInMail.js';

/** How long a link and a code are valid, in milliseconds. */
const validityMs = 10 * 60_000;

/** At most `max` within `windowMs`, against guessing codes and flooding mailboxes. */
export const challengeLimits = {
  mailsOfAddress: { max: 15, windowMs: 15 * 60_000 },
  // Lower than per address, so that one sender cannot use up a person's mails and keep them from
  // signing in.
  mailsOfAddressForSender: { max: 5, windowMs: 15 * 60_000 },
  mailsOfInteraction: { max: 5, windowMs: 60 * 60_000 },
  codesOfMail: { max: 5, windowMs: validityMs },
  wrongCodesOfAddress: { max: 30, windowMs: 60 * 60_000 },
  // Lower for the same reason.
  wrongCodesOfAddressForSender: { max: 10, windowMs: 60 * 60_000 },
} as const;

/** A sent mail whose link and code are unused. */
interface Challenge {
  readonly id: string;
  readonly email: string;
  readonly code: string;
  readonly secret: string;
}

/**
 * Why a code does not sign in: it is wrong; it was used, has expired or was replaced; too many
 * codes were tried for this mail, or for this address, by the sender or by all.
 */
export type NotRedeemed = 'wrong' | 'gone' | 'tooManyCodes' | 'addressLocked';

/** A mail that is asked for. */
export interface ChallengeMail {
  readonly interaction: string;
  readonly email: string;
  /** The address that the request came from. */
  readonly sender: string;
  readonly linkOf: (secret: string) => string;
  readonly language: Language;
}

/**
 * One-time links and codes by mail. An interaction is one attempt to sign in, in one browser. All
 * state is in records that the processes share, so that limits hold across processes and restarts.
 */
export interface Challenges {
  /**
   * Mails a link and a code, and invalidates earlier ones of the interaction. `false` when a limit
   * is reached.
   * @throws ProviderFault when the mail cannot be sent
   */
  send(mail: ChallengeMail): Promise<boolean>;
  /** The address that the interaction's mail was sent to, while its link and code are valid. */
  sentTo(interaction: string): Promise<string | null>;
  /** Likewise, if `secret` is that of its link. Does not redeem it. */
  linkOf(interaction: string, secret: string): Promise<string | null>;
  /** @param sender the address that the request came from */
  redeemCode(interaction: string, code: string, sender: string): Promise<{ readonly email: string } | NotRedeemed>;
  redeemLink(interaction: string, secret: string): Promise<{ readonly email: string } | 'gone'>;
}

export const createChallenges = (parts: {
  records: EncryptedRecords;
  email: EmailSender;
  look: MailLook;
  ids: Ids;
  random: Random;
  clock: Clock;
  /** Called with what was mailed, where mails are not really sent. */
  announce?: ((mailed: { readonly link: string; readonly code: string }) => void) | undefined;
}): Challenges => {
  const { records, email: mailer, look, ids, random, clock, announce } = parts;

  const acquire = (limit: keyof typeof challengeLimits, id: string): ReturnType<EncryptedRecords['acquireSlot']> =>
    records.acquireSlot(limit, id, challengeLimits[limit].max, challengeLimits[limit].windowMs);

  /** Slots of several limits, or none; null when one of the limits is reached. */
  const acquireAll = async (
    ...wanted: readonly (readonly [keyof typeof challengeLimits, string])[]
  ): Promise<{ readonly release: () => Promise<void> } | null> => {
    const slots: Awaited<ReturnType<typeof acquire>>[] = [];
    for (const [limit, id] of wanted) slots.push(await acquire(limit, id));
    const release = async (): Promise<void> => {
      for (const slot of slots) await slot?.();
    };
    if (!slots.includes(null)) return { release };
    await release();
    return null;
  };

  const find = async (interaction: string): Promise<Challenge | null> =>
    (await records.get('challenge', interaction)) as Challenge | null;

  const findLink = async (interaction: string, secret: string): Promise<Challenge | null> => {
    const challenge = await find(interaction);
    return challenge !== null && isSameSecret(challenge.secret, secret) ? challenge : null;
  };

  /** Of several concurrent redemptions of one mail, exactly one succeeds. */
  const redeem = async (interaction: string, { id, email }: Challenge): Promise<{ email: string } | 'gone'> => {
    if (!(await records.insert('used', id, {}, validityMs))) return 'gone';
    await records.delete('challenge', interaction);
    return { email };
  };

  return {
    send: async ({ interaction, email, sender, linkOf, language }) => {
      const slots = await acquireAll(
        ['mailsOfInteraction', interaction],
        ['mailsOfAddressForSender', `${email} ${sender}`],
        ['mailsOfAddress', email],
      );
      if (slots === null) return false;
      const id = entityId(ids.commandId(), 'sign-in-mail');
      const secret = Buffer.from(random.bytes(32)).toString('base64url');
      const code = codeFrom(random);
      const challenge: Challenge = { id, email, code, secret };
      await records.put('challenge', interaction, challenge, validityMs);
      const link = linkOf(secret);
      try {
        const until = clock.now() + validityMs;
        const mail = await composeSignInMail({ link, code: grouped(code), until }, language, look);
        await mailer.send({ id, to: email, ...mail });
      } catch (error) {
        await slots.release();
        throw error;
      }
      announce?.({ link, code: grouped(code) });
      return true;
    },

    sentTo: async (interaction) => (await find(interaction))?.email ?? null,

    redeemCode: async (interaction, code, sender) => {
      const challenge = await find(interaction);
      if (challenge === null) return 'gone';
      // Slots are acquired before the code is compared, so that concurrent guesses count as
      // sequential ones do.
      const { id, email } = challenge;
      if ((await acquire('codesOfMail', id)) === null) return 'tooManyCodes';
      const slots = await acquireAll(['wrongCodesOfAddressForSender', `${email} ${sender}`], ['wrongCodesOfAddress', email]);
      if (slots === null) return 'addressLocked';
      if (!isSameSecret(challenge.code, code.replaceAll(/[\s-]/g, ''))) return 'wrong';
      await slots.release();
      return redeem(interaction, challenge);
    },

    linkOf: async (interaction, secret) => (await findLink(interaction, secret))?.email ?? null,

    redeemLink: async (interaction, secret) => {
      const challenge = await findLink(interaction, secret);
      return challenge === null ? 'gone' : redeem(interaction, challenge);
    },
  };
};

/** Eight digits, uniformly distributed. */
const codeFrom = (random: Random): string => {
  for (;;) {
    const number = Buffer.from(random.bytes(4)).readUInt32BE();
    if (number < 4_200_000_000) return String(number % 100_000_000).padStart(8, '0');
  }
};

/** Formatted for people: `1234 5678`. */
const grouped = (code: string): string => `${code.slice(0, 4)} ${code.slice(4)}`;
