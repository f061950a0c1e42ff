import type { InvitationKind, LinkRole } from '../../events/access/access.events.js';

/** Stream `access-<websiteId>`. */
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
