import type { AccessEvent } from '../../events/access/access.events.js';
import {
  accessFold,
  invitationExpiry,
  linkRole,
  type AccessState,
  type InvitationState,
} from '../../events/access/access.state.js';
import type { AccessKey } from '../../events/access/access.stream.js';
import { hasExpired } from '../../platform/times.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { AccessCommand, AddClient, ClaimInvitation, LinkClaimant, RequestRenewal, RestoreLink } from './access.commands.js';
import { cancelTransfer, claimTransfer, offerTransfer, settleTransfer, withdrawTransfer } from './access.transfers.js';

type Outcome = readonly AccessEvent[] | Refusal;

const pendingAccessInvitation = (state: AccessState): [string, InvitationState] | undefined =>
  [...state.invitations].find(([, { kind, stage }]) => kind === 'client_access' && stage === 'pending');

const renewed = (
  { websiteId, clientId, at }: AccessKey & { readonly at: string },
  invitationId: string,
  invitation: InvitationState,
  role: InvitationState['role'],
): readonly AccessEvent[] => {
  const { kind, email } = invitation;
  const expiresAt = invitationExpiry(at);
  if (invitation.expiresAt === expiresAt && invitation.role === role) return [];
  const terms = { kind, email, ...(role !== undefined && { role }), expiresAt, sendMail: true };
  return [{ type: 'InvitationRenewed', data: { websiteId, clientId, invitationId, ...terms } }];
};

const link = ({ websiteId, clientId, role, notify = false }: AddClient, state: AccessState): readonly AccessEvent[] => {
  const previousRole = linkRole(state);
  if (previousRole === role) return [];
  return previousRole === undefined
    ? [
        { type: 'ClientLinked', data: { websiteId, clientId, role } },
        ...(notify ? [{ type: 'ClientLinkNoticeRequested', data: { websiteId, clientId } } as const] : []),
      ]
    : [{ type: 'ClientLinkRoleChanged', data: { websiteId, clientId, role, previousRole } }];
};

/**
 * The pending invitation of somebody who gets a link, or the ownership, has reached its goal; left
 * pending, it would give access again after a removal.
 * @param upTo leaves one alone that was sent later than this position of the log
 */
const settlePending = ({ websiteId, clientId }: AccessKey, state: AccessState, upTo?: bigint): readonly AccessEvent[] => {
  const pending = pendingAccessInvitation(state);
  if (pending === undefined || (upTo !== undefined && pending[1].sentPosition > upTo)) return [];
  return [{ type: 'InvitationAccepted', data: { websiteId, clientId, invitationId: pending[0], claimedBy: clientId } }];
};

const addClient = (command: AddClient, state: AccessState): Outcome => {
  const { websiteId, clientId, email, role, isRegistered, ownerId, at } = command;
  if (clientId === ownerId) return refusals.alreadyOwner();
  // A client with a link is registered, though it was not when it was read a moment ago.
  if (isRegistered || linkRole(state) !== undefined) return [...link(command, state), ...settlePending(command, state)];
  const pending = pendingAccessInvitation(state);
  if (pending !== undefined) return renewed(command, pending[0], pending[1], role);
  const { invitationId } = command;
  const terms = { kind: 'client_access', email, role, expiresAt: invitationExpiry(at), sendMail: true } as const;
  return [{ type: 'InvitationIssued', data: { websiteId, clientId, invitationId, ...terms } }];
};

const claim = (command: ClaimInvitation, state: AccessState): Outcome => {
  const { websiteId, clientId, invitationId, verifiedEmail, subject, claimedBy, ownerId, at } = command;
  const invitation = state.invitations.get(invitationId);
  if (invitation === undefined || invitation.stage === 'revoked' || invitation.kind !== 'client_access') {
    return refusals.invitationNotFound(invitationId);
  }
  if (invitation.email !== verifiedEmail) return refusals.notYourInvitation();
  const isOwnAddress = claimedBy === clientId;
  if (invitation.stage === 'accepted') {
    // A repeated claim by the same person succeeds as before, unless the access has been removed
    // since.
    const stillLinked = invitation.claimedBy === claimedBy && (!isOwnAddress || linkRole(state) !== undefined);
    if (stillLinked) return [];
    return claimedBy === ownerId ? refusals.alreadyOwner() : refusals.invitationNotFound(invitationId);
  }
  if (hasExpired(invitation.expiresAt, at)) return refusals.invitationNotFound(invitationId);
  if (claimedBy === ownerId) return refusals.alreadyOwner();

  const accepted: AccessEvent = { type: 'InvitationAccepted', data: { websiteId, clientId, invitationId, claimedBy, subject } };
  if (!isOwnAddress) return [accepted];
  return [...linkByInvitation(command, invitation.role, state), accepted];
};

/** A link that is there keeps its role, unless the invitation gives more. */
const linkByInvitation = (
  { websiteId, clientId }: AccessKey,
  role: InvitationState['role'] = 'viewer',
  state: AccessState,
): readonly AccessEvent[] => {
  const previousRole = linkRole(state);
  if (previousRole === undefined) return [{ type: 'ClientLinked', data: { websiteId, clientId, role } }];
  if (role === 'viewer' || previousRole === role) return [];
  return [{ type: 'ClientLinkRoleChanged', data: { websiteId, clientId, role, previousRole } }];
};

