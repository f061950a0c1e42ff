import type { CustomerEvent } from '../../events/billing/billing.events.js';
import { customerFold, type CustomerState } from '../../events/billing/customer.state.js';
import type { Decider } from '../decider.js';

export interface CustomerCommand {
  readonly type: 'AttachCustomer';
  readonly at: string;
  readonly clientId: string;
  readonly provider: string;
  readonly customerId: string;
}

/** The customer recorded last counts: the one before was deleted at the provider. */
export const customerDecider: Decider<CustomerState, CustomerCommand, CustomerEvent> = {
  ...customerFold,
  decide: ({ clientId, provider, customerId }, { customers }) =>
    customers.get(provider) === customerId ? [] : [{ type: 'CustomerAttached', data: { clientId, provider, customerId } }],
};
