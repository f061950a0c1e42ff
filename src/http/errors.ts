import { Refused, refusals, type Refusal, type RefusalKind, type Violation } from '../commands/refusal.js';
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
import { MethodNotAllowed, ProviderFault, TemplateFault } from '../integrations/fault.js';
import { FileStoreFull } from '../integrations/files/port.js';
import { IdentityUnavailable } from '../integrations/identity/port.js';
import { FileTooLarge } from '../platform/measuredContent.js';
import { MasterKeyUnknown } from '../platform/vault/roots.js';
import { ProjectionBehind } from '../projections/runner/versions.js';
import { ReadModelDropped, ReadModelStoreUnavailable } from '../projections/store/readModelStore.js';
import type { Caller } from './auth/caller.js';
import { faultStatus, type FaultCode } from './faults.js';

/**
 * An error as it leaves the service: status, headers, and the body `{error, code, details}`
 * (specification, "Errors"; api.md, 3).
 */
export interface ErrorAnswer {
  readonly status: number;
  /** Stable, for programs. */
  readonly code: string;
  readonly error: string;
  /** `null` when there is no more to say. */
  readonly details: JsonValue | null;
  readonly headers: Readonly<Record<string, string>>;
  /** As of a refusal. */
  readonly people?: readonly string[];
}

/** What is wrong with a request as HTTP, whichever route it is for. */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';

  readonly answer: ErrorAnswer;

  constructor(answer: ErrorAnswer) {
    super(answer.error);
    this.answer = answer;
  }
}

/** The codes that HTTP itself refuses with, whichever route it is for. */
export const httpRefusalKinds = {
  malformed_request: 'invalid',
  body_required: 'invalid',
  invalid_json: 'invalid',
  invalid_path_params: 'invalid',
  invalid_headers: 'invalid',
  idempotency_key_reused: 'invalid',
  if_match_not_supported: 'invalid',
  not_found: 'notFound',
} as const satisfies Record<string, RefusalKind>;

export type HttpRefusalCode = keyof typeof httpRefusalKinds;

const refused = (code: HttpRefusalCode, message: string, details?: readonly Violation[]): Refused =>
  new Refused({ kind: httpRefusalKinds[code], code, message, ...(details !== undefined && { details }) });

const codeOfInvalid = { 'path params': 'invalid_path_params', headers: 'invalid_headers' } as const;

const httpFault = (
  code: FaultCode,
  error: string,
  { headers = {}, details = null }: Partial<Pick<ErrorAnswer, 'headers' | 'details'>> = {},
): HttpFault => new HttpFault({ status: faultStatus[code], code, error, details, headers });

/**
 * Refusals and faults of HTTP itself, with the messages of the specification and of api.md, section 3.
 */
