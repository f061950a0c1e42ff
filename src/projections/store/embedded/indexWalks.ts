import type { Database, SqlValue } from './database.js';
import {
  afterEveryText,
  compareTexts,
  direction,
  givenValues,
  idsFrom,
  restricted,
  rowsOf,
  sortEntryField,
  valuesWithin,
  type Condition,
  type IdFilter,
  type Order,
  type Place,
  type RangeCondition,
  type SingleCondition,
  type Sql,
} from './indexSql.js';

/** A part of a walk: ids that match, in its order, and where it goes on; `null`: nowhere. */
interface Stretch {
  readonly ids: readonly string[];
  readonly next: Place | null;
}

/**
 * Walks an index from a place on: over `size` rows or more, but never all of a large index. It may
 * end as soon as it has found `wanted`.
 */
export type Walk = (after: Place | null, size: number, wanted: number) => Stretch;

/** What every walk is made of. */
export interface WalkParts {
  readonly database: Pick<Database, 'statement'>;
  /** Of the model. */
  readonly key: bigint;
  readonly filter: IdFilter;
  readonly order: Order;
}

/**
 * The ids that a query selects, in its order: as one text, because the driver takes three times as
 * long to make a row of each.
 */
const idsIn = ({ statement }: WalkParts['database'], sql: string, ...parameters: readonly SqlValue[]): string[] => {
  const row = statement(`SELECT json_group_array(id) AS ids FROM (${sql})`).get(...parameters);
  return JSON.parse((row as { readonly ids: string }).ids) as string[];
};

/** Goes on where `wanted` were found, else from `end`. */
export const stretchOf = (ids: readonly string[], wanted: number, end: Place | null): Stretch => {
  const last = ids.at(-1);
  return { ids, next: last !== undefined && ids.length >= wanted ? { id: last, key: '' } : end };
};

/** Walks all documents. */
export const walkDocuments =
  ({ database, key, filter, order }: WalkParts): Walk =>
  (after, size, wanted) => {
    const between = idsFrom(filter, order, after);
    const others = restricted(key, [], filter.without, 'id');
    const max = Math.min(size, wanted);
    const sql = `SELECT id FROM document WHERE model = ? AND ${between.text} AND body IS NOT NULL ${others.text}
                 ORDER BY id ${direction(order)} LIMIT ?`;
    return stretchOf(idsIn(database, sql, key, ...between.parameters, ...others.parameters, max), max, null);
  };

/**
 * Walks what has all of several values. Of every condition `size` rows are looked at; the one that
 * gets furthest by them is rarest here, and is walked as far as that. So the cost is that of the
 * rarest condition, whichever that is, wherever its rows are. Where one condition is all, its rows
 * are what is listed.
 * @param conditions one or more
 * @param others what else the documents must have
 */
export const walkSingles =
  ({ database, key, filter, order }: WalkParts, conditions: readonly SingleCondition[], others: readonly Condition[]): Walk =>
  (after, size, wanted) => {
    const [only, second] = conditions;
    if (only !== undefined && second === undefined && others.length === 0 && filter.without.length === 0) {
      const max = Math.min(size, wanted);
      const between = idsFrom(filter, order, after);
      const sql = `SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND ${between.text}
                   ORDER BY id ${direction(order)} LIMIT ?`;
      return stretchOf(idsIn(database, sql, key, only.field, only.values[0], ...between.parameters, max), max, null);
    }
    const isAscending = order === 'ascending';
    const between = idsFrom(filter, order, after);
    const ahead = database.statement(
      `SELECT count(*) AS matches, ${isAscending ? 'max' : 'min'}(id) AS last FROM
       (SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND ${between.text} ORDER BY id ${direction(order)} LIMIT ?)`,
    );
    const [rarest, ...rest] = conditions
      .map((condition) => {
        const row = ahead.get(key, condition.field, condition.values[0], ...between.parameters, size);
        const { matches, last } = row as { readonly matches: bigint; readonly last: string | null };
        return { condition, matches: Number(matches), last: last ?? '' };
      })
      .sort((one, other) => one.matches - other.matches || (isAscending ? -1 : 1) * compareTexts(one.last, other.last));
    if (rarest === undefined || rarest.matches === 0) return { ids: [], next: null };
    const walked = idsFrom(filter, order, after, rarest.last);
    const also = restricted(key, [...rest.map(({ condition }) => condition), ...others], filter.without, 'entry.id');
    const { field, values } = rarest.condition;
    const sql = `SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND ${walked.text} ${also.text}
                 ORDER BY id ${direction(order)} LIMIT ?`;
    const ids = idsIn(database, sql, key, field, values[0], ...walked.parameters, ...also.parameters, wanted);
    return stretchOf(ids, wanted, rarest.matches < size ? null : { id: rarest.last, key: '' });
  };

