/** The payment provider. Every call may throw ProviderFault (`integrations/fault.ts`). */
export interface Payments {
  readonly provider: string;
  /**
   * Whether subscriptions can be created at this price, or at the default price when none is given.
   */
  hasPrice(priceId: string | undefined): Promise<boolean>;
  /** What is paid at that price, or at the default one; null when there is none. */
  readPrice(priceId: string | undefined): Promise<Price | null>;
  /** The client's customer; null when there is none, or when it was deleted at the provider. */
  findCustomer(payer: Payer): Promise<Customer | null>;
  /**
   * Creates the customer. Repeated for the same client, in any process, it creates no second one.
   * @param assertHeld called right before each request that creates something; throws when the
   * caller's lease is lost, and the error is passed on
   */
  createCustomer(payer: Payer, assertHeld: () => void): Promise<Customer>;
  /**
   * The customer's subscription for a website that has not ended; null when there is none.
   * @param except ids of subscriptions that are passed over
   */
  findSubscription(customerId: string, websiteId: string, except?: readonly string[]): Promise<Subscription | null>;
  /**
   * Creates the subscription. Repeated for the same `claim`, in any process, it creates no second
   * one while the first has not ended.
   * @param assertHeld as above
   */
  createSubscription(request: SubscriptionRequest, assertHeld: () => void): Promise<Subscription>;
  /**
   * Whether a subscription that exists already can become the client's for the website.
   * @returns the customer that it is of, or why not
   */
  checkAttachment(request: Attachment): Promise<{ readonly customerId: string } | AttachmentRefusal>;
  /**
   * Marks the subscription as the client's for the website. Repeated it changes nothing; of
   * concurrent requests for two websites one is refused.
   * @param assertHeld as above
   */
  attachSubscription(request: Attachment, assertHeld: () => void): Promise<'attached' | AttachmentRefusal>;
  /** Takes the mark off, if it is this website's and client's; the subscription goes on. */
  detachSubscription(request: Attachment): Promise<void>;
  /** Marks the customer as the client, by which `findCustomer` finds it. */
  markCustomer(customerId: string, clientId: string): Promise<void>;
  /**
   * Ends a subscription at once, without a further invoice. Does nothing if it has ended or is
   * unknown.
   */
  endSubscription(subscriptionId: string): Promise<void>;
  /** The subscriptions as they are now, in the order of `recorded`; unknown ones are left out. */
  readSubscriptions(recorded: readonly RecordedSubscription[]): Promise<readonly Subscription[]>;
  /**
   * The invoices as they are now; drafts are left out.
   * @throws InvoicePlaceGone
   */
  listInvoices(query: InvoiceQuery): Promise<InvoicePage>;
  /**
   * The invoices as they are now, in the order of `ids`, without drafts; unknown ones, and those
   * beyond `scope`, are left out.
   */
  readInvoices(ids: readonly string[], scope: InvoiceScope): Promise<readonly Invoice[]>;
  /**
   * Voids an invoice that `readInvoices` found.
   * @returns the invoice; it is `void` unless it was paid before
   */
  voidInvoice(invoice: Invoice): Promise<Invoice>;
  /**
   * The page where the owner manages billing and which leads back to `returnUrl`; null when they
   * have none.
   */
  portalLink(account: BillingAccount, returnUrl: string): Promise<string | null>;
}

/** What a subscription costs, as far as the provider says it. */
export interface Price {
  readonly id?: string;
  /** In the smallest unit of the currency. */
  readonly amount?: number;
  /** ISO 4217, lower-case. */
  readonly currency?: string;
  /** How often it is paid. */
  readonly interval?: 'day' | 'week' | 'month' | 'year';
}

/** A client, as the provider identifies it. */
export interface Payer {
  readonly clientId: string;
  readonly email: string;
  readonly name?: string | undefined;
  /** As recorded when the customer was created or found. */
  readonly customerId?: string | undefined;
}

export interface Customer {
  readonly id: string;
}

export interface SubscriptionRequest {
  readonly customerId: string;
  readonly clientId: string;
  readonly websiteId: string;
  /** Default: the provider's default price. */
  readonly priceId?: string | undefined;
  /** The id of the claim that the subscription is for. */
  readonly claim: string;
}

export interface Attachment {
  readonly subscriptionId: string;
  readonly websiteId: string;
  /** Absent: not known yet, any client will do. */
  readonly clientId?: string | undefined;
}

/** Why a subscription cannot be attached; what the caller says of it is `attachmentIssues`. */
export type AttachmentRefusal = keyof typeof attachmentIssues;

