/**
 * What the SDK offers, read from the OpenAPI document and `sdk/methods.json`: groups of methods, each
 * with its types, its words and an example. The sources and the pages are written from it.
 */
import { readFileSync } from 'node:fs';

/**
 * @typedef {Readonly<Record<string, unknown>> & {
 *   $ref?: string, type?: string, items?: Schema, anyOf?: Schema[], properties?: Record<string, Schema>, required?: string[],
 *   description?: string, contentSchema?: Schema, const?: unknown, enum?: unknown[], example?: unknown,
 * }} Schema
 */

/** @typedef {{ $ref?: string, name: string, in: string, required?: boolean, description?: string, schema: Schema, example?: unknown }} Parameter */

/**
 * @typedef {object} Operation
 * @property {string} operationId
 * @property {string} summary
 * @property {string} description
 * @property {Readonly<Record<string, readonly string[]>>} x-error-codes
 * @property {readonly Parameter[]} parameters
 * @property {{ content: Record<string, { schema: Schema, example?: Record<string, unknown> }> }} [requestBody]
 * @property {Record<string, { headers?: object, content?: Record<string, { schema: Schema }> }>} responses
 */

/**
 * @typedef {object} Document
 * @property {Record<string, Record<string, Operation>>} paths
 * @property {{ schemas: Record<string, Schema> }} components
 */

/**
 * A line of `methods.json`: the name of the method, or what else is to be known of it. The fields of
 * `positional` are parameters of their own; `export` names a method that gives the other types of the
 * answer as they are sent.
 * @typedef {string | { method: string, positional?: string[], export?: string } | { none: string }} Entry
 */

/**
 * How the runtime makes the request, and what the method gives.
 * @typedef {'call' | 'list' | 'paged' | 'stream' | 'upload' | 'export'} Kind
 */

/** @typedef {{ name: string, type: string, isOptional: boolean, description: string, example?: unknown }} Argument */

/**
 * @typedef {object} Method
 * @property {string} operationId
 * @property {string} name - dotted, as callers write it behind `doorstep.`
 * @property {Kind} kind
 * @property {string} http - the HTTP method
 * @property {string} path
 * @property {Operation} operation
 * @property {readonly Argument[]} path_ - arguments that are parts of the path
 * @property {readonly Argument[]} positional - fields that are arguments
 * @property {'body' | 'query' | null} positionalIn - where they are sent
 * @property {Argument | null} body
 * @property {Argument | null} query
 * @property {string} result - the type of what it gives: of an item, where it is a list or a stream
 * @property {'json' | 'blob' | 'text'} parse
 * @property {boolean} isWhole - a stream gives each event whole, not its data alone
 * @property {readonly string[]} errors - beside those that most operations have, `<status> <code>`
 */

/** @typedef {{ name: string, className: string, methods: Method[], groups: Group[] }} Group */

const dryRunType = 'application/vnd.doorstep.dry-run+json';

/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Every operation of the document. @param {Document} document */
export const operationsOf = (document) =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([http, operation]) => ({ path, http: http.toUpperCase(), operation })),
  );

/**
 * The methods of the SDK.
 * @param {Document} document
 * @param {Readonly<Record<string, Entry>>} entries - of `methods.json`, by operation
 * @throws Error when an operation has no entry, or an entry no operation
 */
export const sdkMethods = (document, entries) => {
  const operations = operationsOf(document);
  const known = new Set(operations.map(({ operation }) => operation.operationId));
  const without = [...known].filter((id) => entries[id] === undefined);
  const unknown = Object.keys(entries).filter((id) => !known.has(id));
  if (without.length > 0) throw new Error(`sdk/methods.json lacks ${without.join(', ')}: name a method, or why there is none`);
  if (unknown.length > 0) throw new Error(`sdk/methods.json has ${unknown.join(', ')}, which no operation is called`);
  const common = commonErrors(operations);
  return operations.flatMap((place) => {
    const entry = entries[place.operation.operationId];
    if (entry === undefined || (typeof entry === 'object' && 'none' in entry)) return [];
    const { method, positional = [], export: exported } = typeof entry === 'string' ? { method: entry } : entry;
    const made = methodOf(place, method, positional, common, document);
    return exported === undefined ? [made] : [made, exportOf(made, exported)];
  });
};

/**
 * What the SDK is made from.
 * @param {string} documentFile
 * @param {string} methodsFile
 */
