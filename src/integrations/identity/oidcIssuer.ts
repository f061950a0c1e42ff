import { createRemoteJWKSet, decodeJwt, type JWTVerifyGetKey } from 'jose';
import { createCache } from '../../platform/cache.js';
import type { Clock } from '../../platform/clock.js';
import type { ExternalIssuer, ScimService } from '../../platform/settings/auth.js';
import { createTransientMap } from '../../platform/transientMap.js';
import { parseUrl } from '../../platform/urls.js';
import { createIdentify, digest } from './accessTokens.js';
import {
  IdentityUnavailable,
  resourceUrl,
  type BrowserSignIn,
  type Identity,
  type IdentityProvider,
  type TokenResource,
} from './port.js';

const timeoutMs = 5_000;
/** How long an answer about a subject is cached. */
const cacheMs = 60_000;
/** How long the issuer's discovery document is cached. */
const discoveryCacheMs = 3_600_000;
/** How long the issuer's keys are cached: one that it withdraws counts no longer than that. */
const keysCacheMs = 600_000;
const maxCached = 10_000;

/** The fields used of the discovery document (OpenID Connect Discovery 1.0, section 3). */
interface Discovered {
  readonly keys: KeySet;
  readonly userinfo: string | undefined;
  /** Where a browser signs in; absent where it cannot. */
  readonly signIn: BrowserSignIn | undefined;
  readonly until: number;
}

interface KeySet {
  readonly address: string;
  readonly find: JWTVerifyGetKey;
}

