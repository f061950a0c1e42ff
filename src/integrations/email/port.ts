/** The e-mail sender. */
export interface EmailSender {
  readonly provider: string;
  /** Sends one mail. Sending the same `id` again sends nothing twice. May throw ProviderFault (`integrations/fault.ts`). */
  send(mail: Mail): Promise<void>;
}

export interface Mail {
  /** The event that asks for the mail; makes a repeated sending recognisable. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** A mail kept by the embedded outbox. */
export interface OutboxMail extends Mail {
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
