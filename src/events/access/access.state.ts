import type { Recorded } from '../envelope.js';
import { withEntry, withItems, type StreamFold } from '../fold.js';
import { START } from '../store/eventStore.js';
import type { AccessEvent, InvitationKind, LinkRole } from './access.events.js';
import { accessStream, type AccessKey } from './access.stream.js';

export interface AccessState {
  /** `removed`: the link was taken away. */
  readonly link: LinkRole | 'none' | 'removed';
  /** Where in the log the link was given. */
  readonly linkPosition: bigint;
  /** Where in the log the link got the role that it has. */
  readonly rolePosition: bigint;
  /** When it was given, ISO 8601 UTC; absent when there never was one. */
  readonly linkedAt?: string;
  /** Where in the log it was taken away last. */
  readonly unlinkedPosition: bigint;
  /** The link that was taken away last, and when. */
  readonly removed?: { readonly role: LinkRole; readonly linkedAt: string; readonly at: string };
  /** Invitations to other addresses of the person that were accepted for this link. */
  readonly takenUp: readonly string[];
  readonly invitations: ReadonlyMap<string, InvitationState>;
}

export interface InvitationState {
  readonly kind: InvitationKind;
  /** `claimed`: a transfer whose claimant becomes the owner as soon as billing is set up. */
  readonly stage: 'pending' | 'claimed' | 'accepted' | 'revoked';
  readonly email: string;
  readonly role?: LinkRole;
  readonly expiresAt: string;
  /** When a renewal was asked for last, since it was issued or renewed; ISO 8601 UTC. */
  readonly renewalRequestedAt?: string;
  /** Where in the log it was issued or renewed last. */
  readonly sentPosition: bigint;
  /** Of a transfer. */
  readonly priceId?: string;
  /** Of a transfer: a subscription that exists already. */
  readonly subscriptionId?: string;
  /** The client that claimed or accepted it. */
  readonly claimedBy?: string;
  /** Where in the log it was accepted. */
  readonly acceptedPosition?: bigint;
  /** The event of the last claim of a transfer. */
  readonly claimId?: string;
}

/** Days that an invitation can be claimed after it was sent. */
const invitationDays = 30;

export const invitationExpiry = (at: string): string => new Date(Date.parse(at) + invitationDays * 86_400_000).toISOString();

export const linkRole = ({ link }: AccessState): LinkRole | undefined =>
  link === 'none' || link === 'removed' ? undefined : link;

const withInvitation = (state: AccessState, id: string, changes: Partial<InvitationState>): AccessState => {
  const invitation = state.invitations.get(id);
  if (invitation === undefined) return state;
  return { ...state, invitations: withEntry(state.invitations, id, { ...invitation, ...changes }) };
};

const evolve = (state: AccessState, event: Recorded<AccessEvent>): AccessState => {
  switch (event.type) {
    case 'ClientLinked':
      return {
        ...state,
        link: event.data.role,
        linkPosition: event.position,
        rolePosition: event.position,
        linkedAt: event.metadata.at,
      };
    case 'ClientLinkRestored':
      return {
        ...state,
        link: event.data.role,
        linkPosition: event.position,
        rolePosition: event.position,
        linkedAt: event.data.linkedAt,
      };
    case 'ClientLinkRoleChanged':
      return { ...state, link: event.data.role, rolePosition: event.position };
    case 'ClientUnlinked': {
      const role = linkRole(state);
      const { linkedAt } = state;
      const unlinkedPosition = event.position;
      if (role === undefined || linkedAt === undefined) return { ...state, link: 'removed', unlinkedPosition };
      return { ...state, link: 'removed', unlinkedPosition, removed: { role, linkedAt, at: event.metadata.at } };
    }
    case 'InvitationIssued':
    case 'InvitationRenewed': {
      const { invitationId, kind, email, role, priceId, expiresAt } = event.data;
      const terms = { ...(role !== undefined && { role }), ...(priceId !== undefined && { priceId }) };
      const sentPosition = event.position;
      const invitation: InvitationState = { kind, stage: 'pending', email, ...terms, expiresAt, sentPosition };
      return { ...state, invitations: withEntry(state.invitations, invitationId, invitation) };
    }
    case 'TransferSubscriptionNamed':
      return withInvitation(state, event.data.invitationId, { subscriptionId: event.data.subscriptionId });
    case 'InvitationAccepted': {
      const { invitationId, claimedBy } = event.data;
      if (!state.invitations.has(invitationId)) return { ...state, takenUp: withItems(state.takenUp, invitationId) };
      return withInvitation(state, invitationId, { stage: 'accepted', claimedBy, acceptedPosition: event.position });
    }
    case 'InvitationRenewalRequested':
      return withInvitation(state, event.data.invitationId, { renewalRequestedAt: event.metadata.at });
    case 'InvitationRevoked':
      return withInvitation(state, event.data.invitationId, { stage: 'revoked' });
    case 'TransferClaimed': {
      const { invitationId, claimedBy } = event.data;
      return withInvitation(state, invitationId, { stage: 'claimed', claimId: event.id, claimedBy });
    }
    case 'TransferReleased':
      return withInvitation(state, event.data.invitationId, { stage: 'pending' });
    default:
      return state;
  }
};

export const accessFold: StreamFold<AccessState, AccessEvent, AccessKey> = {
  name: 'access',
  stream: accessStream,
  initialState: {
    link: 'none',
    linkPosition: START,
    rolePosition: START,
    unlinkedPosition: START,
    takenUp: [],
    invitations: new Map(),
  },
  evolve,
};
