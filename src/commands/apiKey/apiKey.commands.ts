import type { APIKeyScope, CountedKey } from '../../events/apiKey/apiKey.state.js';

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
  /** The key whose token mints this one; absent when nobody's token does. */
  readonly parent?: ParentKey | undefined;
}

/** A key that another one is minted with: the new one stays within its scope and its time. */
export interface ParentKey {
  readonly id: string;
  readonly scope: APIKeyScope;
  readonly expiresAt?: string;
  readonly ancestorIds: readonly string[];
}

export interface RevokeAPIKey {
  readonly type: 'RevokeAPIKey';
  readonly at: string;
  /** The end of the stream's name (`keyOfId`). */
  readonly key: string;
  readonly id: string;
  /**
   * The subject whose keys may be revoked, as the key holds it; a key of another subject is not
   * found. Absent: anybody's.
   */
  readonly subject?: string | undefined;
  /** Of the person who revokes: a key of a higher role is not found. */
  readonly callerRole: 'admin' | 'client';
}

export type APIKeyCommand = MintAPIKey | RevokeAPIKey;

export interface CountAPIKey {
  readonly type: 'CountAPIKey';
  readonly at: string;
  readonly subjectIndex: string;
  readonly key: CountedKey;
}

export interface ReleaseAPIKeys {
  readonly type: 'ReleaseAPIKeys';
  readonly at: string;
  readonly subjectIndex: string;
  readonly ids: readonly string[];
}

export interface ExchangeDeviceGrant {
  readonly type: 'ExchangeDeviceGrant';
  readonly at: string;
  readonly grantIndex: string;
  readonly apiKeyId: string;
}

export type SubjectKeysCommand = CountAPIKey | ReleaseAPIKeys;
