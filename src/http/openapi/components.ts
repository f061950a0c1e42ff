import type { TSchema } from 'typebox';
import { closed } from '../validation.js';
import { namedForms } from './names.js';
import { words, type Word } from './vocabulary.js';

export type Json = Readonly<Record<string, unknown>>;

export const refer = (kind: 'parameters' | 'headers' | 'schemas' | 'responses', name: string): Json => ({
  $ref: `#/components/${kind}/${name}`,
});

/** The schemas of a document, each by its name. */
export interface Components {
  /** A schema of an answer, with everything in it that has a name replaced by a reference. */
  readonly answer: (schema: TSchema, name?: string) => Json;
  /**
   * A schema of a request, closed as it is validated. What is named there, and is not the same in
   * answers, has `Input` after its name.
   */
  readonly request: (schema: TSchema, name?: string) => Json;
  /** A schema of a parameter, whose description stands beside it. */
  readonly parameter: (schema: Json) => Json;
  readonly schemas: () => Json;
}

/** @throws Error when two different schemas have the same name */
export const createComponents = (): Components => {
  const schemas = new Map<string, Json>();

  const add = (name: string, schema: Json): Json => {
    const known = schemas.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two different schemas are named ${name}`);
    }
    schemas.set(name, schema);
    return refer('schemas', name);
  };

  const reference = (name: string, schema: Json): Json => {
    const { description, default: usual, examples, readOnly, writeOnly } = schema;
    const beside = { description, default: usual, examples, readOnly, writeOnly };
    return { ...add(name, formOf(name)), ...withoutGaps(beside) };
  };

  const extract = (schema: Json, nameOf: (name: string, schema: Json) => string): Json => {
    const form = formNames.get(formKey(schema));
    if (form !== undefined) return reference(form, schema);
    const { $id: name, 'x-issue': issue, 'x-personal': _, ...rest } = schema;
    const inside: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(rest)) {
      if (keyword === 'properties') inside.properties = propertiesOf(value as Readonly<Record<string, Json>>, nameOf);
      else if (keyword === 'patternProperties') {
        const [every = {}] = Object.values(value as Readonly<Record<string, Json>>);
        inside.additionalProperties = extract(every, nameOf);
      } else if (isSchemaList(keyword)) inside[keyword] = (value as readonly Json[]).map((own) => extract(own, nameOf));
      else if (isSchema(keyword) && typeof value === 'object') inside[keyword] = extract(value as Json, nameOf);
      else inside[keyword] = value;
    }
    const described = {
      ...(Array.isArray(schema.enum) && schema.type === undefined && { type: typesOf(schema.enum) }),
      ...inside,
      ...(typeof issue === 'string' && schema.description === undefined && { description: `${capital(issue)}.` }),
    };
    return typeof name === 'string' ? add(nameOf(name, schema), described) : described;
  };

  const propertiesOf = (properties: Readonly<Record<string, Json>>, nameOf: (name: string, schema: Json) => string): Json =>
    Object.fromEntries(
      Object.entries(properties).map(([name, own]) => {
        const schema = extract(own, nameOf);
        const description = schema.description ?? words[name]?.description;
        return [name, { ...schema, ...(description !== undefined && { description }) }];
      }),
    );

  const asAnswer = (name: string): string => name;
  const asRequest = (name: string, schema: Json): string =>
    /(?:Input|Request)$/.test(name) || JSON.stringify(closed(schema)) === JSON.stringify(schema) ? name : `${name}Input`;

  return {
    answer: (schema, name) => extract(withName(plain(schema), name, 'What the operation answers.'), asAnswer),
    request: (schema, name) => {
      const open = withName(plain(schema), name, 'What the operation takes.');
      // Whether a name needs another for requests is seen by the schema as answers have it.
      const names = new Map<string, string>();
      extractNames(open, (own, at) => names.set(own, asRequest(own, at)));
      return extract(defaultsInWords(closed(open)), (own) => names.get(own) ?? own);
    },
    parameter: ({ description: _, ...schema }) => {
      const { description: __, ...own } = extract(schema, asAnswer);
      return own;
    },
    schemas: () => Object.fromEntries([...schemas].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
};

/** TypeBox keeps what it needs for itself in properties that are not enumerable: they go. */
export const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema)) as Json;

const withName = (schema: Json, name: string | undefined, description: string): Json =>
  name === undefined || schema.$id !== undefined || schema.type === 'array' || schema.properties === undefined
    ? schema
    : { $id: name, description, ...schema };

/**
 * Of the fields of a body: generators take a field with a `default` for one that is always there,
 * and would demand it of callers.
 */
const defaultsInWords = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key !== 'properties') return value;
    const fields = Object.entries(value as Readonly<Record<string, Json>>).map(([name, { default: usual, ...own }]) => {
      if (usual === undefined) return [name, own];
      const text = typeof own.description === 'string' ? `${own.description} ` : '';
      return [name, { ...own, description: `${text}Default: \`${JSON.stringify(usual)}\`.` }];
    });
    return Object.fromEntries(fields) as unknown;
  }) as Json;

const isSchemaList = (keyword: string): boolean => ['anyOf', 'oneOf', 'allOf'].includes(keyword);
const isSchema = (keyword: string): boolean => ['items', 'additionalProperties', 'contentSchema'].includes(keyword);

const extractNames = (value: unknown, tell: (name: string, schema: Json) => void): void => {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as Json;
  if (typeof schema.$id === 'string') tell(schema.$id, schema);
  for (const own of Object.values(schema)) extractNames(own, tell);
};

const typesOf = (values: readonly unknown[]): unknown => {
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  return types.length === 1 ? types[0] : types;
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const withoutGaps = (values: Json): Json => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** What a schema asks for, without what it says about it. */
const formKey = (schema: Json): string => {
  const { type, enum: values, pattern, format, minLength, maxLength, properties, anyOf, items } = schema;
  if (properties !== undefined || anyOf !== undefined || items !== undefined) return '';
  if (values === undefined && pattern === undefined && format === undefined) return '';
  // A bound that a format has of itself makes no other form.
  const bounds = format === 'email' ? [] : [minLength ?? null, maxLength ?? null];
  return JSON.stringify([values === undefined ? type : null, values ?? null, pattern ?? null, format ?? null, ...bounds]);
};

const formNames: ReadonlyMap<string, string> = new Map(
  Object.entries(namedForms).map(([name, { schema }]) => [formKey(plain(schema)), name]),
);

const formOf = (name: string): Json => {
  const { schema, description } = namedForms[name] ?? { schema: {}, description: '' };
  const { 'x-issue': _, ...form } = plain(schema);
  return { ...(Array.isArray(form.enum) && { type: typesOf(form.enum) }), ...form, description };
};

/** What a parameter is called in words, where its schema does not say. */
export const wordOf = (name: string): Word | undefined => words[name];
