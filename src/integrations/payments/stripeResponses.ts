import type { Logger } from '../../platform/logger.js';
import { ProviderFault } from '../fault.js';

/** The fields used of a StripeError. */
interface StripeError {
  readonly statusCode?: number;
  /** `resource_missing`, … */
  readonly code?: string;
  /** `idempotency_error`, … */
  readonly rawType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly requestId?: string;
  /** The cause of a connection error. */
  readonly detail?: unknown;
  readonly message: string;
}

export const isMissing = (error: unknown): boolean => {
  const { statusCode, code } = error as Partial<StripeError>;
  return statusCode === 404 || code === 'resource_missing';
};

/** Whether Stripe replayed the stored response of an idempotency key. */
export const isReplayed = (headers: Headers | Readonly<Record<string, string>> | undefined): boolean =>
  headers !== undefined && new Headers(headers).get('idempotent-replayed') === 'true';

/**
 * Stripe replays even a 500 for as long as it stores an idempotency key
 * (https://docs.stripe.com/api/idempotent_requests). A retry would get the same response, so a
 * replayed 5xx is turned into a 400, which is not retried and does not open the circuit breaker.
 */
export const exposeReplays =
  (send: typeof fetch): typeof fetch =>
  async (...request) => {
    const response = await send(...request);
    if (response.status < 500 || !isReplayed(response.headers)) return response;
    return new Response(response.body, { status: 400, headers: response.headers });
  };

/** Marks a fault as one of the idempotency key rather than of the request. */
class IdempotencyKeyUsed extends Error {
  override readonly name = 'IdempotencyKeyUsed';
}

/**
 * Converts an error of Stripe's client to a ProviderFault whose message contains no e-mail address
 * or key.
 */
export const toFault = (provider: string, error: unknown, logger: Logger): ProviderFault => {
  if (error instanceof ProviderFault) return error;
  const { statusCode, code, rawType, headers, requestId, detail, message } = error as StripeError;
  if (detail instanceof ProviderFault) return detail;
  const logFields = { status: statusCode, code, type: rawType, providerRequestId: requestId };
  logger.warn({ ...logFields, ...(statusCode === undefined && { err: error }) }, 'stripe refused a request');

  const fault = (text: string, transient: boolean, cause?: Error): ProviderFault =>
    new ProviderFault({ provider, message: text, transient, cause });
  // Not a response of Stripe but of something in between, which may be temporary.
  if (statusCode === undefined) return fault('stripe answered in a form that is not understood', true);
  // A concurrent request has this key, or locks this object.
  if (statusCode === 409) return fault('stripe is still at work on the same request', true);
  if (statusCode === 401 || statusCode === 403) return fault('The credentials for stripe are refused, or do not suffice', false);
  const used = rawType === 'idempotency_error' || isReplayed(headers);
  return fault(withoutSecrets(message), false, used ? new IdempotencyKeyUsed() : undefined);
};

const withoutSecrets = (text: string): string =>
  text.replaceAll(/[^\s'"<>]+@[^\s'"<>]+/g, 'the address').replaceAll(/\b[rs]k_\w+/g, 'the key');

const MAX_KEYS = 5;

/**
 * Creates something that must exist only once. The idempotency key identifies it, so that
 * concurrent requests and retries after a lost response get the same object. But for a day Stripe
 * also replays responses that no longer hold: an error whose cause is gone, or the creation of an
 * object that was deleted since. Then the object is searched for and, if it does not exist, created
 * with the next key.
 * @param parts `assertHeld` is called right before each attempt; `create` returns the object and
 * whether the response was replayed; `reload` returns the object's current state, or null when it
 * was deleted
 * @throws ProviderFault
 */
export const createOnce = async <Created>(parts: {
  provider: string;
  key: string;
  assertHeld: () => void;
  find: () => Promise<Created | null>;
  create: (idempotencyKey: string) => Promise<{ readonly created: Created; readonly replayed: boolean }>;
  reload: (created: Created) => Promise<Created | null>;
}): Promise<Created> => {
  const { provider, key, assertHeld, find, create, reload } = parts;
  for (let generation = 1; generation <= MAX_KEYS; generation += 1) {
    const found = generation === 1 ? null : await find();
    if (found !== null) return found;
    assertHeld();
    try {
      const { created, replayed } = await create(`${key}-${String(generation)}`);
      const current = replayed ? await reload(created) : created;
      if (current !== null) return current;
    } catch (error) {
      if (!(error instanceof ProviderFault && error.cause instanceof IdempotencyKeyUsed)) throw error;
    }
  }
  const message = 'stripe keeps repeating old answers; it will forget them within a day';
  throw new ProviderFault({ provider, message, transient: false });
};