/** Links once for each invitation: a repetition after a removal does not give the access back. */
const linkClaimant = (command: LinkClaimant, state: AccessState): Outcome => {
  const { websiteId, clientId, invitationId, role, acceptedPosition } = command;
  const isLinked = linkRole(state) !== undefined;
  if (state.takenUp.includes(invitationId)) return isLinked ? [] : refusals.invitationNotFound(invitationId);
  // A claim that was interrupted is completed later.
  if (!isLinked && state.unlinkedPosition > acceptedPosition) return refusals.invitationNotFound(invitationId);
  const accepted: AccessEvent = { type: 'InvitationAccepted', data: { websiteId, clientId, invitationId, claimedBy: clientId } };
  // Nor does it overrule what was decided on the access since.
  const isDecided = isLinked && state.rolePosition > acceptedPosition;
  const given = isDecided ? [] : linkByInvitation(command, role, state);
  return [...given, accepted, ...settlePending(command, state)];
};

/** How long a removal can be undone (api.md, section 4). */
const undoMs = 30 * 86_400_000;

const restoreLink = (command: RestoreLink, state: AccessState): Outcome => {
  const { websiteId, clientId, ownerId, at } = command;
  const { removed } = state;
  // Somebody gave the access again, or undid the removal before.
  if (linkRole(state) !== undefined) return removed === undefined ? refusals.linkNotRemoved(clientId, websiteId) : [];
  if (clientId === ownerId) return refusals.alreadyOwner();
  if (removed === undefined) return refusals.linkNotFound(clientId, websiteId);
  if (Date.parse(at) - Date.parse(removed.at) > undoMs) return refusals.linkRemovedTooLongAgo(clientId, websiteId);
  const { role, linkedAt } = removed;
  return [{ type: 'ClientLinkRestored', data: { websiteId, clientId, role, linkedAt } }, ...settlePending(command, state)];
};

/** Admins are told once a day at most (api.md, section 4). */
const renewalRequestMs = 24 * 3_600_000;

const requestRenewal = (command: RequestRenewal, state: AccessState): Outcome => {
  const { websiteId, clientId, invitationId, verifiedEmail, at } = command;
  const invitation = state.invitations.get(invitationId);
  if (invitation === undefined || invitation.stage === 'revoked') {
    return invitation?.kind === 'ownership_transfer' ? refusals.transferNotFound() : refusals.invitationNotFound(invitationId);
  }
  if (invitation.email !== verifiedEmail) return refusals.notYourInvitation();
  if (invitation.stage !== 'pending' || !hasExpired(invitation.expiresAt, at)) return refusals.invitationNotExpired(invitationId);
  const { renewalRequestedAt } = invitation;
  const wasAsked = renewalRequestedAt !== undefined && Date.parse(at) - Date.parse(renewalRequestedAt) < renewalRequestMs;
  return wasAsked ? [] : [{ type: 'InvitationRenewalRequested', data: { websiteId, clientId, invitationId } }];
};

const decide = (command: AccessCommand, state: AccessState): Outcome => {
  const { websiteId, clientId } = command;
  const of = { websiteId, clientId };
  switch (command.type) {
    case 'AddClient':
      return addClient(command, state);
    case 'ClaimInvitation':
      return claim(command, state);
    case 'LinkClaimant':
      return linkClaimant(command, state);
    case 'RestoreLink':
      return restoreLink(command, state);
    case 'ChangeClientRole': {
      const { role } = command;
      const previousRole = linkRole(state);
      if (previousRole === undefined) return refusals.linkNotFound(clientId, websiteId);
      return previousRole === role ? [] : [{ type: 'ClientLinkRoleChanged', data: { ...of, role, previousRole } }];
    }
    case 'RemoveClient':
      if (state.link === 'none') return refusals.linkNotFound(clientId, websiteId);
      return linkRole(state) === undefined ? [] : [{ type: 'ClientUnlinked', data: of }];
    case 'SettleOwner': {
      const { upTo = state.linkPosition } = command;
      const unlinked: readonly AccessEvent[] =
        linkRole(state) === undefined || state.linkPosition > upTo ? [] : [{ type: 'ClientUnlinked', data: of }];
      return [...unlinked, ...settlePending(of, state, command.upTo)];
    }
    case 'WithdrawClient': {
      const open = [...state.invitations].filter(([, { stage }]) => stage === 'pending' || stage === 'claimed');
      const unlinked: readonly AccessEvent[] = linkRole(state) === undefined ? [] : [{ type: 'ClientUnlinked', data: of }];
      return [
        ...unlinked,
        ...open.map(([invitationId]) => ({ type: 'InvitationRevoked', data: { ...of, invitationId } }) as const),
      ];
    }
    case 'ResendInvitation': {
      const { invitationId } = command;
      const invitation = state.invitations.get(invitationId);
      if (invitation?.stage !== 'pending' || invitation.kind !== 'client_access')
        return refusals.invitationNotFound(invitationId);
      return renewed(command, invitationId, invitation, invitation.role);
    }
    case 'RevokeInvitation': {
      const { invitationId } = command;
      const invitation = state.invitations.get(invitationId);
      if (invitation?.kind !== 'client_access' || invitation.stage === 'accepted') {
        return refusals.invitationNotFound(invitationId);
      }
      return invitation.stage === 'revoked' ? [] : [{ type: 'InvitationRevoked', data: { ...of, invitationId } }];
    }
    case 'OfferTransfer':
      return offerTransfer(command, state);
    case 'ClaimTransfer':
      return claimTransfer(command, state);
    case 'AcceptTransfer':
    case 'ReleaseTransfer':
      return settleTransfer(command, state);
    case 'CancelTransfer':
      return cancelTransfer({ ...of, invitationId: command.invitationId }, state);
    case 'RequestRenewal':
      return requestRenewal(command, state);
    case 'WithdrawTransfer':
      return withdrawTransfer(command, state);
    default:
      return command satisfies never;
  }
};

export const accessDecider: Decider<AccessState, AccessCommand, AccessEvent> = { ...accessFold, decide };
