import type { JsonObject } from '../../../events/envelope.js';
import { sortKeyOf } from '../../../platform/foldText.js';
import { checkSort, sortKeyIn, wantedValues } from '../documents.js';
import type { ReadModel, ReadModelQuery, Selection, StoredDocument } from '../readModelStore.js';
import type { Database, SqlValue } from './database.js';

export interface DocumentRow {
  readonly id: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly body: string;
}

export const toDocument = ({ id, revision, position, body }: DocumentRow): StoredDocument => ({
  id,
  revision,
  position,
  body: JSON.parse(body) as JsonObject,
});

/** A value as the index stores it: as JSON text, which holds every string exactly. */
export const entryValue = (value: string): string => JSON.stringify(value);

/** The field under which the index stores the keys that a list is sorted by, as they are. */
export const sortEntryField = (field: string): string => `${field} sorted`;

export type Page = Pick<ReadModelQuery, 'order' | 'after' | 'limit' | 'sort'>;

/**
 * A field that must have one of `values`, or one that is less than `below`, which are written as the
 * index stores them.
 */
type Condition =
  { readonly field: string; readonly values: readonly string[] } | { readonly field: string; readonly below: string };

/** Within one value the index is in id order. */
type SingleCondition = { readonly field: string; readonly values: readonly [string] };

const isSingle = (condition: Condition): condition is SingleCondition => 'values' in condition && condition.values.length === 1;

/** A selection, with the ids as JSON. */
export interface Filter {
  readonly conditions: readonly Condition[];
  readonly ids: string | undefined;
  readonly without: string | undefined;
  readonly range: NonNullable<Selection['range']>;
}

/** @throws TypeError for a field without the index that the query needs */
export const filterOf = (model: ReadModel, query: Selection & Pick<ReadModelQuery, 'sort'>): Filter => {
  checkSort(model, query);
  const { ids, without, below, range = {} } = query;
  return {
    conditions: [
      ...wantedValues(model, query).map(({ field, values }) => ({ field, values: values.map(entryValue) })),
      ...(below === undefined ? [] : [{ field: sortEntryField(below.field), below: sortKeyOf(below.text) }]),
    ],
    ids: ids === undefined ? undefined : JSON.stringify([...new Set(ids)]),
    without: without === undefined || without.length === 0 ? undefined : JSON.stringify(without),
    range,
  };
};

/**
 * Where a descending list starts: SQLite sorts every blob after every text. An ascending list
 * starts at the empty text.
 */
const afterEveryText = new Uint8Array(1);

/** Where a list ends, by the same rule. */
const endOf = ({ order }: Page, text: string | undefined): string | Uint8Array =>
  text ?? (order === 'ascending' ? afterEveryText : '');
const startOf = ({ order }: Page, text: string | undefined): string | Uint8Array =>
  text ?? (order === 'ascending' ? '' : afterEveryText);
const comparison = ({ order }: Page): string => (order === 'ascending' ? '>' : '<');
const direction = ({ order }: Page): string => (order === 'ascending' ? 'ASC' : 'DESC');

/** A part of a statement with its parameters. */
interface Sql {
  readonly text: string;
  readonly parameters: readonly SqlValue[];
}

/** `AND …` for every condition on the document with the id that the expression `id` gives. */
const restricted = (key: bigint, { conditions, ids, without, range }: Filter, id: string): Sql => {
  const parts: Sql[] = conditions.map((condition) => {
    if (isSingle(condition)) {
      return {
        text: `AND EXISTS (SELECT 1 FROM entry AS other WHERE other.model = ? AND other.field = ? AND other.value = ? AND other.id = ${id})`,
        parameters: [key, condition.field, condition.values[0]],
      };
    }
    if ('values' in condition) {
      return {
        text: `AND EXISTS (SELECT 1 FROM entry AS other WHERE other.model = ? AND other.field = ?
           AND other.value IN (SELECT value FROM json_each(?)) AND other.id = ${id})`,
        parameters: [key, condition.field, JSON.stringify(condition.values)],
      };
    }
    // The index is by value: the ids of the whole range are collected once.
    return {
      text: `AND ${id} IN (SELECT other.id FROM entry AS other WHERE other.model = ? AND other.field = ? AND other.value < ?)`,
      parameters: [key, condition.field, condition.below],
    };
  });
  if (ids !== undefined) parts.push({ text: `AND ${id} IN (SELECT value FROM json_each(?))`, parameters: [ids] });
  if (without !== undefined) parts.push({ text: `AND ${id} NOT IN (SELECT value FROM json_each(?))`, parameters: [without] });
  if (range.from !== undefined) parts.push({ text: `AND ${id} >= ?`, parameters: [range.from] });
  if (range.before !== undefined) parts.push({ text: `AND ${id} < ?`, parameters: [range.before] });
  return { text: parts.map(({ text }) => text).join(' '), parameters: parts.flatMap(({ parameters }) => parameters) };
};

