import { exampleIds, words } from './vocabulary.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * An example of a schema: its own where it has one, else one made of the examples of its parts.
 * @param whole with every property; otherwise those alone that are required or have an example of
 *   their own
 */
export const exampleOf = (schema: Json, whole: boolean, name?: string): unknown => {
  const own = schema.examples as readonly unknown[] | undefined;
  if (own !== undefined && own.length > 0) return own[0];
  if (schema.const !== undefined) return schema.const;
  const known = name === undefined ? undefined : words[name]?.example;
  if (known !== undefined && fits(schema, known)) return known;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const branches = (schema.anyOf ?? schema.oneOf) as readonly Json[] | undefined;
  if (branches?.[0] !== undefined) return exampleOf(branches[0], whole, name);
  switch (schema.type) {
    case 'object':
      return exampleOfObject(schema, whole);
    case 'array':
      return [exampleOf((schema.items ?? {}) as Json, whole)];
    case 'integer':
    case 'number':
      return Math.max(Number(schema.minimum ?? 1), 1);
    case 'boolean':
      return true;
    case 'string':
      return exampleOfText(schema);
    default:
      return null;
  }
};

const exampleOfObject = ({ $id, properties = {}, required = [] }: Json, whole: boolean): unknown => {
  const needed = new Set(required as readonly string[]);
  const shown = Object.entries(properties as Readonly<Record<string, Json>>).filter(
    ([name, own]) => whole || needed.has(name) || own.examples !== undefined,
  );
  const ownId = idOf($id);
  return Object.fromEntries(
    shown.map(([name, own]) => [name, name === 'id' && ownId !== undefined ? ownId : exampleOf(own, whole, name)]),
  );
};

/** What `id` is in a schema of this name. */
const idOf = (schemaName: unknown): string | undefined => {
  const kind = typeof schemaName === 'string' ? schemaName.charAt(0).toLowerCase() + schemaName.slice(1) : '';
  const ids: Readonly<Record<string, string>> = {
    ...exampleIds,
    checkpointInput: exampleIds.checkpoint,
    aPIKey: exampleIds.apiKey,
    mintedAPIKey: exampleIds.apiKey,
  };
  return Object.hasOwn(ids, kind) ? ids[kind] : undefined;
};

const exampleOfText = ({ format }: Json): string => {
  switch (format) {
    case 'date-time':
      return '2030-01-31T12:00:00.000Z';
    case 'email':
      return 'ada@example.com';
    case 'uri':
      return 'https://example.com/';
    default:
      return 'text';
  }
};

/** Whether the value may stand for the schema, as far as kind and form go. */
const fits = (schema: Json, value: unknown): boolean => {
  const branches = (schema.anyOf ?? schema.oneOf) as readonly Json[] | undefined;
  if (branches !== undefined) return branches.some((branch) => fits(branch, value));
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  if (schema.format === 'date-time') return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  if (typeof schema.pattern === 'string') return typeof value === 'string' && new RegExp(schema.pattern, 'u').test(value);
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return typeof value === schema.type;
    case 'integer':
    case 'number':
      return typeof value === 'number';
    case 'array':
      return Array.isArray(value) && value.every((item) => fits((schema.items ?? {}) as Json, item));
    case 'object':
      return false;
    default:
      return true;
  }
};
