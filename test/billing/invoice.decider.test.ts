import { test } from '@jest/globals';
import { invoiceDecider } from '../../src/commands/billing/invoice.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { BillingEvent } from '../../src/events/billing/billing.events.js';
import { expectRepeatable, given } from '../support/given.js';

const ofInvoice = { websiteId: 'w1', invoiceId: 'i1', clientId: 'c1' };
const details = { total: 4_900, currency: 'eur', description: 'March' };
const issue = { type: 'IssueInvoice', ...ofInvoice, ...details } as const;
const issued: BillingEvent = { type: 'InvoiceIssued', data: { ...ofInvoice, ...details } };
const pay = { type: 'PayInvoice', ...ofInvoice, status: 'open' } as const;
const paid: BillingEvent = { type: 'InvoicePaid', data: ofInvoice };
const sendVoid = { type: 'VoidInvoice', ...ofInvoice, status: 'open', isRequest: false } as const;
const voided: BillingEvent = { type: 'InvoiceVoided', data: ofInvoice };
const requested: BillingEvent = { type: 'InvoiceVoidRequested', data: ofInvoice };

test('an invoice is issued once', () => {
  given(invoiceDecider).when(issue).then([issued]);
  given(invoiceDecider)
    .when({ ...issue, dueAt: '2026-12-01T00:00:00.000Z' })
    .then([{ type: 'InvoiceIssued', data: { ...ofInvoice, ...details, dueAt: '2026-12-01T00:00:00.000Z' } }]);
  expectRepeatable(invoiceDecider, [], issue);
});

test('it is paid or voided, also one that was written before the log knew of invoices', () => {
  for (const before of [[], [issued]]) {
    given(invoiceDecider, before).when(pay).then([paid]);
    given(invoiceDecider, before).when(sendVoid).then([voided]);
    expectRepeatable(invoiceDecider, before, pay);
    expectRepeatable(invoiceDecider, before, sendVoid);
  }
});

test('what is void is not paid, and what is paid is not voided, whichever of log and ledger knows', () => {
  given(invoiceDecider, [issued, voided]).when(pay).thenRefused(refusals.invoiceSettled('i1', 'void'));
  given(invoiceDecider)
    .when({ ...pay, status: 'void' })
    .thenRefused(refusals.invoiceSettled('i1', 'void'));
  given(invoiceDecider, [issued, paid]).when(sendVoid).thenRefused(refusals.invoiceSettled('i1', 'paid'));
  given(invoiceDecider)
    .when({ ...sendVoid, status: 'paid' })
    .thenRefused(refusals.invoiceSettled('i1', 'paid'));
});

test('what the ledger has as settled changes nothing', () => {
  given(invoiceDecider)
    .when({ ...pay, status: 'paid' })
    .then([]);
  given(invoiceDecider)
    .when({ ...sendVoid, status: 'void' })
    .then([]);
});

test('another payment provider decides: what was asked of it may be paid meanwhile', () => {
  const request = { ...sendVoid, isRequest: true };
  given(invoiceDecider).when(request).then([requested]);
  expectRepeatable(invoiceDecider, [], request);
  given(invoiceDecider, [requested])
    .when({ ...request, status: 'paid' })
    .thenRefused(refusals.invoiceSettled('i1', 'paid'));
});
