import type { LinkRole } from '../../events/access/access.events.js';

/** Of every command: when, and whose access to which website. */
interface OfPerson {
  readonly at: string;
  readonly websiteId: string;
  /** The client id that the person's address stands for, registered or not. */
  readonly clientId: string;
}

/**
 * Gives a person access to a website: a link when the client is registered, an invitation by e-mail
 * when not.
 */
export interface AddClient extends OfPerson {
  readonly type: 'AddClient';
  /** Encrypted, of the lower-case address. */
  readonly email: string;
  readonly role: LinkRole;
  readonly isRegistered: boolean;
  /** Whether somebody who is known already is told of a new link by mail. */
  readonly notify?: boolean | undefined;
  /** The id that a new invitation gets. */
  readonly invitationId: string;
  readonly ownerId?: string | undefined;
}

/** The recipient takes up an invitation. */
export interface ClaimInvitation extends OfPerson {
  readonly type: 'ClaimInvitation';
  readonly invitationId: string;
  /** Encrypted when it contains an address. */
  readonly subject: string;
  /**
   * The caller's address, as invitations hold it; absent when the identity provider does not vouch
   * for one.
   */
  readonly verifiedEmail?: string | undefined;
  /**
   * The caller's client id. It differs from `clientId` when the caller was known by another
   * address.
   */
  readonly claimedBy: string;
  readonly ownerId?: string | undefined;
}

/** Links the claimant of an invitation that was sent to another address of theirs. */
export interface LinkClaimant extends OfPerson {
  readonly type: 'LinkClaimant';
  readonly invitationId: string;
  readonly role: LinkRole;
  /** Where in the log the invitation was accepted: a removal of the link since then stands. */
  readonly acceptedPosition: bigint;
}

/** Gives a link back that was taken away, with the role that it had. */
export interface RestoreLink extends OfPerson {
  readonly type: 'RestoreLink';
  readonly ownerId?: string | undefined;
}

/** Offers the ownership of a website to a person. */
export interface OfferTransfer extends OfPerson {
  readonly type: 'OfferTransfer';
  /** Encrypted, of the lower-case address. */
  readonly email: string;
  readonly priceId?: string | undefined;
  /** One that exists at the payment provider. */
  readonly subscriptionId?: string | undefined;
  readonly sendMail: boolean;
  /** The id that a new invitation gets. */
  readonly invitationId: string;
  readonly ownerId?: string | undefined;
}

/** The recipient takes up a transfer: as `ClaimInvitation`. */
export type ClaimTransfer = Omit<ClaimInvitation, 'type'> & {
  readonly type: 'ClaimTransfer';
  /** Where in the log the website's owner was assigned last. */
  readonly ownerPosition?: bigint | undefined;
};

/**
 * Withdraws an offer of ownership that an assignment of the owner has overtaken; one that the new
 * owner is claiming stands. It is never refused.
 */
export interface WithdrawTransfer extends OfPerson {
  readonly type: 'WithdrawTransfer';
  readonly invitationId: string;
  readonly ownerId?: string | undefined;
  /** Where in the log the owner was assigned. */
  readonly ownerPosition: bigint;
}

/**
 * The outcome of a claim (`TransferClaimed`), reported by the transfer process. A claim that is
 * over changes nothing.
 */
export interface SettleTransfer extends OfPerson {
  readonly type: 'AcceptTransfer' | 'ReleaseTransfer';
  readonly invitationId: string;
  readonly claimId: string;
}

/** The invited asks for a new invitation in place of an expired one. */
export interface RequestRenewal extends OfPerson {
  readonly type: 'RequestRenewal';
  readonly invitationId: string;
  /** As in `ClaimInvitation`. */
  readonly verifiedEmail?: string | undefined;
}

/** The commands that need nothing but the stream. */
export type ChangeAccess =
  | SettleTransfer
  | RequestRenewal
  | WithdrawTransfer
  | (OfPerson & { readonly type: 'ChangeClientRole'; readonly role: LinkRole })
  | (OfPerson & { readonly type: 'RemoveClient' })
  | (OfPerson & {
      /**
       * Somebody became the owner: their link is removed, and a pending invitation has reached its
       * goal. It is never refused.
       */
      readonly type: 'SettleOwner';
      /** Leaves alone what was given or sent later than this position of the log. */
      readonly upTo?: bigint | undefined;
    })
  | (OfPerson & {
      /** Removes the link and every invitation of an erased client. It is never refused. */
      readonly type: 'WithdrawClient';
    })
  | (OfPerson & {
      readonly type: 'ResendInvitation' | 'RevokeInvitation' | 'CancelTransfer';
      readonly invitationId: string;
    });

export type AccessCommand =
  AddClient | ClaimInvitation | LinkClaimant | RestoreLink | OfferTransfer | ClaimTransfer | ChangeAccess;