/** One page of a read model. Run it in a snapshot, because it makes several queries. */
export const findPage = (database: Database, key: bigint, filter: Filter, page: Page): readonly DocumentRow[] => {
  if (page.sort !== undefined) return findSorted(database, key, filter, page, page.sort);
  const { conditions, ids } = filter;
  if (conditions.length === 0 && ids === undefined) {
    const others = restricted(key, filter, 'id');
    return database
      .statement(
        `SELECT id, revision, position, body FROM document
         WHERE model = ? AND id ${comparison(page)} ? AND body IS NOT NULL ${others.text} ORDER BY id ${direction(page)} LIMIT ?`,
      )
      .all(key, startOf(page, page.after), ...others.parameters, page.limit) as DocumentRow[];
  }
  return documentsOf(database, key, findIds(database, key, filter, page));
};

/** The documents with these ids, in this order. */
const documentsOf = ({ statement }: Database, key: bigint, ids: readonly string[]): readonly DocumentRow[] =>
  statement(
    `SELECT document.id, revision, position, body FROM json_each(?) AS wanted
     CROSS JOIN document ON model = ? AND document.id = wanted.value AND body IS NOT NULL ORDER BY wanted.key`,
  ).all(JSON.stringify(ids), key) as DocumentRow[];

/**
 * Within one value the index is in id order, so the page is among the first `limit` ids of each
 * value of one condition.
 */
const findIds = (database: Database, key: bigint, filter: Filter, page: Page): readonly string[] => {
  const { statement } = database;
  const { ids } = filter;
  if (ids !== undefined) {
    const others = restricted(key, { ...filter, ids: undefined }, 'wanted.value');
    return idsOf(
      statement(
        `SELECT wanted.value AS id FROM json_each(?) AS wanted
         WHERE EXISTS (SELECT 1 FROM document WHERE model = ? AND document.id = wanted.value AND body IS NOT NULL)
         AND wanted.value ${comparison(page)} ? ${others.text} ORDER BY wanted.value ${direction(page)} LIMIT ?`,
      ).all(ids, key, startOf(page, page.after), ...others.parameters, page.limit),
    );
  }
  if (filter.conditions.length > 1 && filter.conditions.every(isSingle))
    return findInAll(database, key, filter, filter.conditions, page);
  const [rarest, ...conditions] = rarestFirst(database, key, filter.conditions);
  if (rarest === undefined) return [];
  const others = restricted(key, { ...filter, conditions }, 'entry.id');
  if ('below' in rarest) {
    return idsOf(
      statement(
        `SELECT id FROM entry WHERE model = ? AND field = ? AND value < ? AND id ${comparison(page)} ? ${others.text}
         ORDER BY id ${direction(page)} LIMIT ?`,
      ).all(key, rarest.field, rarest.below, startOf(page, page.after), ...others.parameters, page.limit),
    );
  }
  const select = statement(
    `SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND id ${comparison(page)} ? ${others.text}
     ORDER BY id ${direction(page)} LIMIT ?`,
  );
  const lists = rarest.values.map((value) =>
    idsOf(select.all(key, rarest.field, value, startOf(page, page.after), ...others.parameters, page.limit)),
  );
  const [only, second] = lists;
  if (only !== undefined && second === undefined) return only;
  const sign = page.order === 'ascending' ? 1 : -1;
  return [...new Set(lists.flat())].sort((one, other) => sign * compareTexts(one, other)).slice(0, page.limit);
};

/** Rows of each condition that the first stretch looks ahead. */
const firstStretch = 64;

/**
 * Goes through the ids in stretches, each longer than the one before. Of every condition so many
 * rows are looked at; the one that gets furthest by them is rarest here, and is walked as far as
 * that. So the cost is that of the rarest condition, whichever that is, wherever its rows are.
 */
const findInAll = (
  { statement }: Database,
  key: bigint,
  filter: Filter,
  conditions: readonly SingleCondition[],
  page: Page,
): readonly string[] => {
  const found: string[] = [];
  const isAscending = page.order === 'ascending';
  const ahead = statement(
    `SELECT count(*) AS matches, ${isAscending ? 'max' : 'min'}(id) AS last FROM
     (SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND id ${comparison(page)} ? ORDER BY id ${direction(page)} LIMIT ?)`,
  );
  for (let { after } = page, stretch = firstStretch; ; stretch *= 4) {
    const start = startOf(page, after);
    const [rarest, ...rest] = conditions
      .map((condition) => {
        const row = ahead.get(key, condition.field, condition.values[0], start, stretch);
        const { matches, last } = row as { readonly matches: bigint; readonly last: string | null };
        return { condition, matches: Number(matches), last: last ?? '' };
      })
      .sort((one, other) => one.matches - other.matches || (isAscending ? -1 : 1) * compareTexts(one.last, other.last));
    if (rarest === undefined || rarest.matches === 0) return found;
    const isEnd = rarest.matches < stretch;
    const others = restricted(key, { ...filter, conditions: rest.map(({ condition }) => condition) }, 'entry.id');
    const rows = statement(
      `SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND id ${comparison(page)} ? AND id ${isAscending ? '<=' : '>='} ?
       ${others.text} ORDER BY id ${direction(page)} LIMIT ?`,
    ).all(
      key,
      rarest.condition.field,
      rarest.condition.values[0],
      start,
      endOf(page, isEnd ? undefined : rarest.last),
      ...others.parameters,
      page.limit - found.length,
    );
    found.push(...idsOf(rows));
    if (isEnd || found.length >= page.limit) return found;
    after = rarest.last;
  }
};

