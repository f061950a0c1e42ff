import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Time } from '../fields.js';

export const LinkRole = Type.Enum(['viewer', 'editor']);
export type LinkRole = Static<typeof LinkRole>;

export const InvitationKind = Type.Enum(['client_access', 'ownership_transfer']);
export type InvitationKind = Static<typeof InvitationKind>;

/** The stream's key: a person is known by a client id from the first invitation on. */
const ofPerson = { websiteId: Type.String(), clientId: Type.String() };

const invitation = {
  ...ofPerson,
  invitationId: Type.String(),
  kind: InvitationKind,
  /** Lower-case, encrypted (`platform/personal.ts`). */
  email: Type.String(),
  /** With `client_access`. */
  role: Type.Optional(LinkRole),
  /**
   * With `ownership_transfer`: what the new owner subscribes to; absent: the payment provider's
   * default.
   */
  priceId: Type.Optional(Type.String()),
  expiresAt: Time,
  /** Whether the mail process sends the recipient a mail. */
  sendMail: Type.Boolean(),
};

/**
 * Stream `access-<websiteId>-<clientId>`: the link and the invitations of one person, so that a
 * claim and a revocation have one order.
 */
export const accessEvents = {
  /**
   * After it was issued or renewed: on a claim this subscription, which exists at the payment
   * provider, becomes the new owner's instead of a new one.
   */
  TransferSubscriptionNamed: event(Type.Object({ ...ofPerson, invitationId: Type.String(), subscriptionId: Type.String() })),
  ClientLinked: event(Type.Object({ ...ofPerson, role: LinkRole })),
  /** The client is to be told by mail of the link that was just given. */
  ClientLinkNoticeRequested: event(Type.Object(ofPerson)),
  ClientLinkRoleChanged: event(Type.Object({ ...ofPerson, role: LinkRole, previousRole: LinkRole })),
  ClientUnlinked: event(Type.Object(ofPerson)),
  /** A removal was undone: the link is as it was before, given at `linkedAt`. */
  ClientLinkRestored: event(Type.Object({ ...ofPerson, role: LinkRole, linkedAt: Time })),
  InvitationIssued: event(Type.Object(invitation)),
  /** The same invitation with a new expiry, perhaps another role, and its mail once more. */
  InvitationRenewed: event(Type.Object(invitation)),
  /**
   * Accepted by a client other than the one that the invited address stands for, it is recorded in
   * the streams of both: there the invitation is over, here it has led to the link.
   */
  InvitationAccepted: event(
    Type.Object({
      ...ofPerson,
      invitationId: Type.String(),
      /**
       * The client that accepted. It differs from `clientId` when the claimant was known by another
       * address.
       */
      claimedBy: Type.String(),
      /**
       * Who claimed it, encrypted when it contains an address; absent when the client was added
       * directly while the invitation was pending.
       */
      subject: Type.Optional(Type.String()),
    }),
  ),
  /** The invited asks for a new one in place of an expired one; admins are told by mail. */
  InvitationRenewalRequested: event(Type.Object({ ...ofPerson, invitationId: Type.String() })),
  InvitationRevoked: event(Type.Object({ ...ofPerson, invitationId: Type.String() })),
  /**
   * The claimant becomes the owner as soon as billing is set up; until then nobody can cancel the
   * transfer.
   */
  TransferClaimed: event(
    Type.Object({
      ...ofPerson,
      invitationId: Type.String(),
      /** The client that becomes the owner. */
      claimedBy: Type.String(),
      /** Who claimed it, encrypted when it contains an address. */
      subject: Type.String(),
      priceId: Type.Optional(Type.String()),
    }),
  ),
  /**
   * The claim failed; the transfer can be claimed again. `claimId`: the event that it began with.
   */
  TransferReleased: event(Type.Object({ ...ofPerson, invitationId: Type.String(), claimId: Type.String() })),
};

export type AccessEvent = EventOf<typeof accessEvents>;
