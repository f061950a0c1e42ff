/**
 * Headers that let a page of another origin read the answer; none for origins that are not named in
 * `CORS_ORIGINS`.
 */
export const corsHeaders = (origins: readonly string[], origin: string | undefined): Readonly<Record<string, string>> => {
  if (origins.length === 0) return nothing;
  if (origin === undefined || !origins.includes(origin)) return { vary: 'origin' };
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'etag, idempotent-replayed, link, location, ratelimit, ratelimit-policy, read-receipts, retry-after, total-count, x-request-id',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'origin',
  };
};

/** Headers of an answer that pages of any origin may read, always without credentials. */
export const anyOrigin = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' } as const;

/** What a browser asks for before it sends headers of its own, such as the protocol's version of MCP. */
export const preflightOfAnyOrigin = {
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': '*',
  'access-control-max-age': '600',
} as const;

const nothing = {};

/**
 * What a browser asks for before it sends anything that a form could not (Fetch standard,
 * "CORS-preflight fetch").
 */
export const preflightHeaders = (allow: string): Readonly<Record<string, string>> => ({
  'access-control-allow-methods': allow,
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, x-request-id',
  'access-control-max-age': '600',
});
