import { Type, type TSchema } from 'typebox';
import { dryRunType } from './reply.js';
import { refusalCodesOf, statusOf } from './refusals.js';
import type { Route } from './route.js';
import { closed, pathParamsOf } from './validation.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * The OpenAPI 3.1 document, from the very schemas that validate. A schema with an `$id` becomes a
 * component of that name.
 *
 * @throws Error when two different schemas have the same name
 */
export const createOpenApi = (routes: readonly Route[], { baseUrl, version }: { baseUrl: string; version: string }): Json => {
  const schemas = new Map<string, Json>();
  const visible = routes.filter(({ hidden }) => hidden !== true);
  const errorSchema = named(ErrorBody, schemas);

  const paths: Record<string, Record<string, Json>> = {};
  for (const route of visible) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route, schemas, errorSchema) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Doorstep',
      version,
      summary: 'Create client websites, give clients access, and show them where their website stands.',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: `${baseUrl}/v1`, description: 'Programs, with a personal access token.' },
      { url: baseUrl, description: 'The portal, with an access token of the identity provider.' },
    ],
    security: [{ accessToken: [] }, { identityToken: [] }],
    tags: [...new Map(visible.map(({ tag }) => [tag.name, tag])).values()],
    paths,
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc_pat_…',
          description: 'A personal access token, for paths under `/v1`.',
        },
        identityToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token of the identity provider, for paths without `/v1`.',
        },
      },
      parameters,
      headers,
      schemas: Object.fromEntries([...schemas].sort(([one], [other]) => (one < other ? -1 : 1))),
    },
  };
};

const description = `Every route is there twice: under \`/v1\` for programs, with a personal access token, and without it for the
portal, with an access token of the identity provider.

- Errors are \`{error, code, details}\`: branch on the status, and on the code where needed. Conflicts are 400.
- Unknown fields of a body and parameters of a query are refused by name.
- Every answer carries \`X-Request-Id\`; send your own to find it again in the log. It stays there: one that holds an address
  or a token is replaced.
- A write with an \`Idempotency-Key\` can be repeated safely for 24 hours: the repetition gets the first answer, whatever its
  \`If-Match\`. Only webhooks take no key: they are processed once by the id of their sender.
- \`?dryRun=1\` on a write checks everything, writes nothing, and answers with what would have been written, as
  \`application/vnd.doorstep.dry-run+json\`.
- Resources carry an \`ETag\`; \`If-None-Match\` saves a transfer, \`If-Match\` prevents overwriting what somebody else
  saved. A write that has no use for it refuses it, and says so by not listing the header.
- Lists are arrays, in pages: follow the \`Link\` header with \`rel="next"\`. A page goes on where
  the one before ended, whatever was added, changed or removed since. Where there is \`sort\`, \`-field\` puts the last first.`;

const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'What is wrong, in words for people.' }),
    code: Type.String({ description: 'What is wrong, for programs: it stays the same in every later version.' }),
    details: Type.Union([Type.Array(Type.Unknown()), Type.Object({}), Type.Null()], {
      description: 'Structured context: for a 400 of the validator the list of every violation, `{field, issue}`.',
    }),
  },
  { $id: 'Error' },
);

const DryRun = Type.Object(
  {
    events: Type.Array(
      Type.Object({ stream: Type.String(), type: Type.String(), data: Type.Object({}) }, { description: 'An event.' }),
    ),
  },
  { $id: 'DryRun', description: 'What a write with `dryRun` would have written.' },
);

