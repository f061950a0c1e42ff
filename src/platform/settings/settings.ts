import { resolve } from 'node:path';
import type { Brand } from '../brand.js';
import { isLoopbackName } from '../publicAddress.js';
import { defaultAdminEmails, readAuth, type AuthSettings } from './auth.js';
import { readBrand } from './brand.js';
import { cronSchedule } from './cronSchedule.js';
import { SettingsError, type Environment } from './environment.js';
import { readFiles, type FileSettings } from './files.js';
import { dnsServer } from './hosts.js';
import { publicHost, readHttp, type HttpSettings } from './http.js';
import { readMail, type MailSettings } from './mail.js';
import { createReader, type SettingsReader } from './reader.js';
import {
  readAnalytics,
  readCommerce,
  readLlm,
  readScheduling,
  readStripe,
  type CommerceSettings,
  type KeyedService,
  type LlmGateway,
  type StripeAccount,
} from './services.js';
import { readSites, type SiteSettings } from './sites.js';
import { readStores, type StoreSettings } from './stores.js';
import { anyText, keyOf32Bytes, listOf, oneOf } from './values.js';

/**
 * All settings, validated (api.md, section 1). Nothing else in the service reads the environment.
 */
export interface Settings {
  readonly http: HttpSettings;
  /** DNS servers that are asked whose a domain is; empty: those of this machine. */
  readonly dnsServers: readonly string[];
  /** Absolute path. The embedded defaults write nothing outside it. */
  readonly dataDir: string;
  readonly stores: StoreSettings;
  /** Whether a vault that has nothing of the log, because it was lost, is taken for its vault. */
  readonly acceptEmptyVault: boolean;
  /** The parts that run in this process. */
  readonly roles: ReadonlySet<ProcessRole>;
  readonly auth: AuthSettings;
  /** 32 bytes; absent: `loadMasterKeys` creates one in the data folder. */
  readonly encryptionKey: Buffer | undefined;
  /** 32 bytes each; used only to unwrap what they wrapped. */
  readonly previousEncryptionKeys: readonly Buffer[];
  readonly brand: Brand;
  readonly mail: MailSettings;
  /** Source host and hosting; absent: the embedded ones. */
  readonly sites: SiteSettings | undefined;
  /** Plausible; absent: page views of the sites served here are counted. */
  readonly analytics: KeyedService | undefined;
  /** Stripe; absent: the embedded ledger. */
  readonly stripe: StripeAccount | undefined;
  /** An OpenAI-compatible gateway; absent: probes report `notConfigured`. */
  readonly llm: LlmGateway | undefined;
  /** Cal.com; absent: the embedded calendar. */
  readonly scheduling: KeyedService | undefined;
  readonly files: FileSettings;
  readonly commerce: CommerceSettings;
  /** When scheduled scans run: a cron expression of five fields, in UTC. */
  readonly seoScanSchedule: string;
  /** Whether it is kept who saw which revision of a delivery block. */
  readonly readReceipts: boolean;
  readonly logLevel: LogLevel;
}

const processRoles = ['api', 'projector', 'worker', 'cron'] as const;
export type ProcessRole = (typeof processRoles)[number];

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Reads and checks every setting; an empty variable counts as unset. Throws `SettingsError` with
 * all problems at once.
 */
export const loadSettings = (environment: Environment): Settings => {
  const reader = createReader(environment);
  const { read } = reader;
  const brand = readBrand(reader);
  const settings: Settings = {
    auth: readAuth(reader),
    analytics: readAnalytics(reader),
    llm: readLlm(reader),
    scheduling: readScheduling(reader),
    sites: readSites(reader),
    stripe: readStripe(reader),
    files: readFiles(reader),
    commerce: readCommerce(reader),
    brand,
    mail: readMail(reader, brand),
    http: readHttp(reader),
    dnsServers: read('DNS_SERVERS', listOf(dnsServer), []),
    dataDir: resolve(read('DATA_DIR', anyText, './data')),
    stores: readStores(reader),
    acceptEmptyVault: read('ACCEPT_EMPTY_VAULT', oneOf(['yes', 'no']), 'no') === 'yes',
    roles: new Set(read('PROCESS_ROLES', listOf(oneOf(processRoles)), processRoles)),
    encryptionKey: read('ENCRYPTION_KEY', keyOf32Bytes, undefined),
    previousEncryptionKeys: read('PREVIOUS_ENCRYPTION_KEYS', listOf(keyOf32Bytes), []),
    seoScanSchedule: read('SEO_SCAN_CRON', cronSchedule, '0 4 * * 1'),
    readReceipts: read('READ_RECEIPTS', oneOf(['on', 'off']), 'on') === 'on',
    logLevel: read('LOG_LEVEL', oneOf(logLevels), 'info'),
  };
  checkTogether(settings, reader);
  if (reader.problems.length > 0) throw new SettingsError(reader.problems);
  return settings;
};

/** What the settings allow and the operator can hardly want. */
export const warningsOf = ({ auth, mail, roles }: Settings): readonly string[] => {
  const mailsNobody = auth.issuer !== undefined && mail.smtp !== undefined && auth.adminEmails === defaultAdminEmails;
  return mailsNobody && roles.has('worker')
    ? [
        'ADMIN_EMAILS is not set, so mails to the admins, such as requests for another invitation, reach nobody: set it to the addresses that should get them',
      ]
    : [];
};

/** What depends on settings of several sections. */
const checkTogether = ({ http, roles }: Settings, { given, refuse, needFor }: SettingsReader): void => {
  // Processes on several machines must share the key, and a data folder belongs to one machine.
  needFor('ENCRYPTION_KEY', 'EVENT_STORE_URL');
  if (!roles.has('api') && roles.has('worker') && http.port === 0 && http.baseUrl === undefined) {
    refuse('BASE_URL', 'is needed because the worker writes links, and this process has no address of its own');
  }
  if (roles.has('api') && http.port !== 0 && http.healthPort === http.port) {
    refuse('HEALTH_PORT', `must be another port than PORT, which is ${String(http.port)}`);
  }
  // Whoever reads the log could sign in as an admin, so codes are written there only while nobody
  // else can reach the service. Processes without the API serve no sign-in pages.
  const isLogged = roles.has('api') && given('SMTP_URL') === undefined && given('AUTH_ISSUER') === undefined;
  if (isLogged && !isLoopbackName(publicHost(http))) {
    const reason = http.baseUrl === undefined ? 'HOST listens beyond this machine' : 'BASE_URL leads beyond this machine';
    refuse('SMTP_URL', `is needed because ${reason}, and without it sign-in codes are written to the log. Or set AUTH_ISSUER`);
  }
};
