import { withEntry, type StreamFold } from '../fold.js';
import type { BillingEvent } from './billing.events.js';
import { billingStream } from './billing.stream.js';

/** What admins have made of the invoices of a website, by invoice id. */
export interface InvoicesState {
  readonly invoices: ReadonlyMap<string, 'open' | 'paid' | 'void'>;
}

export const invoicesFold: StreamFold<InvoicesState, BillingEvent, { readonly websiteId: string }> = {
  name: 'invoices',
  stream: billingStream,
  initialState: { invoices: new Map() },
  evolve: (state, { type, data }) => {
    switch (type) {
      case 'InvoiceIssued':
        return { invoices: withEntry(state.invoices, data.invoiceId, 'open') };
      case 'InvoicePaid':
        return { invoices: withEntry(state.invoices, data.invoiceId, 'paid') };
      case 'InvoiceVoided':
      case 'InvoiceVoidRequested':
        return { invoices: withEntry(state.invoices, data.invoiceId, 'void') };
      default:
        return state;
    }
  },
};
