import express, { type RequestHandler, type Router } from 'express';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { Vault } from '../../platform/vault.js';
import type { EmailSender } from '../email/port.js';
import { createIdentify } from './accessTokens.js';
import { createAccounts } from './embedded/accounts.js';
import { createChallenges } from './embedded/challenges.js';
import { createLimits } from './embedded/limits.js';
import { pageHeaders } from './embedded/pages.js';
import { createProvider } from './embedded/provider.js';
import { createEncryptedRecords, type Records } from './embedded/encryptedRecords.js';
import { createSignInRoutes } from './embedded/signInRoutes.js';
import { createSigningKeys } from './embedded/signingKeys.js';
import type { IdentityProvider } from './port.js';

export interface EmbeddedIdentity {
  readonly identityProvider: IdentityProvider;
  /** Request handlers by the path at which to mount them. */
  readonly mounts: Readonly<Record<string, RequestHandler>>;
}

/** The path of the issuer below the service's base address. */
const path = '/oidc';

/**
 * An OpenID Connect provider in this process, with sign-in by e-mail. Processes that share the
 * records and the base address act as one provider.
 */
export const createEmbeddedIdentity = (parts: {
  records: Records;
  email: EmailSender;
  /** Whether to log sign-in links and codes: for an e-mail sender that sends nothing. */
  logsSignInCodes: boolean;
  /** Public base address without a trailing slash; first called when a request comes. */
  baseUrl: () => string;
  /** Other origins of the portal. */
  origins: readonly string[];
  /** Lower-case addresses of admins; everybody else is a client. */
  adminEmails: readonly string[];
  vault: Pick<Vault, 'cipher' | 'serviceKey'>;
  /** A keyed hash. */
  blindIndex: (text: string) => string;
  clock: Clock;
  random: Random;
  ids: Ids;
  logger: Logger;
}): EmbeddedIdentity => {
  const { email, baseUrl, vault, blindIndex, clock, random, ids, logger } = parts;
  const records = createEncryptedRecords(parts.records, vault, blindIndex, clock);
  const accounts = createAccounts({ records, clock, blindIndex, adminEmails: parts.adminEmails });
  const keyRing = createSigningKeys(records, clock);
  const issuer = (): string => baseUrl() + path;
  const challenges = createChallenges({
    records,
    email,
    ids,
    random,
    clock,
    ...(parts.logsSignInCodes && {
      announce: ({ link, code }) => {
        logger.info({ link, code }, 'to sign in, open this link in the browser that asked for it, or type in the code');
      },
    }),
  });

  const limits = createLimits(clock, baseUrl);

  /** The current router; recreated when the signing key changes. */
  let serving: { readonly period: number; readonly router: Promise<Router> } | undefined;

  const createRouter = async (): Promise<Router> => {
    const origins = [...parts.origins, ...loopbackNames(baseUrl())];
    const cookieKey = Buffer.from(await vault.serviceKey('doorstep sign-in cookies')).toString('base64url');
    const provider = await createProvider({
      issuer: issuer(),
      baseUrl: baseUrl(),
      origins,
      ring: await keyRing(),
      cookieKeys: [cookieKey],
      records,
      accounts,
      clock,
      logger,
    });
    const router = express.Router({ caseSensitive: true });
    router.use(pageHeaders([...origins, 'http://127.0.0.1:*', 'http://localhost:*']));
    router.use(limits.handler);
    router.use(createSignInRoutes({ provider, issuer: issuer(), baseUrl: baseUrl(), accounts, challenges, limits, logger }));
    router.use(provider.callback());
    return router;
  };

  const currentRouter = async (): Promise<Router> => {
    const { period } = await keyRing();
    if (serving?.period !== period) serving = { period, router: createRouter() };
    const { router } = serving;
    try {
      return await router;
    } catch (error) {
      if (serving.router === router) serving = undefined;
      throw error;
    }
  };

  const handler: RequestHandler = (request, response, next) => {
    // The app strips `/v1`, where only the API is served, from `url` but not from `originalUrl`.
    if (!request.originalUrl.startsWith(path)) {
      next();
      return;
    }
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

  return {
    identityProvider: {
      identify: createIdentify(
        { url: issuer, audience: baseUrl, roleClaim: ['role'], keys: async () => (await keyRing()).verify },
        clock,
      ),
      exists: async ({ subject }) => (await accounts.find(subject)) !== null,
      isStillAdmin: (subject, address) => accounts.isStillAdmin(subject, address),
      forget: (address, person) => accounts.forget(address.toLowerCase(), person),
    },
    mounts: { [path]: handler },
  };
};

/** The other name of loopback, since people open either. */
const loopbackNames = (baseUrl: string): readonly string[] => {
  const { protocol, hostname, port } = new URL(baseUrl);
  const other = { '127.0.0.1': 'localhost', localhost: '127.0.0.1' }[hostname];
  return other === undefined ? [] : [`${protocol}//${other}${port === '' ? '' : `:${port}`}`];
};