export const attachmentIssues = {
  unknown: 'does not exist',
  ended: 'has ended',
  otherWebsite: 'belongs to another website',
  otherClient: 'belongs to another client',
} as const;

/** Who is billed for which website. */
export interface BillingAccount {
  readonly websiteId: string;
  readonly clientId: string;
  /** Absent when the owner was assigned rather than subscribed by a transfer. */
  readonly customerId?: string | undefined;
}

/** A subscription that the service has recorded, whether it has ended or not. */
export interface RecordedSubscription {
  readonly id: string;
  readonly websiteId: string;
  readonly clientId: string;
  readonly customerId: string;
}

/** How invoices can be listed; `-` is descending. Those without a due date come last. */
export const invoiceSorts = ['-createdAt', 'createdAt', '-dueAt', 'dueAt'] as const;
export type InvoiceSort = (typeof invoiceSorts)[number];

/** Where an invoice stands in a sorted list. */
export interface InvoicePlace {
  /** Of the field that is sorted by, in ms since the epoch. */
  readonly time: number;
  readonly id: string;
}

/** The invoice that the page begins after has been deleted. */
export class InvoicePlaceGone extends Error {
  override readonly name = 'InvoicePlaceGone';
}

export interface InvoiceFilter {
  /** Default: of all websites. */
  readonly websiteId?: string | undefined;
  /** Default: of all clients. */
  readonly clientId?: string | undefined;
  readonly status?: Invoice['status'] | undefined;
}

/** Whose invoices are read. */
export interface InvoiceScope extends Pick<InvoiceFilter, 'websiteId'> {
  /**
   * Of this website, or of all websites. Called only by a provider that knows an invoice by its
   * subscription alone.
   */
  readonly subscriptions: () => Promise<readonly RecordedSubscription[]>;
}

export interface InvoiceQuery extends InvoiceFilter, InvoiceScope {
  readonly sort: InvoiceSort;
  /** Only invoices after this place (exclusive). */
  readonly after?: InvoicePlace | undefined;
  /** At least 1. */
  readonly limit: number;
}

export interface InvoicePage {
  /** Can be fewer than `limit`, also when there is a next page. */
  readonly items: readonly Invoice[];
  /** After which the next page begins; absent: there is none. */
  readonly next?: InvoicePlace;
}

export const subscriptionStatuses = ['active', 'trialing', 'past_due', 'unpaid', 'incomplete', 'paused', 'canceled'] as const;

export interface Subscription {
  readonly id: string;
  readonly status: (typeof subscriptionStatuses)[number];
  readonly priceId?: string;
  /** Times are ISO 8601 UTC. */
  readonly createdAt: string;
  readonly currentPeriodEndsAt?: string;
  readonly canceledAt?: string;
}

export const invoiceStatuses = ['open', 'paid', 'uncollectible', 'void'] as const;

export interface Invoice {
  readonly id: string;
  readonly websiteId: string;
  /** Whom it is for. */
  readonly clientId: string;
  /** As printed on the invoice. */
  readonly number?: string;
  readonly status: (typeof invoiceStatuses)[number];
  /** In the smallest unit of the currency (cents). */
  readonly total: number;
  readonly amountPaid: number;
  /** ISO 4217, lower-case. */
  readonly currency: string;
  readonly description?: string;
  readonly createdAt: string;
  readonly dueAt?: string;
  readonly paidAt?: string;
  readonly voidedAt?: string;
  /** The page where whoever has this address can view it. */
  readonly url?: string;
}

/** What only the embedded ledger offers: invoices that admins write and mark as paid. */
export interface Ledger {
  /** Adds an invoice. Repeated with the same `id` it adds nothing and returns the first. */
  addInvoice(account: BillingAccount, invoice: ManualInvoice): Promise<Invoice>;
  /** How many invoices `listInvoices` lists on all pages. */
  countInvoices(filter: InvoiceFilter): Promise<number>;
  /** The invoice whose `url` holds this key; null when there is none. */
  openInvoice(invoiceId: string, key: string): Promise<Invoice | null>;
  /**
   * Marks an existing invoice as paid.
   * @returns the invoice; it is `paid` unless it was voided before
   */
  payInvoice(invoiceId: string): Promise<Invoice>;
  /** Erases the descriptions of every invoice to this client, those that were stored readable too. */
  forget(address: string, person: string, clientId: string): Promise<void>;
}

export interface ManualInvoice {
  readonly id: string;
  readonly total: number;
  readonly currency: string;
  /** Encrypted for the client; an `Invoice` has it readable. */
  readonly description: string;
  readonly dueAt?: string | undefined;
}