/** Those of the ids, in their order, that fulfil the conditions. */
const matching = (
  { database, key, filter }: WalkParts,
  ids: readonly string[],
  conditions: readonly Condition[],
): readonly string[] => {
  if (ids.length === 0 || (conditions.length === 0 && filter.without.length === 0)) return ids;
  const others = restricted(key, conditions, filter.without, 'wanted.value');
  const sql = `SELECT wanted.value AS id FROM json_each(?) AS wanted WHERE true ${others.text} ORDER BY wanted.key`;
  return idsIn(database, sql, JSON.stringify(ids), ...others.parameters);
};

/** Rows of one value that are read at once, at first and at most. */
const [firstChunk, largestChunk] = [2, 64];

/**
 * Walks what has any of several values, which are in id order each: they are merged, so that no more
 * is read than is listed.
 * @param others what else the documents must have
 */
export const walkAny =
  (parts: WalkParts, wanted: Condition | RangeCondition, others: readonly Condition[]): Walk =>
  (after, size) => {
    const { database, key, filter, order } = parts;
    const { field } = wanted;
    const values = 'values' in wanted ? givenValues(wanted.values) : valuesWithin(key, wanted);
    const isAscending = order === 'ascending';
    const between = idsFrom(filter, order, after);
    const firsts = database
      .statement(
        `WITH ${values.text}
       SELECT value, (SELECT ${isAscending ? 'min' : 'max'}(id) FROM entry
         WHERE model = ? AND field = ? AND entry.value = wanted.value AND ${between.text}) AS id
       FROM wanted WHERE value IS NOT NULL`,
      )
      .all(...values.parameters, key, field, ...between.parameters) as { value: string; id: string | null }[];

    /** Each value with its next rows; the one whose row is next of all stands last. */
    const runs = firsts.flatMap(({ value, id }) => (id === null ? [] : [{ value, rows: [id], at: 0, chunk: firstChunk }]));
    const sign = isAscending ? -1 : 1;
    const compare = (one: Run, other: Run): number => sign * compareTexts(one.rows[one.at] ?? '', other.rows[other.at] ?? '');
    runs.sort(compare);
    const ids: string[] = [];
    while (ids.length < size) {
      const run = runs.pop();
      if (run === undefined) break;
      const id = run.rows[run.at] ?? '';
      if (ids.at(-1) !== id) ids.push(id);
      run.at += 1;
      if (run.at === run.rows.length) {
        const beyond = idsFrom(filter, order, { id, key: '' });
        const sql = `SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND ${beyond.text}
                     ORDER BY id ${direction(order)} LIMIT ?`;
        run.rows = idsIn(database, sql, key, field, run.value, ...beyond.parameters, run.chunk);
        run.at = 0;
        run.chunk = Math.min(largestChunk, run.chunk * 4);
      }
      if (run.rows.length > 0) insertInOrder(runs, run, compare);
    }
    const last = ids.at(-1);
    const next = runs.length === 0 || last === undefined ? null : { id: last, key: '' };
    return { ids: matching(parts, ids, others), next };
  };

interface Run {
  readonly value: string;
  rows: string[];
  at: number;
  chunk: number;
}

const insertInOrder = <Item>(items: Item[], item: Item, compare: (one: Item, other: Item) => number): void => {
  items.splice(
    firstIndex(items, (other) => compare(other, item) > 0),
    0,
    item,
  );
};

/** Where those begin of which `isBeyond` is true, which are the last ones. */
const firstIndex = <Item>(items: readonly Item[], isBeyond: (item: Item) => boolean): number => {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const item = items[middle];
    if (item !== undefined && isBeyond(item)) to = middle;
    else from = middle + 1;
  }
  return from;
};

/** Walks by id what an index has by another order: each step reads all of it. */
export const walkFew =
  (parts: WalkParts, rows: RangeCondition, conditions: readonly Condition[]): Walk =>
  (after, size) => {
    const { database, key, filter, order } = parts;
    const between = idsFrom(filter, order, after);
    const sql = `SELECT id FROM entry WHERE model = ? AND field = ? AND value >= ? AND value < ? AND ${between.text}
                 ORDER BY id ${direction(order)} LIMIT ?`;
    const ids = idsIn(database, sql, key, rows.field, rows.from, rows.before, ...between.parameters, size);
    const last = ids.at(-1);
    return {
      ids: matching(parts, ids, conditions),
      next: last === undefined || ids.length < size ? null : { id: last, key: '' },
    };
  };

