import { createHash } from 'node:crypto';
import { createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.js';
import type { ExternalIssuer } from '../../platform/settings.js';
import { IdentityUnavailable, type Identity, type IdentityProvider } from './port.js';

/** Asymmetric ones only: with a shared secret, whoever can check a token can make one (RFC 8725, 2.1 and 3.1). */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const leewaySeconds = 30;
const timeoutMs = 5_000;
/** How long a checked token and an answer about a subject are believed. */
const believedMs = 60_000;
/** How long what the issuer says of itself is believed. */
const discoveredMs = 3_600_000;
const mostKept = 10_000;

/** What is used of an issuer's description (OpenID Connect Discovery 1.0, section 3). */
interface Discovered {
  readonly keys: JWTVerifyGetKey;
  readonly userinfo: string | undefined;
  readonly until: number;
}

interface Answer {
  readonly status: number;
  readonly ok: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Any OpenID Connect issuer, found by discovery. Keys are fetched when they are first needed and when a token names an unknown one,
 * the latter at most every `keyCooldownMs`.
 */
export const createOidcIssuer = (
  { url, audience, roleClaim, subjectCheck }: ExternalIssuer,
  { clock, keyCooldownMs = 5_000 }: { clock: Clock; keyCooldownMs?: number },
): IdentityProvider => {
  const identified = new LRUCache<string, { readonly identity: Identity; readonly until: number }>({ max: mostKept });
  const existing = new LRUCache<string, { readonly exists: boolean; readonly until: number }>({ max: mostKept });
  let discovered: Discovered | undefined;
  let discovering: Promise<Discovered> | undefined;

  const ask = async (address: string, headers: Readonly<Record<string, string>>): Promise<Answer> => {
    const patience = new AbortController();
    const cancel = clock.schedule(timeoutMs, () => {
      patience.abort();
    });
    try {
      const answer = await fetch(address, { headers, redirect: 'error', signal: patience.signal });
      return { status: answer.status, ok: answer.ok, body: objectIn(await answer.text()) };
    } catch (cause) {
      throw new IdentityUnavailable(`${address} does not answer`, { cause });
    } finally {
      cancel();
    }
  };

  const discover = async (): Promise<Discovered> => {
    const address = `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const { ok, body } = await ask(address, { accept: 'application/json' });
    // An issuer speaks for itself only (section 4.3): another one's keys would let its users in here.
    if (!ok || body.issuer !== url) throw new IdentityUnavailable(`${address} does not describe the issuer ${url}`);
    const { jwks_uri: jwks, userinfo_endpoint: userinfo } = body;
    if (typeof jwks !== 'string' || !URL.canParse(jwks)) throw new IdentityUnavailable(`${address} names no keys`);
    return {
      keys: createRemoteJWKSet(new URL(jwks), { timeoutDuration: timeoutMs, cooldownDuration: keyCooldownMs }),
      userinfo: typeof userinfo === 'string' ? userinfo : undefined,
      until: clock.now() + discoveredMs,
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
      // What it said of itself hardly ever changes: a short outage locks nobody out.
      if (discovered === undefined || !(error instanceof IdentityUnavailable)) throw error;
      discovered = { ...discovered, until: clock.now() + believedMs };
    }
    return discovered;
  };

  const verify = async (accessToken: string): Promise<JWTPayload | null> => {
    const { keys } = await issuer();
    try {
      const { payload } = await jwtVerify(accessToken, keys, {
        issuer: url,
        audience,
        algorithms,
        clockTolerance: leewaySeconds,
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp', 'sub'],
      });
      return payload;
    } catch (error) {
      if (isOfToken(error)) return null;
      throw new IdentityUnavailable(`the keys of ${url} cannot be had`, { cause: error });
    }
  };

  const asksUserinfo = async (address: string, { subject }: Identity, accessToken: string): Promise<boolean> => {
    const answer = await ask(address, { authorization: `Bearer ${accessToken}`, accept: 'application/json' });
    if (answer.status === 401 || answer.status === 404 || answer.status === 410) return false;
    if (!answer.ok) throw new IdentityUnavailable(`${address} answers ${String(answer.status)}`);
    return answer.body.sub === undefined || answer.body.sub === subject;
  };

  /** RFC 7644, section 3.4.1; a user that is not active may not sign in either. */
  const asksScim = async (service: string, { subject }: Identity): Promise<boolean> => {
    const address = `${service.replace(/\/$/, '')}/Users/${encodeURIComponent(subject)}`;
    const answer = await ask(address, { accept: 'application/scim+json, application/json' });
    if (answer.status === 404 || answer.status === 410) return false;
    if (!answer.ok) throw new IdentityUnavailable(`the SCIM service answers ${String(answer.status)}`);
    return answer.body.active !== false;
  };

  const askWhetherExists = async (identity: Identity, accessToken: string): Promise<boolean> => {
    if (subjectCheck.kind === 'scim') return asksScim(subjectCheck.url, identity);
    const { userinfo } = await issuer();
    return userinfo === undefined || asksUserinfo(userinfo, identity, accessToken);
  };

  return {
    identify: async (accessToken) => {
      // Looked at before anything is asked: nonsense costs the issuer nothing, and is refused even when it is down.
      if (!isSignedToken(accessToken)) return null;
      const key = digest(accessToken);
      const kept = identified.get(key);
      if (kept !== undefined && clock.now() < kept.until) return kept.identity;

      const claims = await verify(accessToken);
      const identity = claims === null ? null : identityOf(claims, roleClaim);
      if (claims?.exp === undefined || identity === null) return null;
      identified.set(key, { identity, until: Math.min(claims.exp * 1_000, clock.now() + believedMs) });
      return identity;
    },

    exists: async (identity, accessToken) => {
      if (subjectCheck.kind === 'none') return true;
      const key = digest(subjectCheck.kind === 'scim' ? identity.subject : accessToken);
      const kept = existing.get(key);
      if (kept !== undefined && clock.now() < kept.until) return kept.exists;
      const until = clock.now() + believedMs;
      const exists = await askWhetherExists(identity, accessToken);
      existing.set(key, { exists, until });
      return exists;
    },
  };
};

const identityOf = (claims: JWTPayload, roleClaim: readonly string[]): Identity | null => {
  const { sub, email, email_verified: isVerified, name } = claims;
  if (sub === undefined || sub === '') return null;
  return {
    subject: sub,
    role: isAdmin(claimAt(claims, roleClaim)) ? 'admin' : 'client',
    // Some issuers send booleans as text.
    ...(typeof email === 'string' && (isVerified === true || isVerified === 'true') && { verifiedEmail: email.toLowerCase() }),
    ...(typeof name === 'string' && name !== '' && { name }),
  };
};

const isAdmin = (claim: unknown): boolean => claim === 'admin' || (Array.isArray(claim) && claim.includes('admin'));

/** The claim of that very name, dots and all, or else what the path reaches. */
const claimAt = (claims: JWTPayload, path: readonly string[]): unknown =>
  claims[path.join('.')] ??
  path.reduce<unknown>(
    (inside, name) =>
      typeof inside === 'object' && inside !== null && Object.hasOwn(inside, name)
        ? (inside as Record<string, unknown>)[name]
        : undefined,
    claims,
  );

const isSignedToken = (text: string): boolean => {
  try {
    return algorithms.includes(decodeProtectedHeader(text).alg ?? '');
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
};

/** The codes under which jose tells that the keys could not be had; its other errors are about the token. */
const aboutKeys = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']);

const isOfToken = (error: unknown): boolean => error instanceof errors.JOSEError && !aboutKeys.has(error.code);

/** The JSON object that a text is; empty for any other text, such as a signed answer of `userinfo`. */
const objectIn = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
