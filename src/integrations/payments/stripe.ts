import type StripeClient from 'stripe';
import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp } from '../http.js';
import type { Billing, Customer, Invoice, Payer, Payments, Subscription } from './port.js';
import { createOnce, faultFrom, isMissing, isReplayed, showReplays } from './stripeAnswers.js';
import {
  asCustomer,
  asInvoice,
  asPage,
  asPrice,
  asSession,
  asSubscription,
  provider,
  statusOf,
  toInvoice,
  toSubscription,
  type CustomerForm,
  type SubscriptionForm,
} from './stripeForms.js';

/** What marks a customer or a subscription as ours, so that it is found again. */
const clientMark = 'doorstep_client';
const websiteMark = 'doorstep_website';

/** An owner need not have left a card: invoices are sent, and paid within this time. */
const DAYS_UNTIL_DUE = 30;
const PAGE_SIZE = 100;
const MAX_PAGES = 20;
/** Longer than three attempts at a request take: the client's own timer is never the one that ends them. */
const CLIENT_TIMEOUT_MS = 120_000;

/**
 * Customers, subscriptions and invoices at Stripe, asked at each call. What is made carries the ids of client and website as
 * metadata, and an idempotency key that names what it is for; see `createOnce` for how the two keep it from being made twice.
 * @param parts `apiUrl`: an origin in place of Stripe's own, for tests
 */
