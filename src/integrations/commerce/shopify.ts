import { createHmac, timingSafeEqual } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { createCache } from '../../platform/cache.js';
import { isoTime, sleep, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp, parserFor, parseJson, type ProviderHttp } from '../http.js';
import type { Commerce, Product, ProductsQuery, Shop } from './port.js';

const provider = 'Shopify';

const productsQuery = `query Products($first: Int!, $after: String) {
  products(first: $first, after: $after, sortKey: ID) {
    edges {
      cursor
      node {
        id title handle status onlineStoreUrl totalInventory updatedAt
        featuredMedia { preview { image { url } } }
        priceRangeV2 { minVariantPrice { amount currencyCode } maxVariantPrice { amount currencyCode } }
      }
    }
  }
}`;

/** Without a limit: by default Shopify counts up to 10 000. */
const countQuery = 'query ProductsCount { productsCount(limit: null) { count precision } }';

const OrNull = <Schema extends Parameters<typeof Type.Array>[0]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const Money = Type.Object({ amount: Type.String(), currencyCode: Type.String() });
const Node = Type.Object({
  id: Type.String(),
  title: Type.String(),
  handle: Type.String(),
  status: Type.Enum(['ACTIVE', 'ARCHIVED', 'DRAFT', 'UNLISTED']),
  onlineStoreUrl: OrNull(Type.String()),
  totalInventory: OrNull(Type.Integer()),
  updatedAt: Type.String(),
  featuredMedia: OrNull(Type.Object({ preview: OrNull(Type.Object({ image: OrNull(Type.Object({ url: Type.String() })) })) })),
  priceRangeV2: Type.Object({ minVariantPrice: Money, maxVariantPrice: Money }),
});

const parseAnswer = parserFor(
  provider,
  Type.Object({
    data: OrNull(
      Type.Object({
        products: Type.Optional(Type.Object({ edges: Type.Array(Type.Object({ cursor: Type.String(), node: Node })) })),
        productsCount: OrNull(Type.Object({ count: Type.Integer(), precision: Type.String() })),
      }),
    ),
    errors: Type.Optional(
      Type.Array(
        Type.Object({ message: Type.String(), extensions: Type.Optional(Type.Object({ code: Type.Optional(Type.String()) })) }),
      ),
    ),
    extensions: Type.Optional(
      Type.Object({
        cost: Type.Optional(
          Type.Object({
            requestedQueryCost: Type.Number(),
            throttleStatus: Type.Object({ currentlyAvailable: Type.Number(), restoreRate: Type.Number() }),
          }),
        ),
      }),
    ),
  }),
);
type Answer = ReturnType<typeof parseAnswer>;

