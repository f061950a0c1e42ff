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

/** What somebody is to a website. */
export const standings = ['admin', 'owner', 'editor', 'viewer', 'stranger'] as const;
export type WebsiteStanding = (typeof standings)[number];

/** A website, and what the caller is to it. */
export interface WebsiteAccess {
  readonly website: WebsiteDocument;
  /** Revision of the website's stream that `website` reflects. */
  readonly revision: bigint;
  /** A `stranger` is invited, where a route lets them in. */
  readonly standing: WebsiteStanding;
}
