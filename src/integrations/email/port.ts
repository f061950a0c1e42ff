/** The e-mail sender. */
export interface EmailSender {
  readonly provider: string;
  /** Sends one mail. Sending the same `id` again sends nothing twice. May throw ProviderFault (`integrations/fault.ts`). */
  send(mail: Mail): Promise<void>;
  /** Removes, for good, what is kept here of mails to `address` but those that were sent to another `person`, who has it by now. */
  forget(address: string, person: string): Promise<void>;
}

export interface Mail {
  /** The event that asks for the mail; makes a repeated sending recognisable. */
  readonly id: string;
  readonly to: string;
  /** The address as it is sealed for the person who has it: somebody who is erased and comes back is another one. */
  readonly person?: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** A mail kept by the embedded outbox. */
export interface OutboxMail extends Omit<Mail, 'person'> {
  /** Addresses that the mail links to, in order. */
  readonly links: readonly string[];
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** What the embedded sender offers beside sending. */
export interface Outbox {
  /** Newest first. */
  list(query: { to?: string; limit: number; after?: string }): Promise<readonly OutboxMail[]>;
}

/** Mail servers like to repeat the recipient's address, and neither the log nor an event is a place for it. */
export const redactAddress = (address: string, text: string): string => {
  const pattern = address.replaceAll(/[^\w@]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(pattern, 'gi'), 'the recipient');
};
