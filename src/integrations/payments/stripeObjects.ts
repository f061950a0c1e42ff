import { Type, type Static } from 'typebox';
import { isoTime } from '../../platform/clock.js';
import { formOf } from '../http.js';
import type { Invoice, Subscription } from './port.js';

/** What is relied upon of Stripe's objects (https://docs.stripe.com/api), and what becomes of them here. */
export const provider = 'stripe';

const Id = Type.String({ minLength: 1 });
const Seconds = Type.Integer();
const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));
const Metadata = nullable(Type.Record(Type.String(), Type.String()));

const CustomerForm = Type.Object({ id: Id, deleted: Type.Optional(Type.Boolean()), metadata: Metadata });
export type CustomerForm = Static<typeof CustomerForm>;
export const asCustomer = formOf(provider, CustomerForm);
const SubscriptionForm = Type.Object({
  id: Id,
  status: Type.String(),
  created: Seconds,
  canceled_at: nullable(Seconds),
  metadata: Metadata,
  items: Type.Object({
    data: Type.Array(Type.Object({ price: Type.Object({ id: Id }), current_period_end: Type.Optional(Seconds) })),
  }),
});
export type SubscriptionForm = Static<typeof SubscriptionForm>;
export const asSubscription = formOf(provider, SubscriptionForm);
const InvoiceForm = Type.Object({
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
  status_transitions: Type.Object({ paid_at: nullable(Seconds) }),
});
type InvoiceForm = Static<typeof InvoiceForm>;
export const asInvoice = formOf(provider, InvoiceForm);
export const asPrice = formOf(provider, Type.Object({ id: Id, active: Type.Boolean(), type: Type.String() }));
export const asSession = formOf(provider, Type.Object({ url: Type.String({ minLength: 1 }) }));
export const asPage = formOf(provider, Type.Object({ data: Type.Array(Type.Unknown()), has_more: Type.Boolean() }));

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

/** A status that Stripe may add one day is not taken for an end. */
export const statusOf = (status: string): Subscription['status'] => subscriptionStatus[status] ?? 'active';

export const toSubscription = ({ id, status, created, canceled_at: canceledAt, items }: SubscriptionForm): Subscription => {
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

/** None for a draft, which is not meant for anybody's eyes yet. */
export const toInvoice = (form: InvoiceForm): Invoice[] => {
  const status = invoiceStatus[form.status ?? ''];
  if (status === undefined) return [];
  const { id, number, total, amount_paid: amountPaid, currency, description, created, due_date: due } = form;
  const { hosted_invoice_url: url, status_transitions: transitions } = form;
  const paidAt = transitions.paid_at;
  return [
    {
      id,
      ...(typeof number === 'string' && { number }),
      status,
      total,
      amountPaid,
      currency,
      ...(typeof description === 'string' && { description }),
      createdAt: timeOf(created),
      ...(typeof due === 'number' && { dueAt: timeOf(due) }),
      ...(typeof paidAt === 'number' && { paidAt: timeOf(paidAt) }),
      ...(typeof url === 'string' && { url }),
    },
  ];
};
