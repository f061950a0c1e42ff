import { Type } from 'typebox';
import { accessExtension, accessWords } from './openapi/access.js';
import { createComponents, plain, refer, wordOf, type Components, type Json } from './openapi/components.js';
import { errorCodesByStatus, errorResponses, errorsOf } from './openapi/errors.js';
import { exampleOf } from './openapi/example.js';
import { idsByPath } from './openapi/vocabulary.js';
import { dryRunType } from './reply.js';
import type { Route } from './route.js';
import { closed, pathParamsOf } from './validation.js';

/**
 * The OpenAPI 3.1 document, from the very schemas that validate. A schema with an `$id` becomes a
 * component of that name; so do the forms of `openapi/names.ts`, and bodies that are objects.
 *
 * @throws Error when two different schemas have the same name
 */
export const createOpenApi = (routes: readonly Route[], { baseUrl, version }: { baseUrl: string; version: string }): Json => {
  const components = createComponents();
  const visible = routes.filter(({ hidden }) => hidden !== true);
  const responses = errorResponses(components);

  const paths: Record<string, Record<string, Json>> = {};
  for (const route of visible) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Doorstep',
      version,
      summary: 'Create client websites, give clients access, and show them where their website stands.',
      description,
      contact: { name: 'Whoever runs this installation', url: baseUrl },
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
      headers: usedIn('headers', [paths, responses], headers),
      responses: usedIn('responses', paths, responses),
      schemas: components.schemas(),
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
- Lists are arrays, in pages: follow the \`Link\` header with \`rel="next"\`. A page goes on where the one before ended,
  whatever was added, changed or removed since, unless the operation says otherwise. Where there is \`sort\`, \`-field\` puts
  the last first; where there is \`count\`, \`count=true\` adds \`Total-Count\`; where there is \`ids\`, it reads up to 200 by
  id, and stands alone.
- Each operation says who may call it (\`x-access\`) and which codes its errors have (\`x-error-codes\`).

**Pace:** send about 10 requests a second for each token, in the long run; it is a guideline, and no limit unless the operator
sets one (\`RateLimit\` of every answer then says what is left of it). On 429, 502, 503 and 504 wait and try again, with
exponential backoff and jitter, and no sooner than \`Retry-After\` says. Reads may be repeated at any time.
Before you repeat a write that was answered with 500 or not at all, look whether it took effect, or send it with an \`Idempotency-Key\` in the first place.`;

const DryRun = Type.Object(
  {
    events: Type.Array(
      Type.Object(
        {
          stream: Type.String({
            description: 'The stream that it would be in.',
            examples: ['website-01m8209kq7nsjmd7c7ae53aqtg'],
          }),
          type: Type.String({ description: 'What would have happened.', examples: ['WebsiteRenamed'] }),
          data: Type.Object(
            {},
            {
              additionalProperties: true,
              description: 'Its fields; they differ by type.',
              examples: [{ name: 'Corner Bakery' }],
            },
          ),
        },
        { $id: 'PlannedEvent', description: 'An event that a write would have written.' },
      ),
      { description: 'In the order in which they would be written.' },
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

const UploadedFile = Type.String({
  format: 'binary',
  contentMediaType: 'application/octet-stream',
  description: 'The file, of up to 100 MB. Its type is found by its content, whatever is said of it.',
});

const operationOf = (route: Route, components: Components): Json => {
  const {
    method,
    operationId,
    summary,
    description: text = `${summary}.`,
    tag,
    access,
    ifMatch,
    body,
    raw,
    upload,
    example,
  } = route;
  const isWrite = method !== 'get';
  return {
    operationId,
    summary,
    description: `${text}\n\n${accessWords(route)}`,
    tags: [tag.name],
    'x-access': accessExtension(route),
    'x-error-codes': errorCodesByStatus(route),
    ...(access === 'public' && { security: [] }),
    parameters: [
      ...pathParameters(route, components),
      ...(route.query === undefined ? [] : parametersIn('query', plain(route.query), components, example?.query)),
      ...(isWrite ? [refer('parameters', 'DryRun')] : []),
      ...(raw === undefined ? [] : parametersIn('header', plain(raw), components)),
      ...(isWrite && access !== 'public' ? [refer('parameters', 'IdempotencyKey')] : []),
      ...(ifMatch === 'honoured' ? [refer('parameters', 'IfMatch')] : []),
      ...(!isWrite && access !== 'public' ? [refer('parameters', 'As')] : []),
      ...(hasETag(route) ? [refer('parameters', 'IfNoneMatch')] : []),
      ...(isStream(route) ? [refer('parameters', 'LastEventId')] : []),
    ],
    ...(body !== undefined &&
      upload !== undefined && {
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': {
              schema: components.request(
                Type.Object({ file: UploadedFile, ...body.properties }),
                `${capital(operationId)}Request`,
              ),
              example: { file: 'the bytes of the file', ...example?.body },
            },
          },
        },
      }),
    ...(body !== undefined &&
      upload === undefined && {
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: components.request(body, `${capital(operationId)}Request`),
              example: example?.body ?? exampleOf(closed(body), false),
            },
          },
        },
      }),
    ...(raw !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { type: 'object' }, example: example?.body ?? {} } },
      },
    }),
    responses: { ...successesOf(route, components), ...errorsOf(route) },
  };
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

