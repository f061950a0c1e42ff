import { createCache } from '../platform/cache.js';
import type { Clock } from '../platform/clock.js';
import { senderIn, type TrustsProxy } from '../platform/publicAddress.js';
import { httpErrors } from './errors.js';
import type { Exchange } from './exchange.js';

/** What a request leaves of its caller's budget. */
export interface Spent {
  readonly isExceeded: boolean;
  /** Of whatever the answer will be (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Counts a request of a caller, who may make so many a second, and as many at once after a second
 * without any. Each process counts for itself.
 */
export type Spend = (caller: string) => Spent;

interface Bucket {
  /** Requests that may be made at `at` (milliseconds since the Unix epoch). */
  readonly left: number;
  readonly at: number;
}

/** Beyond so many, a caller is forgotten, and begins with a full budget again. */
const maxCallers = 50_000;

export const createBudgets = (clock: Pick<Clock, 'now'>, perSecond: number): Spend => {
  const buckets = createCache<Bucket>(maxCallers);
  const policy = `"caller";q=${String(perSecond)};w=1`;

  return (caller) => {
    const at = clock.now();
    const before = buckets.get(caller) ?? { left: perSecond, at };
    const gained = (Math.max(0, at - before.at) / 1_000) * perSecond;
    const there = Math.min(perSecond, before.left + gained);
    const isExceeded = there < 1;
    const left = isExceeded ? there : there - 1;
    buckets.set(caller, { left, at });
    const untilFull = Math.ceil((perSecond - left) / perSecond);
    return {
      isExceeded,
      headers: {
        'ratelimit-policy': policy,
        ratelimit: `"caller";r=${String(Math.floor(left))};t=${String(untilFull)}`,
      },
    };
  };
};

/**
 * Counts a request for its caller, once it is known who that is, or else for its sender.
 * @throws HttpFault 429
 */
export type SpendBudget = (exchange: Exchange) => void;

/** @param rateLimit requests a second that each caller may make; undefined: no end */
export const createSpendBudget = (
  clock: Pick<Clock, 'now'>,
  rateLimit: number | undefined,
  trustsProxy?: TrustsProxy,
): SpendBudget => {
  if (rateLimit === undefined) return () => undefined;
  const spend = createBudgets(clock, rateLimit);

  return (exchange) => {
    const caller = exchange.viewer ?? exchange.caller;
    const anonymous = (): string => `sender ${senderIn(exchange.request, trustsProxy)}`;
    const { isExceeded, headers } = spend(caller === undefined ? anonymous() : `${caller.tokenId ?? 'portal'} ${caller.subject}`);
    exchange.headers = { ...exchange.headers, ...headers };
    if (isExceeded) throw httpErrors.overBudget(rateLimit);
  };
};
