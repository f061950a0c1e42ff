import type { LinkRole } from '../../events/access/access.events.js';

/** Gives a person access to a website: a link when the client is known, an invitation by e-mail when not. */
export interface AddClient {
  readonly type: 'AddClient';
  readonly at: string;
  readonly websiteId: string;
  /** Sealed, of the lower-case address. */
  readonly email: string;
  readonly role: LinkRole;
  /** The id that a new invitation gets. */
  readonly invitationId: string;
  /** The client whose address it is, if there is one. */
  readonly clientId?: string | undefined;
  readonly ownerId?: string | undefined;
}

/** The recipient takes up an invitation. */
export interface ClaimInvitation {
  readonly type: 'ClaimInvitation';
  readonly at: string;
  readonly websiteId: string;
  readonly invitationId: string;
  /** Sealed when it tells an address. */
  readonly subject: string;
  /** The caller's address, as invitations hold it; absent when the identity provider does not vouch for one. */
  readonly verifiedEmail?: string | undefined;
  /** The client that the caller is. */
  readonly clientId: string;
  readonly ownerId?: string | undefined;
}

/** Offers the ownership of a website to a person. */
export interface OfferTransfer {
  readonly type: 'OfferTransfer';
  readonly at: string;
  readonly websiteId: string;
  /** Sealed, of the lower-case address. */
  readonly email: string;
  readonly priceId?: string | undefined;
  readonly sendMail: boolean;
  /** The id that a new invitation gets. */
  readonly invitationId: string;
  /** The client whose address it is, if there is one. */
  readonly clientId?: string | undefined;
  readonly ownerId?: string | undefined;
}

/** The recipient takes up a transfer: as `ClaimInvitation`. */
export type ClaimTransfer = Omit<ClaimInvitation, 'type'> & { readonly type: 'ClaimTransfer' };

/** What comes of a claim (`TransferClaimed`), said by the process that sees to billing. One that is over changes nothing. */
export interface SettleTransfer {
  readonly type: 'AcceptTransfer' | 'ReleaseTransfer';
  readonly at: string;
  readonly websiteId: string;
  readonly invitationId: string;
  readonly claimId: string;
}

export type AccessCommand =
  | AddClient
  | ClaimInvitation
  | OfferTransfer
  | ClaimTransfer
  | SettleTransfer
  | {
      readonly type: 'ChangeClientRole';
      readonly at: string;
      readonly websiteId: string;
      readonly clientId: string;
      readonly role: LinkRole;
    }
  | { readonly type: 'RemoveClient'; readonly at: string; readonly websiteId: string; readonly clientId: string }
  | {
      /** Takes away all that a client who is erased has or may take up. Nobody is refused it. */
      readonly type: 'WithdrawClient';
      readonly at: string;
      readonly websiteId: string;
      readonly clientId: string;
      /** The address, as invitations hold it. */
      readonly email: string;
    }
  | {
      readonly type: 'ResendInvitation' | 'RevokeInvitation' | 'CancelTransfer';
      readonly at: string;
      readonly websiteId: string;
      readonly invitationId: string;
    };

export const accessStream = (websiteId: string): string => `access-${websiteId}`;

const idLength = 26;

/** An invitation's id ends with its website's, so that an invitation is found by its id alone, with no index that could lag. */
export const invitationIdFor = (unique: string, websiteId: string): string => `${unique}${websiteId}`;

export const websiteIdOfInvitation = (invitationId: string): string | null =>
  /^[0-9a-z]{52}$/.test(invitationId) ? invitationId.slice(idLength) : null;