export const createStripePayments = (parts: {
  secretKey: string;
  /** Default for subscriptions whose wish names none. */
  priceId: string | undefined;
  apiUrl: string | undefined;
  clock: Clock;
  random: Random;
  logger: Logger;
  timeoutMs?: number;
}): Payments => {
  const { secretKey, clock, random, timeoutMs } = parts;
  const logger = parts.logger.child({ provider });
  const http = createProviderHttp({
    provider,
    clock,
    random,
    logger: parts.logger,
    requestIdHeader: 'request-id',
    fetch: showReplays(fetch),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });

  let client: Promise<StripeClient> | undefined;
  const load = async (): Promise<StripeClient> => {
    // Loaded with the first call: most processes never ask.
    const { default: Stripe } = await import('stripe');
    const { protocol, hostname, port } = new URL(parts.apiUrl ?? 'https://api.stripe.com');
    return new Stripe(secretKey, {
      protocol: protocol === 'http:' ? 'http' : 'https',
      host: hostname,
      port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
      httpClient: Stripe.createFetchHttpClient(async (url, { method, headers, body } = {}) => {
        // Everything that is written carries an idempotency key, and what is taken away is taken away once.
        const request = {
          method: method ?? 'GET',
          url: typeof url === 'string' ? url : 'href' in url ? url.href : url.url,
          headers: Object.fromEntries(new Headers(headers)),
          repeatable: true,
        };
        const { status, headers: answered, text } = await http({ ...request, ...(typeof body === 'string' && { body }) });
        return new Response(text, { status, headers: answered });
      }),
      timeout: CLIENT_TIMEOUT_MS,
      // Repeated below, where the breaker and the rate limits are known.
      maxNetworkRetries: 0,
      telemetry: false,
    });
  };

  /** @throws ProviderFault */
  const ask = async <Result>(work: (stripe: StripeClient) => Promise<Result>): Promise<Result> => {
    try {
      return await work(await (client ??= load()));
    } catch (error) {
      throw faultFrom(provider, error, logger);
    }
  };

  /** What `read` finds; null when Stripe knows nothing of that id. */
  const unlessMissing = <Result>(read: (stripe: StripeClient) => Promise<Result>): Promise<Result | null> =>
    ask(async (stripe) => {
      try {
        return await read(stripe);
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    });

  /** The first of a list, page by page, that `pick` takes. */
  const firstOf = async <Found extends { readonly id: string }>(
    form: (value: unknown) => Found,
    pick: (candidate: Found) => boolean,
    page: (stripe: StripeClient, options: { limit: number; starting_after?: string }) => Promise<unknown>,
  ): Promise<Found | null> => {
    let after: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const options = { limit: PAGE_SIZE, ...(after !== undefined && { starting_after: after }) };
      const answer = await unlessMissing((stripe) => page(stripe, options));
      // Of a customer that was deleted there is no list.
      if (answer === null) return null;
      const { data, has_more: hasMore } = asPage(answer);
      const items = data.map(form);
      const found = items.find(pick);
      if (found !== undefined) return found;
      after = items.at(-1)?.id;
      if (!hasMore || after === undefined) return null;
    }
    throw new ProviderFault({ provider, message: 'stripe lists more than can be looked through', transient: false });
  };

  const readCustomer = async (id: string): Promise<Customer | null> => {
    const found = await unlessMissing(async (stripe) => asCustomer(await stripe.customers.retrieve(id)));
    return found === null || found.deleted === true ? null : { id: found.id };
  };

  const findCustomer = async ({ clientId, email, customerId }: Payer): Promise<Customer | null> => {
    const known = customerId === undefined ? null : await readCustomer(customerId);
    if (known !== null) return known;
    // The address narrows the list down; the mark decides. Anybody can have a customer made for an address that is not theirs.
    const isTheirs = ({ metadata }: CustomerForm) => metadata?.[clientMark] === clientId;
    const found = await firstOf(asCustomer, isTheirs, (stripe, options) => stripe.customers.list({ email, ...options }));
    return found === null ? null : { id: found.id };
  };

  const readSubscription = (id: string): Promise<Subscription | null> =>
    unlessMissing(async (stripe) => toSubscription(asSubscription(await stripe.subscriptions.retrieve(id))));

  const findSubscription = async (customerId: string, websiteId: string): Promise<Subscription | null> => {
    const isTheirs = ({ metadata, status }: SubscriptionForm) =>
      metadata?.[websiteMark] === websiteId && statusOf(status) !== 'canceled';
    const found = await firstOf(asSubscription, isTheirs, (stripe, options) =>
      stripe.subscriptions.list({ customer: customerId, ...options }),
    );
    return found === null ? null : toSubscription(found);
  };

  const createCustomer: Payments['createCustomer'] = (payer, confirm) => {
    const { clientId, email, name } = payer;
    return createOnce({
      provider,
      key: `doorstep-customer-${clientId}`,
      confirm,
      look: () => findCustomer(payer),
      reread: ({ id }) => readCustomer(id),
      create: (idempotencyKey) =>
        ask(async (stripe) => {
          const wish = { email, ...(name !== undefined && { name }), metadata: { [clientMark]: clientId } };
          const answer = await stripe.customers.create(wish, { idempotencyKey });
          logger.info({ providerRequestId: answer.lastResponse.requestId }, 'a customer was made');
          return { made: { id: asCustomer(answer).id }, replayed: isReplayed(answer.lastResponse.headers) };
        }),
    });
  };

  const createSubscription: Payments['createSubscription'] = (wish, confirm) => {
    const { customerId, clientId, websiteId, priceId, claim } = wish;
    const price = priceId ?? parts.priceId;
    if (price === undefined) {
      const message = 'A subscription needs a price, and STRIPE_PRICE_ID names none';
      return Promise.reject(new ProviderFault({ provider, message, transient: false }));
    }
    return createOnce({
      provider,
      key: `doorstep-subscription-${claim}`,
      confirm,
      look: () => findSubscription(customerId, websiteId),
      reread: async ({ id }) => {
        const there = await readSubscription(id);
        return there?.status === 'canceled' ? null : there;
      },
      create: (idempotencyKey) =>
        ask(async (stripe) => {
          const terms: StripeClient.SubscriptionCreateParams = {
            customer: customerId,
            items: [{ price }],
            collection_method: 'send_invoice',
            days_until_due: DAYS_UNTIL_DUE,
            metadata: { [clientMark]: clientId, [websiteMark]: websiteId },
          };
          const answer = await stripe.subscriptions.create(terms, { idempotencyKey });
          logger.info({ providerRequestId: answer.lastResponse.requestId }, 'a subscription was made');
          return { made: toSubscription(asSubscription(answer)), replayed: isReplayed(answer.lastResponse.headers) };
        }),
    });
  };

  const listInvoices = async (subscription: string): Promise<readonly Invoice[]> => {
    const { data } = asPage(await ask((stripe) => stripe.invoices.list({ subscription, limit: PAGE_SIZE })));
    return data.map(asInvoice).flatMap(toInvoice);
  };

  return {
    provider,
    hasPrice: async (priceId) => {
      if (priceId === undefined) return parts.priceId !== undefined;
      const price = await unlessMissing(async (stripe) => asPrice(await stripe.prices.retrieve(priceId)));
      return price?.active === true && price.type === 'recurring';
    },
    findCustomer,
    createCustomer,
    findSubscription,
    createSubscription,
    endSubscription: async (id) => {
      await unlessMissing(async (stripe) => {
        const answer = await stripe.subscriptions.cancel(id);
        asSubscription(answer);
        logger.info({ providerRequestId: answer.lastResponse.requestId }, 'a subscription was ended');
      });
    },
    readBilling: async ({ subscriptionId }): Promise<Billing> => {
      if (subscriptionId === undefined) return { subscription: null, invoices: [] };
      const [subscription, invoices] = await Promise.all([readSubscription(subscriptionId), listInvoices(subscriptionId)]);
      return { subscription, invoices };
    },
    portalLink: async ({ customerId: customer }, returnUrl) => {
      if (customer === undefined) return null;
      const wish = { customer, return_url: returnUrl };
      return asSession(await ask((stripe) => stripe.billingPortal.sessions.create(wish))).url;
    },
  };
};
