import type { FakeAnswer, FakeProvider } from './wire.js';

export const adminToken = 'shpat_canary8c1e';

/**
 * The requested fields of Shopify's `Product`
 * (https://shopify.dev/docs/api/admin-graphql/latest/objects/Product).
 */
export interface FakeProduct {
  readonly id: string;
  readonly title: string;
  readonly handle: string;
  readonly status: string;
  readonly onlineStoreUrl: string | null;
  readonly totalInventory: number | null;
  readonly updatedAt: string;
  readonly featuredMedia: { readonly preview: { readonly image: { readonly url: string } | null } | null } | null;
  readonly priceRangeV2: { readonly minVariantPrice: Money; readonly maxVariantPrice: Money };
}
interface Money {
  readonly amount: string;
  readonly currencyCode: string;
}

export const fakeProduct = (number: number, changes: Partial<FakeProduct> = {}): FakeProduct => ({
  id: `gid://shopify/Product/${String(number)}`,
  title: `Bread ${String(number)}`,
  handle: `bread-${String(number)}`,
  status: 'ACTIVE',
  onlineStoreUrl: `https://corner-bakery.example/products/bread-${String(number)}`,
  totalInventory: 4,
  updatedAt: '2026-05-01T10:00:00Z',
  featuredMedia: { preview: { image: { url: 'https://cdn.shopify.com/bread.jpg' } } },
  priceRangeV2: {
    minVariantPrice: { amount: '3.5', currencyCode: 'EUR' },
    maxVariantPrice: { amount: '4.0', currencyCode: 'EUR' },
  },
  ...changes,
});

/** Opaque, with characters that need escaping in a path or a query. */
const cursorOf = (index: number): string => Buffer.from(JSON.stringify({ last_id: index, last_value: '>?' })).toString('base64');

/**
 * The fields that the product query may select. For any other Shopify answers 200 with an error.
 */
const selectable = new Set(
  (
    'products edges cursor node id title handle status onlineStoreUrl totalInventory updatedAt featuredMedia preview image url ' +
    'priceRangeV2 minVariantPrice maxVariantPrice amount currencyCode productsCount count precision'
  ).split(' '),
);

/**
 * The rate-limit bucket, from which a query's cost is deducted
 * (https://shopify.dev/docs/api/usage/limits).
 */
export interface Bucket {
  available: number;
  readonly restoreRate: number;
}

const cost = 22;

/**
 * The Admin API of a shop with these products. A throttled query refills the bucket, as if the
 * requested time had passed.
 */
export const shopifyWith =
  (products: readonly FakeProduct[], bucket: Bucket = { available: 2_000, restoreRate: 100 }): FakeProvider =>
  ({ method, path, headers, body }): FakeAnswer => {
    if (method !== 'POST' || !/^\/admin\/api\/20\d\d-(01|04|07|10)\/graphql\.json$/.test(path)) {
      return { status: 404, body: { errors: 'Not Found' } };
    }
    if (headers.get('x-shopify-access-token') !== adminToken) {
      return { status: 401, body: { errors: '[API] Invalid API key or access token (unrecognized login or wrong password)' } };
    }
    if (headers.get('content-type') !== 'application/json') throw new Error('the content type is not JSON');
    const { query, variables = { first: 1, after: null } } = body as {
      query: string;
      variables?: { first: number; after: string | null };
    };
    const selected = (query.slice(query.indexOf('{')).match(/[A-Za-z]\w*/g) ?? []).filter(
      (word) => !['first', 'after', 'sortKey', 'ID', 'limit', 'null'].includes(word),
    );
    const unknown = selected.find((word) => !selectable.has(word));
    if (unknown !== undefined) return { status: 200, body: { errors: [{ message: `Field '${unknown}' doesn't exist` }] } };
    if (variables.first < 1 || variables.first > 250) throw new Error('first is out of range');

    const throttled = bucket.available < cost;
    const extensions = {
      cost: {
        requestedQueryCost: cost,
        actualQueryCost: throttled ? null : cost,
        throttleStatus: { maximumAvailable: 2_000, currentlyAvailable: bucket.available, restoreRate: bucket.restoreRate },
      },
    };
    if (throttled) {
      bucket.available = cost;
      return { status: 200, body: { errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }], extensions } };
    }
    bucket.available -= cost;
    if (selected.includes('productsCount')) {
      const isWhole = query.includes('limit: null') || products.length < 10_000;
      const productsCount = {
        count: Math.min(products.length, isWhole ? Infinity : 10_000),
        precision: isWhole ? 'EXACT' : 'AT_LEAST',
      };
      return { status: 200, body: { data: { productsCount }, extensions } };
    }
    const start = variables.after === null ? 0 : products.findIndex((_, index) => cursorOf(index) === variables.after) + 1;
    if (variables.after !== null && start === 0) {
      return { status: 200, body: { errors: [{ message: `Invalid cursor ${variables.after}` }] } };
    }
    const edges = products.map((node, index) => ({ cursor: cursorOf(index), node })).slice(start, start + variables.first);
    return { status: 200, body: { data: { products: { edges } }, extensions } };
  };
