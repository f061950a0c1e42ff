import type { Language } from '../../platform/texts/texts.js';

/** A signed-in caller, as asserted by the identity provider. */
export interface Identity {
  readonly subject: string;
  readonly role: 'admin' | 'client';
  /** Lower-case; absent unless the provider has verified it. */
  readonly verifiedEmail?: string;
  readonly name?: string;
  /**
   * Of a token that a device got (RFC 8628): which grant it stands on. Such a grant may be exchanged
   * for one personal access token.
   */
  readonly deviceGrant?: string;
  /** What the token may be used for (RFC 9068, 2.2.3). Absent where the issuer has no scopes of ours. */
  readonly scopes?: readonly string[];
  /** The OAuth client that the token was issued to (RFC 9068, 2.2). */
  readonly program?: string;
}

/** What an access token is for (RFC 8707): the API at the base address, or `/mcp` below it. */
export type TokenResource = 'api' | 'mcp';

/** The address that names a resource, as the audience of its tokens. */
export const resourceUrl = (baseUrl: string, resource: TokenResource): string =>
  resource === 'mcp' ? `${baseUrl}/mcp` : baseUrl;

/** How a browser signs in: authorization code with PKCE (RFC 7636), as a public client. */
export interface BrowserSignIn {
  readonly clientId: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Ends the session there (OpenID Connect RP-Initiated Logout 1.0). */
  readonly endSessionEndpoint?: string;
  /** What the access token is to be for; absent: the issuer knows. */
  readonly audience?: string;
}

/** The identity provider for sign-in to the portal. */
export interface IdentityProvider {
  /**
   * Verifies an access token: signature, issuer, audience and times. `null` when it is not valid, or
   * for another resource.
   * @param resource what it is used for. Default: the API
   * @throws IdentityUnavailable when it cannot be verified now
   */
  identify(accessToken: string, resource?: TokenResource): Promise<Identity | null>;

  /** The issuer of access tokens, as metadata of protected resources name it (RFC 9728). */
  issuer?(): string;

  /**
   * Whether a program has to ask for a scope named as the resource that the token is for. Default:
   * no; an external issuer need not have such scopes, and refuses to be asked for what it does not
   * have.
   */
  readonly hasScopes?: boolean;

  /** What the issuer is asked for to get a token for the API, where that is not its address. */
  audience?(): string;

  /**
   * Absent where browsers cannot sign in.
   * @throws IdentityUnavailable
   */
  signIn?(): Promise<BrowserSignIn>;

  /**
   * Whether the subject of a token that `identify` accepted still exists. An answer may be up to 60
   * s old. Of a token for `/mcp` that the issuer cannot tell of, as it lacks a scope for that, it counts as there.
   * @param resource as for `identify`
   * @throws IdentityUnavailable
   */
  exists(identity: Identity, accessToken: string, resource?: TokenResource): Promise<boolean>;

  /**
   * Whether a subject still exists, asked without an access token of theirs. An answer may be up to
   * 60 s old. Absent where only their own access token could tell.
   * @throws IdentityUnavailable
   */
  subjectExists?(subject: string): Promise<boolean>;

  /**
   * Whether somebody who minted a personal access token as an admin is still an admin. Absent where
   * only their own access token could tell; their role is then trusted until the token is revoked.
   */
  isStillAdmin?(subject: string, verifiedEmail: string | undefined): boolean;

  /**
   * As whom somebody with the lower-case address signs in, whether or not they ever did. Absent for
   * external issuers, which only tell it of those who are signed in.
   */
  accountOf?(email: string): Promise<Pick<Identity, 'subject' | 'role'>>;

  /**
   * The address of who signs in as a subject; null when that is not known. Absent for external
   * issuers.
   */
  addressOf?(subject: string): Promise<string | null>;

  /**
   * The language in which the person with the lower-case address last signed in; null when that is
   * not known. Absent for external issuers.
   */
  languageOf?(email: string): Promise<Language | null>;

  /**
   * Deletes the account of an erased person's address at once. Absent for external issuers, whose
   * accounts are not ours.
   * @param person identifies the erased person, so that a retry does not delete the account of
   * somebody who has the address by now
   */
  forget?(email: string, person: string): Promise<void>;
}

/** The identity provider does not answer, or its answer is not OpenID Connect. */
export class IdentityUnavailable extends Error {
  override readonly name = 'IdentityUnavailable';
}
