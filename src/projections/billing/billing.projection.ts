import type { BillingEvent } from '../../events/billing/billing.events.js';
import { billingStream } from '../../events/billing/billing.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** Every subscription that there has been for a website. */
export type BillingDocument = {
  readonly websiteId: string;
  /** Whose they are. */
  readonly clients: readonly string[];
  /** Newest first. */
  readonly subscriptions: readonly {
    readonly id: string;
    readonly provider: string;
    readonly clientId: string;
    readonly customerId: string;
  }[];
};

const withSubscriptions = (websiteId: string, subscriptions: BillingDocument['subscriptions']): BillingDocument => ({
  websiteId,
  clients: [...new Set(subscriptions.map((one) => one.clientId))],
  subscriptions,
});

export const billingProjection: Projection<BillingDocument, BillingEvent> = defineProjection({
  name: 'billing',
  version: 1,
  stream: billingStream,
  on: {
    SubscriptionAttached: (document, { data: { websiteId, clientId, provider, customerId, subscriptionId: id } }) => {
      const others = document?.subscriptions.filter((one) => one.id !== id || one.provider !== provider) ?? [];
      return withSubscriptions(websiteId, [{ id, provider, clientId, customerId }, ...others]);
    },
    SubscriptionDetached: (document, { data: { websiteId, provider, subscriptionId: id } }) => {
      const others = document?.subscriptions.filter((one) => one.id !== id || one.provider !== provider) ?? [];
      return document === null ? null : withSubscriptions(websiteId, others);
    },
  },
  ignores: [
    'BillingAttemptStarted',
    'BillingLeaseRenewed',
    'BillingAttemptFailed',
    'SubscriptionRequested',
    'AttachmentRequested',
    'SubscriptionEnded',
    'TransferDeclined',
    'TransferCompleted',
    'TransferItemsDone',
    'TransferLedgerDrawnUp',
    'TransferFailed',
    'InvoiceIssued',
    'InvoicePaid',
    'InvoiceVoided',
    'InvoiceVoidRequested',
  ],
  indexes: [{ field: 'clients' }],
});
