import { createHash } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.js';
import { IdentityUnavailable, type Identity, type IdentityProvider } from './port.js';

/** Asymmetric ones only: with a shared secret, whoever can check a token can make one (RFC 8725, 2.1 and 3.1). */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const leewaySeconds = 30;
/** How long a checked token is believed. */
const believedMs = 60_000;
const mostKept = 10_000;

/** Who signs the tokens, and for whom. What is a function may be known only once requests come, or change. */
export interface TokenIssuer {
  /** Exactly as the `iss` claim carries it. */
  readonly url: () => string;
  readonly audience: () => string;
  /** The claim that holds the role; each further entry reaches into the object before it. */
  readonly roleClaim: readonly string[];
  /** @throws IdentityUnavailable */
  readonly keys: () => Promise<JWTVerifyGetKey>;
}

/** Checks access tokens (api.md, section 2), whether the issuer is outside or in this process. */
export const createIdentify = (issuer: TokenIssuer, clock: Clock): IdentityProvider['identify'] => {
  const identified = new LRUCache<string, { readonly identity: Identity; readonly until: number }>({ max: mostKept });

  const verify = async (accessToken: string): Promise<JWTPayload | null> => {
    const keys = await issuer.keys();
    try {
      const { payload } = await jwtVerify(accessToken, keys, {
        issuer: issuer.url(),
        audience: issuer.audience(),
        algorithms,
        clockTolerance: leewaySeconds,
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp', 'sub'],
      });
      return payload;
    } catch (error) {
      if (isOfToken(error)) return null;
      throw new IdentityUnavailable(`the keys of ${issuer.url()} cannot be had`, { cause: error });
    }
  };

  return async (accessToken) => {
    // Looked at before anything is asked: nonsense costs the issuer nothing, and is refused even when it is down.
    if (!isSignedToken(accessToken)) return null;
    const key = digest(accessToken);
    const kept = identified.get(key);
    if (kept !== undefined && clock.now() < kept.until) return kept.identity;

    const claims = await verify(accessToken);
    const identity = claims === null ? null : identityOf(claims, issuer.roleClaim);
    if (claims?.exp === undefined || identity === null) return null;
    identified.set(key, { identity, until: Math.min(claims.exp * 1_000, clock.now() + believedMs) });
    return identity;
  };
};

/** A name for a token under which something may be kept: the token itself is not. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

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
