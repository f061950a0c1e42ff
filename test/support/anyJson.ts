import fc from 'fast-check';
import type { TSchema } from 'typebox';

/** The parts of a JSON schema that the service's schemas are made of. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly format?: string;
}

/**
 * Text with all that is hard to keep: lone surrogates, NUL, line separators, emoji, direction
 * marks, combining characters.
 */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength }) },
    { weight: 2, arbitrary: fc.string({ minLength: 1, maxLength }) },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.constantFrom(...hardText), { minLength: 1, maxLength: Math.min(5, maxLength / 12) })
        .map((parts) => parts.join('')),
    },
  );

const hardText = [
  '\ud800',
  '\udc00x',
  '\u0000',
  '\u2028',
  '\u2029',
  '\ufeff',
  '💥',
  '👩‍👩‍👧',
  '\u202e',
  'é',
  '\r\n',
  '\\',
  '"',
  '`${1}`',
  '%00',
  "' or 1",
  '<b>',
];

const deep = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels);

/** Values, as JSON text, that few fields are meant for. */
const strange: readonly string[] = [
  'null',
  'true',
  '[]',
  '{}',
  '""',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e400',
  '-1e400',
  '5e-324',
  '9007199254740993',
  '123456789012345678901234567890',
  '"\\ud800"',
  '"\\u0000"',
  '"\\u2028💥"',
  '"__proto__"',
  '"constructor"',
  '{"__proto__":{"role":"admin"}}',
  '{"__proto__":null}',
  '{"constructor":{"prototype":{"role":"admin"}}}',
  '{"length":1e9}',
  '{"toString":1,"valueOf":1,"toJSON":1}',
  '[[],{},null,[[[0]]]]',
  `[${'0,'.repeat(40)}0]`,
  `[${'{},'.repeat(40)}{}]`,
  `[${'0,'.repeat(99_999)}0]`,
  `[${'{"id":1},'.repeat(50_000)}0]`,
  `"${'a'.repeat(100_000)}"`,
  deep('[', ']', 100_000),
  deep('{"a":', '}', 100_000).replace(':}', ':0}'),
  deep('[', ']', 60),
];

/** Members that no object asks for. */
const strangers: readonly string[] = [
  '"__proto__":{"role":"admin"}',
  '"constructor":{"prototype":{}}',
  '"hasOwnProperty":1',
  '"password":"hunter2"',
  '"":0',
  '"\\u0000":0',
  '"\\ud800":0',
  `"${'k'.repeat(50_000)}":0`,
];

const times = [
  '2030-01-31T12:00:00.000Z',
  '2031-01-31T12:00:00+01:00',
  '2032-01-31t12:00:00.123456789z',
  '2030-06-30T23:59:60Z',
  '0000-01-01T00:00:00+14:00',
];

const json = (value: unknown): string => JSON.stringify(value);

/** By the name of a field: values that have a meaning there that the schema does not express. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

/**
 * JSON text of what the schema describes, nearly: about every twentieth value is another than it
 * should be.
 */
export const nearly = (schema: TSchema, known: Known = {}): fc.Arbitrary<string> =>
  textFor(JSON.parse(json(schema)) as Schema, known);

const textFor = (schema: Schema, known: Known): fc.Arbitrary<string> =>
  fc.oneof({ weight: 25, arbitrary: rightFor(schema, known) }, { weight: 1, arbitrary: fc.constantFrom(...strange) });

const rightFor = (schema: Schema, known: Known): fc.Arbitrary<string> => {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map(json));
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((own) => textFor(own, known)));
  switch (schema.type) {
    case 'string':
      return stringFor(schema).map(json);
    case 'integer':
    case 'number':
      return fc.constantFrom('0', '1', '10', '-0', '1e1', '3.0', '9007199254740991', '-9007199254740991');
    case 'boolean':
      return fc.constantFrom('true', 'false');
    case 'array':
      return arrayFor(schema.items ?? {}, known);
    case 'object':
      return objectFor(schema, known);
    default:
      return fc.constantFrom(...strange);
  }
};

const stringFor = ({ format, pattern }: Schema): fc.Arbitrary<string> => {
  if (format === 'date-time') return fc.constantFrom(...times);
  if (format === 'email') return fc.emailAddress();
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return anyText(60);
};

const arrayFor = (items: Schema, known: Known): fc.Arbitrary<string> => {
  const item = textFor(items, known);
  return fc
    .oneof(
      { weight: 5, arbitrary: fc.array(item, { maxLength: 4 }) },
      { weight: 1, arbitrary: fc.array(item, { minLength: 39, maxLength: 42 }) },
    )
    .map((texts) => `[${texts.join(',')}]`);
};

const fieldFor = (name: string, schema: Schema, known: Known): fc.Arbitrary<string> => {
  const values = Object.hasOwn(known, name) ? (known[name] ?? []) : [];
  const any = { weight: 1, arbitrary: textFor(schema, known) };
  return values.length === 0 ? any.arbitrary : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...values.map(json)) }, any);
};

const objectFor = ({ properties = {}, required = [] }: Schema, known: Known): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.record(Object.fromEntries(Object.entries(properties).map(([name, own]) => [name, fieldFor(name, own, known)])), {
        requiredKeys: [...required],
      }),
      fc.oneof({ weight: 12, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom(...strangers) }),
      fc.nat({ max: 30 }),
    )
    .map(([members, stranger, forgotten]) => {
      const texts = Object.entries(members).map(([name, text]) => `${json(name)}:${text}`);
      // One in thirty lacks its first member, or has it twice.
      if (forgotten === 0) texts.shift();
      if (forgotten === 1 && texts[0] !== undefined) texts.push(texts[0]);
      return `{${[...texts, ...(stranger === '' ? [] : [stranger])].join(',')}}`;
    });
