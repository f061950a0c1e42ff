import type { AccessEvent } from '../../events/access/access.events.js';
import { invitationExpiry, type AccessState, type InvitationState } from '../../events/access/access.state.js';
import type { AccessKey } from '../../events/access/access.stream.js';
import { START } from '../../events/store/eventStore.js';
import { hasExpired } from '../../platform/times.js';
import { refusals, type Refusal } from '../refusal.js';
import type { ClaimTransfer, OfferTransfer, SettleTransfer, WithdrawTransfer } from './access.commands.js';

type Outcome = readonly AccessEvent[] | Refusal;

const kind = 'ownership_transfer';

/** Transfers that are pending or claimed, by invitation id. */
const openTransfers = ({ invitations }: AccessState): [string, InvitationState][] =>
  [...invitations].filter(([, invitation]) => invitation.kind === kind && ['pending', 'claimed'].includes(invitation.stage));

export const offerTransfer = (command: OfferTransfer, state: AccessState): Outcome => {
  const { websiteId, clientId, email, priceId, subscriptionId, sendMail, ownerId, at } = command;
  if (clientId === ownerId) return refusals.alreadyOwner();
  const expiresAt = invitationExpiry(at);
  const terms = { kind, email, ...(priceId !== undefined && { priceId }), expiresAt, sendMail } as const;
  const named = (invitationId: string): readonly AccessEvent[] =>
    subscriptionId === undefined
      ? []
      : [{ type: 'TransferSubscriptionNamed', data: { websiteId, clientId, invitationId, subscriptionId } }];
  const [open] = openTransfers(state);
  if (open === undefined) {
    const { invitationId } = command;
    return [{ type: 'InvitationIssued', data: { websiteId, clientId, invitationId, ...terms } }, ...named(invitationId)];
  }
  const [invitationId, before] = open;
  // A claim under way keeps the terms that it began with.
  const isSame = before.expiresAt === expiresAt && before.priceId === priceId && before.subscriptionId === subscriptionId;
  if (before.stage === 'claimed' || isSame) return [];
  return [{ type: 'InvitationRenewed', data: { websiteId, clientId, invitationId, ...terms } }, ...named(invitationId)];
};

/**
 * An assignment of the owner ends the offers that were made before it: a later claim of one would
 * take the website from the new owner.
 */
const isOvertaken = ({ sentPosition }: InvitationState, ownerPosition: bigint): boolean => sentPosition < ownerPosition;

/** The billing stream guards that a website has one claim at a time (`workers/transfer/`). */
export const claimTransfer = (command: ClaimTransfer, state: AccessState): Outcome => {
  const { websiteId, clientId, invitationId, verifiedEmail, subject, claimedBy, ownerId, ownerPosition = START, at } = command;
  const invitation = state.invitations.get(invitationId);
  if (invitation?.kind !== kind || invitation.stage === 'revoked') return refusals.transferNotFound();
  if (invitation.email !== verifiedEmail) return refusals.notYourInvitation();
  const { stage, priceId } = invitation;
  const isTheirs = invitation.claimedBy === claimedBy;
  // A repeated claim by the same person succeeds as before, unless somebody else owns the website
  // now.
  if (stage === 'accepted') return isTheirs && claimedBy === ownerId ? [] : refusals.transferNotFound();
  if (stage === 'claimed') return isTheirs ? [] : refusals.transferNotFound();
  if (hasExpired(invitation.expiresAt, at) || isOvertaken(invitation, ownerPosition)) return refusals.transferNotFound();
  const terms = priceId === undefined ? {} : { priceId };
  return [{ type: 'TransferClaimed', data: { websiteId, clientId, invitationId, claimedBy, subject, ...terms } }];
};

export const settleTransfer = (command: SettleTransfer, state: AccessState): Outcome => {
  const { type, websiteId, clientId, invitationId, claimId } = command;
  const invitation = state.invitations.get(invitationId);
  if (invitation?.stage !== 'claimed' || invitation.claimId !== claimId || invitation.claimedBy === undefined) return [];
  const of = { websiteId, clientId, invitationId };
  return type === 'ReleaseTransfer'
    ? [{ type: 'TransferReleased', data: { ...of, claimId } }]
    : [{ type: 'InvitationAccepted', data: { ...of, claimedBy: invitation.claimedBy } }];
};

export const cancelTransfer = (of: AccessKey & { readonly invitationId: string }, state: AccessState): Outcome => {
  const invitation = state.invitations.get(of.invitationId);
  if (invitation?.kind !== kind) return refusals.transferNotFound();
  if (invitation.stage === 'revoked') return [];
  return invitation.stage === 'pending' ? [{ type: 'InvitationRevoked', data: of }] : refusals.transferNotFound();
};

export const withdrawTransfer = (command: WithdrawTransfer, state: AccessState): Outcome => {
  const { websiteId, clientId, invitationId, ownerId, ownerPosition } = command;
  const open = openTransfers(state).find(([id]) => id === invitationId)?.[1];
  if (open === undefined || !isOvertaken(open, ownerPosition)) return [];
  // The owner's own claim goes on: it gives them a subscription, unless it fails.
  if (open.stage === 'claimed' && open.claimedBy === ownerId) return [];
  return [{ type: 'InvitationRevoked', data: { websiteId, clientId, invitationId } }];
};