/** A query, as GraphQL takes it. */
interface Question {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** @throws ProviderFault */
const withoutData = (): never => {
  throw new ProviderFault({ provider, message: `${provider} answered without data`, transient: true });
};

/** Longer waits are left to the caller. */
const MAX_WAIT_MS = 2_000;
const MAX_RETRIES = 2;

/**
 * Shopify: products from its Admin GraphQL API (https://shopify.dev/docs/api/admin-graphql),
 * requested at each call, and signatures of its webhooks
 * (https://shopify.dev/docs/apps/build/webhooks). Nothing is stored.
 * @param parts `webhookSecrets`: the current and the previous one; `originOf`: the origin of a
 * shop's API
 */
export const createShopify = (parts: {
  webhookSecrets: readonly string[];
  apiVersion: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  originOf?: (shopDomain: string) => string;
}): Commerce => {
  const { webhookSecrets, apiVersion, clock, originOf = (domain: string) => `https://${domain}` } = parts;

  // One client per shop, so that rate limits and faults of one shop do not affect the others.
  const shops = createCache<ProviderHttp>(500);
  const shopAt = (domain: string): ProviderHttp => {
    const known = shops.get(domain);
    if (known !== undefined) return known;
    const created = createProviderHttp({ provider, requestIdHeader: 'x-request-id', timeoutMs: 5_000, ...parts });
    shops.set(domain, created);
    return created;
  };

  const ask = async ({ domain, adminToken }: Shop, question: Question): Promise<Answer> => {
    const answer = await shopAt(domain)({
      method: 'POST',
      url: `${originOf(domain)}/admin/api/${apiVersion}/graphql.json`,
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-shopify-access-token': adminToken },
      body: JSON.stringify(question),
      // The query only reads.
      retryable: true,
    });
    if (answer.status !== 200) throw new ProviderFault({ provider, message: refusalOf(answer.status), transient: false });
    return parseAnswer(parseJson(provider, answer));
  };

  const dataOf = async (shop: Shop, question: Question): Promise<NonNullable<Answer['data']>> => {
    for (let attempt = 0; ; attempt += 1) {
      const { data, errors = [], extensions } = await ask(shop, question);
      if (errors.length === 0) return data ?? withoutData();
      if (!errors.some((error) => error.extensions?.code === 'THROTTLED')) {
        // Shopify's message may repeat parts of the request, so it is not passed on.
        throw new ProviderFault({ provider, message: 'the query was refused', transient: false });
      }
      const waitMs = waitOf(extensions?.cost);
      if (attempt === MAX_RETRIES || waitMs > MAX_WAIT_MS) {
        throw new ProviderFault({ provider, message: `${provider} asked to wait`, transient: true, retryAfterMs: waitMs });
      }
      await sleep(clock, waitMs);
    }
  };

  const products = async ({ shop, after, limit }: ProductsQuery): Promise<readonly Product[]> => {
    const data = await dataOf(shop, { query: productsQuery, variables: { first: limit, after: after ?? null } });
    return (data.products ?? withoutData()).edges.map(toProduct);
  };

  const countProducts = async (shop: Shop): Promise<number> => {
    const { count, precision } = (await dataOf(shop, { query: countQuery })).productsCount ?? withoutData();
    if (precision === 'EXACT') return count;
    throw new ProviderFault({
      provider,
      message: `${provider} does not say exactly how many products there are`,
      transient: false,
    });
  };

  return {
    provider,
    acceptsWebhooks: webhookSecrets.length > 0,
    isSignatureValid: (body, signature) => {
      const given = Buffer.from(signature, 'base64');
      // `Buffer.from` accepts loose base64, of which several forms would pass as the same
      // signature.
      const isWellFormed = given.length === 32 && given.toString('base64') === signature;
      const compared = isWellFormed ? given : Buffer.alloc(32);
      const matches = webhookSecrets.map((secret) =>
        timingSafeEqual(createHmac('sha256', secret).update(body).digest(), compared),
      );
      return isWellFormed && matches.includes(true);
    },
    shopIn: (body) => {
      const { shop_domain: shop, myshopify_domain: own, domain } = fieldsOf(body);
      // A shop's `domain` may be one of its own; the header always has the other.
      const found = shop ?? own ?? domain;
      return typeof found === 'string' ? found.toLowerCase() : null;
    },
    isComplianceBody: (body) => {
      const { shop_id: id, shop_domain: shop, myshopify_domain: own, domain } = fieldsOf(body);
      return id !== undefined && shop !== undefined && own === undefined && domain === undefined;
    },
    products,
    countProducts,
  };
};

interface ShopFields {
  readonly shop_id?: unknown;
  readonly shop_domain?: unknown;
  readonly myshopify_domain?: unknown;
  readonly domain?: unknown;
}

/**
 * The shop's fields in bodies of webhooks: `shop_id` and `shop_domain` in compliance webhooks
 * (https://shopify.dev/docs/apps/build/compliance/privacy-law-compliance), the others in a shop as
 * `app/uninstalled` has it.
 */
const fieldsOf = (body: Uint8Array): ShopFields => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString());
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    // A signed body that is no JSON names no shop.
    return {};
  }
};

/** How long until the shop's rate-limit bucket covers the query's cost, in milliseconds. */
const waitOf = (cost: NonNullable<Answer['extensions']>['cost']): number => {
  if (cost === undefined || cost.throttleStatus.restoreRate <= 0) return 1_000;
  const missing = cost.requestedQueryCost - cost.throttleStatus.currentlyAvailable;
  return Math.max(100, Math.ceil((missing / cost.throttleStatus.restoreRate) * 1_000));
};

const statuses = { ACTIVE: 'active', ARCHIVED: 'archived', DRAFT: 'draft', UNLISTED: 'unlisted' } as const;

const toProduct = ({ cursor, node }: { cursor: string; node: Static<typeof Node> }): Product => {
  const { id, title, handle, status, onlineStoreUrl, totalInventory, featuredMedia, priceRangeV2, updatedAt } = node;
  const imageUrl = featuredMedia?.preview?.image?.url;
  const { minVariantPrice: min, maxVariantPrice: max } = priceRangeV2;
  return {
    id,
    cursor,
    title,
    handle,
    status: statuses[status],
    ...(typeof onlineStoreUrl === 'string' && { url: onlineStoreUrl }),
    ...(imageUrl !== undefined && { imageUrl }),
    price: { min: min.amount, max: max.amount, currency: min.currencyCode },
    ...(typeof totalInventory === 'number' && { inventory: totalInventory }),
    updatedAt: isoTime(Date.parse(updatedAt)),
  };
};

const refusalOf = (status: number): string => {
  switch (status) {
    case 401:
    case 403:
      return 'the access token is not accepted, or may not read products';
    case 402:
      return 'the shop is frozen';
    case 404:
      return 'there is no such shop';
    case 423:
      return 'the shop is locked';
    default:
      return `the query was answered with status ${String(status)}`;
  }
};
