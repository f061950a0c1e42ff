import type { AccessEvent } from '../../events/access/access.events.js';
import type { ClaimTransfer, OfferTransfer, SettleTransfer } from './access.commands.js';
import { invitationExpiry, type AccessState, type InvitationState } from '../../events/access/access.state.js';
import { refusals, type Refusal } from '../refusal.js';

type Outcome = readonly AccessEvent[] | Refusal;

const kind = 'ownership_transfer';

/** Transfers of the website that are neither over nor withdrawn, by invitation id. */
const openTransfers = ({ invitations }: AccessState): [string, InvitationState][] =>
  [...invitations].filter(([, invitation]) => invitation.kind === kind && ['pending', 'claimed'].includes(invitation.stage));

/** The claim that is under way, of which a website has at most one. */
export const claimUnderWay = (state: AccessState): [string, InvitationState] | undefined =>
  openTransfers(state).find(([, { stage }]) => stage === 'claimed');

export const offerTransfer = (command: OfferTransfer, state: AccessState): Outcome => {
  const { websiteId, email, priceId, sendMail, clientId, ownerId, at } = command;
  if (clientId !== undefined && clientId === ownerId) return refusals.alreadyOwner();
  const expiresAt = invitationExpiry(at);
  const terms = { kind, email, ...(priceId !== undefined && { priceId }), expiresAt, sendMail } as const;
  const open = openTransfers(state).find(([, invitation]) => invitation.email === email);
  if (open === undefined) {
    return [{ type: 'InvitationIssued', data: { websiteId, invitationId: command.invitationId, ...terms } }];
  }
  const [invitationId, before] = open;
  // Whoever is about to take it over does so on the terms of their claim.
  const isSettled = before.stage === 'claimed' || (before.expiresAt === expiresAt && before.priceId === priceId);
  return isSettled ? [] : [{ type: 'InvitationRenewed', data: { websiteId, invitationId, ...terms } }];
};

export const claimTransfer = (command: ClaimTransfer, state: AccessState): Outcome => {
  const { websiteId, invitationId, verifiedEmail, subject, clientId, ownerId, at } = command;
  const invitation = state.invitations.get(invitationId);
  if (invitation?.kind !== kind || invitation.stage === 'revoked') return refusals.transferNotFound();
  if (invitation.email !== verifiedEmail) return refusals.notYourInvitation();
  const { stage, priceId } = invitation;
  const isTheirs = invitation.clientId === clientId;
  // The same person once more: answered as the first time, unless somebody else owns the website by now.
  if (stage === 'accepted') return isTheirs && clientId === ownerId ? [] : refusals.transferNotFound();
  if (stage === 'claimed') return isTheirs ? [] : refusals.transferNotFound();
  if (invitation.expiresAt <= at || claimUnderWay(state) !== undefined) return refusals.transferNotFound();
  const terms = priceId === undefined ? {} : { priceId };
  return [{ type: 'TransferClaimed', data: { websiteId, invitationId, clientId, subject, ...terms } }];
};

export const settleTransfer = (command: SettleTransfer, state: AccessState): Outcome => {
  const { type, websiteId, invitationId, claimId } = command;
  const invitation = state.invitations.get(invitationId);
  if (invitation?.stage !== 'claimed' || invitation.claimId !== claimId || invitation.clientId === undefined) return [];
  if (type === 'ReleaseTransfer') return [{ type: 'TransferReleased', data: { websiteId, invitationId, claimId } }];
  // Offers of the same website to others have lost their object; left open, one would take it from the new owner some day.
  const others = openTransfers(state).filter(([id]) => id !== invitationId);
  return [
    { type: 'InvitationAccepted', data: { websiteId, invitationId, clientId: invitation.clientId } },
    ...others.map(([id]) => ({ type: 'InvitationRevoked', data: { websiteId, invitationId: id } }) as const),
  ];
};

export const cancelTransfer = (
  { websiteId, invitationId }: { readonly websiteId: string; readonly invitationId: string },
  state: AccessState,
): Outcome => {
  const invitation = state.invitations.get(invitationId);
  if (invitation?.kind !== kind) return refusals.transferNotFound();
  if (invitation.stage === 'revoked') return [];
  return invitation.stage === 'pending'
    ? [{ type: 'InvitationRevoked', data: { websiteId, invitationId } }]
    : refusals.transferNotFound();
};
