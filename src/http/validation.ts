import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { Type, type TObject, type TSchema } from 'typebox';
import type { Violation } from '../commands/refusal.js';
import { addFormatsTo } from '../platform/formats.js';
import { insideUnion, issueOf, unionIssue, wordsKeyword } from './issues.js';
import type { Route } from './route.js';

/** Checks a value against a compiled schema; `[]` when nothing is wrong. */
export type Validate<Value = unknown> = (value: Value) => readonly Violation[];

type Schema = Readonly<Record<string, unknown>>;

/**
 * What a request may hold, made strict: objects take no unknown field, arrays and integers have an
 * end. Validation and the OpenAPI document both use it, so that what is said is what is checked.
 */
export const closed = (schema: TSchema): Schema => close(JSON.parse(JSON.stringify(schema)) as Schema);

const maxItemsByDefault = 1_000;

const close = (schema: Schema): Schema => {
  const inside = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === 'properties') {
      return [keyword, Object.fromEntries(Object.entries(value as Schema).map(([name, own]) => [name, close(own as Schema)]))];
    }
    if (keyword === 'anyOf' || keyword === 'oneOf') return [keyword, (value as Schema[]).map(close)];
    return [keyword, keyword === 'items' || keyword === 'additionalProperties' ? closeIfSchema(value) : value];
  });
  return { ...endOf(schema.type), ...(Object.fromEntries(inside) as Schema) };
};

const closeIfSchema = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? close(value as Schema) : value;

const endOf = (type: unknown): Schema => {
  switch (type) {
    case 'object':
      return { additionalProperties: false };
    case 'array':
      return { maxItems: maxItemsByDefault };
    case 'integer':
      // Beyond these, JSON.parse has already rounded what was sent.
      return { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
    default:
      return {};
  }
};

const onFirstUse = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
};

/**
 * Validators are compiled by few instances: each costs more than what it compiles. And when they
 * are first needed: those of all routes together take longer than the rest of a start.
 */
const compilerWith = (options: Options): ((schema: () => Schema) => () => ValidateFunction) => {
  const ajv = onFirstUse(() => {
    const compiler = addFormatsTo(new Ajv2020({ strict: true, allowUnionTypes: true, ...options }));
    compiler.addKeyword(wordsKeyword);
    return compiler;
  });
  return (schema) => onFirstUse(() => ajv().compile(withoutNames(schema())));
};

/** A named schema may be used by many requests: its name would be taken twice. */
const withoutNames = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$id' && typeof value === 'string' ? undefined : value,
  ) as Schema;

const compileFirst = compilerWith({ verbose: true });
const compileAll = compilerWith({ allErrors: true, verbose: true });
/**
 * Digits beyond all numbers become `Infinity`, which only without `strictNumbers` is held to a
 * maximum.
 */
const compileTexts = compilerWith({ allErrors: true, verbose: true, useDefaults: true, strictNumbers: false });

/**
 * Of a value with more parts, only the first violation is listed: all of them could be thousands of
 * times as long as the request.
 */
const maxPartsListed = 5_000;
const maxDepth = 64;

/**
 * A validator of request bodies. Anything but an object is refused as `body`; so is what is nested
 * absurdly deep.
 */
export const bodyValidator = (schema: TSchema): Validate => {
  const strict = onFirstUse(() => closed(schema));
  const first = compileFirst(strict);
  const all = compileAll(strict);
  return (value) => {
    const validate = first();
    if (validate(value)) return isTooDeep(value, 0) ? [{ field: 'body', issue: 'must not be nested that deep' }] : [];
    if (partsOf(value, maxPartsListed) >= maxPartsListed) return violations(validate, 'body');
    const list = all();
    list(value);
    return violations(list, 'body');
  };
};

/**
 * A validator of what a schema from outside describes, taken as it is written: what it does not say
 * is allowed. Fields are named from `whole` on.
 * @param part the part of it that is meant, as a JSON pointer
 * @throws what is wrong with the schema
 */
export const partValidator = (schema: Schema, part: string, whole: string): Validate => {
  const compile = (allErrors: boolean): ValidateFunction => {
    const ajv = addFormatsTo(new Ajv2020({ strict: false, allErrors, verbose: true, logger: false }));
    const validate = ajv.addSchema(schema, 'whole').getSchema(`whole#${part}`);
    if (validate === undefined) throw new Error(`the schema has no part ${part}`);
    return validate as ValidateFunction;
  };
  const first = compile(false);
  const all = onFirstUse(() => compile(true));
  return (value) => {
    if (first(value)) return [];
    const listing = partsOf(value, maxPartsListed) >= maxPartsListed ? first : all();
    listing(value);
    return violations(listing, '')
      .slice(0, maxViolations)
      .map(({ field, issue }) => ({ field: field === '' ? whole : `${whole}.${field}`, issue }));
  };
};

