import type { ClientEvent } from '../../events/client/client.events.js';
import { clientStream } from '../../events/client/client.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** The Client resource; address and name are encrypted (`platform/personal.ts`). */
export type ClientDocument = {
  readonly id: string;
  readonly email: string;
  readonly name?: string;
  readonly createdAt: string;
};

export const clientProjection: Projection<ClientDocument, ClientEvent> = defineProjection({
  name: 'client',
  version: 3,
  stream: clientStream,
  on: {
    ClientRegistered: (_document, { data: { clientId, email, name }, metadata }) => ({
      id: clientId,
      email,
      ...(name !== undefined && { name }),
      createdAt: metadata.at,
    }),
    ClientRenamed: (document, { data: { name } }) => (document === null ? null : { ...document, name }),
    ClientErased: () => null,
  },
  indexes: [{ field: 'createdAt', sorts: true }],
});
