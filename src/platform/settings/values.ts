import { isIP } from 'node:net';
import { parseHex, type Hex } from '../colour.js';
import { canonicalHostname } from '../hostname.js';
import { isLoopbackName } from '../publicAddress.js';
import { parseUrl } from '../urls.js';
import { canonicalAddress } from '../emailAddress.js';

/**
 * How to check that a subject still exists. `userinfo` checks only where the issuer offers that
 * endpoint.
 */
export type SubjectCheck = { readonly kind: 'userinfo' } | ({ readonly kind: 'scim' } & ScimService) | { readonly kind: 'none' };

export interface ScimService {
  readonly url: string;
  /** Sent as a bearer token; absent: none is. */
  readonly token?: string;
}

/** What is wrong with a value. The message follows the variable's name: `must be …`. */
export class Problem {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export const anyText = (text: string): string => text;

export const oneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (text: string): Choice | Problem =>
    choices.find((choice) => choice === text) ?? new Problem(`must be one of ${choices.join(', ')}`);

/** Entries separated by commas; duplicates are dropped. */
export const listOf =
  <Item>(parse: (text: string) => Item | Problem) =>
  (text: string): readonly Item[] | Problem => {
    const items = new Set<Item>();
    for (const entry of text.split(',')) {
      const item = parse(entry.trim());
      if (item instanceof Problem) return new Problem(`each entry ${item.message}`);
      items.add(item);
    }
    return [...items];
  };

export const portNumber = (text: string): number | Problem =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : new Problem('must be a whole number from 0 to 65535');

/** As in `10/s`. */
export const requestsPerSecond = (text: string): number | Problem => {
  const [, number] = /^([1-9]\d{0,5})\/s$/.exec(text) ?? [];
  return number === undefined ? new Problem('must be a number of requests a second, such as 10/s') : Number(number);
};

const units = ['', 'KB', 'MB', 'GB', 'TB'];

/** As in `500MB`; a KB is 1,024 bytes. A number alone is bytes. */
export const byteSize = (text: string): number | Problem => {
  const [, number = '', unit = ''] = /^([1-9]\d{0,14}) ?(|[KMGT]B)$/i.exec(text) ?? [];
  const bytes = Number(number) * 1024 ** units.indexOf(unit.toUpperCase());
  return number !== '' && Number.isSafeInteger(bytes) ? bytes : new Problem('must be a size such as 500MB or 5GB');
};

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
export const bucketName = (text: string): string | Problem =>
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)
    ? text
    : new Problem('must be the name of a bucket: 3 to 63 of a-z, 0-9, hyphens and dots');

/** A whole number from 1. */
export const numberUpTo =
  (max: number) =>
  (text: string): number | Problem =>
    /^[1-9]\d{0,8}$/.test(text) && Number(text) <= max
      ? Number(text)
      : new Problem(`must be a whole number from 1 to ${String(max)}`);

const proxyNetwork = (text: string): string | Problem => {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isNetwork =
    more.length === 0 && bits > 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits));
  return text === 'private' || isNetwork
    ? text
    : new Problem('must be an address, a network such as 10.0.0.0/8, or private; none, alone, is nobody');
};

/** `none` is nobody. */
export const proxyNetworks = (text: string): readonly string[] | Problem => (text === 'none' ? [] : listOf(proxyNetwork)(text));

export const hostName = (text: string): string | Problem =>
  isIP(text) !== 0 || (/^[\w.-]+$/.test(text) && !/^[\d.]+$/.test(text))
    ? text
    : new Problem('must be a host name or an IP address, without scheme, port or brackets');

/** Where domains of websites lead in DNS: a name, or an address. */
export const domainTarget = (text: string): string | Problem => {
  const address = canonicalAddressOf(text);
  return address ?? canonicalHostname(text) ?? new Problem('must be a host name such as sites.example.net, or an IP address');
};

/** An IPv6 address has many forms, of which DNS gives this one. */
const canonicalAddressOf = (text: string): string | undefined => {
  const version = isIP(text);
  if (version !== 6) return version === 4 ? text : undefined;
  return parseUrl(`http://[${text}]/`)?.hostname.slice(1, -1);
};

/** A DNS server: its address, and its port where that is not 53. */
export const dnsServer = (text: string): string | Problem => {
  const [, address, port = '53'] = /^(\[[^\]]+\]|[^:]+|[\da-f:]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const isAddress = address !== undefined && isIP(address.replace(/^\[|\]$/g, '')) !== 0;
  const isPort = Number(port) > 0 && Number(port) <= 65_535;
  return isAddress && isPort
    ? text
    : new Problem('must be an IP address, with a port as in 192.0.2.53:5353 or [2001:db8::53]:5353');
};

