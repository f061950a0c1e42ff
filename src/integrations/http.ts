import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { sleep, type Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { Random } from '../platform/random.js';
import { createBreaker } from './breaker.js';
import { ProviderFault } from './fault.js';

/** One request to a provider's API. */
export interface ProviderRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Whether sending it again does no harm: only then is it repeated after a network fault, a time-out or a 5xx. Default: GET and HEAD.
   * Everybody else asks "is it there already?" before trying again.
   */
  readonly repeatable?: boolean;
}

/** What the provider said, read to its end: any status but 429 and 5xx. */
export interface ProviderAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends a request and reads the whole answer.
 * @throws ProviderFault, transient: no connection, no whole answer in time (its cause is then named `TimeoutError`), 429 or another
 * rate limit with the time to wait, 5xx, an answer over 8 MiB, a provider that is left alone after many faults
 */
export type ProviderHttp = (request: ProviderRequest) => Promise<ProviderAnswer>;

const REPETITIONS = 2;
const FIRST_PAUSE_MS = 250;
/** A wait that is longer is left to whoever asked, who can keep it across a restart. */
const LONGEST_PAUSE_MS = 2_000;
const LONGEST_ANSWER = 8 * 1_024 * 1_024;
/** Whatever is asked for, after an hour it is looked whether it still holds. */
const LONGEST_LIMIT_MS = 3_600_000;
/** GitHub asks for a minute where a rate limit names no time. */
const UNNAMED_LIMIT_MS = 60_000;

/**
 * What every client of a provider's API stands on: a deadline for the whole answer, repetition where it is safe, rate limits that are
 * kept by everybody in this process, a circuit breaker, and a log line with the provider's id of each request that went wrong.
 * Nothing that is sent, headers and bodies included, reaches the log or an error's message.
 */
export const createProviderHttp = (parts: {
  /** As it is named in errors. */
  provider: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** For the whole answer, in milliseconds. */
  timeoutMs?: number;
  /** Whether what has timed out counts among what is sent again. Default: yes; no where the deadline is all that somebody can wait. */
  repeatLate?: boolean;
  /** The header that holds the provider's id of a request. */
  requestIdHeader: string;
  fetch?: typeof fetch;
}): ProviderHttp => {
  const { provider, clock, random, timeoutMs = 10_000, repeatLate = true, requestIdHeader } = parts;
  const send = parts.fetch ?? fetch;
  const logger = parts.logger.child({ provider });
  // A provider that answers is there, also when it asks to wait.
  const unlessBroken = createBreaker(provider, ({ retryAfterMs }) => retryAfterMs === undefined);
  let limitedUntil = 0;

  const fault = (message: string, more: { retryAfterMs?: number; cause?: unknown } = {}): ProviderFault =>
    new ProviderFault({ provider, message, transient: true, ...more });

  const keepLimit = (message: string, askedMs: number): ProviderFault => {
    const waitMs = Math.min(askedMs, LONGEST_LIMIT_MS);
    limitedUntil = Math.max(limitedUntil, clock.now() + waitMs);
    return fault(message, { retryAfterMs: waitMs });
  };

  const once = async ({ method, url, headers, body }: ProviderRequest): Promise<ProviderAnswer> => {
    const waitMs = limitedUntil - clock.now();
    if (waitMs > 0) throw fault(`${provider} asked to wait`, { retryAfterMs: waitMs });
    const abort = new AbortController();
    const state = { late: false };
    const cancelTimeout = clock.schedule(timeoutMs, () => {
      state.late = true;
      abort.abort();
    });
    const begunAt = clock.now();
    let response: Response | undefined;
    const seen = () => ({
      method,
      path: new URL(url).pathname,
      status: response?.status,
      providerRequestId: response?.headers.get(requestIdHeader) ?? undefined,
      ms: clock.now() - begunAt,
    });
    try {
      response = await send(url, {
        method,
        signal: abort.signal,
        ...(headers !== undefined && { headers }),
        ...(body !== undefined && { body }),
      });
      const text = await readAll(response, fault);
      const answer = { status: response.status, headers: response.headers, text };
      logger.debug(seen(), 'a provider answered');
      const limit = rateLimitOf(answer, clock.now());
      if (limit !== undefined) throw keepLimit(`${provider} asked to wait`, limit);
      if (answer.status >= 500) throw fault(`${provider} answered with status ${String(answer.status)}`);
      return answer;
    } catch (error) {
      logger.warn({ ...seen(), err: error }, 'a request to a provider went wrong');
      if (error instanceof ProviderFault) throw error;
      if (state.late) {
        const cause = Object.assign(new Error('no whole answer in time'), { name: 'TimeoutError' });
        throw fault(`${provider} did not answer within ${String(timeoutMs / 1_000)} s`, { cause });
      }
      throw fault(`${provider} cannot be reached`, { cause: error });
    } finally {
      cancelTimeout();
    }
  };

  return async (request) => {
    const repeatable = request.repeatable ?? (request.method === 'GET' || request.method === 'HEAD');
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await unlessBroken(() => once(request));
      } catch (error) {
        if (!(error instanceof ProviderFault) || !repeatable || attempt === REPETITIONS) throw error;
        if (!repeatLate && isLate(error)) throw error;
        const pause = FIRST_PAUSE_MS * 2 ** attempt * (0.5 + random.fraction() / 2);
        const waitMs = Math.max(pause, error.retryAfterMs ?? 0);
        if (waitMs > LONGEST_PAUSE_MS) throw error;
        await sleep(clock, waitMs);
      }
    }
  };
};

