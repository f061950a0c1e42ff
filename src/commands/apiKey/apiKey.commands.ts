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
  /** Sealed when it tells an address. */
  readonly subject: string;
  /** Of the one who asks: nobody mints a key for more than the own role. */
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
  /** Whose keys are looked at, as the key holds it: another's is as good as unknown. */
  readonly subject: string;
}

export type APIKeyCommand = MintAPIKey | RevokeAPIKey;
