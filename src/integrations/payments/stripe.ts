import type StripeClient from 'stripe';
import type { Clock } from '../../platform/clock.js';
import { lazily } from '../../platform/lazily.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp } from '../http.js';
import { InvoicePlaceGone, type Customer, type Payer, type Payments, type Subscription } from './port.js';
import { clientKey, createStripeAttachment, websiteKey } from './stripeAttachment.js';
import { createStripeInvoices } from './stripeInvoices.js';
import { createOnce, toFault, isMissing, isReplayed, exposeReplays } from './stripeResponses.js';
import {
  asCustomer,
  asInvoice,
  asPage,
  asPrice,
  asSession,
  asSubscription,
  provider,
  statusOf,
  toPrice,
  toSubscription,
  type StripeCustomer,
  type StripeSubscription,
} from './stripeObjects.js';

/** Owners pay by invoice, without a stored card, within this time. */
const DAYS_UNTIL_DUE = 30;
const PAGE_SIZE = 100;
const MAX_PAGES = 60;
/** Longer than three attempts at a request, so that the client's own timeout never applies. */
const CLIENT_TIMEOUT_MS = 120_000;

/**
 * Customers, subscriptions and invoices at Stripe, requested at each call. What is created carries
 * the ids of client and website as metadata, and an idempotency key; see `createOnce` for how the
 * two prevent duplicates.
 * @param parts `apiUrl`: replaces Stripe's origin in tests
 */
