import express, { type RequestHandler, type Router } from 'express';
import { defaultBrand, type Brand } from '../../platform/brand.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import type { TrustsProxy } from '../../platform/publicAddress.js';
import type { Random } from '../../platform/random.js';
import type { Generation } from '../../platform/vault/serviceKeys.js';
import type { Vault } from '../../platform/vault/vault.js';
import type { EmailSender } from '../email/port.js';
import { createIdentify } from './accessTokens.js';
import { createAccounts } from './embedded/accounts.js';
import { createChallenges } from './embedded/challenges.js';
import { createLimits } from './embedded/limits.js';
import { createPages } from './embedded/pages.js';
import { createProvider, deviceGrantClaim, portalId } from './embedded/provider.js';
import { createEncryptedRecords, type EncryptedRecords, type Records } from './embedded/encryptedRecords.js';
import { createDeviceRoutes } from './embedded/deviceRoutes.js';
import { createEndpoints } from './embedded/endpoints.js';
import { createSignInRoutes } from './embedded/signInRoutes.js';
import { createSigningKeys, type KeyRing } from './embedded/signingKeys.js';
import { resourceUrl, type IdentityProvider } from './port.js';
import { canonicalAddress } from '../../platform/emailAddress.js';

export interface EmbeddedIdentity {
  readonly identityProvider: IdentityProvider;
  /** Request handlers by the path at which to mount them. */
  readonly mounts: Readonly<Record<string, RequestHandler>>;
}

/** The path of the issuer below the service's base address. */
const path = '/oidc';
const metadataPath = '/.well-known/oauth-authorization-server';

/**
 * An OpenID Connect provider in this process, with sign-in by e-mail. Processes that share the
 * records and the base address act as one provider.
 */
