import type { ClientEvent } from '../../events/client/client.events.js';
import { clientStream } from '../../events/client/client.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** The Client resource; address and name are encrypted (`platform/personal.ts`). */
export type ClientDocument = {
  readonly id: string;
  readonly email: string;
  readonly name?: string;
  /** An address that is to replace `email`, once its owner confirms it before the time. */
  readonly pendingEmail?: string;
  readonly pendingEmailExpiresAt?: string;
  readonly createdAt: string;
};

const withoutPending = ({ pendingEmail: _, pendingEmailExpiresAt: __, ...document }: ClientDocument): ClientDocument => document;

export const clientProjection: Projection<ClientDocument, ClientEvent> = defineProjection({
  name: 'client',
  version: 4,
  stream: clientStream,
  on: {
    ClientRegistered: (_document, { data: { clientId, email, name }, metadata }) => ({
      id: clientId,
      email,
      ...(name !== undefined && { name }),
      createdAt: metadata.at,
    }),
    ClientRenamed: (document, { data: { name } }) => (document === null ? null : { ...document, name }),
    ClientNameRemoved: (document) => {
      if (document === null) return null;
      const { name: _, ...nameless } = document;
      return nameless;
    },
    ClientEmailChangeRequested: (document, { data: { email, expiresAt } }) =>
      document === null ? null : { ...document, pendingEmail: email, pendingEmailExpiresAt: expiresAt },
    ClientEmailChangeWithdrawn: (document) => (document === null ? null : withoutPending(document)),
    ClientEmailChanged: (document, { data: { email } }) => (document === null ? null : { ...withoutPending(document), email }),
    ClientErased: () => null,
  },
  indexes: [{ field: 'createdAt', sorts: true }],
  counted: [],
});
