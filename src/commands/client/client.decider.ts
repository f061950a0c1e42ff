import type { ClientEmailEvent, ClientEvent, ClientSubjectEvent } from '../../events/client/client.events.js';
import {
  clientEmailFold,
  clientFold,
  clientSubjectFold,
  pendingChange,
  type ClientReference,
  type ClientState,
} from '../../events/client/client.state.js';
import { isoTime } from '../../platform/clock.js';
import { hasExpired } from '../../platform/times.js';
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
      case 'ChangeClient': {
        const { clientId, encryptedFor, name } = command;
        if (state.stage !== 'registered') return refusals.clientNotFound(clientId);
        // What is encrypted with the key of a former address would be missed by an erasure.
        if (state.email !== encryptedFor) return refusals.stale();
        return [...rename(clientId, name, state.name), ...requestAddress(command, state)];
      }
      case 'ConfirmAddressChange': {
        const { clientId, changeId, email, at } = command;
        if (state.stage !== 'registered') return [];
        const pending = pendingChange(state);
        if (pending?.changeId !== changeId || hasExpired(pending.expiresAt, at)) return [];
        return [{ type: 'ClientEmailChanged', data: { clientId, changeId, email, formerEmail: state.email } }];
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

const rename = (clientId: string, name: string | null | undefined, before: string | undefined): readonly ClientEvent[] => {
  if (name === undefined || (name ?? undefined) === before) return [];
  return name === null
    ? [{ type: 'ClientNameRemoved', data: { clientId } }]
    : [{ type: 'ClientRenamed', data: { clientId, name } }];
};

/** The same address again changes nothing while it can still be confirmed. */
const requestAddress = (
  { clientId, changeId, email, at }: Extract<ClientCommand, { type: 'ChangeClient' }>,
  state: Extract<ClientState, { stage: 'registered' }>,
): readonly ClientEvent[] => {
  if (email === undefined) return [];
  const pending = pendingChange(state);
  if (email === state.email) {
    return pending === undefined ? [] : [{ type: 'ClientEmailChangeWithdrawn', data: { clientId, changeId: pending.changeId } }];
  }
  if (pending?.email === email && !hasExpired(pending.expiresAt, at)) return [];
  const expiresAt = isoTime(Date.parse(at) + addressChangeMs);
  return [{ type: 'ClientEmailChangeRequested', data: { clientId, changeId, email, expiresAt } }];
};

/** As long as an invitation: people read their mail late. */
const addressChangeMs = 30 * 24 * 3_600_000;

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
