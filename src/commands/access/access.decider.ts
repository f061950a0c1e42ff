import type { AccessEvent, LinkRole } from '../../events/access/access.events.js';
import type { AccessCommand, AddClient, ClaimInvitation } from './access.commands.js';
import {
  accessFold,
  invitationExpiry,
  linkRole,
  type AccessState,
  type InvitationState,
} from '../../events/access/access.state.js';
import { cancelTransfer, claimTransfer, offerTransfer, settleTransfer } from './access.transfers.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';

type Outcome = readonly AccessEvent[] | Refusal;

const pendingAccessInvitation = (state: AccessState, email: string): [string, InvitationState] | undefined =>
  [...state.invitations].find(
    ([, { kind, stage, email: to }]) => kind === 'client_access' && stage === 'pending' && to === email,
  );

const renewed = (
  { websiteId, at }: { websiteId: string; at: string },
  invitationId: string,
  invitation: InvitationState,
  role: LinkRole | undefined,
): readonly AccessEvent[] => {
  const { kind, email } = invitation;
  const expiresAt = invitationExpiry(at);
  if (invitation.expiresAt === expiresAt && invitation.role === role) return [];
  return [
    {
      type: 'InvitationRenewed',
      data: { websiteId, invitationId, kind, email, ...(role !== undefined && { role }), expiresAt, sendMail: true },
    },
  ];
};

const link = ({ websiteId, role }: AddClient, clientId: string, state: AccessState): readonly AccessEvent[] => {
  const previousRole = linkRole(state, clientId);
  if (previousRole === role) return [];
  return previousRole === undefined
    ? [{ type: 'ClientLinked', data: { websiteId, clientId, role } }]
    : [{ type: 'ClientLinkRoleChanged', data: { websiteId, clientId, role, previousRole } }];
};

const addClient = (command: AddClient, state: AccessState): Outcome => {
  const { websiteId, email, role, clientId, ownerId, at } = command;
  const pending = pendingAccessInvitation(state, email);
  if (clientId !== undefined) {
    if (clientId === ownerId) return refusals.alreadyOwner();
    // An invitation of the same person has reached its goal; left pending, it would give access again after a removal.
    const settled: readonly AccessEvent[] =
      pending === undefined ? [] : [{ type: 'InvitationAccepted', data: { websiteId, invitationId: pending[0], clientId } }];
    return [...link(command, clientId, state), ...settled];
  }
  if (pending !== undefined) return renewed(command, pending[0], pending[1], role);
  return [
    {
      type: 'InvitationIssued',
      data: {
        websiteId,
        invitationId: command.invitationId,
        kind: 'client_access',
        email,
        role,
        expiresAt: invitationExpiry(at),
        sendMail: true,
      },
    },
  ];
};

const claim = (
  { websiteId, invitationId, verifiedEmail, subject, clientId, ownerId, at }: ClaimInvitation,
  state: AccessState,
): Outcome => {
  const invitation = state.invitations.get(invitationId);
  if (invitation === undefined || invitation.stage === 'revoked' || invitation.kind !== 'client_access') {
    return refusals.invitationNotFound(invitationId);
  }
  if (invitation.email !== verifiedEmail) return refusals.notYourInvitation();
  if (invitation.stage === 'accepted') {
    // The same person once more: answered as the first time, unless the access has been taken away since.
    const stillLinked = invitation.clientId === clientId && linkRole(state, clientId) !== undefined;
    return stillLinked ? [] : refusals.invitationNotFound(invitationId);
  }
  if (invitation.expiresAt <= at) return refusals.invitationNotFound(invitationId);
  if (clientId === ownerId) return refusals.alreadyOwner();

  const accepted: AccessEvent = { type: 'InvitationAccepted', data: { websiteId, invitationId, clientId, subject } };
  if (linkRole(state, clientId) !== undefined) return [accepted];
  return [{ type: 'ClientLinked', data: { websiteId, clientId, role: invitation.role ?? 'viewer' } }, accepted];
};

const decide = (command: AccessCommand, state: AccessState): Outcome => {
  const { websiteId } = command;
  switch (command.type) {
    case 'AddClient':
      return addClient(command, state);
    case 'ClaimInvitation':
      return claim(command, state);
    case 'ChangeClientRole': {
      const { clientId, role } = command;
      const previousRole = linkRole(state, clientId);
      if (previousRole === undefined) return refusals.linkNotFound(clientId, websiteId);
      return previousRole === role ? [] : [{ type: 'ClientLinkRoleChanged', data: { websiteId, clientId, role, previousRole } }];
    }
    case 'RemoveClient': {
      const { clientId } = command;
      if (!state.links.has(clientId)) return refusals.linkNotFound(clientId, websiteId);
      return linkRole(state, clientId) === undefined ? [] : [{ type: 'ClientUnlinked', data: { websiteId, clientId } }];
    }
    case 'WithdrawClient': {
      const { clientId, email } = command;
      const pending = [...state.invitations].filter(
        ([, { stage, email: to }]) => (stage === 'pending' || stage === 'claimed') && to === email,
      );
      return [
        ...(linkRole(state, clientId) === undefined ? [] : [{ type: 'ClientUnlinked', data: { websiteId, clientId } } as const]),
        ...pending.map(([invitationId]) => ({ type: 'InvitationRevoked', data: { websiteId, invitationId } }) as const),
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
      return invitation.stage === 'revoked' ? [] : [{ type: 'InvitationRevoked', data: { websiteId, invitationId } }];
    }
    case 'OfferTransfer':
      return offerTransfer(command, state);
    case 'ClaimTransfer':
      return claimTransfer(command, state);
    case 'AcceptTransfer':
    case 'ReleaseTransfer':
      return settleTransfer(command, state);
    case 'CancelTransfer':
      return cancelTransfer(command, state);
    default:
      return command satisfies never;
  }
};

export const accessDecider: Decider<AccessState, AccessCommand, AccessEvent> = { ...accessFold, decide };
