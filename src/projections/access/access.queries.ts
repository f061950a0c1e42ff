import type { LinkRole } from '../../events/access/access.events.js';
import { accessFold, linkRole } from '../../events/access/access.state.js';
import { keyOfInvitation, type AccessKey } from '../../events/access/access.stream.js';
import { websiteFold } from '../../events/website/website.state.js';
import { hasExpired } from '../../platform/times.js';
import { everyDocument } from '../everyDocument.js';
import type { Reader } from '../reader.js';
import { websiteProjection, type WebsiteDocument } from '../website/website.projection.js';
import {
  accessDocumentId,
  accessProjection,
  websiteOfAccess,
  type AccessDocument,
  type InvitationEntry,
  type LinkEntry,
} from './access.projection.js';

/**
 * A client's role at a website as of now; `null` when there is none. An owner always acts as an
 * editor. It reads only the log: a stored document may come from a build that skipped events that
 * it did not know.
 * @throws UnknownEvent, so that access is never given on incomplete facts; faults of the event
 *   store
 */
export const websiteRoleOf = async (
  reader: Reader,
  { id: websiteId }: Pick<WebsiteDocument, 'id'>,
  clientId: string,
): Promise<{ readonly via: 'owner' | 'link'; readonly role: LinkRole } | null> => {
  const { state: website } = await reader.state(websiteFold, { websiteId });
  if (website.stage !== 'none' && website.clientId === clientId) return { via: 'owner', role: 'editor' };
  const { state } = await reader.state(accessFold, { websiteId, clientId });
  const role = linkRole(state);
  return role === undefined ? null : { via: 'link', role };
};

/**
 * One person's access to a website as of now, or as of the revision `through` of its stream, with
 * that revision.
 */
export const readAccess = async (
  reader: Reader,
  key: AccessKey,
  through?: bigint,
): Promise<{
  readonly link: LinkEntry | undefined;
  readonly invitations: readonly InvitationEntry[];
  readonly revision: bigint;
}> => {
  const { document, revision } = await reader.read(accessProjection, accessDocumentId(key), through);
  return { link: document?.link, invitations: document?.invitations ?? [], revision };
};

/**
 * An invitation by its id, as of now or of the revision `through` of its stream, with that revision.
 */
export const readInvitation = async (
  reader: Reader,
  invitationId: string,
  through?: bigint,
): Promise<{ readonly websiteId: string; readonly invitation: InvitationEntry; readonly revision: bigint } | null> => {
  const key = keyOfInvitation(invitationId);
  if (key === null) return null;
  const { invitations, revision } = await readAccess(reader, key, through);
  const invitation = invitations.find(({ id }) => id === invitationId);
  return invitation === undefined ? null : { websiteId: key.websiteId, invitation, revision };
};

/** Links of a website, by client id, the newest clients first; `after` is a client id. */
export const listLinks = async (
  reader: Reader,
  websiteId: string,
  { after, limit }: { after?: string; limit: number },
): Promise<readonly LinkEntry[]> => {
  const page = await reader.list(accessProjection, {
    where: { linkedWebsite: websiteId },
    order: 'descending',
    ...(after !== undefined && { after: accessDocumentId({ websiteId, clientId: after }) }),
    limit,
  });
  return page.flatMap(({ body: { link } }) => (link === undefined ? [] : [link]));
};

const newestFirst = (documents: readonly AccessDocument[], kind: InvitationEntry['kind']): readonly InvitationEntry[] =>
  documents
    .flatMap(({ invitations }) => invitations)
    .filter((invitation) => invitation.kind === kind)
    .sort((one, other) => (one.id < other.id ? 1 : -1));

/** How many links a website has. */
export const countLinks = (reader: Reader, websiteId: string): Promise<number> =>
  reader.count(accessProjection, { where: { linkedWebsite: websiteId } });

/** Those who are invited to a website, by client id, the newest clients first; `after` is a client id. */
export const listInvited = async (
  reader: Reader,
  websiteId: string,
  { after, limit }: { after?: string; limit: number },
): Promise<readonly AccessDocument[]> => {
  const found = await reader.list(accessProjection, {
    where: { invitingWebsite: websiteId },
    order: 'descending',
    ...(after !== undefined && { after: accessDocumentId({ websiteId, clientId: after }) }),
    limit,
  });
  return found.map(({ body }) => body);
};

/** The pending invitations of people, newest first. */
export const openInvitationsOf = (invited: readonly AccessDocument[]): readonly InvitationEntry[] =>
  newestFirst(invited, 'client_access').filter(({ status }) => status === 'pending');

/**
 * Pending invitations, transfers too, to the person that a client id stands for, newest first;
 * without those that have expired at `now`.
 */
