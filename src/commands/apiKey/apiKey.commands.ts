/** What a key lets its bearer do: everything that its role may, or reading only. */
export type APIKeyScope = 'read' | 'write';

export interface MintAPIKey {
  readonly type: 'MintAPIKey';
  readonly at: string;
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
  readonly id: string;
  /** Whose keys are looked at, as the key holds it: another's is as good as unknown. */
  readonly subject: string;
}

export type APIKeyCommand = MintAPIKey | RevokeAPIKey;

/** `key` is what `hashAccessToken` makes of the token. */
export const apiKeyStream = (key: string): string => `api-key-${key}`;

const timeLength = 10;

/** A key's public id: 10 characters of time, so that ids sort by it, and the end of the stream's name. `timeId` is any entity id of that time. */
export const apiKeyId = (timeId: string, key: string): string => timeId.slice(0, timeLength) + key;

/** The stream of a public id; one that no key has for an id that is not one. */
export const apiKeyStreamOfId = (id: string): string => apiKeyStream(id.slice(timeLength));
