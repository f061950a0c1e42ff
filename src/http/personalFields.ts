import { Type, type TSchema } from 'typebox';

/**
 * Marks in the schema of an answer that tell where people are in it. A stored answer is encrypted
 * by them for each person (`storedResponse.ts`), so what is not marked outlives an erasure there.
 */
const mark = 'x-personal';

/** Somebody's address. */
export const PersonalAddress = Type.String({ [mark]: 'address', description: 'E-mail address of the person, or `[erased]`.' });
/** The name of the person whose address stands beside it. */
export const PersonalName = Type.String({ [mark]: 'name' });
/** An address that is to replace the one beside it, with whose key it is encrypted. */
export const PendingAddress = Type.String({
  [mark]: 'name',
  description: 'A new address, which holds once its owner has confirmed it.',
  examples: ['grace@example.com'],
});

/**
 * What is shown of a person whose address does not stand beside it. The answer has it in `people`
 * too, still encrypted.
 */
export const PersonalText = Type.String({ [mark]: 'text' });

/** Where people are in values of a schema. */
export interface PersonalFields {
  /** The field that holds an address. */
  readonly address?: string;
  /** Fields that hold the name of whose address it is. */
  readonly names: readonly string[];
  /** Fields with what is encrypted in `people`. */
  readonly texts: readonly string[];
  readonly inside: ReadonlyMap<string, PersonalFields>;
  /** Of each entry of a list. */
  readonly entries?: PersonalFields;
}

type Schema = Readonly<Record<string, unknown>>;

/** `null` when no person is in values of the schema. */
export const personalFieldsOf = (schema: TSchema | undefined): PersonalFields | null =>
  schema === undefined ? null : fieldsOf(schema as unknown as Schema);

const fieldsOf = (schema: Schema): PersonalFields | null => {
  const entries = schema['items'] === undefined ? null : fieldsOf(schema['items'] as Schema);
  const own: PersonalFields = { ...fieldsOfObject(schema), ...(entries !== null && { entries }) };
  // A value may be of any branch: what is personal in one of them is taken for personal.
  const all = branchesOf(schema).reduce((fields, branch) => merge(fields, fieldsOf(branch)), own);
  const { address, names, texts, inside } = all;
  const isNobody = [names.length, texts.length, inside.size].every((count) => count === 0);
  return isNobody && address === undefined && all.entries === undefined ? null : all;
};

const fieldsOfObject = ({ properties = {} }: Schema): PersonalFields => {
  const marked = Object.entries(properties as Readonly<Record<string, Schema>>).map(
    ([field, schema]) => [field, markOf(schema), fieldsOf(schema)] as const,
  );
  const of = (wanted: string): string[] => marked.filter(([, kind]) => kind === wanted).map(([field]) => field);
  const [address] = of('address');
  return {
    ...(address !== undefined && { address }),
    names: of('name'),
    texts: of('text'),
    inside: new Map(marked.flatMap(([field, , fields]) => (fields === null ? [] : [[field, fields]]))),
  };
};

const branchesOf = ({ anyOf = [], oneOf = [], allOf = [] }: Schema): readonly Schema[] =>
  [anyOf, oneOf, allOf].flatMap((branches) => branches as readonly Schema[]);

const markOf = (schema: Schema): unknown => schema[mark] ?? branchesOf(schema).map(markOf).find(Boolean);

const merge = (one: PersonalFields, other: PersonalFields | null): PersonalFields => {
  if (other === null) return one;
  const inside = new Map(one.inside);
  for (const [field, fields] of other.inside) {
    const known = inside.get(field);
    inside.set(field, known === undefined ? fields : merge(known, fields));
  }
  const address = one.address ?? other.address;
  const entries = one.entries === undefined ? other.entries : merge(one.entries, other.entries ?? null);
  return {
    ...(address !== undefined && { address }),
    names: [...new Set([...one.names, ...other.names])],
    texts: [...new Set([...one.texts, ...other.texts])],
    inside,
    ...(entries !== undefined && { entries }),
  };
};
