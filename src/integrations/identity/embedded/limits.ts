import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../platform/clock.js';
import { senderOf } from '../../../platform/publicAddress.js';
import { busyPage } from './pages.js';

/** `burst` times at once, and once more every `everyMs`. */
interface Allowance {
  readonly burst: number;
  readonly everyMs: number;
}

/**
 * What nobody has to sign in for, and what one sender may therefore have of it. A whole office behind one address never comes near:
 * 300 people may begin at the same moment.
 */
const allowances = {
  /** Requests that keep something until they are gone on with, for half an hour at most. */
  attempts: { burst: 300, everyMs: 1_000 },
  mails: { burst: 200, everyMs: 10_000 },
  /** Requests for tokens that were refused. */
  failures: { burst: 600, everyMs: 1_000 },
} as const satisfies Record<string, Allowance>;

const mostSenders = 10_000;

/** How much signing in each sender may ask for. Counted in each process, so that several of them allow several times as much. */
export interface Limits {
  /** Refuses what comes too often (429 with `Retry-After`), before anything of it is looked up or kept. */
  readonly handler: RequestHandler;
  /** Counts a mail; answers how many milliseconds its sender has to wait before it may be sent, 0 when it may be now. */
  mail(sender: string): number;
}

export const createLimits = (clock: Clock, home: () => string): Limits => {
  const attempts = createAllowance(allowances.attempts, clock);
  const mails = createAllowance(allowances.mails, clock);
  const failures = createAllowance(allowances.failures, clock);

  const beginOrNot: RequestHandler = (request, response, next) => {
    const waitMs = attempts.take(senderIn(request));
    if (waitMs === 0) next();
    else response.status(429).set(retryAfter(waitMs)).type('html').send(busyPage(home()));
  };

  const exchangeOrNot: RequestHandler = (request, response, next) => {
    const sender = senderIn(request);
    const waitMs = failures.wait(sender);
    if (waitMs > 0) {
      response.status(429).set(retryAfter(waitMs));
      // In the form of the other errors there (RFC 6749, 5.2).
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
      if (/^\/(?:authorize|sign-out)\/?$/i.test(request.path)) beginOrNot(request, response, next);
      else if (/^\/token\/?$/i.test(request.path)) exchangeOrNot(request, response, next);
      else next();
    },
    mail: (sender) => mails.take(sender),
  };
};

/** Who a request counts for: an address, or of IPv6 the network of one household, in which everybody has as many as they like. */
export const senderIn = ({
  socket,
  headers,
}: {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}): string => {
  const { 'x-forwarded-for': forwarded = '' } = headers;
  const address = withoutMapping(senderOf(socket.remoteAddress ?? '', String(forwarded)));
  if (isIP(address) !== 6) return address;
  const [before = [], after = []] = address.split('::').map((groups) => (groups === '' ? [] : groups.split(':')));
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros].slice(0, 4).join(':');
};

/** On a socket for both families an IPv4 address is written as `::ffff:192.0.2.1`. */
const withoutMapping = (address: string): string => /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1] ?? address;

/** Whole seconds, and at least one. */
export const retryAfter = (ms: number): { 'Retry-After': string; 'Cache-Control': string } => ({
  'Retry-After': String(Math.ceil(ms / 1_000)),
  'Cache-Control': 'no-store',
});

/** Of each sender one time is kept: when all that they had would be theirs again. */
const createAllowance = ({ burst, everyMs }: Allowance, clock: Clock) => {
  const fullAgain = new LRUCache<string, number>({ max: mostSenders });
  const longestMs = burst * everyMs;

  const fullAt = (sender: string, now: number): number => {
    const at = fullAgain.get(sender) ?? now;
    // The clock may have been set back.
    return at < now || at > now + longestMs ? now : at;
  };

  const wait = (sender: string): number => {
    const now = clock.now();
    return Math.max(0, fullAt(sender, now) + everyMs - longestMs - now);
  };

  return {
    /** Milliseconds until there is one to take. */
    wait,
    /** Takes one when there is one, and answers as `wait` did before. */
    take: (sender: string): number => {
      const waitMs = wait(sender);
      if (waitMs === 0) fullAgain.set(sender, fullAt(sender, clock.now()) + everyMs);
      return waitMs;
    },
  };
};
