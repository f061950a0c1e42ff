/** Who a signed-in caller is, as the identity provider vouches for it. */
export interface Identity {
  readonly subject: string;
  readonly role: 'admin' | 'client';
  /** Lower-case; absent unless the provider has verified it. */
  readonly verifiedEmail?: string;
  readonly name?: string;
}

/** The identity provider that portal traffic signs in with. */
export interface IdentityProvider {
  /**
   * Checks an access token: signature, issuer, audience and times. `null` when anything is wrong with it.
   * @throws IdentityUnavailable when it cannot be checked: that is nobody's fault but ours or the provider's.
   */
  identify(accessToken: string): Promise<Identity | null>;

  /**
   * Whether the subject of a token that `identify` accepted still exists. An answer may be up to 60 s old.
   * @throws IdentityUnavailable
   */
  exists(identity: Identity, accessToken: string): Promise<boolean>;

  /**
   * Whether somebody who signed in as an admin and minted a token then is an admin still. Absent where that can only be asked with a
   * token of theirs: it is believed then until the token is revoked.
   */
  isStillAdmin?(subject: string, verifiedEmail: string | undefined): boolean;

  /**
   * Ends the subject of an address whose person was erased, at once. Absent where subjects are not ours.
   * @param person tells a repetition from the erasure of whoever has the address by now
   */
  forget?(email: string, person: string): Promise<void>;
}

/** The identity provider does not answer, or answers what no OpenID Connect provider would. */
export class IdentityUnavailable extends Error {
  override readonly name = 'IdentityUnavailable';
}
