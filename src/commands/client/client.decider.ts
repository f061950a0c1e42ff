import type { ClientEmailEvent, ClientEvent, ClientSubjectEvent } from '../../events/client/client.events.js';
import {
  clientEmailFold,
  clientFold,
  clientSubjectFold,
  type ClientReference,
  type ClientState,
} from '../../events/client/client.state.js';
import type { Decider } from '../decider.js';
import { refusals } from '../refusal.js';
import type { ClientCommand, ClientEmailCommand, ClientSubjectCommand } from './client.commands.js';

export const clientDecider: Decider<ClientState, ClientCommand, ClientEvent> = {
  ...clientFold,
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

/**
 * The first reservation of an address stays until it is released. Later reservations change
 * nothing; the state says whose the address is.
 */
export const clientEmailDecider: Decider<ClientReference, ClientEmailCommand, ClientEmailEvent> = {
  ...clientEmailFold,
  decide: ({ type, clientId }, state) => {
    if (type === 'ReleaseClientEmail') {
      return state.clientId === clientId ? [{ type: 'ClientEmailReleased', data: { clientId } }] : [];
    }
    return state.clientId === undefined ? [{ type: 'ClientEmailReserved', data: { clientId } }] : [];
  },
};

/** A subject whose address now belongs to another client is bound to that one. */
export const clientSubjectDecider: Decider<ClientReference, ClientSubjectCommand, ClientSubjectEvent> = {
  ...clientSubjectFold,
  decide: ({ clientId, subject }, state) =>
    state.clientId === clientId ? [] : [{ type: 'ClientSubjectBound', data: { clientId, subject } }],
};
