import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { apiKeyUpcasters } from './apiKey.upcasters.js';

/**
 * Stream `api-key-<26 base32 characters of the token's hash>`: a token finds its key without an
 * index.
 */
export const apiKeyEvents = {
  APIKeyMinted: event(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      /** SHA-256 of the token, hex. The token itself is not stored. */
      hash: Type.String(),
      /** The token's first 12 characters, by which its owner recognises it. */
      prefix: Type.String(),
      /** Encrypted (`platform/personal.ts`) when it contains an address. */
      subject: Type.String(),
      role: Type.Enum(['admin', 'client']),
      scope: Type.Enum(['read', 'write']),
      /** The verified address of the client who minted it; encrypted, as the name is. */
      verifiedEmail: Type.Optional(Type.String()),
      userName: Type.Optional(Type.String()),
      expiresAt: Type.Optional(Type.String()),
      /**
       * Ids of the keys that it stands on, from the one whose token minted it up: it works only
       * while each of them does. Absent: nobody's token minted it.
       */
      ancestorIds: Type.Optional(Type.Array(Type.String())),
    }),
    apiKeyUpcasters.APIKeyMinted,
  ),
  APIKeyRevoked: event(Type.Object({ id: Type.String() })),
};

export type APIKeyEvent = EventOf<typeof apiKeyEvents>;

/** Stream `subject-keys-<blind index of the subject>`. */
export const subjectKeysEvents = {
  APIKeyCounted: event(
    Type.Object({ id: Type.String(), expiresAt: Type.Optional(Type.String()), ancestorIds: Type.Array(Type.String()) }),
  ),
  /** Revoked, or fallen with a key that they stood on: they count no more. */
  APIKeysReleased: event(Type.Object({ ids: Type.Array(Type.String()) })),
};

/** Stream `device-grant-<blind index of the grant>`. */
export const deviceGrantEvents = {
  /** The grant of a device was exchanged for the key: no other key comes of it. */
  DeviceGrantExchanged: event(Type.Object({ apiKeyId: Type.String() })),
};

export type DeviceGrantEvent = EventOf<typeof deviceGrantEvents>;

export type SubjectKeysEvent = EventOf<typeof subjectKeysEvents>;
