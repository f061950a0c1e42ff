/** The parts of statements that walk the index of a read model, with their parameters. */
import type { ReadModelQuery, Selection } from '../readModelStore.js';
import type { SqlValue } from './database.js';

/** A value as the index stores it: as JSON text, which holds every string exactly. */
export const entryValue = (value: string): string => JSON.stringify(value);

/** The field under which the index stores the keys that a list is sorted by, as they are. */
export const sortEntryField = (field: string): string => `${field} sorted`;

export type Order = ReadModelQuery['order'];

/** Which ids a walk leaves out. */
export type IdFilter = Required<Pick<Selection, 'range' | 'without'>>;

/** A field that must have one of `values`, which are written as the index stores them. */
export interface Condition {
  readonly field: string;
  readonly values: readonly string[];
}

/** Within one value the index is in id order. */
export type SingleCondition = Condition & { readonly values: readonly [string] };

export const isSingle = (condition: Condition): condition is SingleCondition => condition.values.length === 1;

/** A field that must have a value in this range, as the index stores them; `before` is exclusive. */
export interface RangeCondition {
  readonly field: string;
  readonly from: string;
  readonly before: string;
}

/** A part of a statement with its parameters. */
export interface Sql {
  readonly text: string;
  readonly parameters: readonly SqlValue[];
}

/** Where a walk stands: after this document. */
export interface Place {
  readonly id: string;
  /** In a sorted list: the key that the document has there. */
  readonly key: string;
}

/** SQLite sorts every blob after every text. */
export const afterEveryText = new Uint8Array(1);

export const direction = (order: Order): string => (order === 'ascending' ? 'ASC' : 'DESC');

/**
 * The ids from a place on, up to the end of the range, and up to `last` (inclusive). Each side is one
 * bound: of two SQLite seeks by one, and reads every row up to the other.
 */
export const idsFrom = ({ range }: IdFilter, order: Order, after: Place | null, last?: string): Sql => {
  const { from = '', before } = range;
  if (order === 'ascending') {
    const isAfter = after !== null && compareTexts(after.id, from) >= 0;
    return {
      text: `id ${isAfter ? '>' : '>='} ? AND id ${last === undefined ? '<' : '<='} ?`,
      parameters: [isAfter ? after.id : from, last ?? before ?? afterEveryText],
    };
  }
  const isBefore = after !== null && (before === undefined || compareTexts(after.id, before) < 0);
  return { text: 'id >= ? AND id < ?', parameters: [last ?? from, isBefore ? after.id : (before ?? afterEveryText)] };
};

/** `AND …` for every condition on the document with the id that the expression `id` gives. */
export const restricted = (key: bigint, conditions: readonly Condition[], without: readonly string[], id: string): Sql => {
  const parts: Sql[] = conditions.map((condition) => ({
    text: `AND EXISTS (SELECT 1 FROM entry AS other WHERE other.model = ? AND other.field = ?
           AND other.value ${isSingle(condition) ? '= ?' : 'IN (SELECT value FROM json_each(?))'} AND other.id = ${id})`,
    parameters: [key, condition.field, isSingle(condition) ? condition.values[0] : JSON.stringify(condition.values)],
  }));
  if (without.length > 0)
    parts.push({ text: `AND ${id} NOT IN (SELECT value FROM json_each(?))`, parameters: [JSON.stringify(without)] });
  return { text: parts.map(({ text }) => text).join(' '), parameters: parts.flatMap(({ parameters }) => parameters) };
};

/** A part of a statement that gives the values in the column `value` of `wanted`. */
export const givenValues = (values: readonly string[]): Sql => ({
  text: 'wanted AS (SELECT value FROM json_each(?))',
  parameters: [JSON.stringify(values)],
});

/** As `givenValues`, the distinct values of a range, each found by a look at the index. */
export const valuesWithin = (key: bigint, { field, from, before }: RangeCondition): Sql => ({
  text: `RECURSIVE wanted (value) AS (
           SELECT min(value) FROM entry WHERE model = ? AND field = ? AND value >= ? AND value < ?
           UNION ALL
           SELECT (SELECT min(value) FROM entry WHERE model = ? AND field = ? AND value > wanted.value AND value < ?)
           FROM wanted WHERE value IS NOT NULL)`,
  parameters: [key, field, from, before, key, field, before],
});

/** The rows of the index that fulfil a condition. */
export const rowsOf = (condition: Condition | RangeCondition): Sql => {
  const { field } = condition;
  return 'values' in condition
    ? { text: 'field = ? AND value IN (SELECT value FROM json_each(?))', parameters: [field, JSON.stringify(condition.values)] }
    : { text: 'field = ? AND value >= ? AND value < ?', parameters: [field, condition.from, condition.before] };
};

const beyondUnits = /[\ud800-\uffff]/;

/**
 * Compares UTF-8 bytes, as the stores do. JavaScript compares UTF-16 units, which gives another
 * order beyond U+FFFF.
 */
export const compareTexts = (one: string, other: string): number =>
  one === other
    ? 0
    : beyondUnits.test(one) || beyondUnits.test(other)
      ? Buffer.compare(Buffer.from(one), Buffer.from(other))
      : one < other
        ? -1
        : 1;
