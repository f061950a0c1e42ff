import { Refused, refusals } from '../../../commands/refusal.js';
import type { AccessKey } from '../../../events/access/access.stream.js';
import type { InvitationEntry, LinkEntry } from '../../../projections/access/access.projection.js';
import { readAccess, readInvitation } from '../../../projections/access/access.queries.js';
import type { Reader } from '../../../projections/reader.js';

/** @throws Refused: there is no such link */
export const findLink = async (
  reader: Reader,
  key: AccessKey,
  through?: bigint,
): Promise<{ readonly link: LinkEntry; readonly revision: bigint }> => {
  const { link, revision } = await readAccess(reader, key, through);
  if (link === undefined) throw new Refused(refusals.linkNotFound(key.clientId, key.websiteId));
  return { link, revision };
};

/**
 * @param ofWebsite refuses an invitation of another website
 * @throws Refused: there is no such invitation, or it was withdrawn
 */
export const findInvitation = async (
  reader: Reader,
  invitationId: string,
  ofWebsite?: string,
  through?: bigint,
): Promise<{ readonly websiteId: string; readonly invitation: InvitationEntry; readonly revision: bigint }> => {
  const found = await readInvitation(reader, invitationId, through);
  if (found === null || (ofWebsite !== undefined && found.websiteId !== ofWebsite)) {
    throw new Refused(refusals.invitationNotFound(invitationId));
  }
  const { kind, status } = found.invitation;
  if (status !== 'revoked') return found;
  throw new Refused(kind === 'ownership_transfer' ? refusals.transferNotFound() : refusals.invitationNotFound(invitationId));
};