export const createStripePayments = (parts: {
  secretKey: string;
  /** The default price of subscriptions. */
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
    // It advises to try again a moment later.
    rateLimitMs: 1_000,
    fetch: exposeReplays(fetch),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });

  const load = lazily(async (): Promise<StripeClient> => {
    // Loaded with the first call, because most processes never make one.
    const { default: Stripe } = await import('stripe');
    const { protocol, hostname, port } = new URL(parts.apiUrl ?? 'https://api.stripe.com');
    return new Stripe(secretKey, {
      protocol: protocol === 'http:' ? 'http' : 'https',
      host: hostname,
      port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
      httpClient: Stripe.createFetchHttpClient(async (url, { method, headers, body } = {}) => {
        // All requests are retryable: creations carry an idempotency key, and deletions are
        // idempotent.
        const request = {
          method: method ?? 'GET',
          url: typeof url === 'string' ? url : 'href' in url ? url.href : url.url,
          headers: Object.fromEntries(new Headers(headers)),
          retryable: true,
        };
        const { status, headers: responseHeaders, text } = await http({ ...request, ...(typeof body === 'string' && { body }) });
        return new Response(text, { status, headers: responseHeaders });
      }),
      timeout: CLIENT_TIMEOUT_MS,
      // `createProviderHttp` retries, which knows the circuit breaker and the rate limits.
      maxNetworkRetries: 0,
      telemetry: false,
    });
  });

  /** @throws ProviderFault */
  const ask = async <Result>(work: (stripe: StripeClient) => Promise<Result>): Promise<Result> => {
    try {
      return await work(await load());
    } catch (error) {
      throw toFault(provider, error, logger);
    }
  };

  /** Null when Stripe does not know the id. */
  const nullIfMissing = <Result>(read: (stripe: StripeClient) => Promise<Result>): Promise<Result | null> =>
    ask(async (stripe) => {
      try {
        return await read(stripe);
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    });

  /**
   * The items of a paged list after `start`, in its order; none when Stripe does not know whose list
   * it is.
   * @throws InvoicePlaceGone when Stripe does not know `start`
   */
  async function* itemsOf<Item extends { readonly id: string }>(
    parse: (value: unknown) => Item,
    page: (stripe: StripeClient, options: { limit: number; starting_after?: string }) => Promise<unknown>,
    start?: string,
  ): AsyncGenerator<Item> {
    let after = start;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const options = { limit: PAGE_SIZE, ...(after !== undefined && { starting_after: after }) };
      const answer = await nullIfMissing((stripe) => page(stripe, options));
      if (answer === null) {
        // A deleted customer has no list.
        if (after === undefined) return;
        if (after === start) throw new InvoicePlaceGone();
        throw new ProviderFault({ provider, message: 'a list of stripe changed while it was read', transient: true });
      }
      const { data, has_more: hasMore } = asPage(answer);
      const items = data.map(parse);
      yield* items;
      after = items.at(-1)?.id;
      if (!hasMore || after === undefined) return;
    }
    throw new ProviderFault({ provider, message: 'stripe lists more entries than are searched', transient: false });
  }

  /** The first item for which `pick` is true. */
  const findFirst = async <Item>(items: AsyncIterable<Item>, pick: (candidate: Item) => boolean): Promise<Item | null> => {
    for await (const item of items) if (pick(item)) return item;
    return null;
  };

  const retrieveCustomer = (id: string) => nullIfMissing(async (stripe) => asCustomer(await stripe.customers.retrieve(id)));
  const readCustomer = async (id: string): Promise<Customer | null> => {
    const found = await retrieveCustomer(id);
    return found === null || found.deleted === true ? null : { id: found.id };
  };

  const findCustomer = async ({ clientId, email, customerId }: Payer): Promise<Customer | null> => {
    const known = customerId === undefined ? null : await readCustomer(customerId);
    if (known !== null) return known;
    // The address only narrows the list; the metadata decides, because a customer can be created
    // for anybody's address.
    const matches = ({ metadata }: StripeCustomer) => metadata?.[clientKey] === clientId;
    const customers = itemsOf(asCustomer, (stripe, options) => stripe.customers.list({ email, ...options }));
    const found = await findFirst(customers, matches);
    return found === null ? null : { id: found.id };
  };

  const retrieveSubscription = (id: string) =>
    nullIfMissing(async (stripe) => asSubscription(await stripe.subscriptions.retrieve(id)));
  const readSubscription = async (id: string): Promise<Subscription | null> => {
    const found = await retrieveSubscription(id);
    return found === null ? null : toSubscription(found);
  };

  const findSubscription: Payments['findSubscription'] = async (customerId, websiteId, except = []) => {
    const matches = ({ id, metadata, status }: StripeSubscription) =>
      metadata?.[websiteKey] === websiteId && statusOf(status) !== 'canceled' && !except.includes(id);
    const subscriptions = itemsOf(asSubscription, (stripe, options) =>
      stripe.subscriptions.list({ customer: customerId, ...options }),
    );
    const found = await findFirst(subscriptions, matches);
    return found === null ? null : toSubscription(found);
  };

  const createCustomer: Payments['createCustomer'] = (payer, assertHeld) => {
    const { clientId, email, name } = payer;
    return createOnce({
      provider,
      key: `doorstep-customer-${clientId}`,
      assertHeld,
      find: () => findCustomer(payer),
      reload: ({ id }) => readCustomer(id),
      create: (idempotencyKey) =>
        ask(async (stripe) => {
          const request = { email, ...(name !== undefined && { name }), metadata: { [clientKey]: clientId } };
          const answer = await stripe.customers.create(request, { idempotencyKey });
          logger.info({ providerRequestId: answer.lastResponse.requestId }, 'a customer was created');
          return { created: { id: asCustomer(answer).id }, replayed: isReplayed(answer.lastResponse.headers) };
        }),
    });
  };

  const createSubscription: Payments['createSubscription'] = (request, assertHeld) => {
    const { customerId, clientId, websiteId, priceId, claim } = request;
    const price = priceId ?? parts.priceId;
    if (price === undefined) {
      const message = 'A subscription needs a price, and STRIPE_PRICE_ID names none';
      return Promise.reject(new ProviderFault({ provider, message, transient: false }));
    }
    return createOnce({
      provider,
      key: `doorstep-subscription-${claim}`,
      assertHeld,
      find: () => findSubscription(customerId, websiteId),
      reload: async ({ id }) => {
        const current = await readSubscription(id);
        return current?.status === 'canceled' ? null : current;
      },
      create: (idempotencyKey) =>
        ask(async (stripe) => {
          const terms: StripeClient.SubscriptionCreateParams = {
            customer: customerId,
            items: [{ price }],
            collection_method: 'send_invoice',
            days_until_due: DAYS_UNTIL_DUE,
            metadata: { [clientKey]: clientId, [websiteKey]: websiteId },
          };
          const answer = await stripe.subscriptions.create(terms, { idempotencyKey });
          logger.info({ providerRequestId: answer.lastResponse.requestId }, 'a subscription was created');
          return { created: toSubscription(asSubscription(answer)), replayed: isReplayed(answer.lastResponse.headers) };
        }),
    });
  };

  const invoices = createStripeInvoices(
    ({ after, status, ...filter }) =>
      itemsOf(
        asInvoice,
        (stripe, options) => stripe.invoices.list({ ...filter, ...(status !== undefined && { status }), ...options }),
        after,
      ),
    (id) =>
      ask(async (stripe) => {
        const answer = await stripe.invoices.voidInvoice(id);
        logger.info({ providerRequestId: answer.lastResponse.requestId }, 'an invoice was voided');
        return asInvoice(answer);
      }),
    (id) => nullIfMissing(async (stripe) => asInvoice(await stripe.invoices.retrieve(id))),
  );

  const attachment = createStripeAttachment({
    readSubscription: retrieveSubscription,
    readCustomer: retrieveCustomer,
    markSubscription: (id, metadata, idempotencyKey) =>
      ask(async (stripe) => {
        const options = idempotencyKey === undefined ? {} : { idempotencyKey };
        const { lastResponse } = await stripe.subscriptions.update(id, { metadata }, options);
        logger.info({ providerRequestId: lastResponse.requestId }, 'a subscription was marked');
        return { replayed: isReplayed(lastResponse.headers) };
      }),
    markCustomer: (id, metadata) =>
      ask(async (stripe) => {
        const { lastResponse } = await stripe.customers.update(id, { metadata });
        logger.info({ providerRequestId: lastResponse.requestId }, 'a customer was marked');
      }),
  });

  /** A price that can be subscribed to. */
  const recurringPrice = async (priceId: string): Promise<ReturnType<typeof asPrice> | null> => {
    const price = await nullIfMissing(async (stripe) => asPrice(await stripe.prices.retrieve(priceId)));
    return price?.active === true && price.type === 'recurring' ? price : null;
  };

  return {
    provider,
    ...attachment,
    hasPrice: async (priceId) => (priceId === undefined ? parts.priceId !== undefined : (await recurringPrice(priceId)) !== null),
    readPrice: async (priceId = parts.priceId) => {
      const price = priceId === undefined ? null : await recurringPrice(priceId);
      return price === null ? null : toPrice(price);
    },
    findCustomer,
    createCustomer,
    findSubscription,
    createSubscription,
    endSubscription: async (id) => {
      await nullIfMissing(async (stripe) => {
        const answer = await stripe.subscriptions.cancel(id);
        asSubscription(answer);
        logger.info({ providerRequestId: answer.lastResponse.requestId }, 'a subscription was ended');
      });
    },
    readSubscriptions: async (recorded) =>
      (await Promise.all(recorded.map(({ id }) => readSubscription(id)))).filter((one) => one !== null),
    ...invoices,
    portalLink: async ({ customerId: customer }, returnUrl) => {
      if (customer === undefined) return null;
      const request = { customer, return_url: returnUrl };
      return asSession(await ask((stripe) => stripe.billingPortal.sessions.create(request))).url;
    },
  };
};