export const createEmbeddedIdentity = (parts: {
  records: Records;
  email: EmailSender;
  /** Default: Doorstep's. */
  brand?: Brand;
  /** Where the build put the HTML of mails. */
  mailsFolder: string;
  /** Whether to log sign-in links and codes: for an e-mail sender that sends nothing. */
  logsSignInCodes: boolean;
  /** Public base address without a trailing slash; first called when a request comes. */
  baseUrl: () => string;
  /** Other origins of the portal. */
  origins: readonly string[];
  /** Whether no website is served at the service's own origin. Default: no. */
  sitesHaveOrigins?: boolean;
  /** Lower-case addresses of admins; everybody else is a client. */
  adminEmails: readonly string[];
  /** Whose `X-Forwarded-For` is believed. Default: peers in private networks. */
  trustsProxy?: TrustsProxy;
  vault: Pick<Vault, 'cipher' | 'generation' | 'serviceKey'>;
  /** A keyed hash. */
  blindIndex: (text: string) => string;
  clock: Clock;
  random: Random;
  ids: Ids;
  logger: Logger;
}): EmbeddedIdentity => {
  const { email, brand = defaultBrand, baseUrl, vault, blindIndex, clock, random, ids, logger } = parts;
  const records = createEncryptedRecords(parts.records, vault, blindIndex, clock);
  const accounts = createAccounts({ records, clock, blindIndex, adminEmails: parts.adminEmails });
  const recordsOf = (generation: Generation): EncryptedRecords =>
    createEncryptedRecords(parts.records, vault, blindIndex, clock, generation);
  const keyRing = createSigningKeys(recordsOf, vault, clock);
  const issuer = (): string => baseUrl() + path;
  const challenges = createChallenges({
    records,
    email,
    look: { brand, folder: parts.mailsFolder },
    ids,
    random,
    clock,
    ...(parts.logsSignInCodes && {
      announce: ({ link, code }) => {
        logger.info({ link, code }, 'to sign in, open this link in the browser that asked for it, or type in the code');
      },
    }),
  });

  const pages = createPages(brand);
  const limits = createLimits(clock, baseUrl, pages, parts.trustsProxy);

  /** The current router; recreated when the signing keys change. */
  let serving: { readonly ring: KeyRing; readonly router: Promise<Router> } | undefined;

  /**
   * What it still writes when its generation is over, for a request under way, is of that
   * generation too, and falls with it.
   */
  const createRouter = async (ring: KeyRing): Promise<Router> => {
    const origins = [...parts.origins, ...loopbackNames(baseUrl())];
    const cookieKey = Buffer.from(await vault.serviceKey('doorstep sign-in cookies', ring.generation)).toString('base64url');
    const provider = await createProvider({
      issuer: issuer(),
      baseUrl: baseUrl(),
      origins,
      ring,
      cookieKeys: [cookieKey],
      sitesHaveOrigins: parts.sitesHaveOrigins ?? false,
      records: recordsOf(ring.generation),
      accounts,
      pages,
      senderOf: limits.senderOf,
      clock,
      logger,
    });
    const router = express.Router({ caseSensitive: true });
    router.use(pages.headers([...origins, 'http://127.0.0.1:*', 'http://localhost:*']));
    router.use(limits.handler);
    router.use(createDeviceRoutes({ records, limits, pages, baseUrl: baseUrl(), logger }));
    router.use(
      createSignInRoutes({ provider, issuer: issuer(), baseUrl: baseUrl(), accounts, challenges, pages, limits, logger }),
    );
    router.use(provider.callback());
    return createEndpoints(router);
  };

  const currentRouter = async (): Promise<Router> => {
    const ring = await keyRing();
    if (serving?.ring !== ring) serving = { ring, router: createRouter(ring) };
    const { router } = serving;
    try {
      return await router;
    } catch (error) {
      if (serving.router === router) serving = undefined;
      throw error;
    }
  };

  const handler: RequestHandler = (request, response, next) => {
    // The issuer's addresses derive from the base address, not from headers of a proxy or the
    // caller.
    const { protocol, host, pathname } = new URL(baseUrl());
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    request.headers['x-forwarded-host'] = host;
    request.originalUrl = pathname.replace(/\/$/, '') + request.originalUrl;
    currentRouter().then((router) => {
      router(request, response, next);
    }, next);
  };

  /**
   * The issuer's metadata, where RFC 8414 (section 3.1) looks for that of an issuer with a path, and
   * where programs look that know of no path.
   */
  const serveMetadata: RequestHandler = (request, response, next) => {
    const asked = request.originalUrl.split('?', 1)[0];
    const issuerPath = new URL(issuer()).pathname;
    if (asked !== metadataPath && asked !== metadataPath + issuerPath && asked !== metadataPath + path) {
      next();
      return;
    }
    request.url = metadataPath;
    request.originalUrl = path + metadataPath;
    handler(request, response, next);
  };

  return {
    identityProvider: {
      identify: createIdentify(
        {
          url: issuer,
          audience: (resource) => resourceUrl(baseUrl(), resource),
          roleClaim: ['role'],
          deviceGrantClaim,
          hasScopes: true,
          keys: async () => (await keyRing()).verify,
          basis: keyRing,
        },
        clock,
      ),
      issuer,
      hasScopes: true,
      signIn: () =>
        Promise.resolve({
          clientId: portalId,
          authorizationEndpoint: `${issuer()}/authorize`,
          tokenEndpoint: `${issuer()}/token`,
          endSessionEndpoint: `${issuer()}/sign-out`,
        }),
      exists: async ({ subject }) => (await accounts.find(subject)) !== null,
      isStillAdmin: (subject, address) => accounts.isStillAdmin(subject, address),
      accountOf: (address) => accounts.preview(address),
      addressOf: (subject) => accounts.addressOf(subject),
      languageOf: (address) => accounts.languageOf(address),
      forget: (address, person) => accounts.forget(canonicalAddress(address), person),
    },
    mounts: { [path]: handler, [metadataPath]: serveMetadata },
  };
};

/** The other name of loopback, since people open either. */
const loopbackNames = (baseUrl: string): readonly string[] => {
  const { protocol, hostname, port } = new URL(baseUrl);
  const other = { '127.0.0.1': 'localhost', localhost: '127.0.0.1' }[hostname];
  return other === undefined ? [] : [`${protocol}//${other}${port === '' ? '' : `:${port}`}`];
};
