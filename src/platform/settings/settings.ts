import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { defaultBrand, type Brand } from '../brand.js';
import { defaultLanguage, languages, type Language } from '../texts/texts.js';
import { isLoopbackName } from '../publicAddress.js';
import { systemErrorCode } from '../systemError.js';
import {
  apiAddress,
  apiOrigin,
  anyText,
  baseAddress,
  brandName,
  bucketName,
  byteSize,
  claimPath,
  credential,
  cronSchedule,
  dnsServer,
  domainTarget,
  emailAddress,
  eventStoreAddress,
  gitHubOwner,
  gitHubTemplate,
  hexColour,
  hostName,
  issuerAddress,
  keyOf32Bytes,
  listOf,
  mailbox,
  numberUpTo,
  oneOf,
  origin,
  originOfNames,
  pictureAddress,
  portNumber,
  proxyNetworks,
  Problem,
  readModelAddress,
  requestsPerSecond,
  secretsInRotation,
  shopifyVersion,
  smtpServer,
  stripeSecretKey,
  subjectCheckOf,
  type SmtpServer,
  type SubjectCheck,
} from './values.js';

/**
 * All settings, validated (api.md, section 1). Nothing else in the service reads the environment.
 */
export interface Settings {
  readonly http: {
    readonly host: string;
    /** 0 picks a free port. */
    readonly port: number;
    /**
     * Public base address without a trailing slash; absent: derived from the address listened on.
     */
    readonly baseUrl: string | undefined;
    /**
     * The origin before whose host a website's slug is put, so that each website has an origin of its
     * own; absent: websites are below `/sites/` of the base address.
     */
    readonly sitesUrl: string | undefined;
    /**
     * The address at which other processes of the service reach its api, when they cannot use the
     * public one; without a trailing slash.
     */
    readonly internalUrl: string | undefined;
    /**
     * Names and addresses to which domains of websites lead in DNS; empty: the host of the base address.
     */
    readonly domainTargets: readonly string[];
    /** Origins that browsers may call from; empty: CORS is off. */
    readonly corsOrigins: readonly string[];
    /**
     * A port that serves only `/healthz`, `/readyz` and `/metrics`, whatever roles run; absent:
     * none.
     */
    readonly healthPort: number | undefined;
    /** `health`: `/metrics` is served on the health port alone. */
    readonly metrics: 'public' | 'health';
    /** Requests under way, and connections, that one sender may have in this process. */
    readonly senderLimit: number;
    /** Requests a second that each caller may make of this process; absent: no end. */
    readonly rateLimit: number | undefined;
    /** Addresses and networks of reverse proxies; `private`: all that are not public. */
    readonly trustedProxies: readonly string[];
  };
  /** DNS servers that are asked whose a domain is; empty: those of this machine. */
  readonly dnsServers: readonly string[];
  /** Absolute path. The embedded defaults write nothing outside it. */
  readonly dataDir: string;
  readonly stores: {
    /** EventStoreDB's connection string; absent: the embedded event store in `dataDir`. */
    readonly eventStoreUrl: string | undefined;
    /** MongoDB's connection string; absent: the embedded read-model store in `dataDir`. */
    readonly readModelUrl: string | undefined;
  };
  /** Whether a vault that has nothing of the log, because it was lost, is taken for its vault. */
  readonly acceptEmptyVault: boolean;
  /** The parts that run in this process. */
  readonly roles: ReadonlySet<ProcessRole>;
  readonly auth: {
    /** The OpenID Connect issuer to trust; absent: embedded sign-in. */
    readonly issuer: ExternalIssuer | undefined;
    /** Lower-case addresses of those who are admins under embedded sign-in. */
    readonly adminEmails: readonly string[];
  };
  /** 32 bytes; absent: `loadMasterKeys` creates one in the data folder. */
  readonly encryptionKey: Buffer | undefined;
  /** 32 bytes each; used only to unwrap what they wrapped. */
  readonly previousEncryptionKeys: readonly Buffer[];
  readonly brand: Brand;
  readonly mail: {
    readonly from: string;
    /** The agency's: of mails to people whose own language is not known. */
    readonly language: Language;
    /** Absent: the embedded outbox. */
    readonly smtp: SmtpServer | undefined;
  };
  /** Source host and hosting; absent: the embedded ones. */
  readonly sites: { readonly github: GitHubAccount; readonly vercel: VercelAccount } | undefined;
  /** Plausible; absent: page views of the sites served here are counted. */
  readonly analytics: { readonly url: string; readonly apiKey: string } | undefined;
  /** Stripe; absent: the embedded ledger. */
  readonly stripe: StripeAccount | undefined;
  /** An OpenAI-compatible gateway; absent: probes report `notConfigured`. */
  readonly llm: { readonly baseUrl: string; readonly apiKey: string; readonly model: string } | undefined;
  /** Cal.com; absent: the embedded calendar. */
  readonly scheduling: { readonly url: string; readonly apiKey: string } | undefined;
  readonly files: {
    /** A bucket of S3 or a compatible service; absent: a folder in `dataDir`. */
    readonly s3: BucketAccount | undefined;
    /** Bytes of documents and media that a website may have. */
    readonly storageLimit: number;
  };
  readonly commerce: {
    /** The current one first; empty: webhooks are not accepted. */
    readonly webhookSecrets: readonly string[];
    /** The version of Shopify's Admin API. */
    readonly apiVersion: string;
  };
  /** When scheduled scans run: a cron expression of five fields, in UTC. */
  readonly seoScanSchedule: string;
  /** Whether it is kept who saw which revision of a delivery block. */
  readonly readReceipts: boolean;
  readonly logLevel: LogLevel;
}

