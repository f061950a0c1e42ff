import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { systemRandom, type Random } from './random.js';

/** Everything that an operator may decide, checked (api.md, section 1). Nothing else in the service reads the environment. */
export interface Settings {
  readonly http: {
    readonly host: string;
    /** 0 picks a free port. */
    readonly port: number;
    /** Public base address without a trailing slash; absent: derived from the address that is really listened on. */
    readonly baseUrl: string | undefined;
    /** Origins that browsers may call from; empty: CORS is off. */
    readonly corsOrigins: readonly string[];
  };
  /** Absolute path; the embedded defaults write nothing outside it. */
  readonly dataDir: string;
  /** The parts that run in this process. */
  readonly roles: ReadonlySet<ProcessRole>;
  readonly auth: {
    /** The OpenID Connect issuer to trust; absent: embedded sign-in. */
    readonly issuer: ExternalIssuer | undefined;
    /** Lower-case addresses of those who are admins under embedded sign-in. */
    readonly adminEmails: readonly string[];
  };
  /** 32 bytes; absent: `loadEncryptionKey` keeps one in the data folder. */
  readonly encryptionKey: Buffer | undefined;
  readonly mail: { readonly from: string };
  readonly logLevel: LogLevel;
}

export interface ExternalIssuer {
  /** Exactly as the `iss` claim carries it. */
  readonly url: string;
  readonly audience: string;
  /** The claim that holds the role; each further entry reaches into the object before it. */
  readonly roleClaim: readonly string[];
  readonly subjectCheck: SubjectCheck;
}

/** How "does this subject still exist" is asked; `userinfo` asks only where the issuer offers it. */
export type SubjectCheck =
  { readonly kind: 'userinfo' } | { readonly kind: 'scim'; readonly url: string } | { readonly kind: 'none' };

const processRoles = ['api', 'projector', 'worker', 'cron'] as const;
export type ProcessRole = (typeof processRoles)[number];

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Why the service does not start: every wrong setting, one line each, named and never with the value of a secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['Doorstep cannot start with these settings:', ...problems].join('\n  '));
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment over what a `.env` file in the current folder says, when there is one. */
export const readEnvironment = (file = '.env', environment: Environment = process.env): Environment => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return environment;
    throw new SettingsError([`${file}: cannot be read`]);
  }
  return { ...parseEnv(text), ...environment };
};

/**
 * Settings of integrations that this version does not have. Ignoring one would leave an operator believing that data goes to a
 * place to which it does not go. (`GITHUB_API_URL` and `AWS_*` are left alone: build machines set them for other programs, and by
 * themselves they select nothing.)
 */
const unavailable: Readonly<Record<string, readonly string[]>> = {
  'runs on the embedded event store only': ['EVENT_STORE_URL'],
  'keeps its read models in the embedded store only': ['READ_MODEL_URL'],
  'has the embedded source host only': ['GITHUB_TOKEN', 'GITHUB_OWNER', 'GITHUB_TEMPLATE'],
  'has the embedded hosting only': ['VERCEL_TOKEN', 'VERCEL_TEAM_ID', 'VERCEL_API_URL'],
  'has no payment provider': ['STRIPE_SECRET_KEY', 'STRIPE_API_URL', 'STRIPE_PRICE_ID'],
  'has the embedded outbox only': ['SMTP_URL'],
  'has no LLM gateway': ['LLM_BASE_URL', 'LLM_API_KEY', 'LLM_MODEL'],
  'has no scheduling service': ['SCHEDULING_API_URL', 'SCHEDULING_API_KEY'],
  'takes no commerce webhooks': ['COMMERCE_WEBHOOK_SECRET', 'COMMERCE_API_VERSION'],
  'has no site analytics': ['ANALYTICS_URL', 'ANALYTICS_API_KEY'],
  'keeps files in DATA_DIR only': ['S3_BUCKET', 'S3_REGION', 'S3_ENDPOINT'],
  'has no scheduled scans': ['SEO_SCAN_CRON'],
};

/**
 * Reads and checks every setting; an empty variable counts as unset. Throws `SettingsError` with all problems at once.
 */
