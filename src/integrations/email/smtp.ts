import { isoTime, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { SmtpServer } from '../../platform/settingValues.js';
import { createBreaker } from '../breaker.js';
import { ProviderFault } from '../fault.js';
import { messageOf } from './message.js';
import { redactAddress, type EmailSender } from './port.js';

const provider = 'smtp';
const quickMs = 10_000;
/** Within the time that one attempt at a mail has. */
const idleMs = 30_000;

/**
 * Sends mails by SMTP, each over a connection of its own. SMTP knows no repetition: when a process dies between the server's answer
 * and the record of it, the mail is sent again, with the same `Message-ID`.
 */
export const createSmtpSender = (parts: { server: SmtpServer; from: string; clock: Clock; logger: Logger }): EmailSender => {
  const { server, from, clock } = parts;
  const { host, port, secure, credentials } = server;
  const logger = parts.logger.child({ provider });

  const createTransport = async () => {
    // Loaded with the first mail: an API process may never need it.
    const { default: nodemailer } = await import('nodemailer');
    return nodemailer.createTransport({
      host,
      port,
      secure,
      // A password goes over no wire in clear, whoever strips the offer of TLS from the greeting.
      requireTLS: credentials !== undefined && !isThisMachine(host),
      ...(credentials !== undefined && { auth: credentials }),
      connectionTimeout: quickMs,
      dnsTimeout: quickMs,
      greetingTimeout: quickMs,
      socketTimeout: idleMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
  let transport: ReturnType<typeof createTransport> | undefined;
  // A server that answers is there, also when it refuses.
  const unlessBroken = createBreaker('The mail server', ({ cause }) => (cause as SmtpError).responseCode === undefined);

  return {
    provider,
    send: async (mail) => {
      const message = messageOf(mail, from, isoTime(clock.now()));
      transport ??= createTransport();
      const opened = await transport;
      const { response } = await unlessBroken(async () => {
        try {
          return (await opened.sendMail(message)) as { readonly response: string };
        } catch (error) {
          throw faultOf(error);
        }
      });
      logger.info({ mailId: mail.id, answer: redactAddress(mail.to, response) }, 'a mail was taken over');
    },
    // Nothing of a mail stays here.
    forget: () => Promise.resolve(),
  };
};

const isThisMachine = (host: string): boolean => ['localhost', '127.0.0.1', '::1'].includes(host);

/** What nodemailer throws, as far as it is looked at. */
interface SmtpError {
  /** `EAUTH`, `ETIMEDOUT`, … */
  readonly code?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

const longestAnswer = 200;

/** A 5xx about this mail is for good (RFC 5321, 4.2.1); one about TLS or our credentials is mended by the operator, for every mail. */
const faultOf = (error: unknown): ProviderFault => {
  const { code = 'unknown fault', responseCode, response } = error as SmtpError;
  const message =
    responseCode === undefined
      ? `The mail server could not be talked to (${code})`
      : `The mail server refused: ${(response ?? String(responseCode)).slice(0, longestAnswer)}`;
  const isAboutTheMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const transient = responseCode === undefined || responseCode < 500 || !isAboutTheMail;
  return new ProviderFault({ provider, message, transient, cause: error });
};
