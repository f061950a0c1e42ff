import type { CustomerEvent } from '../../events/billing/billing.events.js';
import type { Decider } from '../decider.js';

/** Stream `customer-<clientId>`: the customers that a client is, by payment provider. */
export interface CustomerState {
  readonly customers: ReadonlyMap<string, string>;
}

export interface CustomerCommand {
  readonly type: 'AttachCustomer';
  readonly at: string;
  readonly clientId: string;
  readonly provider: string;
  readonly customerId: string;
}

/** What was found or made last holds: the one before was deleted at the provider. */
export const customerDecider: Decider<CustomerState, CustomerCommand, CustomerEvent> = {
  name: 'customer',
  initialState: { customers: new Map() },
  evolve: ({ customers }, { data }) => ({ customers: new Map(customers).set(data.provider, data.customerId) }),
  decide: ({ clientId, provider, customerId }, { customers }) =>
    customers.get(provider) === customerId ? [] : [{ type: 'CustomerAttached', data: { clientId, provider, customerId } }],
};
