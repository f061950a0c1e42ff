import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { backoffMs, type Backoff } from '../platform/backoff.js';
import { isoTime, sleep, type Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { Random } from '../platform/random.js';
import { parseUrl } from '../platform/urls.js';
import { createCircuitBreaker } from './circuitBreaker.js';
import { ProviderFault } from './fault.js';
import { noteRequest } from './requestTrace.js';

/** One request to a provider's API. */
export interface ProviderRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Whether it is safe to send again after a network fault, a timeout or a 5xx. Default: GET and
   * HEAD. For any other request the caller checks whether it took effect before it tries again.
   */
  readonly retryable?: boolean;
  /** Names the rate limit that it counts against, where the provider has several. */
  readonly limit?: string;
  /** Called right before each time that it is sent; throws when the attempt that it is part of may not go on. */
  readonly assertHeld?: () => void;
}

/** A complete response, with any status but those of redirects, 429 and 5xx. */
export interface ProviderResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends a request and reads the whole response.
 * @throws ProviderFault, transient: no connection, timeout (its cause is then named
 * `TimeoutError`), 429 or another rate limit with the time to wait, 5xx, a response over 8 MiB, an
 * open circuit breaker; permanent: a redirect that is not followed
 */
export type ProviderHttp = (request: ProviderRequest) => Promise<ProviderResponse>;

const MAX_RETRIES = 2;
const BACKOFF: Backoff = { firstMs: 250, maxMs: 1_000 };
/** Of a slow line: four megabits a second. */
const MIN_BYTES_PER_SECOND = 500_000;
/** Longer waits are left to the caller, which can persist them across a restart. */
const MAX_WAIT_MS = 2_000;
const MAX_RESPONSE_BYTES = 8 * 1_024 * 1_024;
/** GitHub redirects once for a renamed repository. */
const MAX_REDIRECTS = 3;
/** However long a provider asks to wait, it is tried again after an hour. */
const MAX_RATE_LIMIT_MS = 3_600_000;
/** GitHub asks for a minute. */
const DEFAULT_RATE_LIMIT_MS = 60_000;

/**
 * The HTTP client of every provider adapter: a timeout for the whole response, retries where they
 * are safe, rate limits shared by all calls of this process that count against them, a circuit breaker, and a log line with
 * the provider's request id for each failed request. Neither headers nor bodies of requests reach
 * the log or an error.
 */
