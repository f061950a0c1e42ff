import { Type } from 'typebox';
import { errorCodes, errorCodesOf, statusOfError } from '../refusals.js';
import type { Route } from '../route.js';
import { refer, type Components, type Json } from './components.js';

const Violation = Type.Object(
  { field: Type.String(), issue: Type.String() },
  { $id: 'Violation', description: 'What is wrong with one field of a request.' },
);

const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'What is wrong, in words for people.', examples: ['Website 01m82 not found'] }),
    code: Type.Enum([...errorCodes], {
      $id: 'ErrorCode',
      description: 'What is wrong, for programs: a code stays the same in every later version.',
    }),
    details: Type.Union([Type.Array(Violation), Type.Object({}, { additionalProperties: true }), Type.Null()], {
      description: 'Structured context: for a refused field the list of every violation; for a 500 the request id.',
    }),
  },
  { $id: 'Error', description: 'Every answer with a status of 400 and above.' },
);

const shared = {
  400: ['BadRequest', 'The request is not as it should be, or conflicts with what is there.', 'invalid_body'],
  401: ['Unauthorized', 'No credential, or not one that is valid.', 'invalid_token'],
  403: ['Forbidden', 'Not allowed.', 'admin_required'],
  404: ['NotFound', 'Not found.', 'website_not_found'],
  408: ['RequestTimeout', 'The body did not arrive in time.', 'request_timeout'],
  413: ['BodyTooLarge', 'The body is longer than it may be.', 'body_too_large'],
  415: ['EncodingNotSupported', 'The body has a `Content-Encoding`.', 'content_encoding_not_supported'],
  416: ['RangeNotSatisfiable', 'The file has none of the bytes that `Range` asks for.', 'range_not_satisfiable'],
  429: [
    'TooManyRequests',
    'Too many requests at once, or more than the budget of the caller: repeat later.',
    'too_many_requests',
  ],
  500: ['InternalError', 'Something is wrong in the service; `details` holds the request id.', 'internal_error'],
  502: ['ProviderRefused', 'A provider refused. Admins read why, in its words.', 'provider_refused'],
  503: ['Unavailable', 'Not right now: repeat later.', 'event_store_unavailable'],
  504: ['ProviderTimeout', 'A provider did not answer in time.', 'provider_timeout'],
} as const satisfies Readonly<Record<number, readonly [string, string, string]>>;

const exampleErrors: Readonly<Record<number, readonly [error: string, details: unknown]>> = {
  400: [
    'Invalid request body — slug: use 1 to 63 of a–z, 0–9 and hyphens, with no hyphen at either end; got 13 characters',
    [{ field: 'slug', issue: 'use 1 to 63 of a–z, 0–9 and hyphens, with no hyphen at either end; got 13 characters' }],
  ],
  401: ['Invalid token', null],
  403: ['Admin role required', null],
  404: ['Website 01m8209kq7nsjmd7c7ae53aqtg not found', null],
  408: ['Request timeout', null],
  413: ['Request body too large', null],
  415: ['Content-Encoding is not supported: send the body as it is', null],
  416: ['The file has only 5120 bytes', null],
  429: ['Too many requests from your address are under way', null],
  500: ['Internal server error', { requestId: 'n0WbA2c9.1f' }],
  502: ['GitHub refused: The name is taken', null],
  503: ['The event store cannot be reached', null],
  504: ['GitHub did not answer in time', null],
};

const retried: readonly number[] = [429, 503, 504];

/** The answers that operations refer to, by their names. */
export const errorResponses = (components: Components): Json => {
  const schema = components.answer(ErrorBody);
  return Object.fromEntries(
    Object.entries(shared).map(([status, [name, description, code]]) => {
      const [error, details] = exampleErrors[Number(status)] ?? ['', null];
      const headers = {
        'X-Request-Id': refer('headers', 'RequestId'),
        ...(retried.includes(Number(status)) && { 'Retry-After': refer('headers', 'RetryAfter') }),
      };
      return [name, { description, headers, content: { 'application/json': { schema, example: { error, code, details } } } }];
    }),
  );
};

const codesByStatus = (route: Route): ReadonlyMap<number, readonly string[]> => {
  const byStatus = new Map<number, string[]>();
  for (const code of [...errorCodesOf(route)].sort()) {
    const status = statusOfError(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([one], [other]) => one - other));
};

/** References to the errors that the route can answer with, and to no others. */
export const errorsOf = (route: Route): Json =>
  Object.fromEntries(
    [...codesByStatus(route).keys()].map((status) => {
      const [name] = shared[status as keyof typeof shared];
      return [String(status), refer('responses', name)];
    }),
  );

/** The codes that the route can answer with, by their status. */
export const errorCodesByStatus = (route: Route): Json =>
  Object.fromEntries([...codesByStatus(route)].map(([status, codes]) => [String(status), codes]));
