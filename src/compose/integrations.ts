import { join } from 'node:path';
import type { ErasureParts } from '../commands/erasure/erasure.handlers.js';
import type { HttpAppParts } from '../http/app.js';
import { createMayPreview } from '../http/routes/content/mayPreview.js';
import { createPageCounter } from '../integrations/analytics/embedded.js';
import { createPlausible } from '../integrations/analytics/plausible.js';
import type { SiteAnalytics } from '../integrations/analytics/port.js';
import type { Commerce } from '../integrations/commerce/port.js';
import { createShopify } from '../integrations/commerce/shopify.js';
import type { Dns } from '../integrations/dns/port.js';
import { createDnsResolver } from '../integrations/dns/resolver.js';
import { createEmbeddedOutbox } from '../integrations/email/embedded.js';
import { embedded } from '../integrations/embeddedFiles.js';
import type { EmailSender, Outbox } from '../integrations/email/port.js';
import { createSmtpSender } from '../integrations/email/smtp.js';
import { createFetchStatus, type FetchStatus } from '../integrations/fetchStatus.js';
import type { FileStore } from '../integrations/files/port.js';
import type { MediaProcessor } from '../integrations/media/port.js';
import { createMediaProcessor } from '../integrations/media/processor.js';
import { createEmbeddedHosting } from '../integrations/hosting/embedded.js';
import type { DomainTargets, Hosting, SiteAddress, SitePreviews } from '../integrations/hosting/port.js';
import { createSiteBuilder } from '../integrations/hosting/site/builder.js';
import { createVercel, vercelDomainTargets } from '../integrations/hosting/vercel.js';
import { createEmbeddedIdentity } from '../integrations/identity/embedded.js';
import { createOidcIssuer } from '../integrations/identity/oidcIssuer.js';
import type { IdentityProvider } from '../integrations/identity/port.js';
import { createOpenAiGateway } from '../integrations/llm/openAi.js';
import type { LlmGateway } from '../integrations/llm/port.js';
import { createEmbeddedLedger } from '../integrations/payments/embedded.js';
import type { Ledger, Payments } from '../integrations/payments/port.js';
import { createStripePayments } from '../integrations/payments/stripe.js';
import { createCalCom } from '../integrations/scheduling/calCom.js';
import { createEmbeddedCalendar } from '../integrations/scheduling/embedded.js';
import type { Scheduling } from '../integrations/scheduling/port.js';
import { createShardedFolder, repositoriesIn, type ShardedFolder } from '../integrations/shardedFolder.js';
import { createEmbeddedSourceHost } from '../integrations/sourceHost/embedded.js';
import { createGitHub } from '../integrations/sourceHost/github.js';
import { createGitServer } from '../integrations/sourceHost/gitServer.js';
import type { GitServer, SourceHost } from '../integrations/sourceHost/port.js';
import type { KeyedLimit } from '../platform/keyedLimit.js';
import { createTrustsProxy } from '../platform/publicAddress.js';
import type { Settings } from '../platform/settings/settings.js';
import { countBookings, listBookings } from '../projections/booking/booking.queries.js';
import { createDomainDirectory, createSiteDirectory } from '../projections/website/siteDirectory.js';
import { erasureTargets, tokensOfAddress } from '../projections/erasure/erasureTargets.queries.js';
import type { FindSiteMedia } from '../events/content/content.files.js';
import { createDeployments, type Deployments } from '../workers/deployment/deployments.js';
import { createFindSiteMedia, createSiteFilesLimit } from '../workers/media/siteMedia.js';
import type { Address } from './address.js';
import type { Core } from './core.js';
import type { IntegrationData } from './dataFolder.js';
import { filesBelow, filesInBucket } from './files.js';