const isLate = ({ cause }: ProviderFault): boolean => cause instanceof Error && cause.name === 'TimeoutError';

const readAll = async (response: Response, fault: (message: string) => ProviderFault): Promise<string> => {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > LONGEST_ANSWER) throw fault('An answer was too long');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};

/**
 * How long to wait, in milliseconds, when the answer says that there were too many requests: 429, or the 403 with which GitHub says
 * so. By `Retry-After` (seconds or a date), else `X-RateLimit-Reset` (seconds since the epoch), else a minute.
 */
const rateLimitOf = ({ status, headers }: Pick<ProviderAnswer, 'status' | 'headers'>, now: number): number | undefined => {
  const retryAfter = headers.get('retry-after');
  const isUsedUp = headers.get('x-ratelimit-remaining') === '0';
  const isLimit = status === 429 || (status === 403 && (retryAfter !== null || isUsedUp));
  const isAway = status === 503 && retryAfter !== null;
  if (!isLimit && !isAway) return undefined;
  if (retryAfter !== null) {
    const seconds = Number(retryAfter);
    const at = Number.isFinite(seconds) ? now + seconds * 1_000 : Date.parse(retryAfter);
    if (Number.isFinite(at)) return Math.max(0, at - now);
  }
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
  // A second more: the reset is told in whole seconds.
  return Number.isFinite(reset) && isUsedUp ? Math.max(0, reset * 1_000 + 1_000 - now) : UNNAMED_LIMIT_MS;
};

/**
 * The answer as JSON.
 * @throws ProviderFault (transient: what a proxy in between says passes) when it is none
 */
export const jsonOf = (provider: string, { text }: Pick<ProviderAnswer, 'text'>): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = `${provider} answered with something that is not JSON`;
    throw new ProviderFault({ provider, message, transient: true, cause: error });
  }
};

const ajv = new Ajv2020();

/**
 * Makes sure of the form of what a provider answered; `schema` names what is relied upon and no more, since providers add fields.
 * @throws ProviderFault (transient) from the function, when the form is another
 */
export const formOf = <Schema extends TSchema>(provider: string, schema: Schema): ((value: unknown) => Static<Schema>) => {
  let check: ValidateFunction<Static<Schema>> | undefined;
  return (value) => {
    // Compiled when it is needed: most processes never ask most providers.
    check ??= ajv.compile<Static<Schema>>(schema);
    if (check(value)) return value;
    const message = `${provider} answered in a form that is not understood`;
    throw new ProviderFault({ provider, message, transient: true, cause: new Error(ajv.errorsText(check.errors)) });
  };
};