type Properties = Readonly<Record<string, Json>>;

/** An id is described by what stands before it in the path. */
const pathParameters = (route: Route, components: Components): Json[] => {
  const parts = route.path.split('/');
  const schema = plain(pathParamsOf(route)) as { properties: Properties };
  const properties = Object.entries(schema.properties).map(([name, own]) => {
    const word = idsByPath[parts[parts.indexOf(`:${name}`) - 1] ?? ''];
    return [name, { ...(word && { description: word.description, examples: [word.example] }), ...own }] as const;
  });
  return parametersIn('path', { ...schema, properties: Object.fromEntries(properties) }, components);
};

const parametersIn = (
  place: 'path' | 'query' | 'header',
  schema: Json,
  components: Components,
  examples: Readonly<Record<string, unknown>> = {},
): Json[] => {
  const { properties = {}, required = [] } = schema as { properties?: Properties; required?: readonly string[] };
  return Object.entries(properties).map(([name, own]) => {
    const text = own.description ?? wordOf(name)?.description;
    const isRequired = required.includes(name);
    const example = examples[name] ?? (isRequired || own.examples !== undefined ? exampleOf(own, false, name) : undefined);
    const { examples: _, ...form } = own;
    return {
      name,
      in: place,
      required: isRequired,
      ...(text !== undefined && { description: text }),
      schema: components.parameter(form),
      ...(example !== undefined && { example }),
    };
  });
};

/** What is shared and nothing refers to is left out. */
const usedIn = (kind: 'responses' | 'headers', users: object, shared: Json): Json => {
  const text = JSON.stringify(users);
  return Object.fromEntries(Object.entries(shared).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)));
};

/** Every answer to a read has one, but a stream of events, and what is sent in parts. */
const hasETag = (route: Route): boolean => route.method === 'get' && !isStream(route) && route.answers[200]?.inParts !== true;

const isStream = ({ answers }: Route): boolean => answers[200]?.contentType === 'text/event-stream';

const isCounted = ({ paging }: Route): boolean => typeof paging === 'object' && paging.count === true;

const successesOf = (route: Route, components: Components): Json => {
  const { method, operationId, paging, answers, access } = route;
  const isWrite = method !== 'get';
  const dryRun = isWrite ? { schema: components.answer(DryRun), example: exampleOf(plain(DryRun), true) } : undefined;
  const responses: Record<string, Json> = {};
  for (const [status, answer] of Object.entries(answers)) {
    const { description: text, schema, contentType, alternatives = {}, headers: ownHeaders = {} } = answer;
    const own = schema === undefined ? undefined : components.answer(schema, `${capital(operationId)}Response`);
    const example = schema === undefined ? undefined : exampleOf(plain(schema), true);
    const content = {
      ...((own !== undefined || contentType !== undefined) && {
        [contentType ?? 'application/json']: { schema: own ?? { type: 'string' }, ...(example !== undefined && { example }) },
      }),
      ...Object.fromEntries(
        Object.entries(alternatives).map(([type, sample]) => [type, { schema: { type: 'string' }, example: sample }]),
      ),
      ...(status === '200' && dryRun !== undefined && { [dryRunType]: dryRun }),
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
        ...Object.fromEntries(
          Object.entries(ownHeaders).map(([name, words]) => [name, { description: words, schema: { type: 'string' } }]),
        ),
      },
      ...(Object.keys(content).length > 0 && { content }),
    };
  }
  if (dryRun !== undefined && responses['200'] === undefined) {
    responses['200'] = {
      description: 'A dry run: what would have been written.',
      headers: { 'X-Request-Id': refer('headers', 'RequestId') },
      content: { [dryRunType]: dryRun },
    };
  }
  if (hasETag(route)) {
    responses['304'] = { description: 'The caller has it already.', headers: { ETag: refer('headers', 'ETag') } };
  }
  return responses;
};
