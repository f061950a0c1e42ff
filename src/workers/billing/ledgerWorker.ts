import { billingStream } from '../../events/billing/billing.stream.js';
import type { Ledger, Payments } from '../../integrations/payments/port.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

/**
 * Writes what the log says of invoices into the embedded ledger. The commands do so at once; this
 * worker covers those that were interrupted. Repeated, a write changes nothing.
 */
export const createLedgerWorker = (parts: {
  createReactor: CreateReactor;
  ledger: Ledger & Pick<Payments, 'readInvoices' | 'voidInvoice'>;
}): Worker => {
  const { createReactor, ledger } = parts;
  return createReactor({
    name: 'ledger',
    streams: [billingStream],
    on: {
      InvoiceIssued: async ({ data: { websiteId, clientId, invoiceId: id, ...invoice } }) => {
        await ledger.addInvoice({ websiteId, clientId }, { ...invoice, id });
      },
      InvoicePaid: async ({ data: { invoiceId } }) => {
        await ledger.payInvoice(invoiceId);
      },
      InvoiceVoided: async ({ data: { websiteId, invoiceId } }) => {
        const scope = { websiteId, subscriptions: () => Promise.resolve([]) };
        const [invoice] = await ledger.readInvoices([invoiceId], scope);
        if (invoice !== undefined) await ledger.voidInvoice(invoice);
      },
    },
  });
};