export const readSdkSources = (documentFile, methodsFile) => ({
  document: /** @type {Document} */ (JSON.parse(readFileSync(documentFile, 'utf8'))),
  entries: /** @type {Record<string, Entry>} */ (JSON.parse(readFileSync(methodsFile, 'utf8'))),
});

/** The methods in their groups; the root's are those of the client itself. @param {readonly Method[]} methods */
export const groupsOf = (methods) => {
  /** @type {Group} */
  const top = { name: '', className: 'Resources', methods: [], groups: [] };
  for (const method of methods) {
    let group = top;
    for (const part of method.name.split('.').slice(0, -1)) {
      let next = group.groups.find(({ name }) => name.split('.').at(-1) === part);
      if (next === undefined) {
        const name = group.name === '' ? part : `${group.name}.${part}`;
        next = { name, className: name.split('.').map(capital).join(''), methods: [], groups: [] };
        group.groups.push(next);
      }
      group = next;
    }
    group.methods.push(method);
  }
  return top;
};

/** @typedef {{ path: string, http: string, operation: Operation }} Place */

/** @typedef {{ all: ReadonlySet<string>, writes: ReadonlySet<string> }} CommonErrors */

/** Those that three of four operations have, or three of four writes. @param {readonly Place[]} operations */
export const commonErrors = (operations) => {
  const frequent = (/** @type {readonly Place[]} */ places) => {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const { operation } of places) for (const error of errorsOf(operation)) counts.set(error, (counts.get(error) ?? 0) + 1);
    return new Set([...counts].filter(([, count]) => count >= places.length * 0.75).map(([error]) => error));
  };
  return { all: frequent(operations), writes: frequent(operations.filter(({ http }) => http !== 'GET')) };
};