const idsOf = (rows: readonly unknown[]): readonly string[] => (rows as { id: string }[]).map(({ id }) => id);

/**
 * Few documents are read and sorted. Of many, the index of the field is walked from where the page
 * begins, and what does not match is passed over.
 */
const findSorted = (
  database: Database,
  key: bigint,
  filter: Filter,
  page: Page,
  { field, afterKey = '' }: NonNullable<Page['sort']>,
): readonly DocumentRow[] => {
  const { after, order, limit } = page;
  if (isNarrow(database, key, filter)) {
    const sign = order === 'ascending' ? 1 : -1;
    const compare = (one: SortPlace, other: SortPlace): number =>
      sign * (compareTexts(one.key, other.key) || compareTexts(one.id, other.id));
    const all = documentsOf(database, key, findIds(database, key, filter, { order, limit: Number.MAX_SAFE_INTEGER }));
    const placed = all.map((row) => ({ row, id: row.id, key: sortKeyIn(toDocument(row).body, field) }));
    return placed
      .filter((one) => after === undefined || compare(one, { id: after, key: afterKey }) > 0)
      .sort(compare)
      .slice(0, limit)
      .map(({ row }) => row);
  }
  const others = restricted(key, filter, 'entry.id');
  const rows = database
    .statement(
      `SELECT id FROM entry WHERE model = ? AND field = ? AND (value, id) ${comparison(page)} (?, ?) ${others.text}
       ORDER BY value ${direction(page)}, id ${direction(page)} LIMIT ?`,
    )
    .all(
      key,
      sortEntryField(field),
      startOf(page, after === undefined ? undefined : afterKey),
      startOf(page, after),
      ...others.parameters,
      limit,
    );
  return documentsOf(database, key, idsOf(rows));
};

interface SortPlace {
  readonly id: string;
  readonly key: string;
}

/** How many documents match. */
export const countMatches = (database: Database, key: bigint, filter: Filter): number => {
  const { statement } = database;
  const count = (sql: string, ...parameters: readonly SqlValue[]): number =>
    Number((statement(sql).get(...parameters) as { matches: bigint }).matches);
  const { conditions, ids } = filter;
  if (ids !== undefined || conditions.length === 0) {
    const others = restricted(key, filter, 'document.id');
    return count(
      `SELECT count(*) AS matches FROM document WHERE model = ? AND body IS NOT NULL ${others.text}`,
      key,
      ...others.parameters,
    );
  }
  const [rarest, ...rest] = rarestFirst(database, key, conditions);
  const others = restricted(key, { ...filter, conditions: rest }, 'entry.id');
  if (rarest === undefined) return 0;
  const rows = rowsOf(rarest);
  return count(
    `SELECT count(DISTINCT id) AS matches FROM entry WHERE model = ? AND ${rows.text} ${others.text}`,
    key,
    ...rows.parameters,
    ...others.parameters,
  );
};

/** Matches are counted up to here, which is enough to know a rare value from a common one. */
const countedMatches = 500;

/** The rows of the index that fulfil the condition. */
const rowsOf = (condition: Condition): Sql =>
  'values' in condition
    ? {
        text: 'field = ? AND value IN (SELECT value FROM json_each(?))',
        parameters: [condition.field, JSON.stringify(condition.values)],
      }
    : { text: 'field = ? AND value < ?', parameters: [condition.field, condition.below] };

const countUpToEnough = ({ statement }: Database, key: bigint, condition: Condition): bigint => {
  const rows = rowsOf(condition);
  const { matches } = statement(
    `SELECT count(*) AS matches FROM (SELECT 1 FROM entry WHERE model = ? AND ${rows.text} LIMIT ?)`,
  ).get(key, ...rows.parameters, countedMatches) as { matches: bigint };
  return matches;
};

/** Whether so few documents match that sorting them is faster than walking the index. */
const isNarrow = (database: Database, key: bigint, { ids, conditions }: Filter): boolean =>
  ids !== undefined || conditions.some((condition) => countUpToEnough(database, key, condition) < countedMatches);

const rarestFirst = (database: Database, key: bigint, conditions: readonly Condition[]): readonly Condition[] =>
  conditions.length < 2
    ? conditions
    : conditions
        .map((condition) => ({ condition, matches: countUpToEnough(database, key, condition) }))
        .sort((one, other) => Number(one.matches - other.matches))
        .map(({ condition }) => condition);

/**
 * Compares UTF-8 bytes, as the stores do. JavaScript compares UTF-16 units, which gives another
 * order beyond U+FFFF.
 */
const compareTexts = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
