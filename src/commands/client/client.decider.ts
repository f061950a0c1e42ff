import type { ClientEmailEvent, ClientEvent, ClientSubjectEvent } from '../../events/client/client.events.js';
import type { ClientCommand, ClientEmailCommand, ClientSubjectCommand } from './client.commands.js';
import type { Decider } from '../decider.js';
import { refusals } from '../refusal.js';

/** Stream `client-<id>`. */
export type ClientState =
  | { readonly stage: 'none' }
  | { readonly stage: 'registered'; readonly email: string; readonly name?: string }
  /** `at`: when, ISO 8601 UTC. */
  | { readonly stage: 'erased'; readonly email: string; readonly at: string };

export const clientDecider: Decider<ClientState, ClientCommand, ClientEvent> = {
  name: 'client',
  initialState: { stage: 'none' },
  evolve: (state, event) => {
    switch (event.type) {
      case 'ClientRegistered': {
        const { email, name } = event.data;
        return { stage: 'registered', email, ...(name !== undefined && { name }) };
      }
      case 'ClientRenamed':
        return state.stage === 'registered' ? { ...state, name: event.data.name } : state;
      case 'ClientErased':
        return state.stage === 'registered' ? { stage: 'erased', email: state.email, at: event.metadata.at } : state;
      default:
        return state;
    }
  },
  decide: (command, state) => {
    switch (command.type) {
      case 'RegisterClient': {
        // The address is reserved for this id, so a registered client is the one asked for.
        if (state.stage === 'registered') return [];
        if (state.stage === 'erased') return refusals.clientNotFound(command.clientId);
        const { clientId, email, name } = command;
        return [{ type: 'ClientRegistered', data: { clientId, email, ...(name !== undefined && { name }) } }];
      }
      case 'RenameClient': {
        const { clientId, name } = command;
        if (state.stage !== 'registered') return refusals.clientNotFound(clientId);
        return state.name === name ? [] : [{ type: 'ClientRenamed', data: { clientId, name } }];
      }
      case 'EraseClient': {
        const { clientId } = command;
        if (state.stage === 'none') return refusals.clientNotFound(clientId);
        return state.stage === 'erased' ? [] : [{ type: 'ClientErased', data: { clientId } }];
      }
      default:
        return command satisfies never;
    }
  },
};

/** Streams `client-email-<blind index>` and `client-subject-<blind index>`: the client that an address or a subject belongs to. */
export interface ClientReference {
  readonly clientId?: string;
}

/** The first reservation of an address stays until it is released: whoever asks later learns whose it is from the state. */
export const clientEmailDecider: Decider<ClientReference, ClientEmailCommand, ClientEmailEvent> = {
  name: 'client-email',
  initialState: {},
  evolve: (_state, { type, data }) => (type === 'ClientEmailReleased' ? {} : { clientId: data.clientId }),
  decide: ({ type, clientId }, state) => {
    if (type === 'ReleaseClientEmail') {
      return state.clientId === clientId ? [{ type: 'ClientEmailReleased', data: { clientId } }] : [];
    }
    return state.clientId === undefined ? [{ type: 'ClientEmailReserved', data: { clientId } }] : [];
  },
};

/** A subject whose address now belongs to another client is bound to that one. */
export const clientSubjectDecider: Decider<ClientReference, ClientSubjectCommand, ClientSubjectEvent> = {
  name: 'client-subject',
  initialState: {},
  evolve: (_state, { data }) => ({ clientId: data.clientId }),
  decide: ({ clientId, subject }, state) =>
    state.clientId === clientId ? [] : [{ type: 'ClientSubjectBound', data: { clientId, subject } }],
};