export const loadSettings = (environment: Environment): Settings => {
  const problems: string[] = [];
  const given = (name: string): string | undefined => {
    const text = environment[name]?.trim();
    return text === '' ? undefined : text;
  };
  const read = <Value, Fallback>(
    name: string,
    parse: (text: string) => Value | Problem,
    fallback: Fallback,
  ): Value | Fallback => {
    const text = given(name);
    if (text === undefined) return fallback;
    const value = parse(text);
    if (!(value instanceof Problem)) return value;
    problems.push(`${name}: ${value.words}`);
    return fallback;
  };

  const issuerUrl = read('AUTH_ISSUER', issuerAddress, undefined);
  const audience = read('AUTH_AUDIENCE', asGiven, undefined);
  const roleClaim = read('AUTH_ROLE_CLAIM', claimPath, ['role']);
  const subjectCheck = read('AUTH_SUBJECT_CHECK', subjectCheckOf, { kind: 'userinfo' } as const);
  for (const [name, other] of [
    ['AUTH_ISSUER', 'AUTH_AUDIENCE'],
    ['AUTH_AUDIENCE', 'AUTH_ISSUER'],
  ] as const) {
    if (given(name) === undefined && given(other) !== undefined) problems.push(`${name}: is needed because ${other} is set`);
  }

  const settings: Settings = {
    http: {
      host: read('HOST', hostName, '127.0.0.1'),
      port: read('PORT', portNumber, 3000),
      baseUrl: read('BASE_URL', baseAddress, undefined),
      corsOrigins: read('CORS_ORIGINS', listOf(origin), []),
    },
    dataDir: resolve(read('DATA_DIR', asGiven, './data')),
    roles: new Set(read('PROCESS_ROLES', listOf(oneOf(processRoles)), processRoles)),
    auth: {
      issuer:
        issuerUrl === undefined || audience === undefined ? undefined : { url: issuerUrl, audience, roleClaim, subjectCheck },
      adminEmails: read('ADMIN_EMAILS', listOf(emailAddress), ['admin@doorstep.local']),
    },
    encryptionKey: read('ENCRYPTION_KEY', keyOf32Bytes, undefined),
    mail: { from: read('MAIL_FROM', mailbox, 'Doorstep <no-reply@doorstep.local>') },
    logLevel: read('LOG_LEVEL', oneOf(logLevels), 'info'),
  };
  for (const [reason, names] of Object.entries(unavailable)) {
    for (const name of names) if (given(name) !== undefined) problems.push(`${name}: this version ${reason}`);
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
};

/** Where `loadEncryptionKey` keeps a key that it made, inside the data folder. */
export const encryptionKeyFile = 'encryption.key';

/**
 * The 32 bytes that encrypt stored secrets and personal data: from the settings, else from the data folder, where the first start
 * makes them. Processes that start at the same moment get the same key. Throws `SettingsError` when the file holds anything else:
 * going on with another key would make what is stored unreadable.
 */
export const loadEncryptionKey = async (settings: Settings, random: Random = systemRandom): Promise<Buffer> => {
  if (settings.encryptionKey !== undefined) return settings.encryptionKey;
  const file = join(settings.dataDir, encryptionKeyFile);
  const text = (await readIfThere(file)) ?? (await makeKeyFile(settings.dataDir, file, random));
  const key = keyOf32Bytes(text.trim());
  if (key instanceof Problem) throw new SettingsError([`${encryptionKeyFile} in DATA_DIR: ${key.words}`]);
  return key;
};

/** A complete file is linked into place, so that no process ever sees half a key and the first one wins. */
const makeKeyFile = async (dataDir: string, file: string, random: Random): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${Buffer.from(random.bytes(8)).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${Buffer.from(random.bytes(32)).toString('base64')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(draft, file).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw error;
    });
    await syncFolder(dataDir);
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
};

/** A new name is durable only once its folder is: a key lost with the power would take the personal data with it. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const readIfThere = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

const isCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;

/** What is wrong with a value, in words that follow the variable's name. */
class Problem {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

const asGiven = (text: string): string => text;

const oneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (text: string): Choice | Problem =>
    choices.find((choice) => choice === text) ?? new Problem(`must be one of ${choices.join(', ')}`);

/** Entries separated by commas, each wanted once. */
const listOf =
  <Item>(parse: (text: string) => Item | Problem) =>
  (text: string): readonly Item[] | Problem => {
    const items = new Set<Item>();
    for (const entry of text.split(',')) {
      const item = parse(entry.trim());
      if (item instanceof Problem) return new Problem(`each entry ${item.words}`);
      items.add(item);
    }
    return [...items];
  };

const portNumber = (text: string): number | Problem =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : new Problem('must be a whole number from 0 to 65535');

const hostName = (text: string): string | Problem =>
  /^[\w.:%-]+$/.test(text) ? text : new Problem('must be a host name or an IP address, without scheme or brackets');

const webAddress = (text: string): URL | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
};

const isPlain = (url: URL): boolean => url.username === '' && url.password === '' && !/[?#]/.test(url.href);

const baseAddress = (text: string): string | Problem => {
  const url = webAddress(text);
  return url !== undefined && isPlain(url)
    ? url.href.replace(/\/+$/, '')
    : new Problem('must be an http or https address without credentials, query or fragment');
};

const origin = (text: string): string | Problem => {
  const url = webAddress(text);
  return url !== undefined && isPlain(url) && url.pathname === '/'
    ? url.origin
    : new Problem('must be an origin such as https://portal.example.com, without a path');
};

/** The keys that verify every token are fetched from there: over a network, only with TLS. */
const secureAddress = (text: string): URL | undefined => {
  const url = webAddress(text);
  if (url === undefined || !isPlain(url)) return undefined;
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname) ? url : undefined;
};

const secureOnly = 'an https address (http only on this machine) without credentials, query or fragment';

const issuerAddress = (text: string): string | Problem => (secureAddress(text) ? text : new Problem(`must be ${secureOnly}`));

const claimPath = (text: string): readonly string[] | Problem => {
  const path = text.split('.');
  return path.includes('') ? new Problem('must be the name of a claim; dots reach into objects') : path;
};

const subjectCheckOf = (text: string): SubjectCheck | Problem => {
  if (text === 'userinfo' || text === 'none') return { kind: text };
  const url = text.startsWith('scim:') ? secureAddress(text.slice('scim:'.length)) : undefined;
  return url ? { kind: 'scim', url: url.href } : new Problem(`must be userinfo, none or scim: followed by ${secureOnly}`);
};

const isEmail = (text: string): boolean => text.length <= 254 && /^[^\s@<>",;:()[\]\\]+@[^\s@<>",;:()[\]\\]+$/.test(text);

const emailAddress = (text: string): string | Problem =>
  isEmail(text) ? text.toLowerCase() : new Problem('must be an e-mail address');

const mailbox = (text: string): string | Problem => {
  const address = /^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text;
  return isEmail(address) ? text : new Problem('must be an e-mail address, alone or as in Doorstep <no-reply@example.com>');
};

const keyOf32Bytes = (text: string): Buffer | Problem => {
  const key = Buffer.from(text, 'base64');
  return key.length === 32 && key.toString('base64') === text ? key : new Problem('must be 32 bytes in base64 (44 characters)');
};
