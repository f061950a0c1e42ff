import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.js';
import type { ExternalIssuer } from '../../platform/settings.js';
import { parseUrl } from '../../platform/urls.js';
import { createIdentify, digest } from './accessTokens.js';
import { IdentityUnavailable, type Identity, type IdentityProvider } from './port.js';

const timeoutMs = 5_000;
/** How long an answer about a subject is believed. */
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
    const keys = typeof jwks === 'string' ? parseUrl(jwks) : undefined;
    if (keys === undefined) throw new IdentityUnavailable(`${address} names no keys`);
    return {
      keys: createRemoteJWKSet(keys, { timeoutDuration: timeoutMs, cooldownDuration: keyCooldownMs }),
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
    identify: createIdentify(
      { url: () => url, audience: () => audience, roleClaim, keys: async () => (await issuer()).keys },
      clock,
    ),

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
