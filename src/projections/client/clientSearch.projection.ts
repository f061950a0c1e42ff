import { clientEvents, type ClientEvent } from '../../events/client/client.events.js';
import type { ListProjection } from '../projection.js';

/**
 * What a client is found by: keyed hashes of the parts of address and name, which stand nowhere
 * else, so that they go when the client is erased.
 */
export type ClientSearchDocument = {
  readonly email: readonly string[];
  readonly name: readonly string[];
  /** Those of both. */
  readonly terms: readonly string[];
};

const found = (email: readonly string[], name: readonly string[]): ClientSearchDocument => ({
  email,
  name,
  terms: [...new Set([...email, ...name])],
});

export const clientSearchProjection: ListProjection<ClientSearchDocument, ClientEvent> = {
  name: 'clientSearch',
  version: 2,
  readsFrom: 1,
  handles: Object.keys(clientEvents) as ClientEvent['type'][],
  ignores: [],
  documentId: ({ data: { clientId } }) => clientId,
  searched: { ClientRegistered: ['email', 'name'], ClientRenamed: ['name'], ClientEmailChanged: ['email'] },
  evolve: (document, event, { email = [], name = [] } = {}) => {
    switch (event.type) {
      case 'ClientRegistered':
        return found(email, name);
      case 'ClientRenamed':
        return document === null ? null : found(document.email, name);
      case 'ClientNameRemoved':
        return document === null ? null : found(document.email, []);
      case 'ClientEmailChanged':
        return document === null ? null : found(email, document.name);
      case 'ClientErased':
        return null;
      case 'ClientEmailChangeRequested':
      case 'ClientEmailChangeWithdrawn':
        return document;
      default:
        return event satisfies never;
    }
  },
  indexes: [{ field: 'terms', since: 2 }],
};
