import type { Recorded } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import type { AccessEvent, InvitationKind, LinkRole } from './access.events.js';
import { accessStream } from './access.stream.js';

export interface AccessState {
  /** Roles by client id; `none` for a link that was taken away. */
  readonly links: ReadonlyMap<string, LinkRole | 'none'>;
  readonly invitations: ReadonlyMap<string, InvitationState>;
}

export interface InvitationState {
  readonly kind: InvitationKind;
  /** `claimed`: a transfer whose recipient becomes the owner as soon as billing is seen to. */
  readonly stage: 'pending' | 'claimed' | 'accepted' | 'revoked';
  readonly email: string;
  readonly role?: LinkRole;
  readonly expiresAt: string;
  /** Of a transfer. */
  readonly priceId?: string;
  /** Who has it, once claimed or accepted. */
  readonly clientId?: string;
  /** The event of the last claim of a transfer. */
  readonly claimId?: string;
}

/** Days that an invitation can be claimed after it was sent. */
const invitationDays = 30;

export const invitationExpiry = (at: string): string => new Date(Date.parse(at) + invitationDays * 86_400_000).toISOString();

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

const evolve = (state: AccessState, event: Recorded<AccessEvent>): AccessState => {
  switch (event.type) {
    case 'ClientLinked':
    case 'ClientLinkRoleChanged':
      return withLink(state, event.data.clientId, event.data.role);
    case 'ClientUnlinked':
      return withLink(state, event.data.clientId, 'none');
    case 'InvitationIssued':
    case 'InvitationRenewed': {
      const { invitationId, kind, email, role, priceId, expiresAt } = event.data;
      const terms = { ...(role !== undefined && { role }), ...(priceId !== undefined && { priceId }) };
      const invitation: InvitationState = { kind, stage: 'pending', email, ...terms, expiresAt };
      return { ...state, invitations: new Map(state.invitations).set(invitationId, invitation) };
    }
    case 'InvitationAccepted':
      return withInvitation(state, event.data.invitationId, { stage: 'accepted', clientId: event.data.clientId });
    case 'InvitationRevoked':
      return withInvitation(state, event.data.invitationId, { stage: 'revoked' });
    case 'TransferClaimed':
      return withInvitation(state, event.data.invitationId, {
        stage: 'claimed',
        claimId: event.id,
        clientId: event.data.clientId,
      });
    case 'TransferReleased':
      return withInvitation(state, event.data.invitationId, { stage: 'pending' });
    default:
      return state;
  }
};

export const accessFold: StreamFold<AccessState, AccessEvent, { readonly websiteId: string }> = {
  name: 'access',
  stream: accessStream,
  initialState: { links: new Map(), invitations: new Map() },
  evolve,
};
