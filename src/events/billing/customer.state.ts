import { withEntry, type StreamFold } from '../fold.js';
import type { CustomerEvent } from './billing.events.js';
import { customerStream } from './billing.stream.js';

/** The customers that a client is, by payment provider. */
export interface CustomerState {
  readonly customers: ReadonlyMap<string, string>;
}

export const customerFold: StreamFold<CustomerState, CustomerEvent, { readonly clientId: string }> = {
  name: 'customer',
  stream: customerStream,
  initialState: { customers: new Map() },
  evolve: ({ customers }, { data }) => ({ customers: withEntry(customers, data.provider, data.customerId) }),
};
