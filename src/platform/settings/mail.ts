import type { Brand } from '../brand.js';
import { defaultLanguage, languages, type Language } from '../texts/texts.js';
import { parseUrl } from '../urls.js';
import type { SettingsReader } from './reader.js';
import { isEmail, oneOf, Problem } from './values.js';

export interface MailSettings {
  readonly from: string;
  /** The agency's: of mails to people whose own language is not known. */
  readonly language: Language;
  /** Absent: the embedded outbox. */
  readonly smtp: SmtpServer | undefined;
}

/** A mail server, as `SMTP_URL` names it. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`); otherwise STARTTLS where the server offers it. */
  readonly secure: boolean;
  readonly credentials?: { readonly user: string; readonly pass: string };
}

/** Mails come from the agency unless `MAIL_FROM` says otherwise. */
export const readMail = ({ read }: SettingsReader, brand: Brand): MailSettings => ({
  from: read('MAIL_FROM', mailbox, `${inMailbox(brand.name)} <no-reply@doorstep.local>`),
  language: read('BRAND_LANGUAGE', oneOf(languages), defaultLanguage),
  smtp: read('SMTP_URL', smtpServer, undefined),
});

/** RFC 5322, 3.2.4: a name with other characters than these is quoted. */
const inMailbox = (name: string): string => (/^[\w ]+$/.test(name) ? name : `"${name}"`);

const mailbox = (text: string): string | Problem => {
  const address = /^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text;
  return isEmail(address) ? text : new Problem('must be an e-mail address, alone or as in Doorstep <no-reply@example.com>');
};

const smtpServer = (text: string): SmtpServer | Problem => {
  const url = /^smtps?:\/\//.test(text) ? parseUrl(text) : undefined;
  // The value may hold a password, so the message does not repeat it.
  const problem = new Problem(
    'must be an address such as smtp://user:password@mail.example.com:587 or smtps://mail.example.com, percent-encoded',
  );
  if (url === undefined || url.hostname === '' || (url.username === '') !== (url.password === '')) return problem;
  if (!['', '/'].includes(url.pathname) || /[?#]/.test(url.href)) return problem;
  const secure = url.protocol === 'smtps:';
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port);
  const server = { host: url.hostname.replace(/^\[|\]$/g, ''), port, secure };
  if (url.username === '') return server;
  try {
    return { ...server, credentials: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } };
  } catch (error) {
    if (error instanceof URIError) return problem;
    throw error;
  }
};
