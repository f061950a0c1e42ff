import type { FakeAnswer, FakeProvider, FakeRequest } from './wire.js';

interface Resource {
  readonly id: string;
  metadata: Readonly<Record<string, string>>;
  readonly created: number;
}

export interface FakeCustomer extends Resource {
  readonly email: string;
  readonly name: string | null;
  deleted: boolean;
}

export interface FakeSubscription extends Resource {
  readonly customer: string;
  readonly price: string;
  readonly collectionMethod: string;
  status: string;
}

export interface FakeInvoice {
  readonly id: string;
  readonly subscription: string;
  readonly created: number;
  status: 'draft' | 'open' | 'paid' | 'void';
  due: number | null;
  description?: string;
}

export interface StripeFake {
  readonly provider: FakeProvider;
  readonly secretKey: string;
  /** A recurring price that exists. */
  readonly priceId: string;
  /** All objects ever created. */
  readonly customers: readonly FakeCustomer[];
  readonly subscriptions: readonly FakeSubscription[];
  readonly invoices: readonly FakeInvoice[];
  readonly prices: Set<string>;
  /** Every request with its response. */
  readonly exchanges: readonly { readonly request: FakeRequest; readonly answer: FakeAnswer }[];
  /**
   * How many of the next creations fail with a 500, which Stripe stores under the idempotency key
   * like any other response.
   */
  failing: number;
  /** Adds a customer with a subscription that somebody made by hand. @returns the subscription */
  addSubscription(email: string): FakeSubscription;
  /** Bills a subscription once more, or somebody of whom the service knows nothing. */
  addInvoice(subscription: string): FakeInvoice;
  /** As somebody does with a draft; Stripe lets nobody delete another invoice. */
  deleteInvoice(id: string): void;
  /** Adds customers with this address that somebody else created. */
  addStrangers(email: string, count: number): void;
}

const CREATED = 1_700_000_000;
const MONTH_S = 30 * 86_400;

/**
 * The part of Stripe that the service uses: objects, paged lists, and idempotency keys, which
 * replay the first response (https://docs.stripe.com/api/idempotent_requests). `stripeJudge` checks
 * requests and responses against Stripe's description.
 */
