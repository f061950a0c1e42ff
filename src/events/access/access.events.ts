import { Type, type Static } from 'typebox';
import { accessUpcasters } from './access.upcasters.js';
import { event, type EventOf } from '../defineStream.js';

export const LinkRole = Type.Enum(['viewer', 'editor']);
export type LinkRole = Static<typeof LinkRole>;

export const InvitationKind = Type.Enum(['client_access', 'ownership_transfer']);
export type InvitationKind = Static<typeof InvitationKind>;

const invitation = {
  websiteId: Type.String(),
  invitationId: Type.String(),
  kind: InvitationKind,
  /** Lower-case, sealed (`platform/personal.ts`). */
  email: Type.String(),
  /** With `client_access`. */
  role: Type.Optional(LinkRole),
  /** With `ownership_transfer`: what the new owner subscribes to; absent: the payment provider's default. */
  priceId: Type.Optional(Type.String()),
  expiresAt: Type.String({ format: 'date-time' }),
  /** Whether the recipient is to be written to: the mail process reacts to it. */
  sendMail: Type.Boolean(),
};

/** Stream `access-<websiteId>`: links and invitations of one website, so that a claim and a revocation have one order. */
export const accessEvents = {
  ClientLinked: event(Type.Object({ websiteId: Type.String(), clientId: Type.String(), role: LinkRole })),
  ClientLinkRoleChanged: event(
    Type.Object({ websiteId: Type.String(), clientId: Type.String(), role: LinkRole, previousRole: LinkRole }),
  ),
  ClientUnlinked: event(Type.Object({ websiteId: Type.String(), clientId: Type.String() })),
  InvitationIssued: event(Type.Object(invitation), accessUpcasters.InvitationIssued),
  /** The same invitation with a new expiry, perhaps another role, and its mail once more. */
  InvitationRenewed: event(Type.Object(invitation), accessUpcasters.InvitationRenewed),
  InvitationAccepted: event(
    Type.Object({
      websiteId: Type.String(),
      invitationId: Type.String(),
      clientId: Type.String(),
      /** Who claimed it, sealed when it tells an address; absent when the client was added directly while the invitation was pending. */
      subject: Type.Optional(Type.String()),
    }),
  ),
  InvitationRevoked: event(Type.Object({ websiteId: Type.String(), invitationId: Type.String() })),
  /** The recipient of a transfer becomes the owner as soon as billing is seen to; until then nobody can cancel it or claim another. */
  TransferClaimed: event(
    Type.Object({
      websiteId: Type.String(),
      invitationId: Type.String(),
      clientId: Type.String(),
      /** Who claimed it, sealed when it tells an address. */
      subject: Type.String(),
      priceId: Type.Optional(Type.String()),
    }),
  ),
  /** The claim came to nothing; the transfer can be claimed again. `claimId`: the event that it began with. */
  TransferReleased: event(Type.Object({ websiteId: Type.String(), invitationId: Type.String(), claimId: Type.String() })),
};

export type AccessEvent = EventOf<typeof accessEvents>;