export interface ExternalIssuer {
  /** Exactly as the `iss` claim carries it. */
  readonly url: string;
  readonly audience: string;
  /** As which the pages of the service are registered there: a public client with PKCE. */
  readonly clientId?: string;
  /** The claim that holds the role; each further entry reaches into the object before it. */
  readonly roleClaim: readonly string[];
  readonly subjectCheck: SubjectCheck;
}

export interface StripeAccount {
  readonly secretKey: string;
  /** The default price of subscriptions; absent: every transfer must name a price. */
  readonly priceId: string | undefined;
  /** Base address of the API, without a trailing slash; absent: Stripe's own. */
  readonly apiUrl: string | undefined;
}

export interface BucketAccount {
  readonly bucket: string;
  readonly region: string;
  /** Without a trailing slash; absent: Amazon's own. */
  readonly endpoint: string | undefined;
  /** Absent: the SDK finds them, such as those of the machine's role. */
  readonly credentials:
    { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string } | undefined;
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

/** Lists every wrong setting, one per line, by name. It never contains the value of a secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['Doorstep cannot start with these settings:', ...problems].join('\n  '));
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment, which wins over a `.env` file in the current folder. */
export const readEnvironment = (file = '.env', environment: Environment = process.env): Environment => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return environment;
    throw new SettingsError([`${file}: cannot be read; check its permissions`]);
  }
  return { ...parseEnv(text), ...environment };
};

