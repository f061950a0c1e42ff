import type { StreamFold } from '../fold.js';
import type { ClientEmailEvent, ClientEvent, ClientSubjectEvent } from './client.events.js';
import { clientEmailStream, clientStream, clientSubjectStream } from './client.stream.js';

export type ClientState =
  | { readonly stage: 'none' }
  /** `registeredBy`: the id of the event. */
  | { readonly stage: 'registered'; readonly email: string; readonly name?: string; readonly registeredBy: string }
  /** `at`: when, ISO 8601 UTC. */
  | { readonly stage: 'erased'; readonly email: string; readonly at: string };

export const clientFold: StreamFold<ClientState, ClientEvent, { readonly clientId: string }> = {
  name: 'client',
  stream: clientStream,
  initialState: { stage: 'none' },
  evolve: (state, event) => {
    switch (event.type) {
      case 'ClientRegistered': {
        const { email, name } = event.data;
        return { stage: 'registered', email, ...(name !== undefined && { name }), registeredBy: event.id };
      }
      case 'ClientRenamed':
        return state.stage === 'registered' ? { ...state, name: event.data.name } : state;
      case 'ClientErased':
        return state.stage === 'registered' ? { stage: 'erased', email: state.email, at: event.metadata.at } : state;
      default:
        return state;
    }
  },
};

/** The client that an address or a subject belongs to. */
export interface ClientReference {
  readonly clientId?: string;
}

export const clientEmailFold: StreamFold<ClientReference, ClientEmailEvent, { readonly emailIndex: string }> = {
  name: 'client-email',
  stream: clientEmailStream,
  initialState: {},
  evolve: (_state, { type, data }) => (type === 'ClientEmailReleased' ? {} : { clientId: data.clientId }),
};

export const clientSubjectFold: StreamFold<ClientReference, ClientSubjectEvent, { readonly subjectIndex: string }> = {
  name: 'client-subject',
  stream: clientSubjectStream,
  initialState: {},
  evolve: (_state, { data }) => ({ clientId: data.clientId }),
};
