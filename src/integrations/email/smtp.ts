import { isoTime, type Clock } from '../../platform/clock.js';
import { lazily } from '../../platform/lazily.js';
import type { Logger } from '../../platform/logger.js';
import type { SmtpServer } from '../../platform/settings/mail.js';
import { createCircuitBreaker } from '../circuitBreaker.js';
import { ProviderFault } from '../fault.js';
import { messageOf } from './message.js';
import { redactAddress, type EmailSender } from './port.js';

const provider = 'smtp';
const connectTimeoutMs = 10_000;
/** Less than the timeout of one attempt at a mail. */
const idleTimeoutMs = 30_000;

/**
 * Sends mails by SMTP, each over its own connection. SMTP has no idempotency: when a process dies
 * before it records the server's answer, the mail is sent again, with the same `Message-ID`.
 */
export const createSmtpSender = (parts: { server: SmtpServer; from: string; clock: Clock; logger: Logger }): EmailSender => {
  const { server, from, clock } = parts;
  const { host, port, secure, credentials } = server;
  const logger = parts.logger.child({ provider });

  const openTransport = lazily(async () => {
    // Loaded with the first mail, because most API processes never send one.
    const { default: nodemailer } = await import('nodemailer');
    return nodemailer.createTransport({
      host,
      port,
      secure,
      // Never sends a password in clear, even when somebody strips STARTTLS from the server's
      // greeting.
      requireTLS: credentials !== undefined && !isLoopback(host),
      ...(credentials !== undefined && { auth: credentials }),
      connectionTimeout: connectTimeoutMs,
      dnsTimeout: connectTimeoutMs,
      greetingTimeout: connectTimeoutMs,
      socketTimeout: idleTimeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  });
  // A server that refuses a mail is up.
  const withBreaker = createCircuitBreaker(
    'The mail server',
    ({ cause }) => (cause as SmtpError).responseCode === undefined,
    clock,
  );

  return {
    provider,
    send: async (mail) => {
      const message = messageOf(mail, from, isoTime(clock.now()));
      const opened = await openTransport();
      const { response } = await withBreaker(async () => {
        try {
          return (await opened.sendMail(message)) as { readonly response: string };
        } catch (error) {
          throw asProviderFault(error);
        }
      });
      logger.info({ mailId: mail.id, answer: redactAddress(mail.to, response) }, 'the mail server accepted a mail');
    },
    // No mail is stored here.
    forget: () => Promise.resolve(),
  };
};

const isLoopback = (host: string): boolean => ['localhost', '127.0.0.1', '::1'].includes(host);

/** The fields used of nodemailer's errors. */
interface SmtpError {
  /** `EAUTH`, `ETIMEDOUT`, … */
  readonly code?: string;
  /** Of SMTP, that the server answered: `RCPT TO`, … */
  readonly command?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

const maxReasonLength = 200;

/**
 * A 5xx about this mail is permanent (RFC 5321, 4.2.1). One about TLS, credentials or the sender is transient:
 * the operator fixes it for all mails.
 */
const asProviderFault = (error: unknown): ProviderFault => {
  const { code = 'unknown fault', command, responseCode, response } = error as SmtpError;
  const message =
    responseCode === undefined
      ? `The mail server could not be reached (${code})`
      : `The mail server refused: ${(response ?? String(responseCode)).slice(0, maxReasonLength)}`;
  const isAboutTheMail = (code === 'EENVELOPE' && command !== 'MAIL FROM') || code === 'EMESSAGE';
  const transient = responseCode === undefined || responseCode < 500 || !isAboutTheMail;
  return new ProviderFault({ provider, message, transient, cause: error });
};