const headers: Json = {
  ETag: { description: 'Strong validator of the answer.', schema: { type: 'string' } },
  Link: { description: 'The next page, with `rel="next"`; absent on the last one (RFC 8288).', schema: { type: 'string' } },
  TotalCount: { description: 'How many there are on all pages; with `count=true`.', schema: { type: 'integer' } },
  Location: {
    description: 'The path of what was made, in the entry mode of the request: with `/v1` for programs.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  RequestId: { description: 'Names the request in the log.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds until a repetition makes sense.', schema: { type: 'integer' } },
  IdempotentReplayed: {
    description: 'Present when this is the answer to an earlier request.',
    schema: { type: 'string', enum: ['true'] },
  },
};

const header = (name: string, inName: string, schema: Json, text: string): Json => ({
  name: inName,
  in: name,
  required: false,
  description: text,
  schema,
});

const parameters: Json = {
  DryRun: header(
    'query',
    'dryRun',
    { type: 'string', enum: ['0', '1', 'true', 'false'] },
    'Write nothing; answer with what would be written.',
  ),
  IdempotencyKey: header(
    'header',
    'Idempotency-Key',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$' },
    'Makes the request safe to repeat for 24 hours.',
  ),
  IfMatch: header('header', 'If-Match', { type: 'string' }, '`ETag` of the state that the change is meant for.'),
  LastEventId: header(
    'header',
    'Last-Event-ID',
    { type: 'string' },
    '`id` of the last event that the reader has: what is new is sent.',
  ),
  As: header(
    'query',
    'as',
    { type: 'string', format: 'email', maxLength: 254 },
    'Admins only: answer as the person of this address would be answered, refusals included. It is noted in the audit.',
  ),
  IfNoneMatch: header('header', 'If-None-Match', { type: 'string' }, '`ETag` of what the caller has already.'),
};

const refer = (kind: 'parameters' | 'headers' | 'schemas', name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

const operationOf = (route: Route, schemas: Map<string, Json>, errorSchema: Json): Json => {
  const { method, operationId, summary, tag, access, ifMatch, body, raw } = route;
  const isWrite = method !== 'get';
  return {
    operationId,
    summary,
    tags: [tag.name],
    ...(access === 'public' && { security: [] }),
    parameters: [
      ...parametersIn('path', pathParamsOf(route)),
      ...(route.query === undefined ? [] : parametersIn('query', route.query)),
      ...(isWrite ? [refer('parameters', 'DryRun')] : []),
      ...(raw === undefined ? [] : parametersIn('header', raw)),
      ...(isWrite && access !== 'public' ? [refer('parameters', 'IdempotencyKey')] : []),
      ...(ifMatch === 'honoured' ? [refer('parameters', 'IfMatch')] : []),
      ...(!isWrite && access !== 'public' ? [refer('parameters', 'As')] : []),
      ...(hasETag(route) ? [refer('parameters', 'IfNoneMatch')] : []),
      ...(isStream(route) ? [refer('parameters', 'LastEventId')] : []),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: withoutIssueTexts(closed(body)) } } },
    }),
    ...(raw !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    }),
    responses: { ...successesOf(route, schemas), ...errorsOf(route, errorSchema) },
  };
};

const parametersIn = (place: 'path' | 'query' | 'header', schema: TSchema): Json[] => {
  const { properties = {}, required = [] } = plain(schema) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, { description: text, ...own }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(text !== undefined && { description: text }),
    schema: withoutIssueTexts(own),
  }));
};

/** Every answer to a read has one, but a stream of events. */
const hasETag = (route: Route): boolean => route.method === 'get' && !isStream(route);

const isStream = ({ answers }: Route): boolean => answers[200]?.contentType === 'text/event-stream';

const isCounted = ({ paging }: Route): boolean => typeof paging === 'object' && paging.count === true;

