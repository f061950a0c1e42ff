import { defineStream } from '../defineStream.js';
import { billingEvents, customerEvents } from './billing.events.js';

export const customerStream = defineStream({
  category: 'customer',
  key: ({ clientId }: { readonly clientId: string }) => clientId,
  named: '<clientId>',
  holds: 'which customer of the payment provider a client is',
  guards: 'one customer for each payment provider',
  events: customerEvents,
  personal: {},
});

export const billingStream = defineStream({
  category: 'billing',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'who is billed, the claim of a transfer under way, attempts, invoices written by hand',
  guards: 'one claim and one attempt at a time; an invoice is either paid or voided',
  events: billingEvents,
  personal: { InvoiceIssued: ['description'] },
});