/** The adapter of each port of `integrations/`, and what HTTP and the workers both do with several of them. */
export interface Integrations {
  readonly sourceHost: SourceHost;
  /** The pictures and films that content names. */
  readonly findMedia: FindSiteMedia;
  /** Of what holds their files in memory, by website. */
  readonly limitSiteFiles: KeyedLimit;
  /** Present with the embedded source host. */
  readonly gitServer?: GitServer;
  readonly hosting: Hosting;
  readonly deployments: Deployments;
  /** Of websites that are served here. */
  readonly previews: SitePreviews;
  readonly siteAddress: SiteAddress;
  readonly domainTargets: DomainTargets;
  readonly isOwnHostname: Address['isOwnHostname'];
  readonly dns: Dns;
  readonly fetchStatus: FetchStatus;
  readonly analytics: SiteAnalytics;
  readonly email: EmailSender;
  /** Present with the embedded e-mail sender. */
  readonly outbox?: Outbox;
  /** The outbox, which still holds the mails from before a mail server was configured. */
  readonly storedMails: Pick<Outbox, 'removeOld'>;
  readonly payments: Payments;
  /** Present with the embedded payment provider. */
  readonly ledger?: Ledger;
  readonly identityProvider: IdentityProvider | null;
  readonly scheduling: Scheduling;
  /** Whether bookings are in the embedded calendar, and not in a scheduling service. */
  readonly ownsCalendar: boolean;
  /** For websites with an account of their own at the scheduling service. */
  readonly ownScheduling: Scheduling;
  readonly commerce: Commerce;
  /** Documents and media. */
  readonly files: FileStore;
  readonly mediaProcessor: MediaProcessor;
  readonly llm?: LlmGateway;
  readonly erasure: ErasureParts;
  /** Folders that an earlier version may have left in another layout. */
  readonly folders: readonly ShardedFolder[];
  /** What is served beside the API, by path: the sign-in, and the websites hosted here. */
  readonly mounts: NonNullable<HttpAppParts['mounts']>;
}

export interface OpenIntegrations extends Integrations {
  close(): void;
}

/**
 * The embedded adapters, and those outside that the settings name.
 * @param files `templatesFolder`: where the site templates are; `buildProgram`: what builds sites;
 *   `mailsFolder`: where the HTML of mails is; `version`: of the service; `noteLedger`: notes that the embedded
 *   ledger has something in it
 * @param overrides used in place of the adapters that the settings name
 */
