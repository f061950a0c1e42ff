import { asciiAddress } from '../../platform/emailAddress.js';

/** The e-mail sender. */
export interface EmailSender {
  readonly provider: string;
  /**
   * Sends one mail. Repeating the same `id` sends no second one. May throw ProviderFault
   * (`integrations/fault.ts`).
   */
  send(mail: Mail): Promise<void>;
  /**
   * Permanently removes stored mails to `address`, except those to a different `person` who has the
   * address by now.
   */
  forget(address: string, person: string): Promise<void>;
}

export interface Mail {
  /** By which duplicates are recognised: it is, or begins with, the id of what asks for the mail. */
  readonly id: string;
  readonly to: string;
  /**
   * The address encrypted for its owner. Somebody who was erased and comes back is a different
   * person.
   */
  readonly person?: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** A mail stored by the embedded outbox. */
export interface OutboxMail extends Omit<Mail, 'person'> {
  /** Addresses that the mail links to, in order. */
  readonly links: readonly string[];
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** What only the embedded sender offers. */
export interface Outbox {
  /** Newest first. `isFor`: given a mail's `person`, whether the mail is one of those that are wanted. */
  list(query: {
    to?: string;
    limit: number;
    after?: string;
    isFor?: (person: string | undefined) => boolean;
  }): Promise<readonly OutboxMail[]>;
  /** How many mails `list` has on all pages: those of 30 days at most, none of which is opened. */
  count(query: { to?: string }): Promise<number>;
  /** The mail of this id; `null` when there is none. */
  find(id: string): Promise<OutboxMail | null>;
  /** Removes the mails that are older than 30 days, and returns of how many days there were some. */
  removeOld(): Promise<number>;
}

/**
 * Mail servers repeat the recipient's address in responses, and it must reach neither the log nor
 * an event.
 */
export const redactAddress = (address: string, text: string): string => {
  const patterns = [address, asciiAddress(address)].map((form) => form.replaceAll(/[^\p{L}\p{N}_@]/gu, String.raw`\$&`));
  return text.replaceAll(new RegExp(patterns.join('|'), 'gi'), 'the recipient');
};