/** Of a long document, more would help nobody. */
export const maxViolations = 100;

/**
 * A validator of path parameters or of a query: where the schema asks for them, decimal digits
 * become integers, `true` and `false` booleans. Any other text stays one, and is refused as one.
 * Defaults are filled in, what is not known is refused by name.
 */
export const textsValidator = (schema: TObject): Validate<Record<string, unknown>> => {
  const compiled = compileTexts(() => closed(schema));
  const types = Object.entries(schema.properties).map(([name, { type }]: [string, { type?: unknown }]) => [name, type] as const);
  return (value) => {
    for (const [name, type] of types) {
      const text = value[name];
      if (typeof text === 'string') value[name] = meant(text, type);
    }
    const validate = compiled();
    return validate(value) ? [] : violations(validate, 'value');
  };
};

const meant = (text: string, type: unknown): unknown => {
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text);
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
};

/** The names of a path's parameters, in order. */
const paramsIn = (path: string): readonly string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

/**
 * The path parameters of a route. Any text may be an id: one that names nothing is answered with
 * 404, by the route that does not find it.
 */
export const pathParamsOf = ({ params = {}, path }: Pick<Route, 'params' | 'path'>): TObject =>
  Type.Object(Object.fromEntries(paramsIn(path).map((name) => [name, params[name] ?? plainText])));

const plainText = Type.String({ minLength: 1, maxLength: 200 });

/** Whether something is nested deeper than a body may be. @param depth how deep it stands itself */
export const isTooDeep = (value: unknown, depth: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === maxDepth) return true;
  for (const part of Object.values(value)) if (isTooDeep(part, depth + 1)) return true;
  return false;
};

/** Counts the values inside `value`, up to `max`; deep nesting does not deepen the call stack. */
const partsOf = (value: unknown, max: number): number => {
  const open: unknown[] = [value];
  let count = 0;
  while (open.length > 0 && count < max) {
    const next = open.pop();
    count += 1;
    if (typeof next === 'object' && next !== null) for (const part of Object.values(next)) open.push(part);
  }
  return count;
};

const violations = ({ errors }: ValidateFunction, whole: string): Violation[] => {
  const all = errors ?? [];
  // A union reports every branch and then itself: one sentence is enough, or what is wrong inside.
  const unions = all.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const isBranchOf = (union: ErrorObject, error: ErrorObject): boolean =>
    union !== error &&
    error.schemaPath.startsWith(`${union.schemaPath}/`) &&
    `${error.instancePath}/`.startsWith(`${union.instancePath}/`);
  const branchesOf = (union: ErrorObject): readonly ErrorObject[] => all.filter((error) => isBranchOf(union, error));
  const inside = new Map(unions.map((union) => [union, new Set(insideUnion(union, branchesOf(union)))]));
  const isSaidByUnion = (error: ErrorObject): boolean =>
    unions.some((union) => isBranchOf(union, error) && inside.get(union)?.has(error) !== true);
  const isSaidInside = (error: ErrorObject): boolean => (inside.get(error)?.size ?? 0) > 0;
  // A text that must not be empty has no form either when it is: that would say the same again.
  const isSaidByLength = ({ keyword, instancePath, data }: ErrorObject): boolean =>
    keyword === 'pattern' &&
    data === '' &&
    all.some((other) => other.keyword === 'minLength' && other.instancePath === instancePath && other.data === '');
  return (
    all
      .filter((error) => !isSaidByUnion(error) && !isSaidInside(error) && !isSaidByLength(error))
      // A wrong name is reported by what is wrong with it, and then as one.
      .filter(({ keyword }) => keyword !== 'propertyNames')
      .map((error) => ({
        field: fieldOf(error) || whole,
        issue: unions.includes(error) ? unionIssue(error, branchesOf(error)) : issueOf(error),
      }))
  );
};

/** The name of an unknown field may be as long as the request: only its beginning is repeated. */
const maxFieldLength = 200;

const fieldOf = ({ instancePath, keyword, params, propertyName }: ErrorObject): string => {
  const path = instancePath === '' ? [] : instancePath.slice(1).split('/').map(unescape);
  if (keyword === 'required') path.push(String(params.missingProperty));
  if (keyword === 'additionalProperties') path.push(String(params.additionalProperty));
  if (propertyName !== undefined) path.push(propertyName);
  return path.join('.').slice(0, maxFieldLength);
};

const unescape = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');
