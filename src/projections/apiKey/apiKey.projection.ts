import type { APIKeyEvent } from '../../events/apiKey/apiKey.events.js';
import type { APIKeyScope } from '../../events/apiKey/apiKey.state.js';
import { apiKeyStream, keyOfId } from '../../events/apiKey/apiKey.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** A key that was not revoked; never the token or its hash. */
export type APIKeyDocument = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  /** Encrypted (`platform/personal.ts`) when it contains an address. */
  readonly subject: string;
  /** Encrypted, for finding the keys of a person. */
  readonly verifiedEmail?: string;
  readonly role: 'admin' | 'client';
  readonly scope: APIKeyScope;
  readonly createdAt: string;
  readonly expiresAt?: string;
  /** The key whose token minted it. */
  readonly parentId?: string;
};

export const apiKeyProjection: Projection<APIKeyDocument, APIKeyEvent> = defineProjection({
  name: 'apiKey',
  version: 3,
  stream: apiKeyStream,
  documentId: ({ data }) => data.id,
  streamOf: (id) => apiKeyStream.name({ key: keyOfId(id) }),
  on: {
    APIKeyMinted: (_document, { data, metadata }) => {
      const { id, name, prefix, subject, verifiedEmail, role, scope, expiresAt, ancestorIds = [] } = data;
      const [parentId] = ancestorIds;
      return {
        id,
        name,
        prefix,
        subject,
        ...(verifiedEmail !== undefined && { verifiedEmail }),
        role,
        scope,
        createdAt: metadata.at,
        ...(expiresAt !== undefined && { expiresAt }),
        ...(parentId !== undefined && { parentId }),
      };
    },
    APIKeyRevoked: () => null,
  },
  indexes: [{ field: 'subject' }, { field: 'verifiedEmail' }, { field: 'role' }],
});
