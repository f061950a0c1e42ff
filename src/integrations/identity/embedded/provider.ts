import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { ClientMetadata, Configuration, KoaContextWithOIDC, default as Provider } from 'oidc-provider';
import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import type { Account, Accounts } from './accounts.js';
import { languages } from '../../../platform/texts/texts.js';
import type { BrandedPages, DeviceCodeProblem, Pages } from './pages.js';
import { resourceUrl, type TokenResource } from '../port.js';
import { maxUserCode, requestedCodeOf } from './deviceRoutes.js';
import { createProviderAdapter } from './providerAdapter.js';
import type { EncryptedRecords } from './encryptedRecords.js';
import { signingAlgorithm, type KeyRing } from './signingKeys.js';

/** In seconds. */
const lifetimes = {
  accessToken: 10 * 60,
  code: 60,
  /** How long a device waits for its approval. */
  deviceCode: 10 * 60,
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

/** The claim of access tokens that a device got: the id of its grant. */
export const deviceGrantClaim = 'device_grant';
const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** The scope of each resource. Tokens are for the API, unless another resource is requested (RFC 8707). */
const scopeOf: Readonly<Record<TokenResource, string>> = { api: 'api', mcp: 'mcp' };
const resources = ['api', 'mcp'] as const satisfies readonly TokenResource[];
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
  readonly pages: Pick<BrandedPages, 'pagesFor'>;
  /** The network address that a request came from. */
  readonly senderOf: (request: IncomingMessage) => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The protocol (OpenID Connect: discovery, authorization code with PKCE, device authorization,
 * refresh tokens, sign-out), by oidc-provider.
 */
export const createProvider = async (parts: ProviderParts): Promise<Provider> => {
  // Loaded with the first sign-in, because it takes a quarter of a second, too much for a cold
  // start.
  const { Provider: OidcProvider, errors, interactionPolicy } = await import('oidc-provider');
  const { issuer, baseUrl, origins, ring, cookieKeys, sitesHaveOrigins, records, accounts, pages, senderOf, clock, logger } =
    parts;

  const pagesFor = ({ oidc, req }: KoaContextWithOIDC): Pages => {
    const uiLocales = oidc.params?.ui_locales;
    return pages.pagesFor({
      uiLocales: typeof uiLocales === 'string' ? uiLocales : undefined,
      acceptLanguage: req.headers['accept-language'],
    });
  };

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

  const resourceOf = (url: string): TokenResource | undefined =>
    resources.find((resource) => resourceUrl(baseUrl, resource) === url);

  const loadGrant = async ({ oidc }: KoaContextWithOIDC) => {
    const { session, client, account, deviceCode } = oidc;
    if (session === undefined || client === undefined || account === undefined) return undefined;
    // Each device has a grant of its own, because a grant is exchanged for one personal access
    // token.
    const grantId = deviceCode === undefined ? session.grantIdFor(client.clientId) : undefined;
    const found = grantId === undefined ? undefined : await oidc.provider.Grant.find(grantId);
    const isOfToday = found?.getResourceScope(resourceUrl(baseUrl, 'mcp')) !== '';
    if (found?.accountId === account.accountId && isOfToday) return found;
    const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: account.accountId });
    grant.addOIDCScope(Object.keys(claims).join(' '));
    for (const resource of resources) grant.addResourceScope(resourceUrl(baseUrl, resource), scopeOf[resource]);
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
    discovery: { ui_locales_supported: [...languages] },
    // There is no userinfo endpoint, so the ID token carries all claims.
    conformIdTokenClaims: false,
    extraTokenClaims: async (_context, token) => {
      const account = 'accountId' in token ? await accounts.find(token.accountId) : null;
      if (account === null || !('grantId' in token)) return undefined;
      // A refreshed token has both types: it stands on the same grant.
      const isDevices = token.gty.split(' ').includes('device_code');
      return { ...claimsOf(account), ...(isDevices && { [deviceGrantClaim]: token.grantId }) };
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
    routes: {
      authorization: '/authorize',
      token: '/token',
      jwks: '/jwks',
      end_session: '/sign-out',
      revocation: '/revoke',
      device_authorization: '/device/auth',
      code_verification: '/device',
    },
    interactions: { policy, url: (_context, { uid }) => `${issuer}/sign-in/${uid}` },
    ttl: {
      AccessToken: lifetimes.accessToken,
      AuthorizationCode: lifetimes.code,
      DeviceCode: lifetimes.deviceCode,
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
        defaultResource: (_context, _client, oneOf) => oneOf?.[0] ?? baseUrl,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => {
          const named = resourceOf(resource);
          if (named === undefined) throw new errors.InvalidTarget();
          return {
            scope: scopeOf[named],
            audience: resource,
            accessTokenTTL: lifetimes.accessToken,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: signingAlgorithm, ...(ring.keys[0]?.kid !== undefined && { kid: ring.keys[0].kid }) } },
          };
        },
      },
      deviceFlow: {
        enabled: true,
        deviceInfo: ({ req }) => ({ sender: senderOf(req), program: req.headers['user-agent'] }),
        userCodeInputSource: (context, _form, _answer, error) => {
          if (error?.name === 'AbortedError') {
            context.body = pagesFor(context).deviceDeniedPage();
            return;
          }
          const { session, params } = context.oidc;
          // oidc-provider cannot store a session that begins with an error, and so takes no form of this page: a new one is led to.
          if (error && session !== undefined && (session as { exp?: number }).exp === undefined) {
            Object.assign(session, { touched: false });
            const typed = typeof params?.user_code === 'string' ? params.user_code.slice(0, maxUserCode) : '';
            context.status = 303;
            context.redirect(`${context.oidc.urlFor('code_verification')}?user_code=${encodeURIComponent(typed)}`);
            return;
          }
          const code = (error as { userCode?: string } | undefined)?.userCode ?? requestedCodeOf(context.req);
          const problem = error && (codeProblems.get(error.name) ?? 'formTooOld');
          if (problem !== undefined) context.status = 400;
          context.body = pagesFor(context).deviceCodePage({
            ...formOf(context),
            ...(code !== undefined && { code }),
            ...(problem !== undefined && { problem }),
          });
        },
        userCodeConfirmSource: (context, _form, client, device, code) => {
          const { sender, program } = device as { readonly sender?: string; readonly program?: string };
          const asked = context.oidc.deviceCode?.params?.resource;
          const isForMcp = [asked].flat().some((resource) => resource === resourceUrl(baseUrl, 'mcp'));
          context.body = pagesFor(context).deviceConfirmPage({
            ...formOf(context),
            code,
            ...(client.clientId !== commandLineId && { client: client.clientName ?? client.clientId }),
            resource: isForMcp ? 'mcp' : 'api',
            ...(sender !== undefined && { sender }),
            ...(program !== undefined && { program }),
          });
        },
        successSource: (context) => {
          context.body = pagesFor(context).deviceDonePage();
        },
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => {
          const { session, entities } = context.oidc;
          // Only the account's own programs have its ID token: another website cannot sign anybody out.
          const isCertain = session?.accountId !== undefined && entities.IdTokenHint?.payload.sub === session.accountId;
          context.body = pagesFor(context).signOutPage({ form, isCertain });
        },
        postLogoutSuccessSource: (context) => {
          context.body = pagesFor(context).signedOutPage(baseUrl);
        },
      },
    },
    renderError: (context, { error, error_description: description }) => {
      context.type = 'html';
      context.body = pagesFor(context).errorPage({ home: baseUrl, error, ...(description !== undefined && { description }) });
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

const formOf = ({ oidc }: KoaContextWithOIDC): { readonly action: string; readonly secret: string } => ({
  action: oidc.urlFor('code_verification'),
  // oidc-provider makes one for each form, and compares it.
  secret: String(oidc.session?.state?.secret),
});

/** What is wrong with a code that was typed in, by the name of oidc-provider's error. */
const codeProblems: ReadonlyMap<string, DeviceCodeProblem> = new Map([
  ['NoCodeError', 'missing'],
  ['NotFoundError', 'unknown'],
  ['ExpiredError', 'expired'],
  ['AlreadyUsedError', 'used'],
]);

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
      grant_types: ['authorization_code', 'refresh_token', deviceGrantType],
      // On any port (RFC 8252, 7.3).
      redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback'],
    },
  ];
};
