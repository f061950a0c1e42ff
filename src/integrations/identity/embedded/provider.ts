import type { EventEmitter } from 'node:events';
import type { ClientMetadata, Configuration, KoaContextWithOIDC, default as Provider } from 'oidc-provider';
import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import type { Account, Accounts } from './accounts.js';
import type { Pages } from './pages.js';
import { createProviderAdapter } from './providerAdapter.js';
import type { EncryptedRecords } from './encryptedRecords.js';
import { signingAlgorithm, type KeyRing } from './signingKeys.js';

/** In seconds. */
const lifetimes = {
  accessToken: 10 * 60,
  code: 60,
  /** Until sign-in; also of the session that a sign-out request creates when there is none. */
  interaction: 30 * 60,
  /** Of a browser's session since its last use, and of refresh tokens since the sign-in. */
  session: 14 * 24 * 60 * 60,
  grant: 30 * 24 * 60 * 60,
} as const;

/**
 * Public clients (RFC 6749, 2.1): no secret, PKCE. Both are ours, so people are not asked for
 * consent.
 */
export const portalId = 'doorstep-portal';
const commandLineId = 'doorstep-cli';

/** The scope of the API. Tokens are for the API whatever scope is requested. */
const apiScope = 'api';
const claims = { openid: ['sub'], email: ['email', 'email_verified'], profile: ['role'] };

export interface ProviderParts {
  /** The issuer, without a trailing slash; sign-in pages are below it. */
  readonly issuer: string;
  /** The service's base address: the audience of access tokens and the address of the portal. */
  readonly baseUrl: string;
  /** Other origins of the portal. */
  readonly origins: readonly string[];
  readonly ring: KeyRing;
  /** Keys of cookies: the first one signs, all verify. */
  readonly cookieKeys: readonly string[];
  /** Whether no website is served at the service's own origin. */
  readonly sitesHaveOrigins: boolean;
  readonly records: EncryptedRecords;
  readonly accounts: Accounts;
  readonly pages: Pick<Pages, 'errorPage' | 'signedOutPage' | 'signOutPage'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The protocol (OpenID Connect: discovery, authorization code with PKCE, refresh tokens, sign-out),
 * by oidc-provider.
 */
export const createProvider = async (parts: ProviderParts): Promise<Provider> => {
  // Loaded with the first sign-in, because it takes a quarter of a second, too much for a cold
  // start.
  const { Provider: OidcProvider, errors, interactionPolicy } = await import('oidc-provider');
  const { issuer, baseUrl, origins, ring, cookieKeys, sitesHaveOrigins, records, accounts, pages, clock, logger } = parts;

  const policy = interactionPolicy.base();
  policy.remove('consent');
  // Requires a new sign-in when the session's account was forgotten, and always for native clients:
  // another program could impersonate the command line and use the browser's session unnoticed (RFC
  // 8252, 8.6).
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('sign_in_anew', 'the account is gone, or the client may not rely on a session', ({ oidc }) => {
      if (oidc.account === undefined) return oidc.session?.accountId !== undefined;
      return oidc.client?.applicationType === 'native' && oidc.result?.login === undefined;
    }),
  );

