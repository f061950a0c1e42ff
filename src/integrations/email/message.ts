import { ProviderFault } from '../fault.js';
import type { Mail } from './port.js';
import { asciiAddress } from '../../platform/emailAddress.js';

/** The part of nodemailer's mail options that is used. */
interface Message {
  readonly from: string;
  readonly to: { name: string; address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly date: string;
  readonly messageId: string;
  readonly headers: Record<string, string>;
}

/**
 * Converts a mail to nodemailer's options. The same mail always has the same `Message-ID`, by which
 * mail programs and many servers drop duplicates.
 * @param at when it is sent, ISO 8601 UTC
 * @throws ProviderFault (permanent) when `to` is not exactly one address
 */
export const messageOf = ({ id, to, subject, text, html }: Mail, from: string, at: string): Message => {
  if (!/^[^\s@<>,;]+@[^\s@<>,;]+$/.test(to)) {
    throw new ProviderFault({ provider: 'email', message: 'A mail must have exactly one recipient address', transient: false });
  }
  return {
    from,
    // nodemailer parses a string as a list of addresses; an object is always one.
    to: { name: '', address: asciiAddress(to) },
    subject,
    text,
    html,
    date: at,
    messageId: `<${id}@${domainOf(from)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
};

/** The part after the @ of an address, alone or as in `Doorstep <no-reply@example.com>`. */
const domainOf = (from: string): string => /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
