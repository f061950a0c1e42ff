import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import {
  apiAddress,
  apiOrigin,
  asGiven,
  baseAddress,
  claimPath,
  credential,
  cronSchedule,
  emailAddress,
  eventStoreAddress,
  gitHubOwner,
  gitHubTemplate,
  hostName,
  issuerAddress,
  keyOf32Bytes,
  listOf,
  mailbox,
  oneOf,
  origin,
  portNumber,
  Problem,
  readModelAddress,
  secretsInRotation,
  shopifyVersion,
  smtpServer,
  stripeSecretKey,
  subjectCheckOf,
  type SmtpServer,
  type SubjectCheck,
} from './settingValues.js';

/** Everything that an operator may decide, checked (api.md, section 1). Nothing else in the service reads the environment. */
export interface Settings {
  readonly http: {
    readonly host: string;
    /** 0 picks a free port. */
    readonly port: number;
    /** Public base address without a trailing slash; absent: derived from the address that is really listened on. */
    readonly baseUrl: string | undefined;
    /** Where processes of the service reach its api when the public address does not lead there from inside; without a trailing slash. */
    readonly internalUrl: string | undefined;
    /** Origins that browsers may call from; empty: CORS is off. */
    readonly corsOrigins: readonly string[];
    /** Where `/healthz`, `/readyz` and `/metrics` alone are answered, whatever runs in this process; absent: nowhere. */
    readonly healthPort: number | undefined;
  };
  /** Absolute path; the embedded defaults write nothing outside it. */
  readonly dataDir: string;
  readonly stores: {
    /** EventStoreDB's connection string; absent: the embedded event store in `dataDir`. */
    readonly eventStoreUrl: string | undefined;
    /** MongoDB's connection string; absent: the embedded read-model store in `dataDir`. */
    readonly readModelUrl: string | undefined;
  };
  /** The parts that run in this process. */
  readonly roles: ReadonlySet<ProcessRole>;
  readonly auth: {
    /** The OpenID Connect issuer to trust; absent: embedded sign-in. */
    readonly issuer: ExternalIssuer | undefined;
    /** Lower-case addresses of those who are admins under embedded sign-in. */
    readonly adminEmails: readonly string[];
  };
  /** 32 bytes; absent: `loadMasterKeys` keeps one in the data folder. */
  readonly encryptionKey: Buffer | undefined;
  /** 32 bytes each: they still open what they wrapped. */
  readonly previousEncryptionKeys: readonly Buffer[];
  readonly mail: {
    readonly from: string;
    /** Absent: the embedded outbox. */
    readonly smtp: SmtpServer | undefined;
  };
  /** Where websites live; absent: the embedded source host and the embedded hosting. */
  readonly sites: { readonly github: GitHubAccount; readonly vercel: VercelAccount } | undefined;
  /** Plausible; absent: the counter of the sites served here. */
  readonly analytics: { readonly url: string; readonly apiKey: string } | undefined;
  /** Stripe; absent: the embedded ledger. */
  readonly stripe: StripeAccount | undefined;
  /** An OpenAI-compatible gateway; absent: probes say that there is none. */
  readonly llm: { readonly baseUrl: string; readonly apiKey: string; readonly model: string } | undefined;
  /** Cal.com; absent: the embedded calendar. */
  readonly scheduling: { readonly url: string; readonly apiKey: string } | undefined;
  readonly commerce: {
    /** The present one first; none: webhooks are not taken. */
    readonly webhookSecrets: readonly string[];
    /** Of Shopify's Admin API. */
    readonly apiVersion: string;
  };
  /** When scheduled scans run: five fields, UTC. */
  readonly seoScanSchedule: string;
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

export interface StripeAccount {
  readonly secretKey: string;
  /** Of subscriptions whose transfer names no other; absent: each has to. */
  readonly priceId: string | undefined;
  /** Another address of its interface, without a trailing slash; absent: Stripe's own. */
  readonly apiUrl: string | undefined;
}

export interface GitHubAccount {
  readonly token: string;
  /** The user or organisation that owns the websites' repositories. */
  readonly owner: string;
  /** The template repository. */
  readonly template: { readonly owner: string; readonly name: string };
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

export interface VercelAccount {
  readonly token: string;
  /** Absent: the account that the token belongs to. */
  readonly teamId: string | undefined;
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

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
 * place to which it does not go. (`AWS_*` are left alone: build machines set them for other programs, and by themselves they select
 * nothing; `GITHUB_API_URL` by itself selects nothing either.)
 */
const unavailable: Readonly<Record<string, readonly string[]>> = {
  'keeps files in DATA_DIR only': ['S3_BUCKET', 'S3_REGION', 'S3_ENDPOINT'],
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
  const analyticsUrl = read('ANALYTICS_URL', baseAddress, undefined);
  const analyticsKey = read('ANALYTICS_API_KEY', credential, undefined);
  const llmUrl = read('LLM_BASE_URL', baseAddress, undefined);
  const llmKey = read('LLM_API_KEY', credential, undefined);
  const model = read('LLM_MODEL', asGiven, undefined);
  const schedulingUrl = read('SCHEDULING_API_URL', baseAddress, undefined);
  const schedulingKey = read('SCHEDULING_API_KEY', credential, undefined);
  /** Of settings that select something only together. */
  const needTogether = (...names: readonly string[]): void => {
    const set = names.find((name) => given(name) !== undefined);
    if (set === undefined) return;
    for (const name of names) if (given(name) === undefined) problems.push(`${name}: is needed because ${set} is set`);
  };
  needTogether('AUTH_ISSUER', 'AUTH_AUDIENCE');
  needTogether('ANALYTICS_URL', 'ANALYTICS_API_KEY');
  needTogether('LLM_BASE_URL', 'LLM_API_KEY', 'LLM_MODEL');
  needTogether('SCHEDULING_API_URL', 'SCHEDULING_API_KEY');
  const token = read('GITHUB_TOKEN', credential, undefined);
  const owner = read('GITHUB_OWNER', gitHubOwner, undefined);
  const template = read('GITHUB_TEMPLATE', gitHubTemplate, undefined);
  const gitHubUrl = read('GITHUB_API_URL', apiAddress, 'https://api.github.com');
  const vercel = {
    token: read('VERCEL_TOKEN', credential, undefined),
    teamId: read('VERCEL_TEAM_ID', credential, undefined),
    apiUrl: read('VERCEL_API_URL', apiAddress, 'https://api.vercel.com'),
  };
  // Vercel builds what is on GitHub and the embedded hosting what is here: neither can do with the other's repositories.
  const siteNames = ['GITHUB_TOKEN', 'GITHUB_OWNER', 'GITHUB_TEMPLATE', 'VERCEL_TOKEN'];
  const vercelName = ['VERCEL_TEAM_ID', 'VERCEL_API_URL'].find((name) => given(name) !== undefined);
  if (siteNames.some((name) => given(name) !== undefined)) needTogether(...siteNames);
  else if (vercelName !== undefined) problems.push(`VERCEL_TOKEN: is needed because ${vercelName} is set`);
  const stripeKey = read('STRIPE_SECRET_KEY', stripeSecretKey, undefined);
  const stripe = {
    priceId: read('STRIPE_PRICE_ID', credential, undefined),
    apiUrl: read('STRIPE_API_URL', apiOrigin, undefined),
  };
  const stripeName = ['STRIPE_PRICE_ID', 'STRIPE_API_URL'].find((name) => given(name) !== undefined);
  if (stripeName !== undefined && given('STRIPE_SECRET_KEY') === undefined) {
    problems.push(`STRIPE_SECRET_KEY: is needed because ${stripeName} is set`);
  }
  // Processes on several machines have to share it, and a data folder is one machine's.
  if (given('EVENT_STORE_URL') !== undefined && given('ENCRYPTION_KEY') === undefined) {
    problems.push('ENCRYPTION_KEY: is needed because EVENT_STORE_URL is set');
  }

  const settings: Settings = {
    http: {
      host: read('HOST', hostName, '127.0.0.1'),
      port: read('PORT', portNumber, 3000),
      baseUrl: read('BASE_URL', baseAddress, undefined),
      internalUrl: read('INTERNAL_URL', baseAddress, undefined),
      corsOrigins: read('CORS_ORIGINS', listOf(origin), []),
      healthPort: read('HEALTH_PORT', portNumber, undefined),
    },
    dataDir: resolve(read('DATA_DIR', asGiven, './data')),
    stores: {
      eventStoreUrl: read('EVENT_STORE_URL', eventStoreAddress, undefined),
      readModelUrl: read('READ_MODEL_URL', readModelAddress, undefined),
    },
    roles: new Set(read('PROCESS_ROLES', listOf(oneOf(processRoles)), processRoles)),
    auth: {
      issuer:
        issuerUrl === undefined || audience === undefined ? undefined : { url: issuerUrl, audience, roleClaim, subjectCheck },
      adminEmails: read('ADMIN_EMAILS', listOf(emailAddress), ['admin@doorstep.local']),
    },
    encryptionKey: read('ENCRYPTION_KEY', keyOf32Bytes, undefined),
    previousEncryptionKeys: read('PREVIOUS_ENCRYPTION_KEYS', listOf(keyOf32Bytes), []),
    mail: {
      from: read('MAIL_FROM', mailbox, 'Doorstep <no-reply@doorstep.local>'),
      smtp: read('SMTP_URL', smtpServer, undefined),
    },
    sites:
      token === undefined || owner === undefined || template === undefined || vercel.token === undefined
        ? undefined
        : { github: { token, owner, template, apiUrl: gitHubUrl }, vercel: { ...vercel, token: vercel.token } },
    analytics: analyticsUrl === undefined || analyticsKey === undefined ? undefined : { url: analyticsUrl, apiKey: analyticsKey },
    stripe: stripeKey === undefined ? undefined : { secretKey: stripeKey, ...stripe },
    llm:
      llmUrl === undefined || llmKey === undefined || model === undefined
        ? undefined
        : { baseUrl: llmUrl, apiKey: llmKey, model },
    scheduling:
      schedulingUrl === undefined || schedulingKey === undefined ? undefined : { url: schedulingUrl, apiKey: schedulingKey },
    commerce: {
      webhookSecrets: read('COMMERCE_WEBHOOK_SECRET', secretsInRotation, []),
      apiVersion: read('COMMERCE_API_VERSION', shopifyVersion, '2026-01'),
    },
    seoScanSchedule: read('SEO_SCAN_CRON', cronSchedule, '0 4 * * 1'),
    logLevel: read('LOG_LEVEL', oneOf(logLevels), 'info'),
  };
  for (const [reason, names] of Object.entries(unavailable)) {
    for (const name of names) if (given(name) !== undefined) problems.push(`${name}: this version ${reason}`);
  }
  const { http, roles } = settings;
  if (!roles.has('api') && roles.has('worker') && http.port === 0 && http.baseUrl === undefined) {
    problems.push('BASE_URL: is needed because the worker writes links, and this process has no address of its own');
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
};

const isCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;
