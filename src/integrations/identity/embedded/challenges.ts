import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../platform/clock.js';
import { entityId, type Ids } from '../../../platform/ids.js';
import type { Random } from '../../../platform/random.js';
import type { EmailSender } from '../../email/port.js';
import type { EncryptedRecords } from './encryptedRecords.js';
import { composeSignInMail } from './signInMail.js';

/** How long a link and a code may be used, in milliseconds. */
const usableMs = 10 * 60_000;

/** For how long (ms) how many are enough; beyond that somebody is guessing, or flooding a mailbox. */
export const challengeLimits = {
  mailsOfAddress: { most: 15, lifeMs: 15 * 60_000 },
  // Fewer, so that nobody alone can use up another's mails and so keep them from signing in.
  mailsOfAddressForSender: { most: 5, lifeMs: 15 * 60_000 },
  mailsOfInteraction: { most: 5, lifeMs: 60 * 60_000 },
  codesOfMail: { most: 5, lifeMs: usableMs },
  wrongCodesOfAddress: { most: 10, lifeMs: 60 * 60_000 },
} as const;

/** A mail that was sent, waiting to be answered. */
interface Challenge {
  readonly id: string;
  readonly email: string;
  readonly code: string;
  readonly secret: string;
}

/** Why nobody is signed in: the code is wrong; it is used, expired or replaced; too many were tried for this mail or this address. */
export type NotRedeemed = 'wrong' | 'gone' | 'tooManyCodes' | 'addressLocked';

/**
 * One-time links and codes by mail. An interaction is one attempt to sign in, in one browser. Everything is kept where all processes
 * see it, so that a restart changes nothing and no limit can be had twice.
 */
export interface Challenges {
  /**
   * Mails a link and a code; those that were mailed before for the interaction stop working. `false` when too many were asked for.
   * @param sender who asks, as far as it can be told
   * @throws ProviderFault when the mail cannot be sent
   */
  send(interaction: string, email: string, sender: string, linkOf: (secret: string) => string): Promise<boolean>;
  /** The address that a mail was sent to for the interaction, while its link and code may be used. */
  sentTo(interaction: string): Promise<string | null>;
  /** Likewise, when this is the secret of its link. It uses nothing up. */
  linkOf(interaction: string, secret: string): Promise<string | null>;
  redeemCode(interaction: string, code: string): Promise<{ readonly email: string } | NotRedeemed>;
  redeemLink(interaction: string, secret: string): Promise<{ readonly email: string } | 'gone'>;
}

export const createChallenges = (parts: {
  records: EncryptedRecords;
  email: EmailSender;
  ids: Ids;
  random: Random;
  clock: Clock;
  /** Told of what was mailed, where no mail leaves the machine. */
  announce?: ((mailed: { readonly link: string; readonly code: string }) => void) | undefined;
}): Challenges => {
  const { records, email: mailer, ids, random, clock, announce } = parts;

  const take = (limit: keyof typeof challengeLimits, id: string): ReturnType<EncryptedRecords['takePlace']> =>
    records.takePlace(limit, id, challengeLimits[limit].most, challengeLimits[limit].lifeMs);

  const find = async (interaction: string): Promise<Challenge | null> =>
    (await records.get('challenge', interaction)) as Challenge | null;

  const findLink = async (interaction: string, secret: string): Promise<Challenge | null> => {
    const challenge = await find(interaction);
    return challenge !== null && isSame(challenge.secret, secret) ? challenge : null;
  };

  /** Of several who answer the same mail at once, exactly one is signed in. */
  const use = async (interaction: string, { id, email }: Challenge): Promise<{ email: string } | 'gone'> => {
    if (!(await records.insert('used', id, {}, usableMs))) return 'gone';
    await records.delete('challenge', interaction);
    return { email };
  };

  return {
    send: async (interaction, email, sender, linkOf) => {
      const places = [
        await take('mailsOfInteraction', interaction),
        await take('mailsOfAddressForSender', `${email} ${sender}`),
        await take('mailsOfAddress', email),
      ];
      const giveBack = async (): Promise<void> => {
        for (const place of places) await place?.();
      };
      if (places.includes(null)) {
        await giveBack();
        return false;
      }
      const id = entityId(ids.commandId(), 'sign-in-mail');
      const secret = Buffer.from(random.bytes(32)).toString('base64url');
      const code = codeFrom(random);
      const challenge: Challenge = { id, email, code, secret };
      await records.put('challenge', interaction, challenge, usableMs);
      const link = linkOf(secret);
      try {
        const until = clock.now() + usableMs;
        await mailer.send({ id, to: email, ...composeSignInMail({ link, code: grouped(code), until }) });
      } catch (error) {
        await giveBack();
        throw error;
      }
      announce?.({ link, code: grouped(code) });
      return true;
    },

    sentTo: async (interaction) => (await find(interaction))?.email ?? null,

    redeemCode: async (interaction, code) => {
      const challenge = await find(interaction);
      if (challenge === null) return 'gone';
      // Places are taken before the code is looked at: many guesses at the same moment are as many as one after the other.
      if ((await take('codesOfMail', challenge.id)) === null) return 'tooManyCodes';
      const giveBack = await take('wrongCodesOfAddress', challenge.email);
      if (giveBack === null) return 'addressLocked';
      if (!isSame(challenge.code, code.replaceAll(/[\s-]/g, ''))) return 'wrong';
      await giveBack();
      return use(interaction, challenge);
    },

    linkOf: async (interaction, secret) => (await findLink(interaction, secret))?.email ?? null,

    redeemLink: async (interaction, secret) => {
      const challenge = await findLink(interaction, secret);
      return challenge === null ? 'gone' : use(interaction, challenge);
    },
  };
};

const isSame = (one: string, other: string): boolean => {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
};

/** Eight digits, each code as likely as any other. */
const codeFrom = (random: Random): string => {
  for (;;) {
    const number = Buffer.from(random.bytes(4)).readUInt32BE();
    if (number < 4_200_000_000) return String(number % 100_000_000).padStart(8, '0');
  }
};

/** As people read it: `1234 5678`. */
const grouped = (code: string): string => `${code.slice(0, 4)} ${code.slice(4)}`;
