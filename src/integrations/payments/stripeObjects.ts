import { Type, type Static } from 'typebox';
import { isoTime } from '../../platform/clock.js';
import { currencyDigits } from '../../platform/money.js';
import { parserFor } from '../http.js';
import type { Invoice, Subscription, Price } from './port.js';

/** The fields used of Stripe's objects (https://docs.stripe.com/api), and their translation. */
export const provider = 'stripe';

const Id = Type.String({ minLength: 1 });
const Seconds = Type.Integer();
const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));
/** An object that is named by its id, or included whole. */
const Reference = Type.Union([Id, Type.Object({ id: Id })]);
const Metadata = nullable(Type.Record(Type.String(), Type.String()));

const StripeCustomer = Type.Object({ id: Id, deleted: Type.Optional(Type.Boolean()), metadata: Metadata });
export type StripeCustomer = Static<typeof StripeCustomer>;
export const asCustomer = parserFor(provider, StripeCustomer);
const StripeSubscription = Type.Object({
  id: Id,
  customer: Reference,
  status: Type.String(),
  created: Seconds,
  canceled_at: nullable(Seconds),
  metadata: Metadata,
  items: Type.Object({
    data: Type.Array(Type.Object({ price: Type.Object({ id: Id }), current_period_end: Type.Optional(Seconds) })),
  }),
});
export type StripeSubscription = Static<typeof StripeSubscription>;
export const asSubscription = parserFor(provider, StripeSubscription);
const StripeInvoice = Type.Object({
  id: Id,
  number: nullable(Type.String()),
  status: nullable(Type.String()),
  total: Type.Integer(),
  amount_paid: Type.Integer(),
  currency: Type.String(),
  description: nullable(Type.String()),
  created: Seconds,
  due_date: nullable(Seconds),
  hosted_invoice_url: nullable(Type.String()),
  parent: nullable(Type.Object({ subscription_details: nullable(Type.Object({ subscription: Reference })) })),
  status_transitions: Type.Object({ paid_at: nullable(Seconds), voided_at: nullable(Seconds) }),
});
export type StripeInvoice = Static<typeof StripeInvoice>;
export const asInvoice = parserFor(provider, StripeInvoice);
export const asPrice = parserFor(
  provider,
  Type.Object({
    id: Id,
    active: Type.Boolean(),
    type: Type.String(),
    unit_amount: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    currency: Type.Optional(Type.String()),
    recurring: Type.Optional(
      Type.Union([
        Type.Null(),
        Type.Object({ interval: Type.Enum(['day', 'week', 'month', 'year']), interval_count: Type.Integer() }),
      ]),
    ),
  }),
);

/**
 * Where Stripe's amounts are not in the smallest unit of ISO 4217: the digits that they have behind the point
 * (https://docs.stripe.com/currencies#special-cases, and #zero-decimal for MGA).
 */
const stripeDigits: Readonly<Record<string, number | undefined>> = { isk: 2, ugx: 2, mga: 0 };

/** Stripe's amount, in the smallest unit of the currency. */
const toAmount = (amount: number, currency: string): number => {
  const iso = currencyDigits(currency);
  return Math.round(amount * 10 ** (iso - (stripeDigits[currency.toLowerCase()] ?? iso)));
};

/** Of a price in tiers, or for several intervals at once, Stripe's own pages say what is paid. */
export const toPrice = ({ id, unit_amount: amount, currency, recurring }: ReturnType<typeof asPrice>): Price => ({
  id,
  ...(typeof amount === 'number' && { amount: currency === undefined ? amount : toAmount(amount, currency) }),
  ...(currency !== undefined && { currency }),
  ...(recurring?.interval_count === 1 && { interval: recurring.interval }),
});
export const asSession = parserFor(provider, Type.Object({ url: Type.String({ minLength: 1 }) }));
export const asPage = parserFor(provider, Type.Object({ data: Type.Array(Type.Unknown()), has_more: Type.Boolean() }));

const timeOf = (seconds: number): string => isoTime(seconds * 1_000);

const subscriptionStatus: Readonly<Record<string, Subscription['status'] | undefined>> = {
  active: 'active',
  trialing: 'trialing',
  past_due: 'past_due',
  unpaid: 'unpaid',
  incomplete: 'incomplete',
  paused: 'paused',
  incomplete_expired: 'canceled',
  canceled: 'canceled',
};

/**
 * A status that is not known yet counts as active, so that it does not end the subscription here.
 */
export const statusOf = (status: string): Subscription['status'] => subscriptionStatus[status] ?? 'active';

export const toSubscription = ({ id, status, created, canceled_at: canceledAt, items }: StripeSubscription): Subscription => {
  const [item] = items.data;
  return {
    id,
    status: statusOf(status),
    ...(item !== undefined && { priceId: item.price.id }),
    createdAt: timeOf(created),
    ...(item?.current_period_end !== undefined && { currentPeriodEndsAt: timeOf(item.current_period_end) }),
    ...(typeof canceledAt === 'number' && { canceledAt: timeOf(canceledAt) }),
  };
};

const invoiceStatus: Readonly<Record<string, Invoice['status'] | undefined>> = {
  open: 'open',
  paid: 'paid',
  uncollectible: 'uncollectible',
  void: 'void',
};

export const idOf = (reference: Static<typeof Reference>): string => (typeof reference === 'string' ? reference : reference.id);

/** The subscription that the invoice is for, if it is for one. */
export const subscriptionOf = ({ parent }: StripeInvoice): string | undefined => {
  const details = parent?.subscription_details;
  return details === null || details === undefined ? undefined : idOf(details.subscription);
};

/** The invoice of a client for a website; empty for a draft, which nobody should see yet. */
export const toInvoice = (
  invoice: StripeInvoice,
  { websiteId, clientId }: { readonly websiteId: string; readonly clientId: string },
): Invoice[] => {
  const status = invoiceStatus[invoice.status ?? ''];
  if (status === undefined) return [];
  const { id, number, total, amount_paid: amountPaid, currency, description, created, due_date: due } = invoice;
  const { hosted_invoice_url: url, status_transitions: transitions } = invoice;
  const { paid_at: paidAt, voided_at: voidedAt } = transitions;
  return [
    {
      id,
      websiteId,
      clientId,
      ...(typeof number === 'string' && { number }),
      status,
      total: toAmount(total, currency),
      amountPaid: toAmount(amountPaid, currency),
      currency,
      ...(typeof description === 'string' && { description }),
      createdAt: timeOf(created),
      ...(typeof due === 'number' && { dueAt: timeOf(due) }),
      ...(typeof paidAt === 'number' && { paidAt: timeOf(paidAt) }),
      ...(typeof voidedAt === 'number' && { voidedAt: timeOf(voidedAt) }),
      ...(typeof url === 'string' && { url }),
    },
  ];
};