export const createStripeFake = (): StripeFake => {
  const secretKey = 'sk_test_canary0123456789';
  const priceId = 'price_monthly';
  const prices = new Set([priceId, 'price_yearly']);
  const customers: FakeCustomer[] = [];
  const subscriptions: FakeSubscription[] = [];
  const invoices: FakeInvoice[] = [];
  const answers = new Map<string, { readonly asked: string; readonly answer: FakeAnswer }>();
  const exchanges: { request: FakeRequest; answer: FakeAnswer }[] = [];
  let made = 0;
  const nextId = (prefix: string): string => `${prefix}_${String((made += 1)).padStart(6, '0')}`;

  const customerBody = ({ id, email, name, metadata, created, deleted }: FakeCustomer): unknown =>
    deleted ? { id, object: 'customer', deleted } : { id, object: 'customer', email, name, metadata, created, livemode: false };
  const subscriptionBody = ({ id, customer, price, status, metadata, created, collectionMethod }: FakeSubscription): unknown => ({
    id,
    object: 'subscription',
    customer,
    status,
    metadata,
    created,
    collection_method: collectionMethod,
    canceled_at: status === 'canceled' ? created + 60 : null,
    items: {
      object: 'list',
      has_more: false,
      url: `/v1/subscription_items?subscription=${id}`,
      data: [{ id: `si_${id}`, object: 'subscription_item', price: priceBody(price), current_period_end: created + MONTH_S }],
    },
  });
  const priceBody = (id: string): unknown => ({
    id,
    object: 'price',
    active: true,
    type: 'recurring',
    unit_amount: 2_900,
    currency: 'eur',
    recurring: { interval: 'month', interval_count: 1 },
  });
  const invoiceBody = ({ id, status, created, due, subscription, description }: FakeInvoice): unknown => ({
    id,
    object: 'invoice',
    number: status === 'draft' ? null : `DOOR-${id}`,
    status,
    total: 2_900,
    amount_paid: status === 'paid' ? 2_900 : 0,
    currency: 'eur',
    description: description ?? null,
    created,
    due_date: due,
    parent: {
      type: 'subscription_details',
      quote_details: null,
      subscription_details: { metadata: {}, subscription },
    },
    hosted_invoice_url: status === 'draft' ? null : `https://invoice.example/${id}`,
    status_transitions: {
      finalized_at: status === 'draft' ? null : created,
      marked_uncollectible_at: null,
      paid_at: status === 'paid' ? created + 60 : null,
      voided_at: status === 'void' ? created + 60 : null,
    },
  });

  const page = ({ query, path }: FakeRequest, all: readonly { readonly id: string }[], show: (one: never) => unknown) => {
    const after = query.get('starting_after');
    const begin = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    if (after !== null && begin === 0) return { ...missing('object', after, 'starting_after'), status: 400 };
    const items = all.slice(begin, begin + Number(query.get('limit') ?? 10));
    const hasMore = begin + items.length < all.length;
    return ok({ object: 'list', url: path, has_more: hasMore, data: items.map((item) => show(item as never)) });
  };
  const newestFirst = <Item>(items: readonly Item[], wanted: (item: Item) => boolean): Item[] => items.filter(wanted).reverse();
  const common = (prefix: string, form: URLSearchParams): Resource => ({
    id: nextId(prefix),
    metadata: metadataIn(form),
    created: CREATED + made,
  });

  const addInvoice = (subscription: string): FakeInvoice => {
    const created = CREATED + (made += 1);
    const invoice: FakeInvoice = { id: nextId('in'), subscription, created, status: 'open', due: created + MONTH_S };
    invoices.push(invoice);
    return invoice;
  };
  const createCustomer = (form: URLSearchParams): FakeAnswer => {
    const email = form.get('email') ?? '';
    if (!email.includes('@')) return refused(`Invalid email address: ${email}`, { code: 'email_invalid', param: 'email' });
    const customer = { ...common('cus', form), email, name: form.get('name'), deleted: false };
    customers.push(customer);
    return ok(customerBody(customer));
  };
  const createSubscription = (form: URLSearchParams): FakeAnswer => {
    const customer = form.get('customer') ?? '';
    const price = form.get('items[0][price]') ?? '';
    if (!customers.some(({ id, deleted }) => id === customer && !deleted)) return missing('customer', customer);
    if (!prices.has(price)) return { ...missing('price', price, 'items[0][price]'), status: 400 };
    const collectionMethod = form.get('collection_method') ?? 'charge_automatically';
    const subscription = { ...common('sub', form), customer, price, collectionMethod, status: 'active' };
    if (collectionMethod !== 'send_invoice') return refused('This customer has no attached payment source', {});
    subscriptions.push(subscription);
    addInvoice(subscription.id);
    return ok(subscriptionBody(subscription));
  };

  /** Handles a creation, once per idempotency key. */
  const create = ({ path, headers, body }: FakeRequest): FakeAnswer => {
    const key = headers.get('idempotency-key') ?? '';
    const text = typeof body === 'string' ? body : '';
    const asked = `${path}?${text}`;
    const stored = answers.get(key);
    if (stored !== undefined) {
      if (stored.asked !== asked) {
        const words = 'Keys for idempotent requests can only be used with the same parameters they were first used with.';
        return refused(words, { type: 'idempotency_error' });
      }
      return { ...stored.answer, headers: { ...stored.answer.headers, 'idempotent-replayed': 'true' } };
    }
    const form = new URLSearchParams(text);
    const answer = carryOut(path, form);
    if (key !== '') answers.set(key, { asked, answer });
    return answer;
  };
  const carryOut = (path: string, form: URLSearchParams): FakeAnswer => {
    if (stripe.failing > 0) {
      stripe.failing -= 1;
      return { status: 500, body: { error: { type: 'api_error', message: 'An unknown error occurred' } } };
    }
    if (path === '/v1/customers') return createCustomer(form);
    if (path === '/v1/subscriptions') return createSubscription(form);
    if (path.startsWith('/v1/invoices/')) return voidInvoice(path.split('/')[3] ?? '');
    const [, , kind, id = ''] = path.split('/');
    if (kind === 'customers') return mark('customer', customers, id, form, customerBody);
    if (kind === 'subscriptions') return mark('subscription', subscriptions, id, form, subscriptionBody);
    const customer = form.get('customer') ?? '';
    if (!customers.some(({ id: its }) => its === customer)) return missing('customer', customer);
    return ok({
      id: nextId('bps'),
      object: 'billing_portal.session',
      customer,
      return_url: form.get('return_url'),
      url: `https://portal.example/${customer}`,
    });
  };

  /** An empty value removes the key. */
  const mark = <Of extends Resource>(
    kind: string,
    all: readonly Of[],
    id: string,
    form: URLSearchParams,
    show: (one: Of) => unknown,
  ): FakeAnswer => {
    const found = all.find((one) => one.id === id);
    if (found === undefined) return missing(kind, id);
    const marks = Object.entries({ ...found.metadata, ...metadataIn(form) }).filter(([, value]) => value !== '');
    found.metadata = Object.fromEntries(marks);
    return ok(show(found));
  };

  const voidInvoice = (id: string): FakeAnswer => {
    const invoice = invoices.find((one) => one.id === id);
    if (invoice === undefined) return missing('invoice', id);
    if (invoice.status !== 'open') return refused('You can only pass in open invoices. This invoice is not open.', {});
    invoice.status = 'void';
    return ok(invoiceBody(invoice));
  };

  const cancel = (id: string): FakeAnswer => {
    const subscription = subscriptions.find((one) => one.id === id);
    if (subscription === undefined || subscription.status === 'canceled') return missing('subscription', id);
    subscription.status = 'canceled';
    return ok(subscriptionBody(subscription));
  };
  const read = (request: FakeRequest, kind: string, id: string | undefined): FakeAnswer => {
    const { query } = request;
    switch (kind) {
      case 'customers': {
        if (id === undefined)
          return page(
            request,
            newestFirst(customers, (one) => one.email === query.get('email') && !one.deleted),
            customerBody,
          );
        const customer = customers.find((one) => one.id === id);
        return customer === undefined ? missing('customer', id) : ok(customerBody(customer));
      }
      case 'subscriptions': {
        const isListed = (one: FakeSubscription) => one.customer === query.get('customer') && one.status !== 'canceled';
        const customer = query.get('customer') ?? '';
        if (id === undefined && !customers.some((one) => one.id === customer)) {
          return { ...missing('customer', customer, 'customer'), status: 400 };
        }
        if (id === undefined) return page(request, newestFirst(subscriptions, isListed), subscriptionBody);
        const subscription = subscriptions.find((one) => one.id === id);
        return subscription === undefined ? missing('subscription', id) : ok(subscriptionBody(subscription));
      }
      case 'invoices': {
        const [customer, subscription, status] = ['customer', 'subscription', 'status'].map((name) => query.get(name));
        const customerOf = (one: FakeInvoice) => subscriptions.find(({ id: its }) => its === one.subscription)?.customer;
        const isListed = (one: FakeInvoice) =>
          (subscription === null || one.subscription === subscription) &&
          (customer === null || customerOf(one) === customer) &&
          (status === null || one.status === status);
        if (id === undefined) return page(request, newestFirst(invoices, isListed), invoiceBody);
        const invoice = invoices.find((one) => one.id === id);
        return invoice === undefined ? missing('invoice', id) : ok(invoiceBody(invoice));
      }
      default:
        return id !== undefined && prices.has(id) ? ok(priceBody(id)) : missing('price', id ?? '');
    }
  };

  const answerFor = (request: FakeRequest): FakeAnswer => {
    if (request.headers.get('authorization') !== `Bearer ${secretKey}`)
      return {
        status: 401,
        body: { error: { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_wr****ng' } },
      };
    const [, , kind = '', id] = request.path.split('/').map(decodeURIComponent);
    if (request.method === 'POST') return create(request);
    if (request.method === 'DELETE') return cancel(id ?? '');
    return read(request, kind, id);
  };

  const stripe: StripeFake = {
    secretKey,
    priceId,
    customers,
    subscriptions,
    invoices,
    prices,
    exchanges,
    failing: 0,
    addInvoice,
    deleteInvoice: (id) => {
      const index = invoices.findIndex((one) => one.id === id);
      if (index >= 0) invoices.splice(index, 1);
    },
    addSubscription: (email) => {
      const customer = { ...common('cus', new URLSearchParams()), email, name: null, deleted: false };
      customers.push(customer);
      const its = { customer: customer.id, price: priceId, collectionMethod: 'charge_automatically', status: 'active' };
      const subscription = { ...common('sub', new URLSearchParams()), ...its };
      subscriptions.push(subscription);
      addInvoice(subscription.id);
      return subscription;
    },
    addStrangers: (email, count) => {
      for (let index = 0; index < count; index += 1) {
        customers.push({ ...common('cus', new URLSearchParams()), email, name: null, deleted: false });
      }
    },
    provider: (request) => {
      const answer = answerFor(request);
      exchanges.push({ request, answer });
      return { ...answer, headers: { 'request-id': `req_${exchanges.length}`, ...answer.headers } };
    },
  };
  return stripe;
};

const ok = (body: unknown): FakeAnswer => ({ status: 200, body });

const refused = (message: string, more: Readonly<Record<string, string>>): FakeAnswer => ({
  status: 400,
  body: { error: { type: 'invalid_request_error', message, ...more } },
});

const missing = (kind: string, id: string, param = 'id'): FakeAnswer => ({
  ...refused(`No such ${kind}: '${id}'`, { code: 'resource_missing', param }),
  status: 404,
});

const metadataIn = (form: URLSearchParams): Record<string, string> =>
  Object.fromEntries(
    [...form].flatMap(([name, value]) => {
      const key = /^metadata\[(\w+)\]$/.exec(name)?.[1];
      return key === undefined ? [] : [[key, value]];
    }),
  );
