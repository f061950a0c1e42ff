import type { ErrorObject } from 'ajv/dist/2020.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * What a schema asks for, in words; every `pattern` has it:
 * `{ pattern: '^[a-z]+$', 'x-issue': 'use small letters' }`.
 */
export const wordsKeyword = 'x-issue';

/**
 * What is wrong with one value, in words for people: what is expected, then what came. A text is
 * told by its length; of a field that is `writeOnly` (a secret) nothing is told.
 */
export const issueOf = (error: ErrorObject): string => `${expected(error)}${received(error)}`;

/** What is wrong with a value that fits no branch of a union. */
export const unionIssue = (union: ErrorObject, branches: readonly ErrorObject[]): string => {
  const own = wordsOf(union);
  if (own !== undefined) return `${own}${gotKind(union)}`;
  // Of the branch that takes such a value at all, more is known: the text has another form.
  const nearest = branches.find(({ keyword }) => keyword !== 'type');
  if (nearest?.instancePath === union.instancePath && typeof union.data !== 'object') return issueOf(nearest);
  const types = branches.map(({ keyword, params, instancePath }) =>
    keyword === 'type' && instancePath === union.instancePath ? typeWords(params.type) : undefined,
  );
  const known = types.includes(undefined) ? 'must be in one of the forms that are described' : `must be ${types.join(' or ')}`;
  return `${known}${gotKind(union)}`;
};

/**
 * What is wrong inside a list or an object that fits no branch of a union, when one branch alone
 * takes values of its kind; `[]` otherwise, and where the union has words of its own.
 */
export const insideUnion = (union: ErrorObject, branches: readonly ErrorObject[]): readonly ErrorObject[] => {
  if (typeof union.data !== 'object' || union.data === null || wordsOf(union) !== undefined) return [];
  const branchOf = ({ schemaPath }: ErrorObject): string => schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0] ?? '';
  const isOfOtherKind = ({ keyword, instancePath }: ErrorObject): boolean =>
    keyword === 'type' && instancePath === union.instancePath;
  const others = new Set(branches.filter(isOfOtherKind).map(branchOf));
  const inside = branches.filter((error) => !others.has(branchOf(error)));
  return new Set(inside.map(branchOf)).size === 1 ? inside : [];
};

/** What each format of `platform/formats.ts` asks for. */
export const formatWords: Readonly<Record<string, string>> = {
  'date-time': 'must be an ISO 8601 time with its offset, as in 2030-01-31T12:00:00.000Z',
  email: 'must be an e-mail address, as in ada@example.com',
  uri: 'must be an absolute address, as in https://example.com/',
};

const words: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const typeWords = (type: unknown): string =>
  [type]
    .flat()
    .map((one) => words[String(one)] ?? 'a value')
    .join(' or ');

const wordsOf = ({ parentSchema }: ErrorObject): string | undefined => {
  const own: unknown = (parentSchema as Schema | undefined)?.[wordsKeyword];
  return typeof own === 'string' ? own : undefined;
};

const counted = (count: unknown, [one, many]: readonly [string, string]): string =>
  `${String(count)} ${count === 1 ? one : many}`;
const characters = ['character', 'characters'] as const;
const entries = ['entry', 'entries'] as const;

const expected = (error: ErrorObject): string => {
  const { keyword, params } = error;
  switch (keyword) {
    case 'type':
      return `must be ${typeWords(params.type)}`;
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'enum':
      return `must be one of ${(params.allowedValues as readonly unknown[]).map(String).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'format':
      return wordsOf(error) ?? formatWords[String(params.format)] ?? notAsDescribed;
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${counted(params.limit, characters)}`;
    case 'maxLength':
      return `must have at most ${counted(params.limit, characters)}`;
    case 'minItems':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${counted(params.limit, entries)}`;
    case 'maxItems':
      return `must have at most ${counted(params.limit, entries)}`;
    case 'minProperties':
      return 'must hold at least one field';
    case 'maxProperties':
      return `must hold at most ${counted(params.limit, ['field', 'fields'])}`;
    case 'minimum':
      return `must be at least ${String(params.limit)}`;
    case 'maximum':
      return `must be at most ${String(params.limit)}`;
    case 'uniqueItems':
      return `must hold each entry once: entries ${String(params.j)} and ${String(params.i)} are the same`;
    default:
      return wordsOf(error) ?? notAsDescribed;
  }
};

const notAsDescribed = 'is not as it is described';

/** What came, as far as it helps and gives nothing away. */
const received = (error: ErrorObject): string => {
  const { keyword, params, data } = error;
  if ((error.parentSchema as Schema | undefined)?.writeOnly === true && keyword !== 'type') return '';
  switch (keyword) {
    case 'type':
      return gotKind(error);
    case 'enum':
    case 'const':
      return typeof data === 'string' ? gotLength(data) : gotKind(error);
    case 'format':
    case 'pattern':
      return typeof data === 'string' && data.trim() !== '' ? gotLength(data) : '';
    case 'minLength':
    case 'maxLength':
      return typeof data === 'string' && params.limit !== 1 ? `; got ${String(Array.from(data).length)}` : '';
    case 'minItems':
    case 'maxItems':
      return Array.isArray(data) && params.limit !== 1 ? `; got ${String(data.length)}` : '';
    case 'minimum':
    case 'maximum':
      return Number.isFinite(data) ? `; got ${String(data)}` : '';
    default:
      return '';
  }
};

/** Never the text itself, because it may be a secret in the wrong field. */
const gotLength = (text: string): string => `; got ${counted(Array.from(text).length, characters)}`;

const gotKind = ({ data }: ErrorObject): string => {
  if (data === undefined) return '';
  if (typeof data === 'boolean') return `; got ${String(data)}`;
  if (typeof data === 'number') return Number.isInteger(data) ? '; got a number' : '; got a fraction';
  return `; got ${words[data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data] ?? 'a value'}`;
};
