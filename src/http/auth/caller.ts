import type { WebsiteDocument } from '../../projections/website/website.projection.js';

/** Who calls, the same in every entry mode. */
export interface Caller {
  /** The identity provider's subject. */
  readonly subject: string;
  /** The subject as the token holds it, encrypted because it is an address. */
  readonly encryptedSubject?: string;
  readonly role: 'admin' | 'client';
  /** `mcp`: an assistant acts for them. */
  readonly via: 'portal' | 'token' | 'mcp';
  readonly tokenId?: string;
  /** The OAuth client that an assistant signed in with. */
  readonly program?: string;
  /** What their access token for the MCP server may be used for, where its issuer says that. */
  readonly scopes?: readonly string[];
  /** The grant of the device that signed in; absent for everybody else. */
  readonly deviceGrant?: string;
  /** What a token may do; a signed-in caller may write. */
  readonly scope: 'read' | 'write';
  /** Lower-case; present only when the identity provider vouches for it. */
  readonly verifiedEmail?: string;
  readonly name?: string;
  /**
   * The client that the subject is bound to, or whose address the verified one is; absent for
   * admins and strangers.
   */
  readonly clientId?: string;
}

/** A website and the caller's way to it. */
export interface WebsiteAccess {
  readonly website: WebsiteDocument;
  /** Revision of the website's stream that `website` reflects. */
  readonly revision: bigint;
  /** Absent for admins, and for the invited where a route lets them in. */
  readonly via?: 'owner' | 'link';
  /** What a client may do: an owner always counts as an editor. Absent for admins. */
  readonly role?: 'viewer' | 'editor';
}
