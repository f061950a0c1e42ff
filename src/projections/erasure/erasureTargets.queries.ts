import type { MintedKey } from '../../events/apiKey/apiKey.directory.js';
import { apiKeyFold } from '../../events/apiKey/apiKey.state.js';
import { apiKeyStream } from '../../events/apiKey/apiKey.stream.js';
import { accessFold, type AccessState } from '../../events/access/access.state.js';
import { accessStream, type AccessKey } from '../../events/access/access.stream.js';
import { clientIdOfEmail } from '../../events/client/client.directory.js';
import { clientFold, clientSubjectFold } from '../../events/client/client.state.js';
import { streamPrefix } from '../../events/defineStream.js';
import { canonicalAddress } from '../../platform/emailAddress.js';
import { personKeyOf } from '../../platform/personal.js';
import { accessProjection } from '../access/access.projection.js';
import { apiKeyProjection, type APIKeyDocument } from '../apiKey/apiKey.projection.js';
import { auditedStreams } from '../audit/audit.queries.js';
import { clientSubjectProjection } from '../client/clientSubject.projection.js';
import { everyDocument } from '../everyDocument.js';
import type { Reader } from '../reader.js';
import { websiteProjection } from '../website/website.projection.js';

/**
 * Where a client is found beside their own stream, as the log holds it at the time of the call.
 * @param emails as the client's events hold them
 * @throws as `readList`
 */
export const erasureTargets = async (
  reader: Reader,
  clientId: string,
  emails: readonly string[],
): Promise<{ owned: string[]; accessible: AccessKey[]; apiKeys: APIKeyDocument[]; otherNames: OtherNames }> => {
  const [owned, linked, bound] = await Promise.all([
    everyDocument(reader, websiteProjection, { clientId }),
    everyDocument(reader, accessProjection, { clientId }),
    everyDocument(reader, clientSubjectProjection, { clientId }),
  ]);
  const subjects = bound.map(({ subject }) => subject);
  const otherNames = await otherNamesOf(reader, clientId, emails, subjects);
  const [invited, ofSubject, ofAddress] = await Promise.all([
    invitationsTo(reader, [...otherNames.addresses, ...otherNames.subjects]),
    everyDocument(reader, apiKeyProjection, { subject: [...emails, ...subjects, ...otherNames.subjects] }),
    // Not the other addresses: a token with one of them alone may be of somebody who reads that mail today.
    everyDocument(reader, apiKeyProjection, { verifiedEmail: emails }),
  ]);
  return {
    owned: owned.map(({ id }) => id),
    accessible: [
      ...linked.map(({ websiteId }) => ({ websiteId, clientId })),
      ...invited.filter(({ open }) => open).map(({ key }) => key),
    ],
    apiKeys: [...new Map([...ofSubject, ...ofAddress].map((key) => [key.id, key])).values()],
    otherNames,
  };
};

const personKeysOf = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.map(personKeyOf).filter((key) => key !== undefined));

/** Names as events hold them. */
interface OtherNames {
  readonly addresses: readonly string[];
  readonly subjects: readonly string[];
}

/**
 * What a client is called beside their own addresses: addresses of invitations that they claimed and of
 * tokens of theirs, and subjects that are addresses. The audit leads to them, because an erasure that
 * was interrupted finds neither links nor tokens any more.
 */
const otherNamesOf = async (
  reader: Reader,
  clientId: string,
  emails: readonly string[],
  subjects: readonly string[],
): Promise<OtherNames> => {
  const own = new Set([...emails, ...subjects]);
  const keys = personKeysOf([...own]);
  const isTheirs = (text = ''): boolean => own.has(text) || keys.has(personKeyOf(text) ?? '');
  const streams = [
    ...(await auditedStreams(reader, { people: [clientId, ...keys] })),
    ...(subjects.length === 0 ? [] : await auditedStreams(reader, { actors: subjects })),
  ];
  const found = { addresses: new Set<string>(), subjects: new Set(subjects) };
  for (const stream of new Set(streams)) {
    const invitations = (await invitationsIn(reader, stream))?.state.invitations.values() ?? [];
    for (const { email, claimedBy } of invitations) if (claimedBy === clientId) found.addresses.add(email);
    const token = await tokenIn(reader, stream);
    if (token === null || ![token.subject, token.verifiedEmail].some(isTheirs)) continue;
    found.subjects.add(token.subject);
    if (token.verifiedEmail !== undefined) found.addresses.add(token.verifiedEmail);
  }
  const ofEmails = personKeysOf(emails);
  const client = { clientId, subjects: found.subjects };
  const theirs = async (names: ReadonlySet<string>): Promise<readonly string[]> => {
    const others: string[] = [];
    for (const name of names) {
      const key = personKeyOf(name);
      if (key !== undefined && !ofEmails.has(key) && !(await isAnothers(reader, client, name))) others.push(name);
    }
    return others;
  };
  return { addresses: await theirs(found.addresses), subjects: await theirs(found.subjects) };
};

