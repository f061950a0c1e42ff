/** The payment provider. Every call may throw ProviderFault (`integrations/fault.ts`). */
export interface Payments {
  readonly provider: string;
  /** Whether a subscription can be made at this price, or at the default price when none is named. */
  hasPrice(priceId: string | undefined): Promise<boolean>;
  /** The customer that a client is; null when there is none, or when it was deleted at the provider. */
  findCustomer(payer: Payer): Promise<Customer | null>;
  /**
   * Makes the customer. Asked again for the same client, by whomever, it makes no second.
   * @param confirm called right before each request that makes something; what it throws is passed on
   */
  createCustomer(payer: Payer, confirm: () => void): Promise<Customer>;
  /** The subscription of a customer for a website that has not ended; null when there is none. */
  findSubscription(customerId: string, websiteId: string): Promise<Subscription | null>;
  /**
   * Makes the subscription. Asked again for the same `claim`, by whomever, it makes no second as long as the first has not ended.
   * @param confirm as above
   */
  createSubscription(wish: SubscriptionWish, confirm: () => void): Promise<Subscription>;
  /** Ends a subscription at once, without a further invoice. One that has ended, or is unknown, is left as it is. */
  endSubscription(subscriptionId: string): Promise<void>;
  /** What stands at the provider now. */
  readBilling(account: BillingAccount): Promise<Billing>;
  /** A page on which the owner looks after billing, and from which they come back to `returnUrl`; null when there is none for them. */
  portalLink(account: BillingAccount, returnUrl: string): Promise<string | null>;
}

/** A client as the provider is to know it. */
export interface Payer {
  readonly clientId: string;
  readonly email: string;
  readonly name?: string | undefined;
  /** As it was recorded when the customer was made or found. */
  readonly customerId?: string | undefined;
}

export interface Customer {
  readonly id: string;
}

export interface SubscriptionWish {
  readonly customerId: string;
  readonly clientId: string;
  readonly websiteId: string;
  /** Default: the provider's default price. */
  readonly priceId?: string | undefined;
  /** Names the claim that the subscription comes from. */
  readonly claim: string;
}

/** Who is billed for which website. */
export interface BillingAccount {
  readonly websiteId: string;
  readonly clientId: string;
  /** Absent: the owner came to the website by assignment. */
  readonly customerId?: string | undefined;
  readonly subscriptionId?: string | undefined;
}

export interface Billing {
  readonly subscription: Subscription | null;
  /** Newest first; drafts are left out. */
  readonly invoices: readonly Invoice[];
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
  /** As it is printed on the invoice. */
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
  /** Where it can be looked at and paid. */
  readonly url?: string;
}

/** What the embedded ledger offers beside: invoices that people write and mark as paid. */
export interface Ledger {
  /** Writes an invoice; the same `id` again writes nothing and answers with the first. */
  addInvoice(account: BillingAccount, invoice: ManualInvoice): Promise<Invoice>;
  /** Whether the invoice is one of the website, whoever owned the website then. */
  hasInvoice(websiteId: string, invoiceId: string): Promise<boolean>;
  /** Marks an invoice that there is as paid; one that was paid before stays as it is. */
  payInvoice(invoiceId: string): Promise<Invoice>;
}

export interface ManualInvoice {
  readonly id: string;
  readonly total: number;
  readonly currency: string;
  readonly description: string;
  readonly dueAt?: string | undefined;
}