const webAddress = (text: string): URL | undefined => {
  const url = parseUrl(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
};

const isPlain = (url: URL): boolean => url.username === '' && url.password === '' && !/[?#]/.test(url.href);

export const baseAddress = (text: string): string | Problem => {
  const url = webAddress(text);
  return url !== undefined && isPlain(url)
    ? url.href.replace(/\/+$/, '')
    : new Problem('must be an http or https address without credentials, query or fragment');
};

export const origin = (text: string): string | Problem => {
  const url = webAddress(text);
  return url !== undefined && isPlain(url) && url.pathname === '/'
    ? url.origin
    : new Problem('must be an origin such as https://portal.example.com, without a path');
};

/** An origin whose host is a name, so that names can be put before it. */
export const originOfNames = (text: string): string | Problem => {
  const value = origin(text);
  if (value instanceof Problem) return value;
  const { hostname } = new URL(value);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0
    ? value
    : new Problem('must be an origin whose host is a name, such as https://sites.example.net');
};

/**
 * Requires TLS except on this machine: the keys that verify tokens, and our credentials, travel
 * there.
 */
const secureAddress = (text: string): URL | undefined => {
  const url = webAddress(text);
  if (url === undefined || !isPlain(url)) return undefined;
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname) ? url : undefined;
};

const secureOnly = 'an https address (http only on this machine) without credentials, query or fragment';

export const issuerAddress = (text: string): string | Problem =>
  secureAddress(text) ? text : new Problem(`must be ${secureOnly}`);

/** The base address of an API that receives our token; without a trailing slash. */
export const apiAddress = (text: string): string | Problem =>
  secureAddress(text)?.href.replace(/\/+$/, '') ?? new Problem(`must be ${secureOnly}`);

/** As `apiAddress`, for a provider whose client accepts no path. */
export const apiOrigin = (text: string): string | Problem => {
  const url = secureAddress(text);
  return url?.pathname === '/' ? url.origin : new Problem(`must be ${secureOnly}, and without a path`);
};

/** A secret or restricted key. A publishable key (`pk_`) cannot make the calls needed here. */
export const stripeSecretKey = (text: string): string | Problem =>
  /^[rs]k_\w+$/.test(text) ? text : new Problem('must be a key that begins with sk_ or rk_');

/** A value that is put into a header unchanged. */
export const credential = (text: string): string | Problem =>
  /^[\x21-\x7e]+$/.test(text) ? text : new Problem('must be printable characters without spaces');

const sourceHostAccount = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?$/;

export const gitHubOwner = (text: string): string | Problem =>
  sourceHostAccount.test(text) ? text : new Problem('must be the name of a user or an organisation');

export const gitHubTemplate = (text: string): { readonly owner: string; readonly name: string } | Problem => {
  const [owner = '', name = '', ...more] = text.split('/');
  const isName = /^[\w.-]{1,100}$/.test(name) && name !== '.' && name !== '..';
  return sourceHostAccount.test(owner) && isName && more.length === 0
    ? { owner, name }
    : new Problem('must be owner/name of the template repository');
};

export const claimPath = (text: string): readonly string[] | Problem => {
  const path = text.split('.');
  return path.includes('') ? new Problem('must be the name of a claim; a dot reaches into an object, as in realm.role') : path;
};

export const subjectCheckOf = (text: string): SubjectCheck | Problem => {
  if (text === 'userinfo' || text === 'none') return { kind: text };
  const url = text.startsWith('scim:') ? secureAddress(text.slice('scim:'.length)) : undefined;
  return url ? { kind: 'scim', url: url.href } : new Problem(`must be userinfo, none or scim: followed by ${secureOnly}`);
};

const isEmail = (text: string): boolean => text.length <= 254 && /^[^\s@<>",;:()[\]\\]+@[^\s@<>",;:()[\]\\]+$/.test(text);

export const emailAddress = (text: string): string | Problem =>
  isEmail(text) ? canonicalAddress(text) : new Problem('must be an e-mail address');

export const mailbox = (text: string): string | Problem => {
  const address = /^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text;
  return isEmail(address) ? text : new Problem('must be an e-mail address, alone or as in Doorstep <no-reply@example.com>');
};

/** In characters. */
const maxBrandNameLength = 60;

/** It stands in a mail's sender too, between quotes. */
export const brandName = (text: string): string | Problem =>
  Array.from(text).length <= maxBrandNameLength && !/[<>"\\\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
    ? text
    : new Problem(`must be a name of up to ${String(maxBrandNameLength)} characters, without quotes, backslashes, < and >`);

export const hexColour = (text: string): Hex | Problem => parseHex(text) ?? new Problem('must be #RRGGBB hex');

/** Browsers and mail programs load it, so it must be an address that they reach. */
export const pictureAddress = (text: string): string | Problem => {
  const url = webAddress(text);
  return url?.username === '' && url.password === '' && (url.protocol === 'https:' || isLoopbackName(url.hostname))
    ? url.href
    : new Problem('must be the https address of a picture');
};

export const keyOf32Bytes = (text: string): Buffer | Problem => {
  const key = Buffer.from(text, 'base64');
  return key.length === 32 && key.toString('base64') === text ? key : new Problem('must be 32 bytes in base64 (44 characters)');
};

const storeAddress =
  (schemes: readonly string[]) =>
  (text: string): string | Problem => {
    const scheme = schemes.find((known) => text.startsWith(`${known}://`));
    // `URL` cannot parse several hosts separated by commas, so only the first is checked with it.
    const hosts = /^[\w+]+:\/\/(?:[^@/?#]*@)?([^/?#]+)/.exec(text)?.[1] ?? '';
    const isHosts = hosts.split(',').every((host) => /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host));
    const single = text.replace(hosts, hosts.split(',')[0] ?? '');
    const isGood = scheme !== undefined && isHosts && parseUrl(single) !== undefined;
    if (isGood) return text;
    // The value may hold a password, so the message does not repeat it.
    const credentials = scheme !== undefined && text.includes('@') ? `; ${encodedCredentials}` : '';
    return new Problem(`must be an address that begins with ${schemes.map((known) => `${known}://`).join(', ')}${credentials}`);
  };

const encodedCredentials = 'user name and password are percent-encoded: write @ as %40, : as %3A, / as %2F, % as %25';

/**
 * EventStoreDB: a node, the nodes of a cluster separated by commas, or a name to discover them by.
 */
export const eventStoreAddress = storeAddress(['esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover']);

/**
 * MongoDB: a server, the members of a replica set separated by commas, or a name to find them by.
 */
export const readModelAddress = storeAddress(['mongodb', 'mongodb+srv']);

/** A mail server, as `SMTP_URL` names it. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`); otherwise STARTTLS where the server offers it. */
  readonly secure: boolean;
  readonly credentials?: { readonly user: string; readonly pass: string };
}

export const smtpServer = (text: string): SmtpServer | Problem => {
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

/**
 * The five fields of a schedule: their ranges, and the names that stand for numbers, beginning at
 * `from`.
 */
const cronFields = [
  { from: 0, to: 59, names: [] },
  { from: 0, to: 23, names: [] },
  { from: 1, to: 31, names: [] },
  { from: 1, to: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { from: 0, to: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

/** Lists of numbers and ranges with an optional step: `*`, `1,15`, `mon-fri`, `8-18/2`. */
const isCronField = (text: string, { from, to, names }: (typeof cronFields)[number]): boolean =>
  text.split(',').every((part) => {
    const [, range = '', step = '1'] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const bounds = range === '*' ? [from, to] : range.split('-').map((bound) => numberOf(bound, names, from));
    const [first = Number.NaN, last = first] = bounds;
    return bounds.length <= 2 && first >= from && last <= to && first <= last && Number(step) >= 1;
  });

const numberOf = (text: string, names: readonly string[], from: number): number => {
  const place = names.indexOf(text.toLowerCase());
  return place === -1 ? Number(/^\d{1,2}$/.exec(text)?.[0] ?? Number.NaN) : place + from;
};

export const cronSchedule = (text: string): string | Problem => {
  const given = text.split(/\s+/);
  const isSchedule =
    given.length === cronFields.length && cronFields.every((field, place) => isCronField(given[place] ?? '', field));
  return isSchedule
    ? given.join(' ')
    : new Problem('must be minute, hour, day, month and weekday, as in 0 4 * * 1 (Mondays at four)');
};

/** A version of Shopify's API: a quarter, as in `2026-01`. */
export const shopifyVersion = (text: string): string | Problem =>
  /^20\d\d-(01|04|07|10)$/.test(text)
    ? text
    : new Problem('must be a version of the API: a year and 01, 04, 07 or 10, as in 2026-01');

/** The current secret and, during a rotation, the previous one. */
export const secretsInRotation = (text: string): readonly string[] | Problem => {
  const secrets = listOf(credential)(text);
  return secrets instanceof Problem || secrets.length <= 2
    ? secrets
    : new Problem('must be one secret, or two separated by a comma');
};
