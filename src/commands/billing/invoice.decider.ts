import type { BillingEvent } from '../../events/billing/billing.events.js';
import { invoicesFold, type InvoicesState } from '../../events/billing/invoice.state.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';

interface OfInvoice {
  readonly at: string;
  readonly websiteId: string;
  readonly invoiceId: string;
  readonly clientId: string;
}

export interface IssueInvoice extends OfInvoice {
  readonly type: 'IssueInvoice';
  readonly total: number;
  readonly currency: string;
  /** Encrypted for the client. */
  readonly description: string;
  readonly dueAt?: string | undefined;
}

interface SettleInvoice extends OfInvoice {
  /** As the payment provider has it: the log does not know every invoice. */
  readonly status: string;
}

export interface PayInvoice extends SettleInvoice {
  readonly type: 'PayInvoice';
}

export interface VoidInvoice extends SettleInvoice {
  readonly type: 'VoidInvoice';
  /** Whether another payment provider is asked, which decides. */
  readonly isRequest: boolean;
}

export type InvoiceCommand = IssueInvoice | PayInvoice | VoidInvoice;

type Outcome = readonly BillingEvent[] | Refusal;

const issue = (command: IssueInvoice, { invoices }: InvoicesState): Outcome => {
  const { websiteId, invoiceId, clientId, total, currency, description, dueAt } = command;
  // The id is derived from the command, so an existing invoice was written by this same command.
  if (invoices.has(invoiceId)) return [];
  const data = { websiteId, invoiceId, clientId, total, currency, description, ...(dueAt !== undefined && { dueAt }) };
  return [{ type: 'InvoiceIssued', data }];
};

const decide = (command: InvoiceCommand, state: InvoicesState): Outcome => {
  if (command.type === 'IssueInvoice') return issue(command, state);
  const { websiteId, invoiceId, clientId } = command;
  const data = { websiteId, invoiceId, clientId };
  const status = command.status === 'paid' ? 'paid' : (state.invoices.get(invoiceId) ?? command.status);
  switch (command.type) {
    case 'PayInvoice':
      if (status === 'void') return refusals.invoiceSettled(invoiceId, status);
      return status === 'paid' ? [] : [{ type: 'InvoicePaid', data }];
    case 'VoidInvoice':
      if (status === 'paid') return refusals.invoiceSettled(invoiceId, status);
      return status === 'void' ? [] : [{ type: command.isRequest ? 'InvoiceVoidRequested' : 'InvoiceVoided', data }];
    default:
      return command satisfies never;
  }
};

/** Of two admins who settle an invoice at the same time one wins: it is paid or voided, not both. */
export const invoiceDecider: Decider<InvoicesState, InvoiceCommand, BillingEvent> = { ...invoicesFold, decide };
