import type { ClientEvent } from '../../events/client/client.events.js';
import type { Projection } from '../projection.js';
import { clientStream } from '../../events/client/client.stream.js';

/** The Client resource; address and name are sealed (`platform/personal.ts`). */
export type ClientDocument = {
  readonly id: string;
  readonly email: string;
  readonly name?: string;
  readonly createdAt: string;
};

export const clientProjection: Projection<ClientDocument, ClientEvent> = {
  name: 'client',
  version: 2,
  handles: ['ClientRegistered', 'ClientRenamed', 'ClientErased'],
  ignores: [],
  documentId: ({ data }) => data.clientId,
  stream: (clientId) => clientStream.name({ clientId }),
  indexes: [],
  evolve: (document, event) => {
    switch (event.type) {
      case 'ClientRegistered': {
        const { clientId, email, name } = event.data;
        return { id: clientId, email, ...(name !== undefined && { name }), createdAt: event.metadata.at };
      }
      case 'ClientRenamed':
        return document === null ? null : { ...document, name: event.data.name };
      case 'ClientErased':
        return null;
      default:
        return document;
    }
  },
};