/** Walks ids that are at hand. */
export const walkIds = (parts: WalkParts, wantedIds: readonly string[], conditions: readonly Condition[]): Walk => {
  const { order, filter } = parts;
  const { from, before } = filter.range;
  const sign = order === 'ascending' ? 1 : -1;
  const sorted = wantedIds
    .filter((id) => from === undefined || compareTexts(id, from) >= 0)
    .filter((id) => before === undefined || compareTexts(id, before) < 0)
    .sort((one, other) => sign * compareTexts(one, other));
  return (after, size) => {
    const start = after === null ? 0 : firstIndex(sorted, (id) => sign * compareTexts(id, after.id) > 0);
    const ids = sorted.slice(start, start + size);
    const last = ids.at(-1);
    const next = last === undefined || start + size >= sorted.length ? null : { id: last, key: '' };
    return { ids: matching(parts, ids, conditions), next };
  };
};

/** Walks what fulfils the conditions by the key of a field. */
export const walkSorted = (
  { database: { statement }, key, filter, order }: WalkParts,
  field: string,
  conditions: readonly Condition[],
): Walk => {
  const [beyond, upTo] = order === 'ascending' ? ['>', '<='] : ['<', '>='];
  const place = (after: Place | null): readonly SqlValue[] =>
    after !== null ? [after.key, after.id] : order === 'ascending' ? ['', ''] : [afterEveryText, afterEveryText];
  const by = `ORDER BY value ${direction(order)}, id ${direction(order)}`;
  return (after, size, wanted) => {
    const rows = `FROM entry WHERE model = ? AND field = ? AND (value, id) ${beyond} (?, ?)`;
    const last = statement(`SELECT value AS key, id ${rows} ${by} LIMIT 1 OFFSET ?`).get(
      key,
      sortEntryField(field),
      ...place(after),
      size - 1,
    ) as Place | undefined;
    const end = last === undefined ? [] : [last.key, last.id];
    const others = restricted(key, conditions, filter.without, 'entry.id');
    const { from, before } = filter.range;
    const found = statement(
      `SELECT value AS key, id ${rows} ${last === undefined ? '' : `AND (value, id) ${upTo} (?, ?)`}
       AND id >= ? AND id < ? ${others.text} ${by} LIMIT ?`,
    ).all(
      key,
      sortEntryField(field),
      ...place(after),
      ...end,
      from ?? '',
      before ?? afterEveryText,
      ...others.parameters,
      wanted,
    ) as Place[];
    return { ids: found.map(({ id }) => id), next: found.length >= wanted ? (found.at(-1) ?? null) : (last ?? null) };
  };
};

/** How many rows fulfil the condition, counted up to `max`. */
export const countUpTo = ({ database, key }: WalkParts, condition: Condition | RangeCondition, max: number): number => {
  const rows = rowsOf(condition);
  const sql = `SELECT count(*) AS matches FROM (SELECT 1 FROM entry WHERE model = ? AND ${rows.text} LIMIT ?)`;
  return Number((database.statement(sql).get(key, ...rows.parameters, max) as { matches: bigint }).matches);
};

/** Rows of an index that are counted at once. */
const countedAtOnce = 50_000;

/**
 * Counts rows of a field from a place on: of one value those in the range, else all; `next`: where
 * counting goes on.
 */
export const countFrom = (
  { database: { statement }, key, filter }: WalkParts,
  field: string,
  value: string | undefined,
  after: Place | null,
): { readonly count: number; readonly next: Place | null } => {
  const between = idsFrom(filter, 'ascending', after);
  const rows: Sql =
    value === undefined
      ? { text: '(value, id) > (?, ?)', parameters: [after?.key ?? '', after?.id ?? ''] }
      : { text: `value = ? AND ${between.text}`, parameters: [value, ...between.parameters] };
  const from = `FROM entry WHERE model = ? AND field = ? AND ${rows.text}`;
  const last = statement(`SELECT value AS key, id ${from} ORDER BY value, id LIMIT 1 OFFSET ?`).get(
    key,
    field,
    ...rows.parameters,
    countedAtOnce - 1,
  ) as Place | undefined;
  if (last !== undefined) return { count: countedAtOnce, next: last };
  const left = statement(`SELECT count(*) AS matches ${from}`).get(key, field, ...rows.parameters) as { matches: bigint };
  return { count: Number(left.matches), next: null };
};