interface JsonResponse {
  readonly status: number;
  readonly ok: boolean;
  /** `WWW-Authenticate`. */
  readonly challenge: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Any OpenID Connect issuer, configured by discovery. Keys are fetched on first use, when they are
 * 10 minutes old, and when a token names an unknown key, at most every `keyCooldownMs`.
 */
export const createOidcIssuer = (
  { url, audience, clientId = 'doorstep-portal', roleClaim, subjectCheck }: ExternalIssuer,
  {
    clock,
    baseUrl,
    keyCooldownMs = 5_000,
  }: {
    clock: Clock;
    /** Public base address without a trailing slash. Absent: no token is for `/mcp`. */
    baseUrl?: () => string;
    keyCooldownMs?: number;
  },
): IdentityProvider => {
  const existsCache = createCache<{ readonly exists: boolean; readonly until: number }>(maxCached);
  const asking = createTransientMap<string, Promise<boolean>>();
  let discovered: Discovered | undefined;
  let discovering: Promise<Discovered> | undefined;

  const request = async (address: string, headers: Readonly<Record<string, string>>): Promise<JsonResponse> => {
    const timeout = new AbortController();
    const cancel = clock.schedule(timeoutMs, () => {
      timeout.abort();
    });
    try {
      const response = await fetch(address, { headers, redirect: 'error', signal: timeout.signal });
      const { status, ok, headers: answered } = response;
      return { status, ok, challenge: answered.get('www-authenticate') ?? '', body: parseObject(await response.text()) };
    } catch (cause) {
      throw new IdentityUnavailable(`${address} does not answer`, { cause });
    } finally {
      cancel();
    }
  };

  /** While the keys cannot be loaded, those held count, as they do for tokens that are verified already. */
  const createKeySet = (address: URL): KeySet => {
    const remote = createRemoteJWKSet(address, {
      timeoutDuration: timeoutMs,
      cooldownDuration: keyCooldownMs,
      // Its own expiry would forget the keys before there are others.
      cacheMaxAge: Infinity,
    });
    let until = -Infinity;

    const refresh = async (): Promise<void> => {
      try {
        await remote.reload();
        until = clock.now() + keysCacheMs;
      } catch (error) {
        if (remote.jwks() === undefined) throw error;
        until = clock.now() + cacheMs;
      }
    };

    return {
      address: address.href,
      find: async (header, token) => {
        if (clock.now() >= until) await refresh();
        return remote(header, token);
      },
    };
  };

  const discover = async (): Promise<Discovered> => {
    const address = `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const { ok, body } = await request(address, { accept: 'application/json' });
    // Required by section 4.3: with another issuer's keys, that issuer's users could sign in here.
    if (!ok || body.issuer !== url) throw new IdentityUnavailable(`${address} does not describe the issuer ${url}`);
    const { jwks_uri: jwks, userinfo_endpoint: userinfo } = body;
    const keys = typeof jwks === 'string' ? parseUrl(jwks) : undefined;
    if (keys === undefined) throw new IdentityUnavailable(`${address} names no keys`);
    return {
      // The keys held outlive the document, so that none are missing while they cannot be loaded.
      keys: discovered?.keys.address === keys.href ? discovered.keys : createKeySet(keys),
      userinfo: typeof userinfo === 'string' ? userinfo : undefined,
      signIn: signInOf(body),
      until: clock.now() + discoveryCacheMs,
    };
  };

  const signInOf = (body: JsonResponse['body']): BrowserSignIn | undefined => {
    const { authorization_endpoint: authorize, token_endpoint: token, end_session_endpoint: end } = body;
    if (typeof authorize !== 'string' || typeof token !== 'string' || parseUrl(token) === undefined) return undefined;
    return {
      clientId,
      authorizationEndpoint: authorize,
      tokenEndpoint: token,
      ...(typeof end === 'string' && { endSessionEndpoint: end }),
      audience,
    };
  };

  const issuer = async (): Promise<Discovered> => {
    if (discovered !== undefined && clock.now() < discovered.until) return discovered;
    discovering ??= discover().finally(() => {
      discovering = undefined;
    });
    try {
      discovered = await discovering;
    } catch (error) {
      // The document hardly ever changes, so a short outage of the issuer locks nobody out.
      if (discovered === undefined || !(error instanceof IdentityUnavailable)) throw error;
      discovered = { ...discovered, until: clock.now() + cacheMs };
    }
    return discovered;
  };

  const existsByUserinfo = async (
    address: string,
    { subject }: Identity,
    accessToken: string,
    resource: TokenResource,
  ): Promise<boolean> => {
    const response = await request(address, { authorization: `Bearer ${accessToken}`, accept: 'application/json' });
    if (response.status === 404 || response.status === 410) return false;
    // Programs ask for `openid` for the API, and need not for `/mcp`.
    const mayLackScope = resource === 'mcp';
    if (mayLackScope && (lacksScope(response) || (response.status === 401 && statesOtherScopes(accessToken)))) return true;
    if (response.status === 401 || lacksScope(response)) return false;
    if (!response.ok) throw new IdentityUnavailable(`${address} answers ${String(response.status)}`);
    return response.body.sub === undefined || response.body.sub === subject;
  };

  /** RFC 7644, section 3.4.1. An inactive user counts as absent. */
  const existsByScim = async ({ url: service, token }: ScimService, subject: string): Promise<boolean> => {
    const address = `${service.replace(/\/$/, '')}/Users/${encodeURIComponent(subject)}`;
    const response = await request(address, {
      accept: 'application/scim+json, application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    });
    if (response.status === 404 || response.status === 410) return false;
    if (!response.ok) throw new IdentityUnavailable(`the SCIM service answers ${String(response.status)}`);
    return response.body.active !== false;
  };

  const ask = async (key: string, question: () => Promise<boolean>): Promise<boolean> => {
    const until = clock.now() + cacheMs;
    try {
      const exists = await question();
      existsCache.set(key, { exists, until });
      return exists;
    } finally {
      asking.delete(key);
    }
  };

  /** A page makes many requests at once: all of them wait for one answer. */
  const cached = (text: string, question: () => Promise<boolean>): Promise<boolean> => {
    const key = digest(text);
    const known = existsCache.get(key);
    if (known !== undefined && clock.now() < known.until) return Promise.resolve(known.exists);
    let answer = asking.get(key);
    if (answer === undefined) {
      answer = ask(key, question);
      asking.set(key, answer);
    }
    return answer;
  };

  const subjectExists =
    subjectCheck.kind === 'scim'
      ? (subject: string): Promise<boolean> => cached(subject, () => existsByScim(subjectCheck, subject))
      : undefined;

  return {
    identify: createIdentify(
      {
        url: () => url,
        audience: (resource) => (resource === 'api' ? audience : baseUrl && resourceUrl(baseUrl(), resource)),
        roleClaim,
        keys: async () => (await issuer()).keys.find,
      },
      clock,
    ),

    issuer: () => url,

    audience: () => audience,

    signIn: async () => {
      const { signIn } = await issuer();
      if (signIn === undefined) throw new IdentityUnavailable(`the issuer ${url} lets no browser sign in`);
      return signIn;
    },

    exists: async (identity, accessToken, resource = 'api') => {
      if (subjectCheck.kind === 'none') return true;
      if (subjectExists !== undefined) return subjectExists(identity.subject);
      const { userinfo } = await issuer();
      if (userinfo === undefined) return true;
      return cached(`${resource} ${accessToken}`, () => existsByUserinfo(userinfo, identity, accessToken, resource));
    },
    ...(subjectExists !== undefined && { subjectExists }),
  };
};

/**
 * Whether `userinfo` wants a scope that the token lacks (RFC 6750, section 3.1). Such a token, of an
 * assistant for example, tells nothing of its subject, as at an issuer without `userinfo`: refused for
 * that, nobody could ever use it. It lasts for minutes, and an issuer gives none to who is gone.
 */
const lacksScope = ({ status, challenge, body }: JsonResponse): boolean =>
  status === 403 && (body.error === 'insufficient_scope' || challenge.includes('insufficient_scope'));

/**
 * Whether a verified token says what it may be used for (RFC 9068, 2.2.3; a list `scp` at some
 * issuers), and that it is not `userinfo` (OpenID Connect Core 1.0, section 5.3): some issuers then
 * answer as if it were invalid.
 */
const statesOtherScopes = (accessToken: string): boolean => {
  const { scope, scp } = decodeJwt(accessToken);
  const stated = scope ?? scp;
  const scopes: unknown = typeof stated === 'string' ? stated.split(' ') : stated;
  return Array.isArray(scopes) && !scopes.includes('openid');
};

/** Parses a JSON object; empty for any other text, such as a signed `userinfo` response. */
const parseObject = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};
