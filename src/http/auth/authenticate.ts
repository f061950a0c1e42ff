import { Refused, refusals } from '../../commands/refusal.js';
import type { Engine } from '../../engine.js';
import type { IdentityProvider } from '../../integrations/identity/port.js';
import { hashAccessToken, isAccessToken, tokenPrefix } from '../../platform/accessToken.js';
import { clientIdOf, type ClientDirectory } from '../../events/client/client.directory.js';
import type { Caller } from './caller.js';
import { goneRefusalFor } from './gone.js';
import type { KeyUse } from './keyUse.js';
import { findLiveKey } from '../../events/apiKey/apiKey.directory.js';
import { isoTime } from '../../platform/clock.js';
import { isSameSecret } from '../../platform/sameSecret.js';

/**
 * The entry mode that a request came in by (specification, "Authentication"): paths as written, or
 * under `/v1/`. `mcp`: `/mcp`, and the API as its tools call it; it takes personal access tokens, and
 * access tokens that were issued for it and not for the API.
 */
export type EntryMode = 'portal' | 'token' | 'mcp';

/**
 * Who calls, from the `Authorization` header; handlers behave the same in every mode.
 * @throws Refused: 401, with the messages of the specification
 * @throws IdentityUnavailable, EventStoreUnavailable: it could not be checked, so nobody is let in
 */
export type Authenticate = (
  reader: ClientDirectory,
  authorization: string | undefined,
  mode: EntryMode,
  userAgent?: string,
) => Promise<Caller>;

/** How assistants' programs on somebody's own machine name themselves. It marks their changes, and opens nothing. */
const assistantPrograms = /^doorstep-mcp\//;

export const createAuthenticate = (parts: {
  engine: Engine;
  /** `null`: nobody can sign in, only tokens work. */
  identityProvider: IdentityProvider | null;
  keyUse: KeyUse;
}): Authenticate => {
  const { engine, identityProvider, keyUse } = parts;

  const opened = async (text: string | undefined): Promise<string | null | undefined> =>
    text === undefined ? undefined : engine.personal.decrypt(text);

  const byToken = async (reader: ClientDirectory, token: string, via: 'token' | 'mcp'): Promise<Caller> => {
    if (!isAccessToken(token)) throw new Refused(refusals.invalidToken());
    const { hash, key } = hashAccessToken(token);
    const now = engine.clock.now();
    const found = await findLiveKey(reader, key, isoTime(now));
    if (found === null || !isSameSecret(hash, found.key.hash)) {
      throw new Refused(refusals.invalidToken());
    }
    const { role, scope, id, ...held } = found.key;
    const [subject, verifiedEmail, name] = await Promise.all([held.subject, held.verifiedEmail, held.userName].map(opened));
    // Its person was erased.
    if (subject === undefined || subject === null || verifiedEmail === null) throw new Refused(refusals.invalidToken());
    const gone = await goneRefusalFor(identityProvider, { subject, role, verifiedEmail }, found);
    if (gone !== null) throw new Refused(gone);
    keyUse.note(id, now);
    return callerOf(
      reader,
      { subject, role, verifiedEmail, name: name ?? undefined },
      { via, tokenId: id, scope, ...(subject !== held.subject && { encryptedSubject: held.subject }) },
    );
  };

  const byIdentity = async (reader: ClientDirectory, accessToken: string, via: 'portal' | 'mcp'): Promise<Caller> => {
    const resource = via === 'mcp' ? 'mcp' : 'api';
    const identity = await identityProvider?.identify(accessToken, resource);
    if (identityProvider === null || identity === null || identity === undefined) throw new Refused(refusals.invalidToken());
    if (identity.role === 'client' && !(await identityProvider.exists(identity, accessToken, resource))) {
      throw new Refused(refusals.staleSession());
    }
    const { subject, role, verifiedEmail, name, deviceGrant, program, scopes } = identity;
    return callerOf(
      reader,
      { subject, role, verifiedEmail, name },
      {
        via,
        scope: 'write',
        ...(deviceGrant !== undefined && { deviceGrant }),
        ...(via === 'mcp' && program !== undefined && { program }),
        ...(via === 'mcp' && scopes !== undefined && { scopes }),
      },
    );
  };

  const callerOf = async (
    reader: ClientDirectory,
    person: Pick<Caller, 'subject' | 'role'> & { verifiedEmail: string | undefined; name: string | undefined },
    entry: Pick<Caller, 'via' | 'scope' | 'scopes' | 'tokenId' | 'program' | 'deviceGrant' | 'encryptedSubject'>,
  ): Promise<Caller> => {
    const { subject, role, verifiedEmail, name } = person;
    const clientId = role === 'client' ? await clientIdOf(reader, subject, verifiedEmail) : undefined;
    return {
      subject,
      role,
      ...entry,
      ...(verifiedEmail !== undefined && { verifiedEmail }),
      ...(name !== undefined && { name }),
      ...(clientId !== undefined && { clientId }),
    };
  };

  return async (reader, authorization, mode, userAgent = '') => {
    const sent = /^bearer(?: +(.+))?$/i.exec(authorization?.trim() ?? '')?.[1];
    if (sent === undefined) throw new Refused(mode === 'token' ? refusals.missingToken() : refusals.noAuthorizationHeader());
    const credential = /^\S+$/.exec(sent)?.[0];
    if (credential === undefined) throw new Refused(refusals.invalidToken());
    if (mode === 'token' && isJwt(credential)) throw new Refused(refusals.invalidToken(hints.jwt));
    if (mode === 'portal' && credential.startsWith(tokenPrefix)) throw new Refused(refusals.invalidToken(hints.token));
    if (mode === 'token') return byToken(reader, credential, assistantPrograms.test(userAgent) ? 'mcp' : 'token');
    if (mode === 'portal') return byIdentity(reader, credential, 'portal');
    return credential.startsWith(tokenPrefix) ? byToken(reader, credential, 'mcp') : byIdentity(reader, credential, 'mcp');
  };
};

const hints = {
  jwt: 'Paths under /v1 take a personal access token. This is a JWT: send it to the same path without /v1.',
  token: 'Personal access tokens are for paths under /v1. Send it to the same path with /v1 before it.',
};

/** By its form (RFC 7515, 3.1); the signature is checked later. */
const isJwt = (credential: string): boolean => /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/.test(credential);
