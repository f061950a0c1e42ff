import { accessFold, linkRole } from '../../events/access/access.state.js';
import { keyOfInvitation } from '../../events/access/access.stream.js';
import type { HandoverFacts } from '../../events/billing/handover.js';
import { clientFold } from '../../events/client/client.state.js';
import { hasExpired } from '../../platform/times.js';
import { countLinks, listTransfers } from '../access/access.queries.js';
import { deliveryProjection } from '../delivery/delivery.projection.js';
import { domainsOf } from '../domain/domain.queries.js';
import type { Reader } from '../reader.js';
import { websiteProjection } from '../website/website.projection.js';

/** What the caller knows beside what is read here. */
type Known = Pick<HandoverFacts, 'isOwnerSubscribed' | 'isAttached' | 'areTermsValid'> & { readonly now: string };

/**
 * The facts that a hand-over is drawn up from, as of now.
 * @param recipientId the client that becomes the owner, or would
 */
export const readHandoverFacts = async (
  reader: Reader,
  {
    websiteId,
    invitationId,
    recipientId,
  }: { readonly websiteId: string; readonly invitationId: string; readonly recipientId: string },
  { now, ...known }: Known,
): Promise<HandoverFacts> => {
  const key = keyOfInvitation(invitationId) ?? { websiteId, clientId: recipientId };
  const [website, delivery, domains, links, transfers, invited, recipient, client] = await Promise.all([
    reader.read(websiteProjection, websiteId),
    reader.read(deliveryProjection, websiteId),
    domainsOf(reader, websiteId),
    countLinks(reader, websiteId),
    listTransfers(reader, websiteId),
    reader.state(accessFold, key),
    reader.state(accessFold, { websiteId, clientId: recipientId }),
    reader.state(clientFold, { clientId: recipientId }),
  ]);
  const invitation = invited.state.invitations.get(invitationId);
  const isRecipientLinked = linkRole(recipient.state) !== undefined;
  return {
    ...known,
    isExpired: invitation?.stage === 'pending' && hasExpired(invitation.expiresAt, now),
    isArchived: website.document?.archivedAt !== undefined,
    isActive: website.document?.status === 'active',
    openCheckpoints: delivery.document?.checkpoints.filter(({ status }) => status !== 'done').length,
    domains: domains.length,
    unverifiedDomains: domains.filter(({ status }) => status !== 'verified').length,
    links: Math.max(0, links - (isRecipientLinked ? 1 : 0)),
    isRecipientLinked,
    isRecipientKnown: client.state.stage === 'registered',
    otherOffers: transfers.filter(({ id, status }) => status === 'pending' && id !== invitationId).length,
  };
};
