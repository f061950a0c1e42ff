import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

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
    }),
  ),
  APIKeyRevoked: event(Type.Object({ id: Type.String() })),
};

export type APIKeyEvent = EventOf<typeof apiKeyEvents>;
