import type { Engine } from '../../engine.js';
import { findLiveKey } from '../../events/apiKey/apiKey.directory.js';
import { subjectKeysFold } from '../../events/apiKey/apiKey.state.js';
import { keyOfId } from '../../events/apiKey/apiKey.stream.js';
import { clientIdOf, clientIdOfEmail } from '../../events/client/client.directory.js';
import type { IdentityProvider } from '../../integrations/identity/port.js';
import { isoTime } from '../../platform/clock.js';
import { readClient, subjectOfClient } from '../../projections/client/client.queries.js';
import type { Reader } from '../../projections/reader.js';
import type { Caller } from './caller.js';
import { goneRefusalFor } from './gone.js';

/** Somebody who may or may not ever have called, as they would be when they call. */
export type Person = Pick<Caller, 'role' | 'verifiedEmail' | 'clientId'> & {
  /**
   * What the role is known from: the identity provider's account of the address, or an API key with
   * the admin role; `nothing`: it stands in a token of theirs alone, and `client` is an assumption.
   */
  readonly roleFrom: 'account' | 'apiKey' | 'nothing';
};

export interface PersonParts {
  readonly engine: Pick<Engine, 'clock'>;
  readonly reader: Reader;
  readonly identityProvider: IdentityProvider | null;
}

/** The person of a lower-case address that the identity provider vouches for. */
export const personOfEmail = async ({ reader, identityProvider }: PersonParts, email: string): Promise<Person> => {
  const account = await identityProvider?.accountOf?.(email);
  const role = account?.role ?? 'client';
  const clientId = role === 'client' ? await clientIdOfEmail(reader, email) : undefined;
  return {
    role,
    roleFrom: account === undefined ? 'nothing' : 'account',
    verifiedEmail: email,
    ...(clientId !== undefined && { clientId }),
  };
};

/**
 * The subject that somebody with the address signs in as; where that is not known, the one that is
 * bound to their client, or else the address itself.
 */
export const subjectOfEmail = async (
  { reader, identityProvider }: PersonParts,
  email: string,
  clientId: string | undefined,
): Promise<string> => {
  // Tokens that an operator minted may stand for the address.
  const hasKeys = async (subject: string): Promise<boolean> =>
    (await reader.state(subjectKeysFold, { subjectIndex: reader.blindIndex(subject) })).state.keys.length > 0;
  const account = await identityProvider?.accountOf?.(email);
  if (account !== undefined) {
    return (await hasKeys(email)) && !(await hasKeys(account.subject)) ? email : account.subject;
  }
  return (clientId === undefined ? null : await subjectOfClient(reader, clientId)) ?? email;
};

/**
 * The person of a subject of the identity provider. Their address is the one that a live API key of
 * theirs was minted with, else the one that they sign in with, else that of the client that the subject
 * is bound to.
 */
export const personOfSubject = async (parts: PersonParts, subject: string): Promise<Person> => {
  const { reader, identityProvider } = parts;
  const { isAdminByKey, keyEmail } = await keysOf(parts, subject);
  const ownEmail = keyEmail ?? (await identityProvider?.addressOf?.(subject)) ?? undefined;
  const known = await clientIdOf(reader, subject, ownEmail);
  const knownEmail = known === undefined ? undefined : (await readClient(reader, known))?.client.email;
  const email = ownEmail ?? knownEmail;
  const found = email === undefined ? undefined : await identityProvider?.accountOf?.(email);
  // Of an address that was forgotten since, the account has another subject.
  const account = found?.subject === subject ? found : undefined;
  const role = account?.role ?? (isAdminByKey ? 'admin' : 'client');
  const clientId = role === 'client' ? known : undefined;
  return {
    role,
    roleFrom: account !== undefined ? 'account' : isAdminByKey ? 'apiKey' : 'nothing',
    ...(email !== undefined && { verifiedEmail: email }),
    ...(clientId !== undefined && { clientId }),
  };
};

/** What the live API keys of a subject say of them. */
const keysOf = async (
  { engine, reader, identityProvider }: PersonParts,
  subject: string,
): Promise<{ readonly isAdminByKey: boolean; readonly keyEmail: string | undefined }> => {
  const { state } = await reader.state(subjectKeysFold, { subjectIndex: reader.blindIndex(subject) });
  const now = isoTime(engine.clock.now());
  const found = await Promise.all(state.keys.map(({ id }) => findLiveKey(reader, keyOfId(id), now)));
  const live = await Promise.all(
    found
      .filter((one) => one !== null)
      .map(async (one) => {
        const { role, verifiedEmail } = one.key;
        const email = verifiedEmail === undefined ? undefined : ((await reader.personal.decrypt(verifiedEmail)) ?? undefined);
        const isAdmin =
          role === 'admin' && (await goneRefusalFor(identityProvider, { subject, role, verifiedEmail: email }, one)) === null;
        return { isAdmin, email };
      }),
  );
  return {
    isAdminByKey: live.some(({ isAdmin }) => isAdmin),
    keyEmail: live.find(({ email }) => email !== undefined)?.email,
  };
};
