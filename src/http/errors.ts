import type { RefusalCode, Refusal } from '../commands/refusal.js';
import { Refused } from '../commands/refusal.js';
import { TooManyConflicts } from '../commands/handleCommand.js';
import { EventRejected, UnknownEvent } from '../events/codec.js';
import type { JsonValue } from '../events/envelope.js';
import {
  AppendTooLarge,
  CorruptedRetry,
  EventStoreClosed,
  EventStoreFull,
  EventStoreUnavailable,
  InvalidAppend,
  OutcomeUnknown,
  WrongExpectedRevision,
} from '../events/store/eventStore.js';
import { ProviderFault } from '../integrations/fault.js';
import { IdentityUnavailable } from '../integrations/identity/port.js';
import { MasterKeyUnknown } from '../platform/vault.js';
import { ProjectionBehind } from '../projections/runner/versions.js';
import { ReadModelDropped, ReadModelStoreUnavailable } from '../projections/store/readModelStore.js';

/** An error as it leaves the service: status, headers, and the body `{error, details}` (specification, "Errors"). */
export interface ErrorAnswer {
  readonly status: number;
  readonly error: string;
  /** `null` when there is no more to say. */
  readonly details: JsonValue | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is wrong with a request as HTTP, whichever route it is for. */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  readonly answer: ErrorAnswer;

  constructor(
    status: number,
    error: string,
    { headers = {}, details = null }: { headers?: Readonly<Record<string, string>>; details?: JsonValue | null } = {},
  ) {
    super(error);
    this.answer = { status, error, details, headers };
  }
}

const badRequest = (message: string): Refusal => ({ refused: 'invalid', message });

/** Refusals and faults of HTTP itself, in the words of the specification and of api.md, section 3. */
export const httpErrors = {
  malformed: () => new Refused(badRequest('Malformed request')),
  bodyRequired: () => new Refused(badRequest('Body required')),
  invalidJson: () => new Refused(badRequest('Invalid JSON body')),
  invalid: (what: 'path params' | 'query' | 'headers', violations: readonly { field: string; issue: string }[]) => {
    const [first] = violations;
    return new Refused({
      refused: 'invalid',
      message: `Invalid ${what} — ${first?.field ?? ''}: ${first?.issue ?? ''}`,
      details: violations.map(({ field, issue }) => ({ field, issue })),
    });
  },
  keyReused: () => new Refused(badRequest('Idempotency-Key was used with a different request')),
  notFound: () => new Refused({ refused: 'notFound', message: 'Not found' }),
  methodNotAllowed: (allow: string) => new HttpFault(405, 'Method not allowed', { headers: { allow } }),
  bodyTooLarge: () => new HttpFault(413, 'Request body too large'),
  busy: () => new HttpFault(503, 'Too many requests are under way', { headers: retryAfter(1) }),
  stillRunning: () =>
    new HttpFault(503, 'The first request with this Idempotency-Key is still under way', { headers: retryAfter(1) }),
  transferUnderWay: () => new HttpFault(503, 'The transfer is still under way', { headers: retryAfter(2) }),
  noWebhooks: () => new HttpFault(503, 'Commerce webhooks are not configured', { headers: retryAfter(60) }),
  notReady: (problems: readonly { name: string; problem: string }[]) =>
    new HttpFault(503, `Not ready: ${problems.map(({ name, problem }) => `${name}: ${problem}`).join('; ')}`, {
      headers: retryAfter(1),
      details: problems.map(({ name, problem }) => ({ name, problem })),
    }),
} as const;

const retryAfter = (seconds: number): Record<string, string> => ({ 'retry-after': String(seconds) });

const statusOfRefusal: Readonly<Record<RefusalCode, number>> = {
  invalid: 400,
  // Conflicts are 400, never 409 (specification, "Errors").
  conflict: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
};

type ErrorClass = abstract new (...parts: never[]) => Error;

interface FaultAnswer {
  readonly status: number;
  readonly error: string;
  /** Whole seconds until a repetition makes sense. */
  readonly retryAfter?: number;
}

const internal: FaultAnswer = { status: 500, error: 'Internal server error' };

/** Every fault that a part of the service throws, a kind before the class that it is a kind of. */
export const faultAnswers: ReadonlyMap<ErrorClass, FaultAnswer> = new Map<ErrorClass, FaultAnswer>([
  [EventStoreFull, { status: 503, error: 'Storage is full: nothing can be written until there is room', retryAfter: 30 }],
  [EventStoreUnavailable, { status: 503, error: 'The event store cannot be reached', retryAfter: 1 }],
  [EventStoreClosed, { status: 503, error: 'The service is stopping', retryAfter: 1 }],
  [OutcomeUnknown, { status: 503, error: 'Whether this was written is not known: look before trying again', retryAfter: 1 }],
  [TooManyConflicts, { status: 503, error: 'Too many others are changing this', retryAfter: 1 }],
  [ReadModelStoreUnavailable, { status: 503, error: 'The read models cannot be reached', retryAfter: 1 }],
  [ProjectionBehind, { status: 503, error: 'This list has not caught up with the latest writes', retryAfter: 1 }],
  [ReadModelDropped, { status: 503, error: 'The read models are being exchanged', retryAfter: 1 }],
  [IdentityUnavailable, { status: 503, error: 'The identity provider cannot be reached', retryAfter: 1 }],
  [MasterKeyUnknown, { status: 503, error: 'The vault cannot be opened with the keys of this process', retryAfter: 30 }],
  [AppendTooLarge, { status: 413, error: 'Request body too large' }],
  [WrongExpectedRevision, internal],
  [CorruptedRetry, internal],
  [InvalidAppend, internal],
  [EventRejected, internal],
  // Access fails closed: what cannot be folded is not guessed.
  [UnknownEvent, internal],
]);

/** A provider that asks to wait longer than this is not worth holding the caller for, in seconds. */
const longestRetryAfter = 3_600;

const ofProvider = (fault: ProviderFault): ErrorAnswer => {
  const seconds = Math.min(longestRetryAfter, Math.max(1, Math.ceil((fault.retryAfterMs ?? 1_000) / 1_000)));
  const { cause } = fault;
  const timedOut = typeof cause === 'object' && cause !== null && 'name' in cause && cause.name === 'TimeoutError';
  if (timedOut)
    return { status: 504, error: `${fault.provider} did not answer in time`, details: null, headers: retryAfter(seconds) };
  return fault.transient
    ? { status: 503, error: `${fault.provider} cannot be asked right now`, details: null, headers: retryAfter(seconds) }
    : { status: 502, error: `${fault.provider} refused: ${fault.message}`, details: null, headers: {} };
};

const ofRefusal = ({ refused, message, details }: Refusal): ErrorAnswer => ({
  status: statusOfRefusal[refused],
  error: message,
  details: details ?? null,
  headers: refused === 'unauthenticated' ? { 'www-authenticate': 'Bearer' } : {},
});

/** The one way from anything thrown to what the caller is told. An unknown fault tells nothing but the request's id. */
export const answerFor = (error: unknown, requestId: string): ErrorAnswer => {
  if (error instanceof Refused) return ofRefusal(error.refusal);
  if (error instanceof HttpFault) return error.answer;
  if (error instanceof ProviderFault) return ofProvider(error);
  for (const [kind, { status, error: words, retryAfter: seconds }] of faultAnswers) {
    if (error instanceof kind && status !== 500) {
      return { status, error: words, details: null, headers: seconds === undefined ? {} : retryAfter(seconds) };
    }
  }
  return { status: 500, error: internal.error, details: { requestId }, headers: {} };
};
