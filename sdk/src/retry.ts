import { AbortError, ConnectionError, DoorstepError, TimeoutError } from './errors.js';

const firstDelayMs = 500;
const maxDelayMs = 8_000;
/** Whoever asks for more is not waited for: the caller learns it at once. */
const maxRetryAfterMs = 60_000;
/** What a timer takes; more would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Whether a time limit in ms is one: 0 is none, nor is what no timer takes. */
export const isLimit = (timeoutMs: number): boolean => timeoutMs > 0 && timeoutMs <= maxTimerMs;

/** Whether another attempt may go well: the network failed, or the service is busy or faulty. */
export const isTemporary = (error: unknown): error is DoorstepError =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (error instanceof DoorstepError && (error.status === 408 || error.status === 429 || (error.status ?? 0) >= 500));

/**
 * How long to wait before the next attempt, in ms: what the answer says in `Retry-After`, else 0.5 s to
 * 8 s, twice as long each time, and not the same for everybody.
 * @param retries - how many there were
 * @returns `undefined` when that is too long to wait
 */
export const delayBefore = (retries: number, headers?: Headers): number | undefined => {
  const asked = retryAfterMs(headers?.get('retry-after') ?? '');
  if (asked !== undefined) return asked <= maxRetryAfterMs ? asked : undefined;
  return Math.min(maxDelayMs, firstDelayMs * 2 ** retries * (1 + Math.random() / 2));
};

/** Of seconds or a date (RFC 9110, 10.2.3). */
const retryAfterMs = (text: string): number | undefined => {
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
};

/** @throws AbortError as soon as `signal` is aborted */
export const wait = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    throwIfAborted(signal);
    const abort = (): void => {
      clearTimeout(timer);
      reject(abortErrorOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort);
  });

export const abortErrorOf = (signal: AbortSignal | undefined): AbortError =>
  new AbortError('The call was aborted', undefined, { cause: signal?.reason });

/** @throws AbortError */
export const throwIfAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted === true) throw abortErrorOf(signal);
};