/** `null` of a stream of another kind. */
const tokenIn = async (reader: Reader, stream: string): Promise<MintedKey | null> => {
  const prefix = streamPrefix(apiKeyStream);
  if (!stream.startsWith(prefix)) return null;
  const { state } = await reader.state(apiKeyFold, { key: stream.slice(prefix.length) });
  return state.stage === 'none' ? null : state;
};

/** As `tokenIn`. */
const invitationsIn = async (
  reader: Reader,
  stream: string,
): Promise<{ readonly key: AccessKey; readonly state: AccessState } | null> => {
  const prefix = streamPrefix(accessStream);
  const [websiteId, clientId] = stream.startsWith(prefix) ? stream.slice(prefix.length).split('-') : [];
  if (websiteId === undefined || clientId === undefined) return null;
  const key = { websiteId, clientId };
  return { key, state: (await reader.state(accessFold, key)).state };
};

interface KnownClient {
  readonly clientId: string;
  readonly subjects: ReadonlySet<string>;
}

/** Whether somebody else goes by it, client or not: what is encrypted for both has one key. */
const isAnothers = async (reader: Reader, client: KnownClient, name: string): Promise<boolean> => {
  const { clientId } = client;
  const plain = await reader.personal.decrypt(name);
  if (plain === null) return false;
  const bound = (await reader.state(clientSubjectFold, { subjectIndex: reader.blindIndex(plain) })).state.clientId;
  const registered = await clientIdOfEmail(reader, canonicalAddress(plain));
  for (const other of [bound, registered]) {
    if (other === undefined || other === clientId) continue;
    const { state } = await reader.state(clientFold, { clientId: other });
    if (state.stage !== 'registered') continue;
    if (other === bound || personKeyOf(state.email) === personKeyOf(name)) return true;
  }
  return wasUsedByAnother(reader, client, name);
};

/** Whether somebody else had a token with the address, or claimed an invitation to it. */
const wasUsedByAnother = async (reader: Reader, { clientId, subjects }: KnownClient, name: string): Promise<boolean> => {
  const key = personKeyOf(name);
  if (key === undefined) return false;
  const keys = personKeysOf([...subjects]);
  const isTheirs = (subject: string): boolean => subjects.has(subject) || keys.has(personKeyOf(subject) ?? '');
  for (const stream of await auditedStreams(reader, { people: [key] })) {
    const token = await tokenIn(reader, stream);
    const hasAddress = token?.verifiedEmail !== undefined && personKeyOf(token.verifiedEmail) === key;
    if (hasAddress && !isTheirs(token.subject)) return true;
    const invitations = (await invitationsIn(reader, stream))?.state.invitations.values() ?? [];
    for (const { email, claimedBy = clientId } of invitations) {
      if (claimedBy !== clientId && personKeyOf(email) === key) return true;
    }
  }
  return false;
};

/**
 * Where one of the names is invited, or was.
 * @returns `open`: an invitation to it can still be taken up
 */
export const invitationsTo = async (
  reader: Reader,
  names: readonly string[],
): Promise<readonly { readonly key: AccessKey; readonly open: boolean }[]> => {
  if (names.length === 0) return [];
  const keys = personKeysOf(names);
  const found: { key: AccessKey; open: boolean }[] = [];
  for (const stream of await auditedStreams(reader, { people: [...keys] })) {
    const access = await invitationsIn(reader, stream);
    const invited = [...(access?.state.invitations.values() ?? [])].filter(({ email }) => keys.has(personKeyOf(email) ?? ''));
    if (access === null || invited.length === 0) continue;
    found.push({ key: access.key, open: invited.some(({ stage }) => stage === 'pending' || stage === 'claimed') });
  }
  return found;
};

/**
 * The tokens that were made with an address, which they vouch for.
 * @param email as events hold it
 * @throws as `readList`
 */
export const tokensOfAddress = (reader: Reader, email: string): Promise<APIKeyDocument[]> =>
  everyDocument(reader, apiKeyProjection, { verifiedEmail: email });
