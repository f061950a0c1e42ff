import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readEnvironment, SettingsError, type Environment } from '../../src/platform/settings/environment.js';
import { loadSettings, warningsOf } from '../../src/platform/settings/settings.js';

const problemsOf = (environment: Environment): readonly string[] => {
  try {
    loadSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
};

const key = Buffer.alloc(32, 7).toString('base64');
const issuer = { AUTH_ISSUER: 'https://login.example.com', AUTH_AUDIENCE: 'doorstep' };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doorstep-settings-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('settings', () => {
  test('an empty environment gives the defaults', () => {
    expect(loadSettings({})).toEqual({
      http: {
        host: '127.0.0.1',
        port: 3000,
        baseUrl: undefined,
        sitesUrl: undefined,
        internalUrl: undefined,
        corsOrigins: [],
        healthPort: undefined,
        metrics: 'public',
        senderLimit: 200,
        trustedProxies: ['private'],
        domainTargets: [],
      },
      dnsServers: [],
      dataDir: resolve('data'),
      stores: { eventStoreUrl: undefined, readModelUrl: undefined },
      acceptEmptyVault: false,
      roles: new Set(['api', 'projector', 'worker', 'cron']),
      auth: { issuer: undefined, adminEmails: ['admin@doorstep.local'] },
      encryptionKey: undefined,
      previousEncryptionKeys: [],
      brand: { name: 'Doorstep', color: '#b4532a', logo: undefined },
      mail: { from: 'Doorstep <no-reply@doorstep.local>', language: 'en', smtp: undefined },
      sites: undefined,
      analytics: undefined,
      llm: undefined,
      scheduling: undefined,
      files: { s3: undefined, storageLimit: 5 * 1024 ** 3 },
      commerce: { webhookSecrets: [], apiVersion: '2026-01' },
      seoScanSchedule: '0 4 * * 1',
      readReceipts: true,
      logLevel: 'info',
    });
  });

  test('mails come from the agency unless MAIL_FROM says otherwise', () => {
    expect(loadSettings({ BRAND_NAME: 'Corner Studio' }).mail.from).toBe('Corner Studio <no-reply@doorstep.local>');
    expect(loadSettings({ BRAND_NAME: 'Smith, Sons & Co.' }).mail.from).toBe('"Smith, Sons & Co." <no-reply@doorstep.local>');
  });

  test('an empty variable counts as unset', () => {
    expect(loadSettings({ PORT: '', AUTH_ISSUER: ' ', EVENT_STORE_URL: '' })).toEqual(loadSettings({}));
  });

  test('every variable is read', () => {
    const settings = loadSettings({
      HOST: '::1',
      PORT: '0',
      BASE_URL: 'https://doorstep.example.com/app/',
      SITES_URL: 'https://sites.example.net/',
      DOMAIN_TARGET: 'In.Example.net., 192.0.2.10,2001:DB8:0::10',
      DNS_SERVERS: '192.0.2.53,192.0.2.54:5353,[2001:db8::53]:5353,2001:db8::54',
      INTERNAL_URL: 'http://api:3000/',
      CORS_ORIGINS: 'https://one.example.com, http://localhost:5173',
      HEALTH_PORT: '3001',
      METRICS: 'health',
      SENDER_LIMIT: '50',
      TRUSTED_PROXIES: 'private, 93.184.216.0/24,2606:4700::/32,1.1.1.1',
      DATA_DIR: '/var/lib/doorstep',
      EVENT_STORE_URL: 'esdb://admin:secret@a:2113,b:2113,c:2113?nodePreference=leader',
      ACCEPT_EMPTY_VAULT: 'yes',
      READ_MODEL_URL: 'mongodb+srv://doorstep:secret@cluster.example.com/doorstep?w=majority',
      PROCESS_ROLES: 'api, worker',
      AUTH_ISSUER: 'https://login.example.com/realms/main/',
      AUTH_AUDIENCE: 'doorstep',
      AUTH_ROLE_CLAIM: 'realm_access.roles',
      AUTH_SUBJECT_CHECK: 'scim:https://login.example.com/scim/v2',
      AUTH_SCIM_TOKEN: 'key-0',
      ADMIN_EMAILS: 'Ops@Example.com,ops@example.com,second@example.com',
      ENCRYPTION_KEY: key,
      PREVIOUS_ENCRYPTION_KEYS: Buffer.alloc(32, 8).toString('base64'),
      BRAND_NAME: 'Smith, Sons & Co.',
      BRAND_COLOR: '#B4532A',
      BRAND_LOGO: 'https://agency.example.com/logo.svg',
      BRAND_LANGUAGE: 'de',
      MAIL_FROM: 'Agency <hello@example.com>',
      SMTP_URL: 'smtps://agency%40example.com:s%2Fcret@mail.example.com',
      ANALYTICS_URL: 'https://stats.example.com/',
      ANALYTICS_API_KEY: 'key-1',
      LLM_BASE_URL: 'http://models.internal:8080/v1/',
      LLM_API_KEY: 'key-2',
      LLM_MODEL: 'small-1',
      SCHEDULING_API_URL: 'https://cal.example.com',
      SCHEDULING_API_KEY: 'key-3',
      COMMERCE_WEBHOOK_SECRET: 'present, previous',
      COMMERCE_API_VERSION: '2026-10',
      S3_BUCKET: 'documents-of.agency',
      S3_REGION: 'eu-central-1',
      S3_ENDPOINT: 'https://minio.example.com/',
      AWS_ACCESS_KEY_ID: 'key-4',
      AWS_SECRET_ACCESS_KEY: 'secret/4+',
      AWS_SESSION_TOKEN: 'session-4',
      AWS_REGION: 'us-west-2',
      STORAGE_LIMIT: '500 mb',
      SEO_SCAN_CRON: '*/30  8-18 1,15 jan-jun mon',
      READ_RECEIPTS: 'off',
      LOG_LEVEL: 'silent',
    });
    expect(settings).toEqual({
      http: {
        host: '::1',
        port: 0,
        baseUrl: 'https://doorstep.example.com/app',
        sitesUrl: 'https://sites.example.net',
        internalUrl: 'http://api:3000',
        corsOrigins: ['https://one.example.com', 'http://localhost:5173'],
        healthPort: 3001,
        metrics: 'health',
        senderLimit: 50,
        trustedProxies: ['private', '93.184.216.0/24', '2606:4700::/32', '1.1.1.1'],
        domainTargets: ['in.example.net', '192.0.2.10', '2001:db8::10'],
      },
      dnsServers: ['192.0.2.53', '192.0.2.54:5353', '[2001:db8::53]:5353', '2001:db8::54'],
      dataDir: '/var/lib/doorstep',
      stores: {
        eventStoreUrl: 'esdb://admin:secret@a:2113,b:2113,c:2113?nodePreference=leader',
        readModelUrl: 'mongodb+srv://doorstep:secret@cluster.example.com/doorstep?w=majority',
      },
      acceptEmptyVault: true,
      roles: new Set(['api', 'worker']),
      auth: {
        issuer: {
          url: 'https://login.example.com/realms/main/',
          audience: 'doorstep',
          roleClaim: ['realm_access', 'roles'],
          subjectCheck: { kind: 'scim', url: 'https://login.example.com/scim/v2', token: 'key-0' },
        },
        adminEmails: ['ops@example.com', 'second@example.com'],
      },
      encryptionKey: Buffer.alloc(32, 7),
      previousEncryptionKeys: [Buffer.alloc(32, 8)],
      brand: { name: 'Smith, Sons & Co.', color: '#b4532a', logo: 'https://agency.example.com/logo.svg' },
      mail: {
        from: 'Agency <hello@example.com>',
        language: 'de',
        smtp: {
          host: 'mail.example.com',
          port: 465,
          secure: true,
          credentials: { user: 'agency@example.com', pass: 's/cret' },
        },
      },
      analytics: { url: 'https://stats.example.com', apiKey: 'key-1' },
      llm: { baseUrl: 'http://models.internal:8080/v1', apiKey: 'key-2', model: 'small-1' },
      scheduling: { url: 'https://cal.example.com', apiKey: 'key-3' },
      files: {
        s3: {
          bucket: 'documents-of.agency',
          region: 'eu-central-1',
          endpoint: 'https://minio.example.com',
          credentials: { accessKeyId: 'key-4', secretAccessKey: 'secret/4+', sessionToken: 'session-4' },
        },
        storageLimit: 500 * 1024 ** 2,
      },
      commerce: { webhookSecrets: ['present', 'previous'], apiVersion: '2026-10' },
      seoScanSchedule: '*/30 8-18 1,15 jan-jun mon',
      readReceipts: false,
      logLevel: 'silent',
    });
  });

  test.each([
    ['HOST', 'http://localhost'],
    ['HOST', 'two words'],
    ['HOST', 'localhost:3000'],
    ['HOST', '[::1]'],
    ['HOST', '999.1.1.1'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3000.5'],
    ['PORT', '0x10'],
    ['BASE_URL', 'doorstep.example.com'],
    ['BASE_URL', 'ftp://doorstep.example.com'],
    ['BASE_URL', 'https://user:pass@doorstep.example.com'],
    ['BASE_URL', 'https://doorstep.example.com/?page=1'],
    ['SITES_URL', 'https://sites.example.net/path'],
    ['SITES_URL', 'http://127.0.0.1:3000'],
    ['SITES_URL', 'http://[::1]:3000'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://one.example.com/path'],
    ['CORS_ORIGINS', 'https://one.example.com,,https://two.example.com'],
    ['HEALTH_PORT', 'http'],
    ['METRICS', 'private'],
    ['SENDER_LIMIT', '0'],
    ['SENDER_LIMIT', '2001'],
    ['SENDER_LIMIT', '10%'],
    ['DOMAIN_TARGET', 'https://sites.example.net'],
    ['DOMAIN_TARGET', 'localhost'],
    ['DNS_SERVERS', 'dns.example.com'],
    ['DNS_SERVERS', '192.0.2.53:0'],
    ['DNS_SERVERS', '192.0.2.53:65536'],
    ['TRUSTED_PROXIES', 'proxy.example.com'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['TRUSTED_PROXIES', 'none,private'],
    ['EVENT_STORE_URL', 'http://localhost:2113'],
    ['EVENT_STORE_URL', 'esdb:localhost'],
    ['EVENT_STORE_URL', 'esdb://'],
    ['EVENT_STORE_URL', 'esdb://a:2113,,c:2113'],
    ['EVENT_STORE_URL', 'esdb://a:port'],
    ['READ_MODEL_URL', 'postgres://localhost/doorstep'],
    ['READ_MODEL_URL', 'mongodb://user:pass@/doorstep'],
    ['PROCESS_ROLES', 'api,wroker'],
    ['PROCESS_ROLES', ','],
    ['ANALYTICS_URL', 'stats.example.com'],
    ['SEO_SCAN_CRON', '0 4 * *'],
    ['SEO_SCAN_CRON', '0 0 4 * * 1'],
    ['SEO_SCAN_CRON', '0 24 * * *'],
    ['SEO_SCAN_CRON', '0 4 0 * *'],
    ['SEO_SCAN_CRON', '0 4 * * fri-mon'],
    ['SEO_SCAN_CRON', '*/0 4 * * *'],
    ['SEO_SCAN_CRON', '5/15 4 * * *'],
    ['SEO_SCAN_CRON', '0 4 * * mon,tue/2'],
    ['SEO_SCAN_CRON', '0 4 31 2 *'],
    ['SEO_SCAN_CRON', '0 4 31 apr,jun 1'],
    ['SEO_SCAN_CRON', 'weekly'],
    ['READ_RECEIPTS', 'yes'],
    ['AUTH_ISSUER', 'http://login.example.com'],
    ['AUTH_ISSUER', 'login.example.com'],
    ['AUTH_ROLE_CLAIM', 'realm..roles'],
    ['AUTH_SUBJECT_CHECK', 'sometimes'],
    ['AUTH_SUBJECT_CHECK', 'scim:'],
    ['AUTH_SUBJECT_CHECK', 'scim:http://login.example.com/scim'],
    ['AUTH_SCIM_TOKEN', 'two words'],
    ['ADMIN_EMAILS', 'admin'],
    ['ENCRYPTION_KEY', 'too short'],
    ['ENCRYPTION_KEY', Buffer.alloc(31).toString('base64')],
    ['ENCRYPTION_KEY', Buffer.alloc(32).toString('hex')],
    ['BRAND_NAME', 'x'.repeat(61)],
    ['BRAND_NAME', 'A" <b@example.com>'],
    ['BRAND_COLOR', 'red'],
    ['BRAND_COLOR', '#12345'],
    ['BRAND_LOGO', 'http://agency.example.com/logo.png'],
    ['BRAND_LOGO', 'logo.png'],
    ['BRAND_LANGUAGE', 'de_DE'],
    ['MAIL_FROM', 'Doorstep'],
    ['MAIL_FROM', 'Doorstep <no-reply@doorstep.local> extra'],
    ['SMTP_URL', 'mail.example.com'],
    ['SMTP_URL', 'smtp://user@mail.example.com'],
    ['SMTP_URL', 'smtp://mail.example.com/?tls=off'],
    ['SMTP_URL', 'smtp://user:100%@mail.example.com'],
    ['COMMERCE_WEBHOOK_SECRET', 'one,two,three'],
    ['COMMERCE_WEBHOOK_SECRET', 'two words'],
    ['COMMERCE_API_VERSION', '2026-02'],
    ['COMMERCE_API_VERSION', 'unstable'],
    ['S3_BUCKET', 'Documents'],
    ['S3_BUCKET', '../documents'],
    ['S3_ENDPOINT', 'minio:9000'],
    ['STORAGE_LIMIT', '0'],
    ['STORAGE_LIMIT', '5 litres'],
    ['STORAGE_LIMIT', '1.5GB'],
    ['STORAGE_LIMIT', '99999999999999TB'],
    ['LOG_LEVEL', 'verbose'],
  ])('%s=%s stops the start with a message that names it', (name, value) => {
    const companions: Readonly<Record<string, Environment>> = {
      S3_ENDPOINT: { S3_BUCKET: 'documents' },
      AUTH_ISSUER: { AUTH_AUDIENCE: 'doorstep' },
      EVENT_STORE_URL: { ENCRYPTION_KEY: key },
      ANALYTICS_URL: { ANALYTICS_API_KEY: 'key-1' },
      AUTH_ROLE_CLAIM: issuer,
      AUTH_SUBJECT_CHECK: issuer,
      AUTH_SCIM_TOKEN: { ...issuer, AUTH_SUBJECT_CHECK: 'scim:https://login.example.com/scim' },
    };
    expect(problemsOf({ ...companions[name], [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name}: (each entry )?must be `)) as unknown,
    ]);
  });

  test('all problems are reported at once', () => {
    expect(problemsOf({ PORT: 'x', LOG_LEVEL: 'x', S3_BUCKET: 'x' }).map((line) => line.split(':')[0])).toEqual([
      'S3_BUCKET',
      'PORT',
      'LOG_LEVEL',
    ]);
  });

  test.each([
    [{ AUTH_ISSUER: 'https://login.example.com' }, 'AUTH_AUDIENCE: is needed because AUTH_ISSUER is set'],
    [{ AUTH_AUDIENCE: 'doorstep' }, 'AUTH_ISSUER: is needed because AUTH_AUDIENCE is set'],
    [{ AUTH_CLIENT_ID: 'portal' }, 'AUTH_ISSUER: is needed because AUTH_CLIENT_ID is set'],
    [{ AUTH_ROLE_CLAIM: 'role' }, 'AUTH_ISSUER: is needed because AUTH_ROLE_CLAIM is set'],
    [{ AUTH_SUBJECT_CHECK: 'none' }, 'AUTH_ISSUER: is needed because AUTH_SUBJECT_CHECK is set'],
    [{ AUTH_CLIENT_ID: 'portal', AUTH_ROLE_CLAIM: 'role' }, 'AUTH_ISSUER: is needed because AUTH_CLIENT_ID is set'],
    [
      { AUTH_SUBJECT_CHECK: 'scim:https://login.example.com/scim', AUTH_SCIM_TOKEN: 'key' },
      'AUTH_ISSUER: is needed because AUTH_SUBJECT_CHECK is set',
    ],
    [
      { ...issuer, AUTH_SCIM_TOKEN: 'key', AUTH_SUBJECT_CHECK: 'userinfo' },
      'AUTH_SUBJECT_CHECK: must be scim: followed by an address because AUTH_SCIM_TOKEN is set',
    ],
    [
      { PROCESS_ROLES: 'worker', PORT: '0' },
      'BASE_URL: is needed because the worker writes links, and this process has no address of its own',
    ],
    [{ EVENT_STORE_URL: 'esdb://localhost:2113' }, 'ENCRYPTION_KEY: is needed because EVENT_STORE_URL is set'],
    [{ METRICS: 'health' }, 'HEALTH_PORT: is needed because METRICS is health'],
  ])('variables of one integration are needed together: %j', (environment, problem) => {
    expect(problemsOf(environment)).toEqual([problem]);
  });

  test('a token for the SCIM service alone names both settings that it lacks', () => {
    expect(problemsOf({ AUTH_SCIM_TOKEN: 'key' })).toEqual([
      'AUTH_SUBJECT_CHECK: must be scim: followed by an address because AUTH_SCIM_TOKEN is set',
      'AUTH_ISSUER: is needed because AUTH_SCIM_TOKEN is set',
    ]);
  });

  test('the health port is one of its own', () => {
    const problem = 'HEALTH_PORT: must be another port than PORT, which is 3000';
    expect(problemsOf({ HEALTH_PORT: '3000' })).toEqual([problem]);
    expect(problemsOf({ PORT: '3000', HEALTH_PORT: '3000', PROCESS_ROLES: 'api' })).toEqual([problem]);
    // Any free ones, and a process that listens on the one alone.
    expect(loadSettings({ PORT: '0', HEALTH_PORT: '0' }).http).toMatchObject({ port: 0, healthPort: 0 });
    expect(loadSettings({ HEALTH_PORT: '3000', PROCESS_ROLES: 'projector' }).http).toMatchObject({ healthPort: 3000 });
  });

  test('an issuer without TLS is accepted on this machine only', () => {
    const environment = { AUTH_ISSUER: 'http://127.0.0.1:4000', AUTH_AUDIENCE: 'doorstep' };
    expect(loadSettings(environment).auth.issuer?.url).toBe('http://127.0.0.1:4000');
  });

  describe('sign-in codes in the log', () => {
    test.each<[Environment, string]>([
      [{ BASE_URL: 'https://doorstep.example.com' }, 'BASE_URL leads beyond this machine'],
      [{ BASE_URL: 'http://192.168.1.10:3000', PROCESS_ROLES: 'api' }, 'BASE_URL leads beyond this machine'],
      [{ BASE_URL: 'http://localhost.example.com' }, 'BASE_URL leads beyond this machine'],
      [{ HOST: '0.0.0.0' }, 'HOST listens beyond this machine'],
      [{ HOST: '::' }, 'HOST listens beyond this machine'],
      [{ HOST: '127.0.0.1', BASE_URL: 'https://127.0.0.1.nip.io' }, 'BASE_URL leads beyond this machine'],
    ])('are refused beyond loopback: %j', (environment, reason) => {
      expect(problemsOf(environment)).toEqual([
        `SMTP_URL: is needed because ${reason}, and without it sign-in codes are written to the log. Or set AUTH_ISSUER`,
      ]);
      expect(problemsOf({ ...environment, SMTP_URL: 'smtps://mail.example.com' })).toEqual([]);
      expect(problemsOf({ ...environment, ...issuer })).toEqual([]);
    });

    test.each<Environment>([
      { BASE_URL: 'http://localhost:3000' },
      { BASE_URL: 'https://doorstep.localhost' },
      { BASE_URL: 'http://127.9.8.7:3000' },
      { BASE_URL: 'http://[::1]:3000' },
      { HOST: '::1' },
      { HOST: 'localhost' },
      // A container, published on this machine only.
      { HOST: '0.0.0.0', BASE_URL: 'http://localhost:3000' },
      // They serve no sign-in pages.
      { BASE_URL: 'https://doorstep.example.com', PROCESS_ROLES: 'projector,worker,cron' },
    ])('are written at home, and by no process without the api: %j', (environment) => {
      expect(problemsOf(environment)).toEqual([]);
    });
  });

  test('no website can take the name of the service', () => {
    const settings = { BASE_URL: 'https://doorstep.example.com', SMTP_URL: 'smtps://mail.example.com' };
    expect(problemsOf({ ...settings, SITES_URL: 'https://example.com' })).toEqual([
      'SITES_URL: must be another host than the one right above BASE_URL, where a website could take its name',
    ]);
    for (const url of ['https://sites.example.com', 'https://example.net', 'https://doorstep.example.com']) {
      expect(problemsOf({ ...settings, SITES_URL: url })).toEqual([]);
    }
    expect(problemsOf({ SITES_URL: 'http://localhost:3000', BASE_URL: 'http://localhost:3000' })).toEqual([]);
  });

  test('a bucket needs its name, and both credentials or none', () => {
    expect(problemsOf({ S3_REGION: 'eu-central-1' })).toEqual(['S3_BUCKET: is needed because S3_REGION is set']);
    expect(problemsOf({ S3_ENDPOINT: 'https://minio.example.com' })).toEqual(['S3_BUCKET: is needed because S3_ENDPOINT is set']);
    expect(problemsOf({ S3_BUCKET: 'documents', AWS_ACCESS_KEY_ID: 'key' })).toEqual([
      'AWS_SECRET_ACCESS_KEY: is needed because AWS_ACCESS_KEY_ID is set',
    ]);
    const role = { bucket: 'documents', region: 'us-west-2', endpoint: undefined, credentials: undefined };
    expect(loadSettings({ S3_BUCKET: 'documents', AWS_REGION: 'us-west-2' }).files.s3).toEqual(role);
    expect(loadSettings({ S3_BUCKET: 'documents' }).files.s3?.region).toBe('us-east-1');
  });

  test('what build machines set for other programs selects no bucket', () => {
    const environment = { AWS_ACCESS_KEY_ID: 'key', AWS_REGION: 'us-west-2', AWS_SESSION_TOKEN: 'x' };
    expect(loadSettings(environment)).toEqual(loadSettings({}));
  });

  test.each([
    ['1', 1],
    ['10KB', 10_240],
    ['2 TB', 2 * 1024 ** 4],
  ])('STORAGE_LIMIT=%s is %i bytes', (text, bytes) => {
    expect(loadSettings({ STORAGE_LIMIT: text }).files.storageLimit).toBe(bytes);
  });

  test.each([
    ['EVENT_STORE_URL', 'esdb://localhost:2113?tls=false'],
    ['EVENT_STORE_URL', 'esdb+discover://admin:changeit@cluster.example.com:2113'],
    ['EVENT_STORE_URL', 'kurrentdb://[::1]:2113'],
    ['EVENT_STORE_URL', 'kurrentdb+discover://cluster.example.com'],
    ['READ_MODEL_URL', 'mongodb://127.0.0.1:27017'],
    ['READ_MODEL_URL', 'mongodb://user:p%40ss@a:27017,b:27018,c/doorstep?replicaSet=rs0'],
  ])('%s=%s names a store', (name, value) => {
    expect(problemsOf({ ENCRYPTION_KEY: key, [name]: value })).toEqual([]);
  });

  test('no message carries the value of a secret', () => {
    const secret = 'canary-5f1c';
    const names = [
      'ENCRYPTION_KEY',
      'EVENT_STORE_URL',
      'READ_MODEL_URL',
      'STRIPE_SECRET_KEY',
      'SMTP_URL',
      'LLM_API_KEY',
      'BASE_URL',
      'MAIL_FROM',
    ];
    const problems = problemsOf(Object.fromEntries(names.map((name) => [name, secret])));
    for (const name of names) expect(problems.join()).toContain(name);
    expect(problems.join()).not.toContain(secret);
  });

  describe('who bills owners', () => {
    test('Stripe, or without it the ledger', () => {
      expect(loadSettings({}).stripe).toBeUndefined();
      expect(loadSettings({ STRIPE_SECRET_KEY: 'sk_test_1' }).stripe).toEqual({ secretKey: 'sk_test_1' });
      const all = { STRIPE_SECRET_KEY: 'rk_live_1', STRIPE_PRICE_ID: 'price_1', STRIPE_API_URL: 'http://127.0.0.1:12111/' };
      expect(loadSettings(all).stripe).toEqual({
        secretKey: 'rk_live_1',
        priceId: 'price_1',
        apiUrl: 'http://127.0.0.1:12111',
      });
    });

    test.each([
      [{ STRIPE_PRICE_ID: 'price_1' }, 'STRIPE_SECRET_KEY: is needed because STRIPE_PRICE_ID is set'],
      [{ STRIPE_SECRET_KEY: 'pk_test_1' }, 'STRIPE_SECRET_KEY: must be a key that begins with sk_ or rk_'],
      [{ STRIPE_SECRET_KEY: 'sk_1', STRIPE_API_URL: 'http://api.example.com' }, 'STRIPE_API_URL: must be an https address'],
      [{ STRIPE_SECRET_KEY: 'sk_1', STRIPE_API_URL: 'https://api.example.com/v1' }, 'without a path'],
    ])('%j is refused with a message', (environment, problem) => {
      expect(problemsOf(environment)).toEqual([expect.stringContaining(problem)]);
    });
  });

  describe('where websites live', () => {
    const all = {
      GITHUB_TOKEN: 'ghp_canary',
      GITHUB_OWNER: 'agency',
      GITHUB_TEMPLATE: 'agency/site-template',
      VERCEL_TOKEN: 'vercel-canary',
    };

    test('GitHub and Vercel together', () => {
      const more = { VERCEL_TEAM_ID: 'team_1', GITHUB_API_URL: 'https://github.example.com/api/v3/' };
      expect(loadSettings({ ...all, ...more }).sites).toEqual({
        github: {
          token: 'ghp_canary',
          owner: 'agency',
          template: { owner: 'agency', name: 'site-template' },
          apiUrl: 'https://github.example.com/api/v3',
        },
        vercel: { token: 'vercel-canary', teamId: 'team_1', apiUrl: 'https://api.vercel.com' },
      });
    });

    test.each(Object.keys(all))('not without %s, and the message has no token', (name) => {
      const problems = problemsOf({ ...all, [name]: '' });
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}: is needed because [A-Z_]+ is set$`))]);
    });

    test.each([
      [{ VERCEL_TEAM_ID: 'team_1' }, 'VERCEL_TOKEN: is needed because VERCEL_TEAM_ID is set'],
      [{ ...all, GITHUB_TOKEN: 'can ary' }, 'GITHUB_TOKEN: must be printable characters without spaces'],
      [{ ...all, GITHUB_OWNER: 'a/b' }, 'GITHUB_OWNER: must be the name of a user or an organisation'],
      [{ ...all, GITHUB_TEMPLATE: 'template' }, 'GITHUB_TEMPLATE: must be owner/name of the template repository'],
      [{ ...all, VERCEL_API_URL: 'http://api.example.com' }, 'VERCEL_API_URL: must be an https address'],
    ])('%j is refused with a message', (environment, problem) => {
      expect(problemsOf(environment)).toEqual([expect.stringContaining(problem)]);
    });

    test('another address of GitHub alone, which build machines set, selects nothing', () => {
      expect(loadSettings({ GITHUB_API_URL: 'https://api.github.com' }).sites).toBeUndefined();
    });
  });

  test('.env.example names exactly the variables that are read', async () => {
    const read = new Set<string>();
    loadSettings(
      new Proxy<Environment>({}, { get: (_target, name) => (typeof name === 'string' ? void read.add(name) : undefined) }),
    );
    const example = await readFile(resolve('.env.example'), 'utf8');
    const named = [...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map((match) => match[1]);
    expect(named.toSorted()).toEqual([...read].toSorted());
  });
});

describe('a warning', () => {
  const outside = {
    AUTH_ISSUER: 'https://login.example.com',
    AUTH_AUDIENCE: 'doorstep',
    SMTP_URL: 'smtps://mail.example.com',
    ENCRYPTION_KEY: key,
  };
  const warnings = (environment: Environment) => warningsOf(loadSettings(environment));

  test('says that mails to the admins reach nobody, where another issuer knows the admins and mails are sent', () => {
    expect(warnings(outside)).toEqual([expect.stringContaining('ADMIN_EMAILS is not set')]);
  });

  test.each<[string, Environment]>([
    ['the recipients are named', { ...outside, ADMIN_EMAILS: 'ops@example.com' }],
    ['no mail is sent', { ...outside, SMTP_URL: '' }],
    ['another process sends them', { ...outside, PROCESS_ROLES: 'api' }],
    ['nothing is set', {}],
  ])('is not given when %s', (_, environment) => {
    expect(warnings(environment)).toEqual([]);
  });
});

describe('the .env file', () => {
  test('is read when present; the environment wins', async () => {
    const file = join(folder, '.env');
    await writeFile(file, 'PORT=4000\nHOST="0.0.0.0" # everywhere\n');
    expect(readEnvironment(file, { PORT: '5000' })).toEqual({ PORT: '5000', HOST: '0.0.0.0' });
  });

  test('may be absent', () => {
    const environment = { PORT: '5000' };
    expect(readEnvironment(join(folder, '.env'), environment)).toBe(environment);
  });

  test('that cannot be read stops the start', () => {
    expect(() => readEnvironment(folder, {})).toThrow(SettingsError);
  });

  test.each([
    ['READ_MODEL_URL', 'mongodb://ann:hid@den@db.example.com/doorstep'],
    ['READ_MODEL_URL', 'mongodb://ann:hid/den@db.example.com/doorstep'],
    ['EVENT_STORE_URL', 'esdb://ann:hid@den@log.example.com:2113'],
  ])('%s with a password that is not encoded says how to write it, and does not repeat it', (name, address) => {
    const [problem, ...more] = problemsOf({ [name]: address, ENCRYPTION_KEY: key });
    expect(more).toEqual([]);
    expect(problem).toContain(`${name}: must be an address`);
    expect(problem).toContain('write @ as %40');
    expect(problem).not.toMatch(/hid/);
  });
});
