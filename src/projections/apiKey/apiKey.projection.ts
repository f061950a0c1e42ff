import type { APIKeyEvent } from '../../events/apiKey/apiKey.events.js';
import type { Projection } from '../projection.js';
import type { APIKeyScope } from '../../events/apiKey/apiKey.state.js';
import { apiKeyStream, keyOfId } from '../../events/apiKey/apiKey.stream.js';

/** What may be told of a key: never the token, nor its hash. */
export type APIKeyDocument = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  /** Sealed (`platform/personal.ts`) when it tells an address. */
  readonly subject: string;
  /** Sealed: for finding the keys of a person. */
  readonly verifiedEmail?: string;
  readonly role: 'admin' | 'client';
  readonly scope: APIKeyScope;
  readonly createdAt: string;
  readonly expiresAt?: string;
};

export const apiKeyProjection: Projection<APIKeyDocument, APIKeyEvent> = {
  name: 'apiKey',
  version: 2,
  handles: ['APIKeyMinted', 'APIKeyRevoked'],
  ignores: [],
  documentId: ({ data }) => data.id,
  stream: (id) => apiKeyStream.name({ key: keyOfId(id) }),
  indexes: [{ field: 'subject' }, { field: 'verifiedEmail' }],
  evolve: (_document, event) => {
    if (event.type === 'APIKeyRevoked') return null;
    const { id, name, prefix, subject, verifiedEmail, role, scope, expiresAt } = event.data;
    return {
      id,
      name,
      prefix,
      subject,
      ...(verifiedEmail !== undefined && { verifiedEmail }),
      role,
      scope,
      createdAt: event.metadata.at,
      ...(expiresAt !== undefined && { expiresAt }),
    };
  },
};
