import type { RequestHandler } from 'express';
import { createCache } from '../../../platform/cache.js';
import type { Clock } from '../../../platform/clock.js';
import { senderIn, type TrustsProxy } from '../../../platform/publicAddress.js';
import type { BrandedPages } from './pages.js';
import { preferencesOf } from './preferences.js';

/** A token bucket: `burst` requests at once, and one more every `everyMs`. */
interface BucketSize {
  readonly burst: number;
  readonly everyMs: number;
}

/**
 * Limits per sender for requests that need no sign-in. They are far above the needs of an office
 * behind one address: 300 people may start to sign in at the same moment.
 */
const bucketSizes = {
  /** Requests that store something for up to half an hour. */
  attempts: { burst: 300, everyMs: 1_000 },
  mails: { burst: 200, everyMs: 10_000 },
  /** Refused requests for tokens. Of devices that wait for their approval each asks every 5 s. */
  failures: { burst: 600, everyMs: 1_000 },
} as const satisfies Record<string, BucketSize>;

const maxSenders = 10_000;

/**
 * Rate limits of sign-in per sender. Each process counts for itself, so several processes allow
 * several times as much.
 */
export interface Limits {
  /** Refuses requests over the limit (429 with `Retry-After`) before anything is read or stored. */
  readonly handler: RequestHandler;
  /** Whom a request counts for. */
  readonly senderOf: (request: Parameters<typeof senderIn>[0]) => string;
  /**
   * Counts a mail, and returns how many milliseconds the sender must wait; 0 when it may be sent
   * now.
   */
  mail(sender: string): number;
}

export const createLimits = (
  clock: Clock,
  homeUrl: () => string,
  { pagesFor }: Pick<BrandedPages, 'pagesFor'>,
  trustsProxy?: TrustsProxy,
): Limits => {
  const senderOf: Limits['senderOf'] = (request) => senderIn(request, trustsProxy);
  const attempts = createTokenBuckets(bucketSizes.attempts, clock);
  const mails = createTokenBuckets(bucketSizes.mails, clock);
  const failures = createTokenBuckets(bucketSizes.failures, clock);

  const limitAttempts: RequestHandler = (request, response, next) => {
    const waitMs = attempts.take(senderOf(request));
    if (waitMs === 0) {
      next();
      return;
    }
    const { busyPage } = pagesFor(preferencesOf(request));
    response.status(429).set(retryAfter(waitMs)).type('html').send(busyPage(homeUrl()));
  };

  const limitTokenFailures: RequestHandler = (request, response, next) => {
    const sender = senderOf(request);
    const waitMs = failures.wait(sender);
    if (waitMs > 0) {
      response.status(429).set(retryAfter(waitMs));
      // The form of the token endpoint's other errors (RFC 6749, 5.2).
      response.json({ error: 'temporarily_unavailable', error_description: 'too many requests were refused' });
      return;
    }
    response.once('finish', () => {
      if (response.statusCode >= 400 && response.statusCode < 500) failures.take(sender);
    });
    next();
  };

  return {
    handler: (request, response, next) => {
      if (/^\/(?:authorize|sign-out|device|device\/auth)\/?$/i.test(request.path)) limitAttempts(request, response, next);
      else if (/^\/token\/?$/i.test(request.path)) limitTokenFailures(request, response, next);
      else next();
    },
    senderOf,
    mail: (sender) => mails.take(sender),
  };
};

/** In whole seconds, at least one. */
export const retryAfter = (ms: number): { 'Retry-After': string; 'Cache-Control': string } => ({
  'Retry-After': String(Math.ceil(ms / 1_000)),
  'Cache-Control': 'no-store',
});

/** Stores one number per sender: the time at which the bucket will be full again. */
const createTokenBuckets = ({ burst, everyMs }: BucketSize, clock: Clock) => {
  const fullAtBySender = createCache<number>(maxSenders);
  const fillMs = burst * everyMs;

  const fullAt = (sender: string, now: number): number => {
    const at = fullAtBySender.get(sender) ?? now;
    // The clock may have been set back.
    return at < now || at > now + fillMs ? now : at;
  };

  const wait = (sender: string): number => {
    const now = clock.now();
    return Math.max(0, fullAt(sender, now) + everyMs - fillMs - now);
  };

  return {
    /** Milliseconds until a request is allowed. */
    wait,
    /** As `wait`, and counts the request when it is allowed. */
    take: (sender: string): number => {
      const waitMs = wait(sender);
      if (waitMs === 0) fullAtBySender.set(sender, fullAt(sender, clock.now()) + everyMs);
      return waitMs;
    },
  };
};
