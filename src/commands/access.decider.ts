import type { AccessEvent, InvitationKind, LinkRole } from '../events/access.events.js';
import type { AccessCommand, AddClient, ClaimInvitation } from './access.commands.js';
import type { Decider } from './decider.js';
import { refusals, type Refusal } from './refusal.js';

/** Stream `access-<websiteId>`. */
export interface AccessState {
  /** Roles by client id; `none` for a link that was taken away. */
  readonly links: ReadonlyMap<string, LinkRole | 'none'>;
  readonly invitations: ReadonlyMap<string, InvitationState>;
}

export interface InvitationState {
  readonly kind: InvitationKind;
  readonly stage: 'pending' | 'accepted' | 'revoked';
  readonly email: string;
  readonly role?: LinkRole;
  readonly expiresAt: string;
  /** Who has it, once accepted. */
  readonly clientId?: string;
}

type Outcome = readonly AccessEvent[] | Refusal;

/** Days that an invitation can be claimed after it was sent. */
const invitationDays = 30;

const expiry = (at: string): string => new Date(Date.parse(at) + invitationDays * 86_400_000).toISOString();

export const linkRole = (state: AccessState, clientId: string): LinkRole | undefined => {
  const role = state.links.get(clientId);
  return role === 'none' ? undefined : role;
};

const withLink = (state: AccessState, clientId: string, role: LinkRole | 'none'): AccessState => ({
  ...state,
  links: new Map(state.links).set(clientId, role),
});

const withInvitation = (state: AccessState, id: string, changes: Partial<InvitationState>): AccessState => {
  const invitation = state.invitations.get(id);
  if (invitation === undefined) return state;
  return { ...state, invitations: new Map(state.invitations).set(id, { ...invitation, ...changes }) };
};

const evolve = (state: AccessState, event: AccessEvent): AccessState => {
  switch (event.type) {
    case 'ClientLinked':
    case 'ClientLinkRoleChanged':
      return withLink(state, event.data.clientId, event.data.role);
    case 'ClientUnlinked':
      return withLink(state, event.data.clientId, 'none');
    case 'InvitationIssued':
    case 'InvitationRenewed': {
      const { invitationId, kind, email, role, expiresAt } = event.data;
      const invitation: InvitationState = { kind, stage: 'pending', email, ...(role !== undefined && { role }), expiresAt };
      return { ...state, invitations: new Map(state.invitations).set(invitationId, invitation) };
    }
    case 'InvitationAccepted':
      return withInvitation(state, event.data.invitationId, { stage: 'accepted', clientId: event.data.clientId });
    case 'InvitationRevoked':
      return withInvitation(state, event.data.invitationId, { stage: 'revoked' });
    default:
      return state;
  }
};

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
  const expiresAt = expiry(at);
  if (invitation.expiresAt === expiresAt && invitation.role === role) return [];
  const sendMail = kind === 'client_access';
  return [
    {
      type: 'InvitationRenewed',
      data: { websiteId, invitationId, kind, email, ...(role !== undefined && { role }), expiresAt, sendMail },
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
        expiresAt: expiry(at),
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
        ([, invitation]) => invitation.stage === 'pending' && invitation.email === email,
      );
      return [
        ...(linkRole(state, clientId) === undefined ? [] : [{ type: 'ClientUnlinked', data: { websiteId, clientId } } as const]),
        ...pending.map(([invitationId]) => ({ type: 'InvitationRevoked', data: { websiteId, invitationId } }) as const),
      ];
    }
    case 'ResendInvitation': {
      const { invitationId } = command;
      const invitation = state.invitations.get(invitationId);
      if (invitation?.stage !== 'pending') return refusals.invitationNotFound(invitationId);
      return renewed(command, invitationId, invitation, invitation.role);
    }
    case 'RevokeInvitation': {
      const { invitationId } = command;
      const invitation = state.invitations.get(invitationId);
      if (invitation === undefined || invitation.stage === 'accepted') return refusals.invitationNotFound(invitationId);
      return invitation.stage === 'revoked' ? [] : [{ type: 'InvitationRevoked', data: { websiteId, invitationId } }];
    }
    default:
      return command satisfies never;
  }
};

export const accessDecider: Decider<AccessState, AccessCommand, AccessEvent> = {
  name: 'access',
  initialState: { links: new Map(), invitations: new Map() },
  evolve,
  decide,
};