const successesOf = (route: Route, schemas: Map<string, Json>): Json => {
  const { method, paging, answers, access } = route;
  const isWrite = method !== 'get';
  const dryRun = isWrite ? named(DryRun, schemas) : undefined;
  const responses: Record<string, Json> = {};
  for (const [status, { description: text, schema, contentType }] of Object.entries(answers)) {
    const own = schema === undefined ? undefined : named(schema, schemas);
    const content = {
      ...((own !== undefined || contentType !== undefined) && {
        [contentType ?? 'application/json']: { schema: own ?? { type: 'string' } },
      }),
      ...(status === '200' && dryRun !== undefined && { [dryRunType]: { schema: dryRun } }),
    };
    responses[status] = {
      description: text,
      headers: {
        'X-Request-Id': refer('headers', 'RequestId'),
        ...(status === '201' && { Location: refer('headers', 'Location') }),
        ...(status === '200' && hasETag(route) && { ETag: refer('headers', 'ETag') }),
        ...(paging !== undefined && status === '200' && { Link: refer('headers', 'Link') }),
        ...(isCounted(route) && status === '200' && { 'Total-Count': refer('headers', 'TotalCount') }),
        ...(isWrite && access !== 'public' && { 'Idempotent-Replayed': refer('headers', 'IdempotentReplayed') }),
      },
      ...(Object.keys(content).length > 0 && { content }),
    };
  }
  if (dryRun !== undefined && responses['200'] === undefined) {
    responses['200'] = {
      description: 'A dry run: what would have been written.',
      headers: { 'X-Request-Id': refer('headers', 'RequestId') },
      content: { [dryRunType]: { schema: dryRun } },
    };
  }
  if (hasETag(route)) {
    responses['304'] = { description: 'The caller has it already.', headers: { ETag: refer('headers', 'ETag') } };
  }
  return responses;
};

const errorWords: Readonly<Record<number, string>> = {
  400: 'The request is not as it should be, or conflicts with what is there.',
  401: 'No credential, or not one that is valid.',
  403: 'Not allowed.',
  404: 'Not found.',
  408: 'The body did not arrive in time.',
  413: 'The body is longer than 1 MiB.',
  429: 'Too many requests from one address are under way.',
  500: 'Something is wrong in the service; `details` holds the request id.',
  502: 'A provider refused.',
  503: 'Not right now; repeat later.',
  504: 'A provider did not answer in time.',
};

/**
 * Every error that the route can answer with. Refusals are listed by their codes; faults may strike
 * anywhere.
 */
const errorsOf = (route: Route, errorSchema: Json): Json => {
  const { access, body, raw, vital } = route;
  const codes = [...refusalCodesOf(route)];
  const faults = [
    ...(body === undefined && raw === undefined ? [] : [408, 413]),
    ...(vital === true ? [] : [429]),
    500,
    ...(access === 'public' ? [] : [502]),
    503,
    ...(access === 'public' ? [] : [504]),
  ];
  const responses: Record<string, Json> = {};
  for (const status of [...new Set([...codes.map(statusOf), ...faults])].sort((one, other) => one - other)) {
    const own = codes.filter((code) => statusOf(code) === status).sort();
    const schema =
      own.length === 0 ? errorSchema : { allOf: [errorSchema, { type: 'object', properties: { code: { enum: own } } }] };
    responses[status] = {
      description: errorWords[status],
      headers: {
        'X-Request-Id': refer('headers', 'RequestId'),
        ...([429, 503, 504].includes(status) && { 'Retry-After': refer('headers', 'RetryAfter') }),
      },
      content: { 'application/json': { schema } },
    };
  }
  return responses;
};

/**
 * The schema with everything in it that has a name replaced by a reference; what is named is added
 * to `schemas`.
 */
const named = (schema: TSchema, schemas: Map<string, Json>): Json => extract(plain(schema), schemas) as Json;

const extract = (value: unknown, schemas: Map<string, Json>): unknown => {
  if (Array.isArray(value)) return value.map((item) => extract(item, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const { $id: name, ...rest } = value as Json;
  const inside = Object.fromEntries(Object.entries(rest).map(([key, own]) => [key, extract(own, schemas)]));
  if (typeof name !== 'string') return withoutIssueTexts(inside);
  const known = schemas.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(inside)) {
    throw new Error(`two different schemas are named ${name}`);
  }
  schemas.set(name, inside);
  return refer('schemas', name);
};

/** TypeBox keeps what it needs for itself in properties that are not enumerable: they go. */
const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema)) as Json;

/** `x-issue` is a text for violations and no part of the documentation. */
const withoutIssueTexts = (schema: Json): Json => {
  const { 'x-issue': _, ...rest } = schema;
  return Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null && !Array.isArray(value) ? withoutIssueTexts(value as Json) : value,
    ]),
  );
};
