/** A JSON schema as data. */
export type Schema = Readonly<Record<string, unknown>>;

interface RefusedInput {
  readonly keyword: string;
  readonly input: unknown;
}

type Wrap = (value: unknown) => unknown;

/** Every schema inside a schema, itself included. */
export function* schemasIn(schema: Schema): Generator<Schema> {
  yield schema;
  for (const inside of Object.values((schema.properties ?? {}) as Record<string, Schema>)) yield* schemasIn(inside);
  for (const branch of [schema.anyOf, schema.oneOf].flat().filter(Boolean) as Schema[]) yield* schemasIn(branch);
  if (typeof schema.items === 'object' && schema.items !== null) yield* schemasIn(schema.items as Schema);
}

/**
 * For each keyword of each part of a schema of an object, an input that breaks it. `texts`: values
 * are texts, as in a path or a query.
 */
export const refusedInputs = (schema: Schema, kind: 'body' | 'texts'): readonly RefusedInput[] => {
  const base = validOf(schema) as Readonly<Record<string, unknown>>;
  return [...breaking(schema, (value) => value, base, kind)];
};

function* breaking(schema: Schema, wrap: Wrap, valid: unknown, kind: 'body' | 'texts'): Generator<RefusedInput> {
  const isTop = wrap(valid) === valid;
  for (const { keyword, value } of wrongValues(schema)) {
    if (kind === 'texts' && isTop && keyword === 'type') continue;
    yield { keyword, input: wrap(kind === 'texts' && !isTop && typeof value === 'number' ? String(value) : value) };
  }
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  if (schema.properties !== undefined) {
    const object = valid as Readonly<Record<string, unknown>>;
    for (const [name, own] of Object.entries(properties)) {
      yield* breaking(own, (value) => wrap({ ...object, [name]: value }), validOf(own), kind);
    }
    for (const name of (schema.required ?? []) as readonly string[]) {
      const { [name]: _, ...others } = object;
      yield { keyword: 'required', input: wrap(others) };
    }
    if (schema.additionalProperties === false) {
      yield { keyword: 'additionalProperties', input: wrap({ ...object, unheardOf: kind === 'texts' ? 'x' : 1 }) };
    }
  }
  if (schema.type === 'array') {
    const items = schema.items as Schema;
    yield* breaking(items, (value) => wrap([value]), validOf(items), kind);
  }
}

function* wrongValues(schema: Schema): Generator<{ keyword: string; value: unknown }> {
  const { type, minLength, maxLength, minimum, maximum, minItems, maxItems, items } = schema as {
    type?: string;
    minLength?: number;
    maxLength?: number;
    minimum?: number;
    maximum?: number;
    minItems?: number;
    maxItems?: number;
    items?: Schema;
  };
  if (schema.anyOf !== undefined) yield { keyword: 'anyOf', value: { unheardOf: [1] } };
  if (type === 'object' || type === 'array') yield { keyword: 'type', value: 7 };
  else if (type !== undefined) yield { keyword: 'type', value: { unheardOf: 1 } };
  if (schema.enum !== undefined) {
    yield { keyword: 'enum', value: 'unheard-of' };
    yield { keyword: 'enum', value: 'svc_pat_unheard of, and long as well' };
  }
  if (schema.const !== undefined) yield { keyword: 'const', value: 'unheard-of' };
  if (typeof schema.pattern === 'string') {
    const wrong = [' ', '~ ~', '', 'ß\u0001'].find((text) => !new RegExp(schema.pattern as string, 'u').test(text));
    yield { keyword: 'pattern', value: wrong };
  }
  if (schema.format !== undefined) yield { keyword: 'format', value: 'no such thing' };
  if (minLength !== undefined && minLength > 0) yield { keyword: 'minLength', value: '' };
  if (maxLength !== undefined) yield { keyword: 'maxLength', value: 'a'.repeat(maxLength + 1) };
  // Beyond the safe integers JSON numbers are no whole numbers any more.
  if (minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER) yield { keyword: 'minimum', value: minimum - 1 };
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) yield { keyword: 'maximum', value: maximum + 1 };
  if (minItems !== undefined && minItems > 0) yield { keyword: 'minItems', value: [] };
  if (maxItems !== undefined && items !== undefined) {
    yield { keyword: 'maxItems', value: Array.from({ length: maxItems + 1 }, () => validOf(items)) };
  }
  if (schema.uniqueItems === true && items !== undefined) {
    yield { keyword: 'uniqueItems', value: [validOf(items), validOf(items)] };
  }
}

/** Some value that a schema allows; only as far as the inputs around a wrong part need one. */
const validOf = (schema: Schema): unknown => {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [branch] = (schema.anyOf ?? schema.oneOf ?? []) as readonly Schema[];
  if (branch !== undefined) return validOf(branch);
  switch (schema.type) {
    case 'object': {
      const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] };
      return Object.fromEntries(required.map((name) => [name, validOf(properties[name] ?? {})]));
    }
    case 'array':
      return Array.from({ length: (schema.minItems as number | undefined) ?? 0 }, () => validOf(schema.items as Schema));
    case 'integer':
    case 'number':
      return Math.max(1, (schema.minimum as number | undefined) ?? 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'a'.repeat(Math.max(3, (schema.minLength as number | undefined) ?? 3));
  }
};
