import type { APIKeyScope } from '../../events/apiKey/apiKey.state.js';

export interface MintAPIKey {
  readonly type: 'MintAPIKey';
  readonly at: string;
  /** The end of the stream's name (`keyOfId`). */
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly prefix: string;
  /** Encrypted when it contains an address. */
  readonly subject: string;
  /** The caller's role: a key cannot have a higher one. */
  readonly callerRole: 'admin' | 'client';
  readonly role: 'admin' | 'client';
  readonly scope: APIKeyScope;
  readonly verifiedEmail?: string | undefined;
  readonly userName?: string | undefined;
  readonly expiresAt?: string | undefined;
}

export interface RevokeAPIKey {
  readonly type: 'RevokeAPIKey';
  readonly at: string;
  /** The end of the stream's name (`keyOfId`). */
  readonly key: string;
  readonly id: string;
  /**
   * The subject whose keys may be revoked, as the key holds it; a key of another subject is not
   * found.
   */
  readonly subject: string;
}

export type APIKeyCommand = MintAPIKey | RevokeAPIKey;