export const httpErrors = {
  malformed: () => refused('malformed_request', 'Malformed request'),
  bodyRequired: () => refused('body_required', 'Body required'),
  invalidJson: () => refused('invalid_json', 'Invalid JSON body'),
  invalid: (what: keyof typeof codeOfInvalid | 'query', violations: readonly Violation[]) => {
    const details = violations.map(({ field, issue }) => ({ field, issue }));
    const [{ field, issue } = { field: '', issue: '' }, ...others] = details;
    // Routes refuse a query too, once they have read what it is about.
    if (what === 'query') return new Refused(refusals.invalidQuery(field, issue, others));
    return refused(codeOfInvalid[what], `Invalid ${what} — ${field}: ${issue}`, details);
  },
  keyReused: () => refused('idempotency_key_reused', 'Idempotency-Key was used with a different request'),
  ifMatchNotSupported: () => refused('if_match_not_supported', 'If-Match is not supported here'),
  notFound: () => refused('not_found', 'Not found'),
  methodNotAllowed: (allow: string) => httpFault('method_not_allowed', 'Method not allowed', { headers: { allow } }),
  bodyTooLarge: () => httpFault('body_too_large', 'Request body too large'),
  encodingNotSupported: () =>
    httpFault('content_encoding_not_supported', 'Content-Encoding is not supported: send the body as it is', {
      // What is taken instead (RFC 9110, 12.5.3).
      headers: { 'accept-encoding': 'identity' },
    }),
  rangeNotSatisfiable: (bytes: number) =>
    httpFault('range_not_satisfiable', `The file has only ${String(bytes)} bytes`, {
      headers: { 'content-range': `bytes */${String(bytes)}` },
    }),
  headersTooLarge: () => httpFault('headers_too_large', 'Request header fields too large'),
  requestTimeout: () => httpFault('request_timeout', 'Request timeout'),
  tooManyOfSender: () =>
    httpFault('too_many_requests', 'Too many requests from your address are under way', { headers: retryAfter(1) }),
  overBudget: (perSecond: number) =>
    httpFault('rate_limit_exceeded', `Too many requests: at most ${String(perSecond)} a second`, {
      headers: retryAfter(1),
    }),
  busy: () => httpFault('busy', 'Too many requests are under way', { headers: retryAfter(1) }),
  stillRunning: () =>
    httpFault('still_running', 'The first request with this Idempotency-Key is still under way', {
      headers: retryAfter(1),
    }),
  transferUnderWay: () => httpFault('transfer_under_way', 'The transfer is still under way', { headers: retryAfter(2) }),
  publicationUnderWay: () => httpFault('publication_under_way', 'The publication is still under way', { headers: retryAfter(2) }),
  noWebhooks: () => httpFault('webhooks_not_configured', 'Commerce webhooks are not configured', { headers: retryAfter(60) }),
  hostNotAllowed: () => httpFault('host_not_allowed', 'Host is not a name of this service'),
  originNotAllowed: () => httpFault('origin_not_allowed', 'Origin is not one that may call'),
  insufficientScope: (challenge: string) =>
    httpFault('insufficient_scope', 'Not authorized to use the MCP server: the token lacks the scope mcp', {
      headers: { 'www-authenticate': challenge },
    }),
  repositoryFull: (websiteId: string) =>
    httpFault('repository_full', `The repository of website ${websiteId} is full: it may take 1 GB`),
  gitNotInstalled: () => httpFault('git_not_installed', 'Pushing needs git, which is not installed on the server'),
  notReady: (problems: readonly { name: string; problem: string }[]) =>
    httpFault('not_ready', `Not ready: ${problems.map(({ name, problem }) => `${name}: ${problem}`).join('; ')}`, {
      headers: retryAfter(1),
      details: problems.map(({ name, problem }) => ({ name, problem })),
    }),
} as const;

const retryAfter = (seconds: number): Record<string, string> => ({ 'retry-after': String(seconds) });

export const statusOfRefusal: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  // Conflicts are 400, never 409 (specification, "Errors").
  conflict: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
};

type ErrorClass = abstract new (...parts: never[]) => Error;

interface FaultAnswer {
  readonly code: FaultCode;
  readonly error: string;
  /** Whole seconds until a repetition makes sense. */
  readonly retryAfter?: number;
}

const internal: FaultAnswer = { code: 'internal_error', error: 'Internal server error' };

