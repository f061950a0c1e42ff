import type { Engine } from '../../engine.js';
import { billingStream } from '../../events/billing/billing.stream.js';
import type { Ledger, Payments } from '../../integrations/payments/port.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';

/**
 * Writes what the log says of invoices into the embedded ledger. The commands do so at once; this
 * worker covers those that were interrupted. Repeated, a write changes nothing.
 */
export const createLedgerWorker = (parts: {
  engine: Engine;
  createReactor: CreateReactor;
  ledger: Ledger & Pick<Payments, 'findInvoice' | 'voidInvoice'>;
}): Worker => {
  const { engine, createReactor, ledger } = parts;
  return createReactor({
    name: 'ledger',
    streams: [billingStream],
    on: {
      InvoiceIssued: async ({ data: { websiteId, clientId, invoiceId: id, description, ...invoice } }) => {
        const text = await engine.personal.display(description);
        await ledger.addInvoice({ websiteId, clientId }, { ...invoice, id, description: text });
      },
      InvoicePaid: async ({ data: { invoiceId } }) => {
        await ledger.payInvoice(invoiceId);
      },
      InvoiceVoided: async ({ data: { websiteId, invoiceId } }) => {
        const invoice = await ledger.findInvoice(invoiceId, { websiteId, subscriptions: () => Promise.resolve([]) });
        if (invoice !== null) await ledger.voidInvoice(invoice);
      },
    },
  });
};
