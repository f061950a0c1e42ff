import { createHash } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { createCache } from '../../platform/cache.js';
import type { Clock } from '../../platform/clock.js';
import { IdentityUnavailable, type Identity, type IdentityProvider, type TokenResource } from './port.js';
import { canonicalAddress } from '../../platform/emailAddress.js';

/**
 * Asymmetric only: with a shared secret, everybody who can verify a token could create one (RFC
 * 8725, 2.1 and 3.1).
 */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const clockToleranceSeconds = 30;
/** How long a verified token is cached. */
const cacheMs = 60_000;
const maxCached = 10_000;

/**
 * Who issues the tokens, and for whom. Functions, because some values are known only at the first
 * request, or change.
 */
export interface TokenIssuer {
  /** Exactly as the `iss` claim carries it. */
  readonly url: () => string;
  /** Of tokens for a resource; undefined: there are none. */
  readonly audience: (resource: TokenResource) => string | undefined;
  /** The claim that holds the role; each further entry reaches into the object before it. */
  readonly roleClaim: readonly string[];
  /** Its tokens say what they may be used for. Default: no. */
  readonly hasScopes?: boolean;
  /** The claim that names the grant of a device; absent: no token is a device's. */
  readonly deviceGrantClaim?: string;
  /** @throws IdentityUnavailable */
  readonly keys: () => Promise<JWTVerifyGetKey>;
  /**
   * Verified tokens are cached only while this is the same value, which each request asks for.
   * Absent: for their time.
   */
  readonly basis?: () => Promise<unknown>;
}

/** Verifies access tokens (api.md, section 2) of an external issuer or the embedded one. */
export const createIdentify = (issuer: TokenIssuer, clock: Clock): IdentityProvider['identify'] => {
  const cache = createCache<{ readonly identity: Identity; readonly basis: unknown; readonly until: number }>(maxCached);

  const verify = async (accessToken: string, audience: string): Promise<JWTPayload | null> => {
    const keys = await issuer.keys();
    try {
      const { payload } = await jwtVerify(accessToken, keys, {
        issuer: issuer.url(),
        audience,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp', 'sub'],
      });
      return payload;
    } catch (error) {
      if (isTokenError(error)) return null;
      throw new IdentityUnavailable(`the keys of ${issuer.url()} cannot be loaded`, { cause: error });
    }
  };

  return async (accessToken, resource = 'api') => {
    // Checked first, so that a malformed token causes no request to the issuer and is refused even
    // when it is down.
    if (!isSignedToken(accessToken)) return null;
    const audience = issuer.audience(resource);
    if (audience === undefined) return null;
    const key = digest(`${audience} ${accessToken}`);
    const cached = cache.get(key);
    const basis = await issuer.basis?.();
    if (cached !== undefined && cached.basis === basis && clock.now() < cached.until) return cached.identity;

    const claims = await verify(accessToken, audience);
    const identity = claims === null ? null : identityOf(claims, issuer);
    if (claims?.exp === undefined || identity === null) return null;
    cache.set(key, { identity, basis, until: Math.min(claims.exp * 1_000, clock.now() + cacheMs) });
    return identity;
  };
};

/** A cache key for a token, so that the token itself is not kept in memory. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

const identityOf = (
  claims: JWTPayload,
  { roleClaim, deviceGrantClaim, hasScopes = false }: Pick<TokenIssuer, 'roleClaim' | 'deviceGrantClaim' | 'hasScopes'>,
): Identity | null => {
  const { sub, email, email_verified: isVerified, name, client_id: program, scope } = claims;
  if (typeof sub !== 'string' || sub === '') return null;
  const deviceGrant = deviceGrantClaim === undefined ? undefined : claims[deviceGrantClaim];
  return {
    subject: sub,
    role: isAdmin(claimAt(claims, roleClaim)) ? 'admin' : 'client',
    // Some issuers send booleans as text.
    ...(typeof email === 'string' &&
      email !== '' &&
      (isVerified === true || isVerified === 'true') && { verifiedEmail: canonicalAddress(email) }),
    ...(typeof name === 'string' && name !== '' && { name }),
    ...(typeof deviceGrant === 'string' && { deviceGrant }),
    ...(hasScopes && { scopes: typeof scope === 'string' ? scope.split(' ') : [] }),
    ...(typeof program === 'string' && isProgram.test(program) && { program }),
  };
};

/** A name, or the address of its metadata: nothing that could name a person. */
const isProgram = /^[\w.:/~-]{1,200}$/;

const isAdmin = (claim: unknown): boolean => claim === 'admin' || (Array.isArray(claim) && claim.includes('admin'));

/** The claim with exactly this dotted name, else the value at this path. */
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

/** The codes of jose's errors about loading keys; its other errors are about the token. */
const keyErrorCodes = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']);

const isTokenError = (error: unknown): boolean => error instanceof errors.JOSEError && !keyErrorCodes.has(error.code);