/** Every fault that a part of the service throws, a kind before the class that it is a kind of. */
export const faultAnswers: ReadonlyMap<ErrorClass, FaultAnswer> = new Map<ErrorClass, FaultAnswer>([
  [
    EventStoreFull,
    { code: 'storage_full', error: 'Storage is full: nothing can be written until there is room', retryAfter: 30 },
  ],
  [FileStoreFull, { code: 'storage_full', error: 'Storage is full: nothing can be written until there is room', retryAfter: 30 }],
  [EventStoreUnavailable, { code: 'event_store_unavailable', error: 'The event store cannot be reached', retryAfter: 1 }],
  [EventStoreClosed, { code: 'stopping', error: 'The service is stopping', retryAfter: 1 }],
  [
    OutcomeUnknown,
    {
      code: 'outcome_unknown',
      error: 'Whether this was written is not known: look before trying again',
      retryAfter: 1,
    },
  ],
  [TooManyConflicts, { code: 'too_many_conflicts', error: 'Too many others are changing this', retryAfter: 1 }],
  [ReadModelStoreUnavailable, { code: 'read_models_unavailable', error: 'The read models cannot be reached', retryAfter: 1 }],
  [ProjectionBehind, { code: 'list_behind', error: 'This list has not caught up with the latest writes', retryAfter: 1 }],
  [ReadModelDropped, { code: 'read_models_exchanged', error: 'The read models are being exchanged', retryAfter: 1 }],
  [
    IdentityUnavailable,
    { code: 'identity_provider_unavailable', error: 'The identity provider cannot be reached', retryAfter: 1 },
  ],
  [MasterKeyUnknown, { code: 'vault_locked', error: 'The vault cannot be opened with the keys of this process', retryAfter: 30 }],
  [FileTooLarge, { code: 'body_too_large', error: 'Request body too large' }],
  [AppendTooLarge, { code: 'body_too_large', error: 'Request body too large' }],
  [WrongExpectedRevision, internal],
  [CorruptedRetry, internal],
  [InvalidAppend, internal],
  [EventRejected, internal],
  // Access fails closed: what cannot be folded is not guessed.
  [UnknownEvent, internal],
]);

/** In seconds. */
const maxRetryAfter = 3_600;

const ofProvider = (fault: ProviderFault, role: Caller['role'] | undefined): ErrorAnswer => {
  const seconds = Math.min(maxRetryAfter, Math.max(1, Math.ceil((fault.retryAfterMs ?? 1_000) / 1_000)));
  const { cause } = fault;
  const timedOut = typeof cause === 'object' && cause !== null && 'name' in cause && cause.name === 'TimeoutError';
  const { provider, transient, message } = fault;
  const answer = (code: FaultCode, error: string): ErrorAnswer => ({
    status: faultStatus[code],
    code,
    error,
    details: null,
    headers: code === 'provider_refused' ? {} : retryAfter(seconds),
  });
  if (timedOut) return answer('provider_timeout', `${provider} did not answer in time`);
  if (transient) return answer('provider_unavailable', `${provider} cannot be asked right now`);
  // A provider's words are the agency's business: they may name its accounts, prices and settings.
  const why = role === 'admin' ? `: ${message}` : '. Ask the agency to look into it.';
  const what = fault instanceof TemplateFault ? 'A template cannot be used' : `${provider} refused`;
  return answer('provider_refused', `${what}${why}`);
};

const ofRefusal = ({ kind, code, message, details, people }: Refusal): ErrorAnswer => ({
  status: statusOfRefusal[kind],
  code,
  error: message,
  details: details ?? null,
  headers: kind === 'unauthenticated' ? { 'www-authenticate': 'Bearer' } : {},
  ...(people !== undefined && { people }),
});

/**
 * Turns anything thrown into the error that the caller gets. Of an unknown fault it shows the
 * request's id only.
 * @param role of the caller, where it is known who calls: the words of a provider are for admins
 */
export const answerFor = (error: unknown, requestId: string, role?: Caller['role']): ErrorAnswer => {
  if (error instanceof Refused) return ofRefusal(error.refusal);
  if (error instanceof HttpFault) return error.answer;
  if (error instanceof MethodNotAllowed) return httpErrors.methodNotAllowed(error.allow).answer;
  if (error instanceof ProviderFault) return ofProvider(error, role);
  for (const [kind, { code, error: words, retryAfter: seconds }] of faultAnswers) {
    if (error instanceof kind && code !== internal.code) {
      return {
        status: faultStatus[code],
        code,
        error: words,
        details: null,
        headers: seconds === undefined ? {} : retryAfter(seconds),
      };
    }
  }
  return { status: faultStatus[internal.code], code: internal.code, error: internal.error, details: { requestId }, headers: {} };
};