/**
 * Reads and checks every setting; an empty variable counts as unset. Throws `SettingsError` with
 * all problems at once.
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
    problems.push(`${name}: ${value.message}`);
    return fallback;
  };

  const issuerUrl = read('AUTH_ISSUER', issuerAddress, undefined);
  const audience = read('AUTH_AUDIENCE', anyText, undefined);
  const clientId = read('AUTH_CLIENT_ID', anyText, undefined);
  const roleClaim = read('AUTH_ROLE_CLAIM', claimPath, ['role']);
  const check = read('AUTH_SUBJECT_CHECK', subjectCheckOf, { kind: 'userinfo' } as const);
  const scimToken = read('AUTH_SCIM_TOKEN', credential, undefined);
  const subjectCheck = check.kind === 'scim' && scimToken !== undefined ? { ...check, token: scimToken } : check;
  if (given('AUTH_SCIM_TOKEN') !== undefined && !given('AUTH_SUBJECT_CHECK')?.startsWith('scim:')) {
    problems.push('AUTH_SUBJECT_CHECK: must be scim: followed by an address because AUTH_SCIM_TOKEN is set');
  }
  const analyticsUrl = read('ANALYTICS_URL', baseAddress, undefined);
  const analyticsKey = read('ANALYTICS_API_KEY', credential, undefined);
  const llmUrl = read('LLM_BASE_URL', baseAddress, undefined);
  const llmKey = read('LLM_API_KEY', credential, undefined);
  const model = read('LLM_MODEL', anyText, undefined);
  const schedulingUrl = read('SCHEDULING_API_URL', baseAddress, undefined);
  const schedulingKey = read('SCHEDULING_API_KEY', credential, undefined);
  /** For settings that select an integration only together. */
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
  // Vercel builds only repositories on GitHub, and the embedded hosting only embedded ones.
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
  // Build machines set `AWS_*` for other programs: without a bucket they select nothing.
  const bucket = read('S3_BUCKET', bucketName, undefined);
  const awsRegion = read('AWS_REGION', credential, undefined);
  const region = read('S3_REGION', credential, awsRegion ?? 'us-east-1');
  const endpoint = read('S3_ENDPOINT', baseAddress, undefined);
  const accessKeyId = read('AWS_ACCESS_KEY_ID', anyText, undefined);
  const secretAccessKey = read('AWS_SECRET_ACCESS_KEY', anyText, undefined);
  const sessionToken = read('AWS_SESSION_TOKEN', anyText, undefined);
  const bucketDetail = ['S3_REGION', 'S3_ENDPOINT'].find((name) => given(name) !== undefined);
  if (bucketDetail !== undefined && given('S3_BUCKET') === undefined) {
    problems.push(`S3_BUCKET: is needed because ${bucketDetail} is set`);
  }
  if (bucket !== undefined) needTogether('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY');
  // Processes on several machines must share the key, and a data folder belongs to one machine.
  if (given('EVENT_STORE_URL') !== undefined && given('ENCRYPTION_KEY') === undefined) {
    problems.push('ENCRYPTION_KEY: is needed because EVENT_STORE_URL is set');
  }

  const brand = {
    name: read('BRAND_NAME', brandName, defaultBrand.name),
    color: read('BRAND_COLOR', hexColour, defaultBrand.color),
    logo: read('BRAND_LOGO', pictureAddress, defaultBrand.logo),
  };

  const settings: Settings = {
    http: {
      host: read('HOST', hostName, '127.0.0.1'),
      port: read('PORT', portNumber, 3000),
      baseUrl: read('BASE_URL', baseAddress, undefined),
      sitesUrl: read('SITES_URL', originOfNames, undefined),
      internalUrl: read('INTERNAL_URL', baseAddress, undefined),
      domainTargets: read('DOMAIN_TARGET', listOf(domainTarget), []),
      corsOrigins: read('CORS_ORIGINS', listOf(origin), []),
      healthPort: read('HEALTH_PORT', portNumber, undefined),
      metrics: read('METRICS', oneOf(['public', 'health']), 'public'),
      rateLimit: read('RATE_LIMIT', requestsPerSecond, undefined),
      senderLimit: read('SENDER_LIMIT', numberUpTo(2_000), 200),
      trustedProxies: read('TRUSTED_PROXIES', proxyNetworks, ['private']),
    },
    dnsServers: read('DNS_SERVERS', listOf(dnsServer), []),
    dataDir: resolve(read('DATA_DIR', anyText, './data')),
    stores: {
      eventStoreUrl: read('EVENT_STORE_URL', eventStoreAddress, undefined),
      readModelUrl: read('READ_MODEL_URL', readModelAddress, undefined),
    },
    acceptEmptyVault: read('ACCEPT_EMPTY_VAULT', oneOf(['yes', 'no']), 'no') === 'yes',
    roles: new Set(read('PROCESS_ROLES', listOf(oneOf(processRoles)), processRoles)),
    auth: {
      issuer:
        issuerUrl === undefined || audience === undefined
          ? undefined
          : { url: issuerUrl, audience, ...(clientId !== undefined && { clientId }), roleClaim, subjectCheck },
      adminEmails: read('ADMIN_EMAILS', listOf(emailAddress), ['admin@doorstep.local']),
    },
    encryptionKey: read('ENCRYPTION_KEY', keyOf32Bytes, undefined),
    previousEncryptionKeys: read('PREVIOUS_ENCRYPTION_KEYS', listOf(keyOf32Bytes), []),
    brand,
    mail: {
      from: read('MAIL_FROM', mailbox, `${inMailbox(brand.name)} <no-reply@doorstep.local>`),
      language: read('BRAND_LANGUAGE', oneOf(languages), defaultLanguage),
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
    files: {
      s3:
        bucket === undefined
          ? undefined
          : {
              bucket,
              region,
              endpoint,
              credentials:
                accessKeyId === undefined || secretAccessKey === undefined
                  ? undefined
                  : { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
            },
      storageLimit: read('STORAGE_LIMIT', byteSize, 5 * 1024 ** 3),
    },
    commerce: {
      webhookSecrets: read('COMMERCE_WEBHOOK_SECRET', secretsInRotation, []),
      apiVersion: read('COMMERCE_API_VERSION', shopifyVersion, '2026-01'),
    },
    seoScanSchedule: read('SEO_SCAN_CRON', cronSchedule, '0 4 * * 1'),
    readReceipts: read('READ_RECEIPTS', oneOf(['on', 'off']), 'on') === 'on',
    logLevel: read('LOG_LEVEL', oneOf(logLevels), 'info'),
  };
  const { http, roles } = settings;
  if (!roles.has('api') && roles.has('worker') && http.port === 0 && http.baseUrl === undefined) {
    problems.push('BASE_URL: is needed because the worker writes links, and this process has no address of its own');
  }
  // A website's slug could be the very name of the service.
  const portalHost = http.baseUrl === undefined ? http.host : new URL(http.baseUrl).hostname;
  if (http.sitesUrl !== undefined && portalHost.split('.').slice(1).join('.') === new URL(http.sitesUrl).hostname) {
    problems.push('SITES_URL: must be another host than the one right above BASE_URL, where a website could take its name');
  }
  if (http.metrics === 'health' && given('HEALTH_PORT') === undefined) {
    problems.push('HEALTH_PORT: is needed because METRICS is health');
  }
  if (roles.has('api') && http.port !== 0 && http.healthPort === http.port) {
    problems.push(`HEALTH_PORT: must be another port than PORT, which is ${String(http.port)}`);
  }
  // Whoever reads the log could sign in as an admin, so codes are written there only while nobody
  // else can reach the service. Processes without the API serve no sign-in pages.
  if (roles.has('api') && given('SMTP_URL') === undefined && given('AUTH_ISSUER') === undefined) {
    if (!isLoopbackName(portalHost)) {
      const reason = http.baseUrl === undefined ? 'HOST listens beyond this machine' : 'BASE_URL leads beyond this machine';
      problems.push(
        `SMTP_URL: is needed because ${reason}, and without it sign-in codes are written to the log. Or set AUTH_ISSUER`,
      );
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
};

/** RFC 5322, 3.2.4: a name with other characters than these is quoted. */
const inMailbox = (name: string): string => (/^[\w ]+$/.test(name) ? name : `"${name}"`);
