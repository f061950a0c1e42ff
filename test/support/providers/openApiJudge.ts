import { readFileSync } from 'node:fs';
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { FakeAnswer, FakeRequest } from './wire.js';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly path: string;
  readonly pattern: RegExp;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly body: AnySchemaObject | undefined;
  /** By status; null for a response without a body. */
  readonly answers: ReadonlyMap<string, AnySchemaObject | null>;
}

/** Checks requests and responses against an official OpenAPI description. */
export interface OpenApiJudge {
  /** @throws when the operation does not exist, or the query or the body does not match */
  request(request: FakeRequest): void;
  /** @throws when the description does not contain such a response */
  answer(request: FakeRequest, answer: FakeAnswer): void;
  /** The smallest object of a named schema: only required fields, with sample values. */
  example(schema: string): Record<string, unknown>;
}

/** JSON Schema has no `nullable`. */
const withNull = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withNull);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...rest } = Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, withNull(entry)]));
  return nullable === true ? { anyOf: [{ type: 'null' }, rest] } : rest;
};

/** `file` is an OpenAPI 3.0 document. */
export const openApiJudge = (file: URL): OpenApiJudge => {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Json;
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(withNull(document) as AnySchemaObject, 'doc:');
  const validators = new Map<string, ValidateFunction>();

  const follow = (value: unknown): Json => {
    if (typeof value !== 'object' || value === null) return {};
    if (!('$ref' in value)) return value as Json;
    const steps = String(value.$ref).split('/').slice(1);
    return follow(steps.reduce<unknown>((at, step) => (at as Json)[step], document));
  };
  const schemaOf = (content: unknown): AnySchemaObject | null => {
    const found = follow(follow(content)['application/json'])['schema'];
    return found === undefined ? null : found;
  };
  const operationsOf = ([path, methods]: [string, unknown]): [string, Operation][] =>
    Object.entries(methods as Json).map(([method, value]) => {
      const operation = value as Json;
      const parameters = ((operation['parameters'] ?? []) as unknown[]).map(follow) as unknown as Operation['parameters'];
      const answers = new Map(
        Object.entries(operation['responses'] as Json).map(([status, answer]) => [status, schemaOf(follow(answer)['content'])]),
      );
      const body = schemaOf(follow(operation['requestBody'])['content']) ?? undefined;
      const pattern = new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);
      return [method.toUpperCase(), { path, pattern, parameters, body, answers }];
    });
  const operations = Object.entries(document['paths'] as Json).flatMap(operationsOf);

  const operationFor = ({ method, path }: FakeRequest): Operation => {
    // RFC 9110: HEAD is answered as GET is, without the body. Descriptions leave it out.
    const described = method === 'HEAD' ? 'GET' : method;
    const found = operations.find(([name, { pattern }]) => name === described && pattern.test(path));
    if (found === undefined) throw new Error(`the description has no ${method} ${path}`);
    return found[1];
  };
  const check = (what: string, schema: AnySchemaObject, value: unknown): void => {
    const key = JSON.stringify(schema);
    let validate = validators.get(key);
    if (validate === undefined) {
      validate = ajv.compile(withNull(JSON.parse(key.replaceAll('"#/', '"doc:#/'))) as AnySchemaObject);
      validators.set(key, validate);
    }
    if (!validate(value)) throw new Error(`${what} is not as described: ${ajv.errorsText(validate.errors)}`);
  };

  const example = (schema: unknown, depth = 0): unknown => {
    const { type, properties = {}, required = [], enum: values, nullable, format, allOf, anyOf, oneOf } = follow(schema);
    if (nullable === true) return null;
    if (Array.isArray(values)) return values[0];
    for (const choices of [allOf, anyOf, oneOf]) if (Array.isArray(choices)) return example(choices[0], depth);
    if (type === 'array') return [];
    if (type === 'boolean') return false;
    if (type === 'integer' || type === 'number') return 1;
    if (type === 'string')
      return format === 'uri' ? 'https://example.com/' : format === 'date-time' ? '2026-01-01T00:00:00Z' : 'example';
    return Object.fromEntries((required as string[]).map((name) => [name, example((properties as Json)[name], depth + 1)]));
  };

  return {
    request: (request) => {
      const { body, parameters } = operationFor(request);
      const named = `${request.method} ${request.path}`;
      const known = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
      for (const name of request.query.keys()) if (!known.includes(name)) throw new Error(`${named} has no parameter ${name}`);
      if (request.body === undefined) return;
      if (body === undefined) throw new Error(`${named} takes no body`);
      check(`the body of ${named}`, body, request.body);
      const fields = Object.keys(follow(body)['properties'] ?? {});
      const unknown = Object.keys(request.body as Json).find((field) => !fields.includes(field));
      if (unknown !== undefined) throw new Error(`${named} has no field ${unknown}`);
    },
    answer: (request, { status, body }) => {
      const { answers, path } = operationFor(request);
      // Common to all operations: wrong credentials, rate limits, not found, unprocessable.
      const isCommon = [401, 403, 404, 422].includes(status) && !answers.has(String(status));
      const schema = isCommon ? { $ref: '#/components/schemas/basic-error' } : answers.get(String(status));
      if (schema === undefined) throw new Error(`${request.method} ${path} never answers ${status}`);
      if (schema !== null) check(`the answer ${status} to ${request.method} ${path}`, schema, body);
      else if (body !== undefined) throw new Error(`the answer ${status} to ${request.method} ${path} has no body`);
    },
    example: (schema) => example({ $ref: `#/components/schemas/${schema}` }) as Record<string, unknown>,
  };
};