export const createProviderHttp = (parts: {
  /** Its name in errors. */
  provider: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** For the whole response, in milliseconds, and a second more for every 500 kB that are sent. Default: 10 s. */
  timeoutMs?: number;
  /**
   * Whether to retry after a timeout. Default: true; false where the caller cannot wait longer than
   * one timeout.
   */
  retryTimeouts?: boolean;
  /** How long calls wait after a rate limit that names no time, in milliseconds. Default: a minute. */
  rateLimitMs?: number;
  /**
   * Whether to follow redirects that stay at the same origin and keep method and body. Default:
   * false, so that no other server gets the request's secrets.
   */
  followRedirects?: boolean;
  /** The response header with the provider's request id. */
  requestIdHeader: string;
  fetch?: typeof fetch;
}): ProviderHttp => {
  const { provider, clock, random, timeoutMs = 10_000, retryTimeouts = true } = parts;
  const { followRedirects = false, requestIdHeader, rateLimitMs = DEFAULT_RATE_LIMIT_MS } = parts;
  const send = parts.fetch ?? fetch;
  const logger = parts.logger.child({ provider });
  // A provider that asks to wait, or redirects, is up.
  const withBreaker = createCircuitBreaker(
    provider,
    ({ transient, retryAfterMs }) => transient && retryAfterMs === undefined,
    clock,
  );
  /** By the limit's name. */
  const limits = new Map<string, { readonly notedAt: number; readonly until: number }>();

  const fault = (message: string, more: { retryAfterMs?: number; cause?: unknown } = {}): ProviderFault =>
    new ProviderFault({ provider, message, transient: true, ...more });

  /** How long it is still waited for, in milliseconds. */
  const leftOf = (limit: string): number => {
    const noted = limits.get(limit);
    const now = clock.now();
    // When the clock was set back meanwhile, nobody knows how long it is: the provider is asked.
    return noted === undefined || now < noted.notedAt ? 0 : Math.max(0, noted.until - now);
  };
  const recordRateLimit = (limit: string, message: string, askedMs: number): ProviderFault => {
    const waitMs = Math.min(askedMs, MAX_RATE_LIMIT_MS);
    const notedAt = clock.now();
    limits.set(limit, { notedAt, until: notedAt + Math.max(leftOf(limit), waitMs) });
    return fault(message, { retryAfterMs: waitMs });
  };

  const sendOnce = async ({ method, url, headers, body, limit = '' }: ProviderRequest): Promise<ProviderResponse> => {
    const waitMs = leftOf(limit);
    if (waitMs > 0) throw fault(`${provider} asked to wait`, { retryAfterMs: waitMs });
    const allowedMs = timeoutMs + 1_000 * Math.floor((body?.length ?? 0) / MIN_BYTES_PER_SECOND);
    const abort = new AbortController();
    const state = { late: false };
    const cancelTimeout = clock.schedule(allowedMs, () => {
      state.late = true;
      abort.abort();
    });
    const startedAt = clock.now();
    let response: Response | undefined;
    const logFields = () => ({
      method,
      path: new URL(url).pathname,
      status: response?.status,
      providerRequestId: response?.headers.get(requestIdHeader) ?? undefined,
      ms: clock.now() - startedAt,
    });
    try {
      response = await send(url, {
        method,
        redirect: 'manual',
        signal: abort.signal,
        ...(headers !== undefined && { headers }),
        ...(body !== undefined && { body }),
      });
      const text = await readAll(response, fault);
      const answer = { status: response.status, headers: response.headers, text };
      logger.debug(logFields(), 'a provider answered');
      const { providerRequestId: id, path, status, ms: durationMs } = logFields();
      if (id !== undefined && status !== undefined) {
        noteRequest({ provider, id, method, path, status, at: isoTime(startedAt), durationMs });
      }
      const askedMs = rateLimitOf(answer, clock.now(), rateLimitMs);
      if (askedMs !== undefined) throw recordRateLimit(limit, `${provider} asked to wait`, askedMs);
      if (answer.status >= 500) throw fault(`${provider} answered with status ${String(answer.status)}`);
      return answer;
    } catch (error) {
      logger.warn({ ...logFields(), err: error }, 'a request to a provider went wrong');
      if (error instanceof ProviderFault) throw error;
      if (state.late) {
        const cause = Object.assign(new Error('no complete response in time'), { name: 'TimeoutError' });
        throw fault(`${provider} did not answer within ${String(allowedMs / 1_000)} s`, { cause });
      }
      throw fault(`${provider} cannot be reached`, { cause: error });
    } finally {
      cancelTimeout();
    }
  };

  const sendFollowing = async (request: ProviderRequest): Promise<ProviderResponse> => {
    let { url } = request;
    for (let followed = 0; ; followed += 1) {
      const answer = await sendOnce({ ...request, url });
      const target = redirectOf(answer, url);
      if (target === undefined) return answer;
      const isSafe = keepsMethod(answer.status, request.method) && target.origin === new URL(url).origin;
      if (!followRedirects || !isSafe || followed === MAX_REDIRECTS) {
        const message = `${provider} redirects to ${target.origin}, where its credentials are not sent`;
        throw new ProviderFault({ provider, message, transient: false });
      }
      url = target.href;
    }
  };

  return async (request) => {
    const retryable = request.retryable ?? (request.method === 'GET' || request.method === 'HEAD');
    for (let attempt = 0; ; attempt += 1) {
      request.assertHeld?.();
      try {
        return await withBreaker(() => sendFollowing(request));
      } catch (error) {
        if (!(error instanceof ProviderFault) || !error.transient || !retryable || attempt === MAX_RETRIES) throw error;
        if (!retryTimeouts && isTimeout(error)) throw error;
        const waitMs = Math.max(backoffMs(BACKOFF, attempt, random.fraction()), error.retryAfterMs ?? 0);
        if (waitMs > MAX_WAIT_MS) throw error;
        await sleep(clock, waitMs);
      }
    }
  };
};

