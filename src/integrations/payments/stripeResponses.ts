import type { Logger } from '../../platform/logger.js';
import { ProviderFault } from '../fault.js';

/** The part of a StripeError that is looked at. */
interface StripeError {
  readonly statusCode?: number;
  /** `resource_missing`, … */
  readonly code?: string;
  /** `idempotency_error`, … */
  readonly rawType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly requestId?: string;
  /** Of a connection that failed: why. */
  readonly detail?: unknown;
  readonly message: string;
}

export const isMissing = (error: unknown): boolean => {
  const { statusCode, code } = error as Partial<StripeError>;
  return statusCode === 404 || code === 'resource_missing';
};

/** Whether Stripe repeated what it once answered to an idempotency key. */
export const isReplayed = (headers: Headers | Readonly<Record<string, string>> | undefined): boolean =>
  headers !== undefined && new Headers(headers).get('idempotent-replayed') === 'true';

/**
 * Stripe repeats even a 500 for as long as it remembers a key (https://docs.stripe.com/api/idempotent_requests). That says nothing of how
 * Stripe is now, so it is passed on as what it is: an answer, not a fault that trying again would mend.
 */
export const showReplays =
  (send: typeof fetch): typeof fetch =>
  async (...request) => {
    const response = await send(...request);
    if (response.status < 500 || !isReplayed(response.headers)) return response;
    return new Response(response.body, { status: 400, headers: response.headers });
  };

/** Marks a fault as a refusal of the idempotency key, not of what was asked for. */
class UsedKey extends Error {
  override readonly name = 'UsedKey';
}

/** What was thrown by a call of the client, as a fault of the provider, in words that hold neither an address nor a key. */
export const faultFrom = (provider: string, error: unknown, logger: Logger): ProviderFault => {
  if (error instanceof ProviderFault) return error;
  const { statusCode, code, rawType, headers, requestId, detail, message } = error as StripeError;
  if (detail instanceof ProviderFault) return detail;
  const seen = { status: statusCode, code, type: rawType, providerRequestId: requestId };
  logger.warn({ ...seen, ...(statusCode === undefined && { err: error }) }, 'stripe refused a request');

  const fault = (words: string, transient: boolean, cause?: Error): ProviderFault =>
    new ProviderFault({ provider, message: words, transient, cause });
  // Not even an answer in Stripe's own form: what stands in between may pass.
  if (statusCode === undefined) return fault('stripe answered in a form that is not understood', true);
  // Somebody else is at it right now, with this key or on this object.
  if (statusCode === 409) return fault('stripe is still at work on the same request', true);
  if (statusCode === 401 || statusCode === 403) return fault('The credentials for stripe are refused, or do not suffice', false);
  const used = rawType === 'idempotency_error' || isReplayed(headers);
  return fault(withoutSecrets(message), false, used ? new UsedKey() : undefined);
};

const withoutSecrets = (text: string): string =>
  text.replaceAll(/[^\s'"<>]+@[^\s'"<>]+/g, 'the address').replaceAll(/\b[rs]k_\w+/g, 'the key');

const MAX_GENERATIONS = 5;

/**
 * Makes something that there is to be once. The key names it, so that two who ask at the same moment, or one who asks again because no
 * answer came, get the same one. But Stripe also repeats for a day what no longer holds: a refusal whose reason is gone, a fault, the
 * making of something that was taken away since. Then it is looked for, and, not being there, made with the next key.
 * @param parts `confirm` is called right before each attempt; `create` answers with what was made and whether that is a repetition; `reread` with what has become of it since, or
 * null when it is gone
 * @throws ProviderFault
 */
export const createOnce = async <Made>(parts: {
  provider: string;
  key: string;
  confirm: () => void;
  look: () => Promise<Made | null>;
  create: (idempotencyKey: string) => Promise<{ readonly made: Made; readonly replayed: boolean }>;
  reread: (made: Made) => Promise<Made | null>;
}): Promise<Made> => {
  const { provider, key, confirm, look, create, reread } = parts;
  for (let generation = 1; generation <= MAX_GENERATIONS; generation += 1) {
    const found = generation === 1 ? null : await look();
    if (found !== null) return found;
    confirm();
    try {
      const { made, replayed } = await create(`${key}-${String(generation)}`);
      const there = replayed ? await reread(made) : made;
      if (there !== null) return there;
    } catch (error) {
      if (!(error instanceof ProviderFault && error.cause instanceof UsedKey)) throw error;
    }
  }
  const message = 'stripe keeps repeating old answers; it will forget them within a day';
  throw new ProviderFault({ provider, message, transient: false });
};
