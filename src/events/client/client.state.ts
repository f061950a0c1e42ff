import { withEntry, withItems, type StreamFold } from '../fold.js';
import type { ClientEmailEvent, ClientEvent, ClientSubjectEvent } from './client.events.js';
import { clientEmailStream, clientStream, clientSubjectStream } from './client.stream.js';

/** A change of address that was asked for. */
export interface AddressChange {
  /** Encrypted with the key of the address that it is to replace. */
  readonly email: string;
  readonly expiresAt: string;
  readonly stage: 'pending' | 'withdrawn' | 'confirmed';
}

/** Every address that a client has, had, or was to have. */
export interface ClientAddresses {
  readonly email: string;
  readonly formerEmails: readonly string[];
  /** By id, in order. */
  readonly changes: ReadonlyMap<string, AddressChange>;
}

export type ClientState =
  | { readonly stage: 'none' }
  /** `registeredBy`: the id of the event. */
  | (ClientAddresses & { readonly stage: 'registered'; readonly name?: string; readonly registeredBy: string })
  /** `at`: when, ISO 8601 UTC. */
  | (ClientAddresses & { readonly stage: 'erased'; readonly at: string });

/** The change that is still to be confirmed. It may have expired. */
export const pendingChange = ({ changes }: ClientAddresses): (AddressChange & { readonly changeId: string }) | undefined => {
  for (const [changeId, change] of changes) if (change.stage === 'pending') return { changeId, ...change };
  return undefined;
};

/** Of several requests at most the last is pending. */
const settled = (addresses: ClientAddresses, stage: 'withdrawn' | 'confirmed'): ReadonlyMap<string, AddressChange> => {
  const pending = pendingChange(addresses);
  if (pending === undefined) return addresses.changes;
  const { changeId, ...change } = pending;
  return withEntry(addresses.changes, changeId, { ...change, stage });
};

export const clientFold: StreamFold<ClientState, ClientEvent, { readonly clientId: string }> = {
  name: 'client',
  stream: clientStream,
  initialState: { stage: 'none' },
  evolve: (state, event) => {
    switch (event.type) {
      case 'ClientRegistered': {
        const { email, name } = event.data;
        return {
          stage: 'registered',
          email,
          ...(name !== undefined && { name }),
          formerEmails: [],
          changes: new Map(),
          registeredBy: event.id,
        };
      }
      case 'ClientRenamed':
        return state.stage === 'registered' ? { ...state, name: event.data.name } : state;
      case 'ClientNameRemoved': {
        if (state.stage !== 'registered') return state;
        const { name: _, ...nameless } = state;
        return nameless;
      }
      case 'ClientEmailChangeRequested': {
        if (state.stage !== 'registered') return state;
        const { changeId, email, expiresAt } = event.data;
        return { ...state, changes: withEntry(settled(state, 'withdrawn'), changeId, { email, expiresAt, stage: 'pending' }) };
      }
      case 'ClientEmailChangeWithdrawn':
        return state.stage === 'registered' ? { ...state, changes: settled(state, 'withdrawn') } : state;
      case 'ClientEmailChanged': {
        if (state.stage !== 'registered') return state;
        const { email, formerEmail } = event.data;
        return {
          ...state,
          email,
          formerEmails: withItems(state.formerEmails, formerEmail),
          changes: settled(state, 'confirmed'),
        };
      }
      case 'ClientErased': {
        if (state.stage !== 'registered') return state;
        const { email, formerEmails, changes } = state;
        return { stage: 'erased', email, formerEmails, changes, at: event.metadata.at };
      }
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
  droppedState: {},
  evolve: (_state, { type, data }) => (type === 'ClientEmailReleased' ? {} : { clientId: data.clientId }),
};

export const clientSubjectFold: StreamFold<ClientReference, ClientSubjectEvent, { readonly subjectIndex: string }> = {
  name: 'client-subject',
  stream: clientSubjectStream,
  initialState: {},
  evolve: (_state, { data }) => ({ clientId: data.clientId }),
};