const isTimeout = ({ cause }: ProviderFault): boolean => cause instanceof Error && cause.name === 'TimeoutError';

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** Where the response redirects to, when it does. */
const redirectOf = ({ status, headers }: ProviderResponse, url: string): URL | undefined => {
  const location = headers.get('location');
  return redirects.includes(status) && location !== null ? parseUrl(location, url) : undefined;
};

/** The others turn a POST into a GET. */
const keepsMethod = (status: number, method: string): boolean =>
  status === 307 || status === 308 || method === 'GET' || method === 'HEAD';

const readAll = async (response: Response, fault: (message: string) => ProviderFault): Promise<string> => {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw fault('An answer was too long');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};

/**
 * GitHub's secondary rate limits may come without a header that says so
 * (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
const secondaryLimit = /\bsecondary rate limit\b/i;

/**
 * How long to wait, in milliseconds, when the response is a rate limit (429, GitHub's 403) or a 503
 * that says when to come back; otherwise undefined. Read from `Retry-After` (seconds or a date),
 * else `X-RateLimit-Reset` (seconds since the epoch), else `unnamedMs`. Times are those of the provider's
 * clock, which `Date` tells: ours may be an hour off.
 */
const rateLimitOf = ({ status, headers, text }: ProviderResponse, ownNow: number, unnamedMs: number): number | undefined => {
  const retryAfter = headers.get('retry-after');
  const isExhausted = headers.get('x-ratelimit-remaining') === '0';
  const saysLimit = retryAfter !== null || isExhausted || secondaryLimit.test(text);
  const isLimit = status === 429 || (status === 403 && saysLimit);
  const isUnavailable = status === 503 && retryAfter !== null;
  if (!isLimit && !isUnavailable) return undefined;
  const sentAt = Date.parse(headers.get('date') ?? '');
  const now = Number.isNaN(sentAt) ? ownNow : sentAt;
  if (retryAfter !== null) {
    const seconds = Number(retryAfter);
    const at = Number.isFinite(seconds) ? now + seconds * 1_000 : Date.parse(retryAfter);
    if (Number.isFinite(at)) return Math.max(0, at - now);
  }
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
  // One second more, because the reset is given in whole seconds.
  return Number.isFinite(reset) && isExhausted ? Math.max(0, reset * 1_000 + 1_000 - now) : unnamedMs;
};

/**
 * Parses the response as JSON.
 * @throws ProviderFault when it is not JSON; transient, because it mostly comes from a proxy in
 * between
 */
export const parseJson = (provider: string, { text }: Pick<ProviderResponse, 'text'>): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = `${provider} answered with something that is not JSON`;
    throw new ProviderFault({ provider, message, transient: true, cause: error });
  }
};

const ajv = new Ajv2020();

/**
 * Creates a function that checks a provider's response against `schema`, which names only the
 * fields that are used, since providers add fields. The function throws ProviderFault (transient)
 * on a mismatch.
 */
export const parserFor = <Schema extends TSchema>(provider: string, schema: Schema): ((value: unknown) => Static<Schema>) => {
  let check: ValidateFunction<Static<Schema>> | undefined;
  return (value) => {
    // Compiled on first use: most processes never call most providers.
    check ??= ajv.compile<Static<Schema>>(schema);
    if (check(value)) return value;
    const message = `${provider} answered in a form that is not understood`;
    throw new ProviderFault({ provider, message, transient: true, cause: new Error(ajv.errorsText(check.errors)) });
  };
};
