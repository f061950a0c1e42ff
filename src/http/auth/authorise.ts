import { Refused, refusals, throwIfRefused } from '../../commands/refusal.js';
import { accessFold } from '../../events/access/access.state.js';
import { keyOfInvitation } from '../../events/access/access.stream.js';
import { isRecipient } from '../../events/client/client.directory.js';
import { websiteRoleOf } from '../../projections/access/access.queries.js';
import { websiteProjection, type WebsiteDocument } from '../../projections/website/website.projection.js';
import type { Reader } from '../../projections/reader.js';
import type { Route } from '../route.js';
import type { Caller, WebsiteAccess, WebsiteStanding } from './caller.js';
import { isWebsiteRule, refusalFor, standingOf } from './rules.js';

/**
 * Lets the caller through, or refuses. It reads streams as they are now, so that after the answer
 * to a revocation the person has no access, on any instance.
 *
 * @returns the website that the route is about and the caller's way to it, if it is about one
 * @throws Refused: 403, `Website <id> not found`, 401 `Editor role required`; faults of the event
 *   store
 */
export type Authorise = (
  reader: Reader,
  route: Pick<Route, 'access' | 'scope' | 'operationId' | 'feature' | 'tag'>,
  caller: Caller,
  params: Readonly<Record<string, string>>,
) => Promise<WebsiteAccess | undefined>;

/**
 * What somebody is to a website that there is, as of now.
 * @throws faults of the event store
 */
export const standingAt = async (
  reader: Reader,
  { role, clientId }: Pick<Caller, 'role' | 'clientId'>,
  website: WebsiteDocument,
): Promise<WebsiteStanding> => {
  if (role === 'admin') return 'admin';
  return standingOf(clientId === undefined ? null : await websiteRoleOf(reader, website, clientId));
};

/**
 * The website, and what somebody is to it, as of now.
 * @throws Refused: `Website <id> not found`; faults of the event store
 */
export const accessOf = async (reader: Reader, caller: Pick<Caller, 'role' | 'clientId'>, id: string): Promise<WebsiteAccess> => {
  const { document: website, revision } = await reader.read(websiteProjection, id);
  if (website === null) throw new Refused(refusals.websiteNotFound(id));
  return { website, revision, standing: await standingAt(reader, caller, website) };
};

/** Whether the transfer of the website is open, and offered to the caller's verified address. */
const isOfferedTo = async (
  reader: Reader,
  { verifiedEmail }: Caller,
  websiteId: string,
  transferId: string,
): Promise<boolean> => {
  const key = keyOfInvitation(transferId);
  if (key?.websiteId !== websiteId) return false;
  const invitation = (await reader.state(accessFold, key)).state.invitations.get(transferId);
  if (invitation?.kind !== 'ownership_transfer') return false;
  if (invitation.stage !== 'pending' && invitation.stage !== 'claimed') return false;
  return isRecipient(reader, key.clientId, invitation.email, verifiedEmail);
};

export const authorise: Authorise = async (reader, route, caller, { id, transferId }) => {
  const rule = route.access;
  if (!isWebsiteRule(rule)) return undefined;
  if (rule === 'admin' && caller.role !== 'admin') throw new Refused(refusals.adminRequired());
  if (rule === 'admin' && route.scope === 'installation') return undefined;
  // Nobody is let in by a route that declares a website's rule and no website.
  if (route.scope !== 'website' || id === undefined) throw new Error(`${route.operationId} names no website`);

  const access = await accessOf(reader, caller, id);
  const isOffered = rule === 'handover' && transferId !== undefined && (await isOfferedTo(reader, caller, id, transferId));
  throwIfRefused(refusalFor(route, access.standing, access.website, isOffered));
  return access;
};