/** @param {Operation} operation */
const errorsOf = (operation) =>
  Object.entries(operation['x-error-codes']).flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`));

/**
 * @param {Place} place
 * @param {string} name
 * @param {readonly string[]} fields - that are arguments
 * @param {CommonErrors} common
 * @param {Document} document
 * @returns {Method}
 */
const methodOf = ({ path, http, operation }, name, fields, common, document) => {
  const { operationId, parameters, requestBody } = operation;
  const own = parameters.filter(({ $ref }) => $ref === undefined);
  const queries = own.filter((parameter) => parameter.in === 'query');
  const [bodyType, bodyContent] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const isUpload = bodyType === 'multipart/form-data';
  const body = bodyContent && bodyArgument(operationId, bodyContent, isUpload);
  const query = queries.length > 0 ? queryArgument(operationId, queries) : undefined;
  const positionalIn = fields.length === 0 ? null : body ? 'body' : 'query';
  const holder = positionalIn === 'body' ? body : query;
  const samples = /** @type {Record<string, unknown> | undefined} */ (holder?.example);
  const { result, kind, parse, isWhole } = resultOf(operation, isUpload, document);
  const sent = positionalIn === 'body' ? fieldsOf(bodyContent?.schema, document) : queries.map((parameter) => parameter.name);
  if (positionalIn !== null && sent.join() !== fields.join())
    throw new Error(`sdk/methods.json: ${operationId} takes ${sent.join(', ')}; all of them are arguments, or none`);
  const hidden = new Set([...common.all, ...(http === 'GET' ? [] : common.writes)]);
  return {
    operationId,
    name,
    http,
    path,
    operation,
    path_: own
      .filter((parameter) => parameter.in === 'path')
      .map((parameter) => ({
        name: parameter.name,
        type: 'string',
        isOptional: false,
        description: parameter.description ?? '',
        example: parameter.example,
      })),
    positional: fields.map((field) => ({
      name: field,
      type: `${holder?.type}['${field}']`,
      isOptional: false,
      description:
        queries.find((parameter) => parameter.name === field)?.description ??
        schemaOf(bodyContent?.schema, document).properties?.[field]?.description ??
        '',
      example: samples?.[field],
    })),
    positionalIn,
    body: positionalIn === 'body' ? null : (body ?? null),
    query: positionalIn === 'query' ? null : (query ?? null),
    result,
    parse,
    kind,
    isWhole,
    errors: errorsOf(operation).filter((error) => !hidden.has(error)),
  };
};

/** What a reference leads to. @param {Schema | undefined} schema @param {Document} document @returns {Schema} */
export const schemaOf = (schema = {}, document) =>
  schema.$ref === undefined ? schema : (document.components.schemas[nameOf(schema)] ?? {});

/** @param {Schema | undefined} schema @param {Document} document */
const fieldsOf = (schema, document) => Object.keys(schemaOf(schema, document).properties ?? {});

/** @param {string} operationId @param {{ schema: Schema, example?: Record<string, unknown> }} content @param {boolean} isUpload @returns {Argument} */
const bodyArgument = (operationId, { schema, example = {} }, isUpload) => {
  const type = typeOf(schema, `operations['${operationId}']['requestBody']`);
  const file = `./${typeof example.name === 'string' ? example.name : 'photo.jpg'}`;
  return {
    name: 'body',
    type: isUpload ? `UploadBody<${type}>` : type,
    isOptional: false,
    description: '',
    example: isUpload ? { ...example, file } : example,
  };
};

/** @param {string} operationId @param {readonly Parameter[]} parameters @returns {Argument} */
const queryArgument = (operationId, parameters) => ({
  name: 'query',
  type: `models.${capital(operationId)}Query`,
  isOptional: parameters.every(({ required }) => required !== true),
  description: '',
  example: Object.fromEntries(
    parameters.filter(({ example }) => example !== undefined).map(({ name, example }) => [name, example]),
  ),
});

/** What the operation gives, and by which function of the runtime. @param {Operation} operation @param {boolean} isUpload @param {Document} document */
const resultOf = ({ operationId, responses }, isUpload, document) => {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const isPaged = successes.some(([, { headers = {} }]) => 'Link' in headers);
  /** @type {Map<string, { type: string, schema: Schema }>} */
  const results = new Map();
  for (const [, { content = {} }] of successes) {
    // The first type is what comes without `Accept`.
    const [type, answer] = Object.entries(content).filter(([name]) => name !== dryRunType)[0] ?? [];
    if (type === undefined || answer === undefined) continue;
    results.set(typeOf(answer.schema, `models.${capital(operationId)}Response`), { type, schema: answer.schema });
  }
  const result = [...results.keys()].join(' | ') || 'void';
  const { type = 'application/json', schema = {} } = [...results.values()][0] ?? {};
  /** @returns {{ result: string, kind: Kind, parse: 'json' | 'blob' | 'text', isWhole: boolean }} */
  const made = (
    /** @type {Kind} */ kind,
    given = result,
    /** @type {'json' | 'blob' | 'text'} */ parse = 'json',
    isWhole = false,
  ) => ({
    result: given,
    kind,
    parse,
    isWhole,
  });
  if (type === 'text/event-stream') return made('stream', ...eventOf(result, schema, document));
  if (type.startsWith('text/')) return made('call', 'string', 'text');
  if (type !== 'application/json') return made('call', 'Blob', 'blob');
  if (schema.type === 'array') return made('list', typeOf(schema.items ?? {}, `${result}[number]`));
  if (isPaged) return made('paged');
  return made(isUpload ? 'upload' : 'call');
};

/**
 * Of one kind of event, its data says all; where there are several, which it is matters too.
 * @param {string} result
 * @param {Schema} schema
 * @param {Document} document
 * @returns {[string, 'json', boolean]}
 */
const eventOf = (result, schema, document) => {
  const { event, data } = schemaOf(schema, document).properties ?? {};
  return event?.const === undefined ? [result, 'json', true] : [typeOf(data?.contentSchema ?? {}, 'unknown'), 'json', false];
};

/**
 * The same operation, giving what it answers as a stream of bytes.
 * @param {Method} method
 * @param {string} name
 * @returns {Method}
 */
const exportOf = (method, name) => ({ ...method, name, kind: 'export', result: 'ReadableStream<Uint8Array>' });

/**
 * A type by the names of `models.ts`.
 * @param {Schema} schema
 * @param {string} otherwise - where it has no name
 * @returns {string}
 */
const typeOf = (schema, otherwise) => {
  if (schema.$ref !== undefined) return `models.${modelName(nameOf(schema))}`;
  if (schema.type === 'array' && schema.items?.$ref !== undefined) return `${typeOf(schema.items, otherwise)}[]`;
  if (schema.anyOf?.every(({ $ref }) => $ref !== undefined)) return schema.anyOf.map((one) => typeOf(one, otherwise)).join(' | ');
  return otherwise;
};

/** The name of the component that a reference leads to. @param {Schema} schema */
export const nameOf = ({ $ref = '' }) => $ref.slice($ref.lastIndexOf('/') + 1);

/** `Error` is a class of every program. @param {string} name */
export const modelName = (name) => (name === 'Error' ? 'ErrorBody' : name);
