import { visiblePattern } from '../../src/platform/blank.js';

type Json = Readonly<Record<string, unknown>>;

interface Operation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Json[];
}

/** What makes programs out of the document, and is missing in it: one line for each gap, with what to do. */
export const gapsIn = (document: Json): readonly string[] => {
  const { paths, components, tags } = document as {
    paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    components: { schemas: Readonly<Record<string, Json>>; parameters: Readonly<Record<string, Json>> };
    tags: readonly Json[];
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  return [
    ...tags.filter(({ description }) => !isText(description)).map(({ name }) => `the tag ${String(name)} needs a description`),
    ...operations.flatMap(gapsOfOperation),
    ...Object.entries(components.schemas).flatMap(([name, schema]) => gapsOfSchema(name, schema)),
    ...Object.entries(components.schemas)
      .filter(([, { description }]) => !isText(description))
      .map(([name]) => `the schema ${name} needs a description`),
    ...recurring(document),
  ];
};

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

const gapsOfOperation = (operation: Operation): readonly string[] => {
  const { operationId, description, summary, parameters, requestBody, responses } = operation;
  const lines: string[] = [];
  if (description.startsWith(`${summary}.\n`)) {
    lines.push(`${operationId}: give the route a \`description\` that says more than its summary`);
  }
  for (const { name, description: text, schema } of parameters.filter(({ $ref }) => $ref === undefined)) {
    if (!isText(text)) lines.push(`${operationId}: the parameter ${String(name)} needs a description`);
    lines.push(...gapsOfSchema(`${operationId}, ${String(name)}`, schema as Json));
  }
  for (const [place, { content = {} }] of [['request', requestBody ?? {}], ...Object.entries(responses as Json)] as [
    string,
    { content?: Readonly<Record<string, { schema: Json; example?: unknown }>> },
  ][]) {
    for (const [type, { schema, example }] of Object.entries(content)) {
      const what = `${operationId}, ${place} as ${type}`;
      if (example === undefined && type === 'application/json') lines.push(`${what}: give it an example`);
      if (/(?:^|[:[,])"text"(?:[,}\]]|$)/.test(JSON.stringify(example ?? null))) {
        lines.push(
          `${what}: give \`examples\` to the texts in its schema, or words in openapi/vocabulary.ts: ${JSON.stringify(example)}`,
        );
      }
      if (schema.properties !== undefined) lines.push(`${what}: give its schema an \`$id\` (PascalCase)`);
      lines.push(...gapsOfSchema(what, schema));
    }
  }
  return lines;
};

const gapsOfSchema = (what: string, schema: Json): readonly string[] => {
  const lines: string[] = [];
  for (const [name, own] of Object.entries((schema.properties ?? {}) as Readonly<Record<string, Json>>)) {
    if (!isText(own.description)) lines.push(`${what}: the property ${name} needs a description`);
    lines.push(...gapsOfSchema(`${what}.${name}`, own));
  }
  if (schema.enum !== undefined && schema.type === undefined) lines.push(`${what}: the enum has no type`);
  for (const inside of [schema.items, schema.anyOf, schema.oneOf, schema.allOf].flat()) {
    if (typeof inside === 'object' && inside !== null) lines.push(...gapsOfSchema(what, inside as Json));
  }
  return lines;
};

/** Schemas that are there more than once, and have no name. */
const recurring = (document: Json): readonly string[] => {
  const places = new Map<string, string[]>();
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return;
    const schema = value as Json;
    const key = keyOf(schema);
    const isNamed = path.length === 3 && path[0] === 'components' && path[1] === 'schemas';
    if (key !== undefined && !path.includes('example') && !path.includes('examples')) {
      const where = isNamed ? `the schema ${path[2] ?? ''}` : path.join('.');
      places.set(key, [...(places.get(key) ?? []), where]);
    }
    for (const [name, own] of Object.entries(schema)) visit(own, [...path, name]);
  };
  visit({ paths: document.paths, components: { schemas: (document.components as Json).schemas } }, []);
  return [...places]
    .filter(([, all]) => all.length > 1)
    .map(
      ([key, all]) =>
        `${key.slice(0, 120)} is there ${String(all.length)} times: give an object an \`$id\`, an enum or a form of text a name in openapi/names.ts (${all.slice(0, 3).join('; ')})`,
    );
};

const keyOf = ({ type, enum: values, pattern, format, properties }: Json): string | undefined => {
  if (typeof properties === 'object' && type === 'object' && Object.keys(properties as Json).length > 0) {
    return JSON.stringify({ properties });
  }
  if (Array.isArray(values)) return JSON.stringify({ enum: values });
  // Of texts that only must not be blank, or must be printable, each has its own length.
  if (pattern === visiblePattern || pattern === '^[\\x21-\\x7e]+$') return undefined;
  return typeof pattern === 'string' || typeof format === 'string' ? JSON.stringify({ pattern, format }) : undefined;
};