  const loadGrant = async ({ oidc }: KoaContextWithOIDC) => {
    const { session, client, account } = oidc;
    if (session === undefined || client === undefined || account === undefined) return undefined;
    const grantId = session.grantIdFor(client.clientId);
    const found = grantId === undefined ? undefined : await oidc.provider.Grant.find(grantId);
    if (found?.accountId === account.accountId) return found;
    const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: account.accountId });
    grant.addOIDCScope(Object.keys(claims).join(' '));
    grant.addResourceScope(baseUrl, apiScope);
    await grant.save();
    return grant;
  };

  const configuration: Configuration = {
    adapter: createProviderAdapter(records, clock, () => new errors.InvalidGrant('it was used before')),
    jwks: { keys: ring.keys },
    cookies: { ...cookiesFor(issuer, sitesHaveOrigins), keys: cookieKeys },
    clients: clientsOf(baseUrl, origins),
    clientAuthMethods: ['none'],
    clientDefaults: {
      id_token_signed_response_alg: signingAlgorithm,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      response_modes: ['query'],
    },
    clientBasedCORS: (_context, origin, client) =>
      client.redirectUris?.some((uri) => new URL(uri).origin === origin) === true && client.applicationType === 'web',
    responseTypes: ['code'],
    pkce: { required: () => true },
    scopes: ['openid'],
    claims,
    // There is no userinfo endpoint, so the ID token carries all claims.
    conformIdTokenClaims: false,
    extraTokenClaims: async (_context, token) => {
      const account = 'accountId' in token ? await accounts.find(token.accountId) : null;
      return account === null ? undefined : claimsOf(account);
    },
    findAccount: async (_context, subject) => {
      const account = await accounts.find(subject);
      return account === null ? undefined : { accountId: subject, claims: () => ({ sub: subject, ...claimsOf(account) }) };
    },
    loadExistingGrant: loadGrant,
    issueRefreshToken: () => true,
    // Signing out in the browser revokes the portal's tokens, but not those of the command line.
    expiresWithSession: ({ oidc }) => oidc.client?.applicationType !== 'native',
    rotateRefreshToken: () => true,
    routes: { authorization: '/authorize', token: '/token', jwks: '/jwks', end_session: '/sign-out', revocation: '/revoke' },
    interactions: { policy, url: (_context, { uid }) => `${issuer}/sign-in/${uid}` },
    ttl: {
      AccessToken: lifetimes.accessToken,
      AuthorizationCode: lifetimes.code,
      IdToken: lifetimes.accessToken,
      Interaction: lifetimes.interaction,
      Session: (_context, { accountId }) => (accountId === undefined ? lifetimes.interaction : lifetimes.session),
      Grant: lifetimes.grant,
      // Rotation does not extend the lifetime (RFC 9700, 4.14.2).
      RefreshToken: (context) => context.oidc.entities.RotatedRefreshToken?.remainingTTL ?? lifetimes.session,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      userinfo: { enabled: false },
      revocation: { enabled: true, allowedPolicy: (_context, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => baseUrl,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => {
          if (resource !== baseUrl) throw new errors.InvalidTarget();
          return {
            scope: apiScope,
            audience: baseUrl,
            accessTokenTTL: lifetimes.accessToken,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: signingAlgorithm, ...(ring.keys[0]?.kid !== undefined && { kid: ring.keys[0].kid }) } },
          };
        },
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => {
          context.body = pages.signOutPage(form);
        },
        postLogoutSuccessSource: (context) => {
          context.body = pages.signedOutPage(baseUrl);
        },
      },
    },
    renderError: (context, { error, error_description: description }) => {
      context.type = 'html';
      context.body = pages.errorPage({ home: baseUrl, error, ...(description !== undefined && { description }) });
    },
  };

  const provider = new OidcProvider(issuer, configuration);
  // The handler in ../embedded.ts sets the forwarded headers.
  provider.proxy = true;
  provider.on('server_error', (context, error) => {
    // The store of the records is unavailable.
    if (error.name.endsWith('Unavailable')) {
      context.status = 503;
      context.set('retry-after', '1');
    }
    logger.error({ err: error }, 'a sign-in request failed');
  });
  // Errors while a response is being sent.
  const emitter: EventEmitter = provider;
  emitter.on('error', (error: unknown) => {
    logger.warn({ err: error }, 'a sign-in response could not be sent');
  });
  return provider;
};

const claimsOf = ({ email, role }: Account): Record<string, unknown> => ({ email, email_verified: true, role });

/**
 * Cookies are sent to the sign-in alone, not to websites below `/sites/`. Where websites have hosts of
 * their own instead, one of these could be a neighbour of ours and set a cookie for the domain that
 * both share: browsers accept no such cookie under a `__Host-` name, which requires the path `/` (RFC
 * 6265bis, 4.1.3.2). oidc-provider gives the cookie `resume` a path of its own.
 */
const cookiesFor = (
  issuer: string,
  sitesHaveOrigins: boolean,
): Pick<NonNullable<Configuration['cookies']>, 'names' | 'long' | 'short'> => {
  const isHttps = issuer.startsWith('https:');
  const isForHost = isHttps && sitesHaveOrigins;
  const secure = isHttps ? '__Secure-' : '';
  const prefix = isForHost ? '__Host-' : secure;
  const options = { httpOnly: true, sameSite: 'lax' } as const;
  return {
    names: {
      session: `${prefix}doorstep_session`,
      interaction: `${prefix}doorstep_sign_in`,
      resume: `${secure}doorstep_sign_in_resume`,
    },
    long: { ...options, path: isForHost ? '/' : new URL(issuer).pathname },
    // Otherwise the path is that of one attempt to sign in.
    short: { ...options, ...(isForHost && { path: '/' }) },
  };
};

const clientsOf = (baseUrl: string, origins: readonly string[]): ClientMetadata[] => {
  const addresses = [baseUrl, ...origins];
  return [
    {
      client_id: portalId,
      client_name: 'Doorstep',
      application_type: 'web',
      redirect_uris: addresses.flatMap((address) => [`${address}/app/callback`, `${address}/auth/callback`, `${address}/`]),
      post_logout_redirect_uris: addresses.flatMap((address) => [`${address}/app/`, `${address}/`]),
    },
    {
      client_id: commandLineId,
      client_name: 'Doorstep on the command line',
      application_type: 'native',
      // On any port (RFC 8252, 7.3).
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
    },
  ];
};