export const pendingInvitations = async (
  reader: Reader,
  clientId: string,
  now: string,
): Promise<readonly { readonly websiteId: string; readonly invitation: InvitationEntry }[]> =>
  (await everyDocument(reader, accessProjection, { clientId }))
    .flatMap(({ websiteId, invitations }) => invitations.map((invitation) => ({ websiteId, invitation })))
    .filter(({ invitation: { status, expiresAt } }) => status === 'pending' && !hasExpired(expiresAt, now))
    .sort(({ invitation: one }, { invitation: other }) => (one.id < other.id ? 1 : -1));

/** Offers of a website's ownership, newest first; without those that were withdrawn. */
export const listTransfers = async (reader: Reader, websiteId: string): Promise<readonly InvitationEntry[]> =>
  newestFirst(await everyDocument(reader, accessProjection, { offeredWebsite: websiteId }), 'ownership_transfer').filter(
    ({ status }) => status !== 'revoked',
  );

/** Ids of the offers of a website's ownership that are neither withdrawn nor over. */
export const openTransfers = async (reader: Reader, websiteId: string): Promise<readonly string[]> =>
  (await listTransfers(reader, websiteId)).filter(({ status }) => status === 'pending').map(({ id }) => id);

/**
 * Ids of the websites that a client owns or is linked to, the newest first: all, or a page of them;
 * `after` is an id.
 */
export const websiteIdsOfClient = async (
  reader: Reader,
  clientId: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit?: number } = {},
): Promise<readonly string[]> => {
  const max = limit === undefined ? {} : { limit };
  const afterOwned = after === undefined ? {} : { after };
  const afterLinked = after === undefined ? {} : { after: accessDocumentId({ websiteId: after, clientId }) };
  const owned = await reader.listIds(websiteProjection, { where: { clientId }, ...afterOwned, ...max });
  // Documents of access are in the order of their websites.
  const linked = await reader.listIds(accessProjection, { where: { linkedClient: clientId }, ...afterLinked, ...max });
  const ids = [...new Set([...owned, ...linked.map(websiteOfAccess)])].sort().reverse();
  return ids.slice(0, limit);
};

/** Ids in a page, at first and at most: few at first, because most that are asked for match. */
const [firstIds, mostIds] = [50, 2_000];

/** As `websiteIdsOfClient`, after the id `after`, in pages, which give way. */
export async function* pagesOfWebsiteIds(
  reader: Reader,
  clientId: string,
  after: string | undefined,
): AsyncGenerator<readonly string[], void> {
  let last = after;
  for (let limit = firstIds; ; limit = Math.min(mostIds, limit * 4)) {
    const ids = await websiteIdsOfClient(reader, clientId, { after: last, limit });
    yield ids;
    if (ids.length < limit) return;
    await reader.giveWay();
    last = ids.at(-1);
  }
}

/** Websites that are read and checked before other work gets its turn. */
const mostChecked = 25;

/** A website and the client's way to it. */
export interface WebsiteOfClient {
  readonly website: WebsiteDocument;
  readonly via: 'owner' | 'link';
  readonly role: LinkRole;
}

/** The website, with the client's way to it as of now; `null` when there is none, or it is archived. */
export const websiteOfClient = async (reader: Reader, clientId: string, websiteId: string): Promise<WebsiteOfClient | null> => {
  const { document: website } = await reader.read(websiteProjection, websiteId);
  if (website === null || website.shelf === 'archived') return null;
  const access = await websiteRoleOf(reader, website, clientId);
  return access === null ? null : { website, ...access };
};

/**
 * Websites that a client owns or is linked to, newest first, with the client's role; each checked
 * as of now. Archived ones are left out.
 */
export const websitesOfClient = async (
  reader: Reader,
  clientId: string,
  { after, limit }: { after?: string; limit: number },
): Promise<readonly WebsiteOfClient[]> => {
  const found: WebsiteOfClient[] = [];
  for await (const ids of pagesOfWebsiteIds(reader, clientId, after)) {
    const atOnce = Math.min(mostChecked, limit);
    for (let start = 0; start < ids.length && found.length < limit; start += atOnce) {
      const checked = await Promise.all(ids.slice(start, start + atOnce).map((id) => websiteOfClient(reader, clientId, id)));
      found.push(...checked.filter((one) => one !== null));
      await reader.giveWay();
    }
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
};

/** Clients with a link to a website, or with an invitation to it or an offer of it that is open. */
export const peopleWithAccess = async (reader: Reader, websiteId: string): Promise<readonly string[]> => {
  const found = await Promise.all(
    ['linkedWebsite', 'invitingWebsite', 'offeredWebsite'].map((field) =>
      everyDocument(reader, accessProjection, { [field]: websiteId }),
    ),
  );
  return [...new Set(found.flat().map(({ clientId }) => clientId))];
};