export const composeIntegrations = (
  settings: Settings,
  { engine, reader, stores: { readModels } }: Core,
  { baseUrl, toLocalUrl, domainTargets, isOwnHostname }: Address,
  {
    templatesFolder,
    buildProgram,
    mailsFolder,
    version,
    noteLedger,
  }: {
    templatesFolder: string;
    buildProgram: string;
    mailsFolder: string;
    version?: string;
    noteLedger?: () => Promise<void>;
  },
  overrides: Partial<Integrations> = {},
): OpenIntegrations => {
  const { clock, random, logger } = engine;
  const folder = (name: IntegrationData): string => join(settings.dataDir, name);
  const { sites, stripe, auth, mail } = settings;

  const fetchStatus = createFetchStatus({ clock, servedSiteUrl: toLocalUrl });
  const sourceHost =
    sites === undefined
      ? createEmbeddedSourceHost({ folder: folder('repositories'), templatesFolder, clock })
      : createGitHub({ settings: sites.github, clock, random, logger });

  const gitServer = createGitServer({ folder: folder('repositories'), clock, random, logger });
  const trustsProxy = createTrustsProxy(settings.http.trustedProxies);
  const counter = createPageCounter({ file: folder('analytics.db'), clock, random, logger, trustsProxy });
  const analytics =
    settings.analytics === undefined ? counter : createPlausible({ ...settings.analytics, clock, random, logger });
  const builder = createSiteBuilder({ program: buildProgram, clock, logger });
  // Websites that were made before Vercel was configured are still served.
  const hostingHere = createEmbeddedHosting({
    folder: folder('sites'),
    repositoriesFolder: folder('repositories'),
    publicUrl: baseUrl,
    builder,
    sitesUrl: settings.http.sitesUrl,
    clock,
    ...(analytics === counter && { countPage: counter.count }),
    forgetViews: (project) => counter.forget(project),
    findAtAddress: createSiteDirectory(reader, embedded, clock),
    mayPreview: createMayPreview(reader, clock),
    findAtDomain: createDomainDirectory(reader, embedded),
    ...(version !== undefined && { version }),
  });
  const hosting =
    sites === undefined ? hostingHere : createVercel({ settings: sites.vercel, clock, random, logger, fetchStatus });

  const { from, smtp } = mail;
  const outbox = createEmbeddedOutbox({ folder: folder('outbox'), from, blindIndex: engine.blindIndex, clock });
  const email = smtp === undefined ? outbox : createSmtpSender({ server: smtp, from, clock, logger });
  const ledger = createEmbeddedLedger({
    file: folder('ledger.db'),
    clock,
    baseUrl,
    personal: engine.personal,
    ...(noteLedger !== undefined && { noteUse: noteLedger }),
  });
  const payments = stripe === undefined ? ledger : createStripePayments({ ...stripe, clock, random, logger });

  const signIn = () =>
    auth.issuer === undefined
      ? createEmbeddedIdentity({
          ...engine,
          records: readModels.records,
          email,
          brand: settings.brand,
          mailsFolder,
          logsSignInCodes: smtp === undefined,
          baseUrl,
          origins: settings.http.corsOrigins,
          sitesHaveOrigins: settings.http.sitesUrl !== undefined,
          adminEmails: auth.adminEmails,
          trustsProxy,
        })
      : { identityProvider: createOidcIssuer(auth.issuer, { clock: engine.clock, baseUrl }), mounts: {} };
  const { identityProvider, mounts } =
    overrides.identityProvider === undefined ? signIn() : { identityProvider: overrides.identityProvider, mounts: {} };

  const files = filesInBucket(settings) ?? filesBelow(settings.dataDir);

  const { url: calComUrl, apiKey: calComKey } = settings.scheduling ?? { url: 'https://api.cal.com', apiKey: undefined };
  const calCom = createCalCom({ url: calComUrl, apiKey: calComKey, clock, random, logger });
  const scheduling =
    settings.scheduling === undefined
      ? createEmbeddedCalendar({
          list: (websiteId, query) => listBookings(reader, websiteId, query),
          count: (websiteId, filter) => countBookings(reader, websiteId, filter),
        })
      : calCom;

  return {
    sourceHost,
    findMedia: createFindSiteMedia(reader, files),
    limitSiteFiles: createSiteFilesLimit(),
    ...(sites === undefined && { gitServer }),
    hosting,
    deployments: createDeployments({ sourceHost, hosting, ...overrides, engine, records: readModels.records }),
    previews: hostingHere.previews,
    siteAddress: hostingHere.siteAddress,
    domainTargets: ({ hosting: at }) => ((at?.provider ?? hosting.provider) === embedded ? domainTargets() : vercelDomainTargets),
    isOwnHostname,
    dns: createDnsResolver({ servers: settings.dnsServers, clock, logger }),
    fetchStatus,
    analytics,
    email,
    ...(smtp === undefined && { outbox }),
    storedMails: outbox,
    payments,
    ...(payments === ledger && overrides.payments === undefined && { ledger }),
    identityProvider,
    scheduling,
    ownsCalendar: settings.scheduling === undefined,
    ownScheduling: calCom,
    commerce: createShopify({ ...settings.commerce, clock, random, logger }),
    files,
    folders: [repositoriesIn(folder('repositories')), createShardedFolder({ folder: folder('sites') })],
    mediaProcessor: createMediaProcessor(files),
    ...(settings.llm !== undefined && { llm: createOpenAiGateway({ ...settings.llm, clock, random, logger }) }),
    erasure: {
      findTargets: (clientId, emails) => erasureTargets(reader, clientId, emails),
      findTokens: (person) => tokensOfAddress(reader, person),
      // They still hold the mails and invoices from before a mail server or Stripe was configured.
      holders: [outbox, ledger],
      accounts: { forget: (address, person) => identityProvider?.forget?.(address, person) ?? Promise.resolve() },
    },
    // A website's origin comes first: nothing else is answered there.
    mounts: {
      '/': hostingHere.handlers.atSiteHost,
      ...mounts,
      '/sites': hostingHere.handlers.belowSites,
      '/robots.txt': hostingHere.handlers.robots,
    },
    ...overrides,
    close: () => {
      gitServer.close();
      builder.close();
      counter.close();
      ledger.close();
    },
  };
};
