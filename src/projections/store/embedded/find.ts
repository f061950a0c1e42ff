import type { JsonObject } from '../../../events/envelope.js';
import { sortKeyOf } from '../../../platform/foldText.js';
import { checkSort, endOfBeginning, matchesRest, sortKeyIn, wantedValues, type Rest } from '../documents.js';
import type { IdsQuery, ReadModel, ReadModelQuery, Selection, StoredDocument } from '../readModelStore.js';
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

type Page = Pick<ReadModelQuery, 'order' | 'after' | 'limit' | 'sort'>;
type Order = Page['order'];

/** A field that must have one of `values`, which are written as the index stores them. */
interface Condition {
  readonly field: string;
  readonly values: readonly string[];
}

/** Within one value the index is in id order. */
type SingleCondition = Condition & { readonly values: readonly [string] };

const isSingle = (condition: Condition): condition is SingleCondition => condition.values.length === 1;

/** A field that must have a value in this range, as the index stores them; `before` is exclusive. */
interface RangeCondition {
  readonly field: string;
  readonly from: string;
  readonly before: string;
}

/** A selection, as statements need it. */
interface Filter {
  readonly conditions: readonly Condition[];
  readonly beginning: RangeCondition | undefined;
  readonly below: RangeCondition | undefined;
  readonly ids: readonly string[] | undefined;
  readonly without: readonly string[];
  readonly range: NonNullable<Selection['range']>;
  /** What documents are compared with that an index has found. */
  readonly rest: Rest;
  /** A field that every document has exactly one row for, if there is one. */
  readonly everywhere: string | undefined;
}

/** @throws TypeError for a field without the index that the query needs */
const filterOf = (model: ReadModel, query: Selection & Pick<ReadModelQuery, 'sort' | 'search'>): Filter => {
  checkSort(model, query);
  const { ids, without = [], below, beginning, search, range = {} } = query;
  const begun = beginning === undefined ? '' : entryValue(beginning.text).slice(0, -1);
  const sorting = model.indexes.find(({ sorts }) => sorts === true)?.field;
  return {
    conditions: wantedValues(model, query).map(({ field, values }) => ({ field, values: values.map(entryValue) })),
    beginning: beginning && { field: beginning.field, from: begun, before: endOfBeginning(begun) },
    below: below && { field: sortEntryField(below.field), from: '', before: sortKeyOf(below.text) },
    ids: ids && [...new Set(ids)],
    without,
    range,
    rest: { ...(search && { search }), ...(below && { below }), ...(beginning && { beginning }) },
    everywhere: sorting && sortEntryField(sorting),
  };
};

/** A part of a statement with its parameters. */
interface Sql {
  readonly text: string;
  readonly parameters: readonly SqlValue[];
}

/** Where a walk stands: after this document. */
interface Place {
  readonly id: string;
  /** In a sorted list: the key that the document has there. */
  readonly key: string;
}

/** SQLite sorts every blob after every text. */
const afterEveryText = new Uint8Array(1);

const direction = (order: Order): string => (order === 'ascending' ? 'ASC' : 'DESC');

/**
 * The ids from a place on, up to the end of the range, and up to `last` (inclusive). Each side is one
 * bound: of two SQLite seeks by one, and reads every row up to the other.
 */
const idsFrom = ({ range }: Filter, order: Order, after: Place | null, last?: string): Sql => {
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
const restricted = (key: bigint, conditions: readonly Condition[], without: readonly string[], id: string): Sql => {
  const parts: Sql[] = conditions.map((condition) => ({
    text: `AND EXISTS (SELECT 1 FROM entry AS other WHERE other.model = ? AND other.field = ?
           AND other.value ${isSingle(condition) ? '= ?' : 'IN (SELECT value FROM json_each(?))'} AND other.id = ${id})`,
    parameters: [key, condition.field, isSingle(condition) ? condition.values[0] : JSON.stringify(condition.values)],
  }));
  if (without.length > 0)
    parts.push({ text: `AND ${id} NOT IN (SELECT value FROM json_each(?))`, parameters: [JSON.stringify(without)] });
  return { text: parts.map(({ text }) => text).join(' '), parameters: parts.flatMap(({ parameters }) => parameters) };
};

/** A part of a walk: ids that match, in its order, and where it goes on; `null`: nowhere. */
interface Stretch {
  readonly ids: readonly string[];
  readonly next: Place | null;
}

/**
 * Walks an index from a place on: over `size` rows or more, but never all of a large index. It may
 * end as soon as it has found `wanted`.
 */
type Walk = (after: Place | null, size: number, wanted: number) => Stretch;

interface WalkParts {
  readonly database: Pick<Database, 'statement'>;
  /** Of the model. */
  readonly key: bigint;
  readonly filter: Filter;
  readonly order: Order;
}

/** The documents with these ids, in this order. */
const documentsOf = (
  { statement }: Pick<Database, 'statement'>,
  key: bigint,
  ids: readonly string[],
): readonly StoredDocument[] =>
  (
    statement(
      `SELECT document.id, revision, position, body FROM json_each(?) AS wanted
       CROSS JOIN document ON model = ? AND document.id = wanted.value AND body IS NOT NULL ORDER BY wanted.key`,
    ).all(JSON.stringify(ids), key) as DocumentRow[]
  ).map(toDocument);

const idsOf = (rows: readonly unknown[]): readonly string[] => (rows as { id: string }[]).map(({ id }) => id);

/** Goes on where `wanted` were found, else from `end`. */
const stretchOf = (ids: readonly string[], wanted: number, end: Place | null): Stretch => {
  const last = ids.at(-1);
  return { ids, next: last !== undefined && ids.length >= wanted ? { id: last, key: '' } : end };
};

/** Walks all documents. */
const walkDocuments =
  ({ database, key, filter, order }: WalkParts): Walk =>
  (after, size, wanted) => {
    const between = idsFrom(filter, order, after);
    const others = restricted(key, [], filter.without, 'id');
    const max = Math.min(size, wanted);
    const rows = database
      .statement(
        `SELECT id FROM document WHERE model = ? AND ${between.text} AND body IS NOT NULL ${others.text}
         ORDER BY id ${direction(order)} LIMIT ?`,
      )
      .all(key, ...between.parameters, ...others.parameters, max);
    return stretchOf(idsOf(rows), max, null);
  };

/**
 * Walks what has all of several values. Of every condition `size` rows are looked at; the one that
 * gets furthest by them is rarest here, and is walked as far as that. So the cost is that of the
 * rarest condition, whichever that is, wherever its rows are.
 * @param conditions one or more
 * @param others what else the documents must have
 */
const walkSingles =
  (
    { database: { statement }, key, filter, order }: WalkParts,
    conditions: readonly SingleCondition[],
    others: readonly Condition[],
  ): Walk =>
  (after, size, wanted) => {
    const isAscending = order === 'ascending';
    const between = idsFrom(filter, order, after);
    const ahead = statement(
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
    const rows = statement(
      `SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND ${walked.text} ${also.text}
       ORDER BY id ${direction(order)} LIMIT ?`,
    ).all(key, rarest.condition.field, rarest.condition.values[0], ...walked.parameters, ...also.parameters, wanted);
    return stretchOf(idsOf(rows), wanted, rarest.matches < size ? null : { id: rarest.last, key: '' });
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
  return idsOf(database.statement(sql).all(JSON.stringify(ids), ...others.parameters));
};

/** Rows of one value that are read at once, at first and at most. */
const [firstChunk, largestChunk] = [2, 64];

/**
 * Walks what has any of several values, which are in id order each: they are merged, so that no more
 * is read than is listed.
 * @param values a statement's text with the columns `value`
 * @param others what else the documents must have
 */
const walkAny =
  (parts: WalkParts, field: string, values: Sql, others: readonly Condition[]): Walk =>
  (after, size) => {
    const { database, key, filter, order } = parts;
    const { statement } = database;
    const isAscending = order === 'ascending';
    const between = idsFrom(filter, order, after);
    const firsts = statement(
      `WITH ${values.text}
       SELECT value, (SELECT ${isAscending ? 'min' : 'max'}(id) FROM entry
         WHERE model = ? AND field = ? AND entry.value = wanted.value AND ${between.text}) AS id
       FROM wanted WHERE value IS NOT NULL`,
    ).all(...values.parameters, key, field, ...between.parameters) as { value: string; id: string | null }[];

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
        const next = statement(
          `SELECT id FROM entry WHERE model = ? AND field = ? AND value = ? AND ${beyond.text} ORDER BY id ${direction(order)} LIMIT ?`,
        ).all(key, field, run.value, ...beyond.parameters, run.chunk);
        run.rows = [...idsOf(next)];
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
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = items[middle];
    if (other !== undefined && compare(other, item) <= 0) from = middle + 1;
    else to = middle;
  }
  items.splice(from, 0, item);
};

const givenValues = (values: readonly string[]): Sql => ({
  text: 'wanted AS (SELECT value FROM json_each(?))',
  parameters: [JSON.stringify(values)],
});

/** The distinct values of a range, each found by a look at the index. */
const valuesWithin = (key: bigint, { field, from, before }: RangeCondition): Sql => ({
  text: `RECURSIVE wanted (value) AS (
           SELECT min(value) FROM entry WHERE model = ? AND field = ? AND value >= ? AND value < ?
           UNION ALL
           SELECT (SELECT min(value) FROM entry WHERE model = ? AND field = ? AND value > wanted.value AND value < ?)
           FROM wanted WHERE value IS NOT NULL)`,
  parameters: [key, field, from, before, key, field, before],
});

/** Walks by id what an index has by another order: each step reads all of it. */
const walkFew =
  (parts: WalkParts, rows: RangeCondition, conditions: readonly Condition[]): Walk =>
  (after, size) => {
    const { database, key, filter, order } = parts;
    const between = idsFrom(filter, order, after);
    const sql = `SELECT id FROM entry WHERE model = ? AND field = ? AND value >= ? AND value < ? AND ${between.text}
                 ORDER BY id ${direction(order)} LIMIT ?`;
    const { statement } = database;
    const ids = idsOf(statement(sql).all(key, rows.field, rows.from, rows.before, ...between.parameters, size));
    const last = ids.at(-1);
    return {
      ids: matching(parts, ids, conditions),
      next: last === undefined || ids.length < size ? null : { id: last, key: '' },
    };
  };

/** Walks ids that are at hand. */
const walkIds = (parts: WalkParts, wantedIds: readonly string[], conditions: readonly Condition[]): Walk => {
  const { order, filter } = parts;
  const { from = '', before } = filter.range;
  const sign = order === 'ascending' ? 1 : -1;
  const sorted = wantedIds
    .filter((id) => compareTexts(id, from) >= 0 && (before === undefined || compareTexts(id, before) < 0))
    .sort((one, other) => sign * compareTexts(one, other));
  return (after, size) => {
    const start = after === null ? 0 : sorted.findIndex((id) => sign * compareTexts(id, after.id) > 0);
    const ids = start === -1 ? [] : sorted.slice(start, start + size);
    const last = ids.at(-1);
    const next = last === undefined || start + size >= sorted.length ? null : { id: last, key: '' };
    return { ids: matching(parts, ids, conditions), next };
  };
};

/** Walks all documents by the key of a field. */
const walkSorted = ({ database: { statement }, key, filter, order }: WalkParts, field: string): Walk => {
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
    const others = restricted(key, filter.conditions, filter.without, 'entry.id');
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
    return { ids: idsOf(found), next: found.length >= wanted ? (found.at(-1) ?? null) : (last ?? null) };
  };
};

/** Up to here rows are counted to know what is rare; fewer are sorted without walking an index. */
const countedRows = 500;
/** So many documents are sorted at most, where walking the index of the field finds too little. */
const maxSorted = 20_000;

const countUpTo = ({ database, key }: WalkParts, rows: Sql, max: number): number => {
  const sql = `SELECT count(*) AS matches FROM (SELECT 1 FROM entry WHERE model = ? AND ${rows.text} LIMIT ?)`;
  return Number((database.statement(sql).get(key, ...rows.parameters, max) as { matches: bigint }).matches);
};

const rowsOf = (condition: Condition): Sql => ({
  text: 'field = ? AND value IN (SELECT value FROM json_each(?))',
  parameters: [condition.field, JSON.stringify(condition.values)],
});

const rowsWithin = ({ field, from, before }: RangeCondition): Sql => ({
  text: 'field = ? AND value >= ? AND value < ?',
  parameters: [field, from, before],
});

/** How many rows the rarest condition has, counted up to `max`. */
const rarestCount = (parts: WalkParts, max: number): number => {
  const { conditions, beginning, below } = parts.filter;
  const ranges = [beginning, below].filter((range) => range !== undefined);
  const counts = [...conditions.map(rowsOf), ...ranges.map(rowsWithin)].map((rows) => countUpTo(parts, rows, max));
  return Math.min(max, ...counts);
};

/** Walks by id, whichever index reads least. What it does not look at, `filter.rest` compares. */
const walkById = (parts: WalkParts): Walk => {
  const { key, filter } = parts;
  const { conditions, ids, beginning, below } = filter;
  if (ids !== undefined) return walkIds(parts, ids, conditions);
  if (below !== undefined && countUpTo(parts, rowsWithin(below), maxSorted) < maxSorted) return walkFew(parts, below, conditions);
  const singles = conditions.filter(isSingle);
  if (singles.length === conditions.length && beginning === undefined)
    return singles.length === 0 ? walkDocuments(parts) : walkSingles(parts, singles, []);

  const counted = conditions.map((condition) => ({ condition, rows: countUpTo(parts, rowsOf(condition), countedRows) }));
  // Of what is common alike, the merged values are walked, because a look at all of them costs most.
  const [rarest] = counted.sort(
    (one, other) => one.rows - other.rows || other.condition.values.length - one.condition.values.length,
  );
  if (beginning !== undefined && countUpTo(parts, rowsWithin(beginning), countedRows) <= (rarest?.rows ?? countedRows))
    return walkAny(parts, beginning.field, valuesWithin(key, beginning), conditions);
  if (rarest === undefined) return walkDocuments(parts);
  const others = conditions.filter((condition) => condition !== rarest.condition);
  return isSingle(rarest.condition)
    ? walkSingles(
        parts,
        singles,
        conditions.filter((condition) => !isSingle(condition)),
      )
    : walkAny(parts, rarest.condition.field, givenValues(rarest.condition.values), others);
};

/** Every walk that some number of rows makes the best one, for checking how statements are planned. */
export const walksOf = (
  database: WalkParts['database'],
  key: bigint,
  model: ReadModel,
  query: ReadModelQuery,
): readonly Walk[] => {
  const filter = filterOf(model, query);
  const parts: WalkParts = { database, key, filter, order: query.order };
  const { conditions, beginning, below } = filter;
  const singles = conditions.filter(isSingle);
  return [
    ...(query.sort === undefined ? [] : [walkSorted(parts, query.sort.field)]),
    ...(singles.length === 0 ? [walkDocuments(parts)] : [walkSingles(parts, singles, conditions)]),
    ...(beginning === undefined ? [] : [walkAny(parts, beginning.field, valuesWithin(key, beginning), conditions)]),
    ...(below === undefined ? [] : [walkFew(parts, below, conditions)]),
    ...conditions.map(({ field, values }) => walkAny(parts, field, givenValues(values), conditions)),
  ];
};

/** Rows that a step looks at, at first and at most: other work gets its turn between steps. */
const [firstSize, largestSize] = [64, 4_096];
/** Documents that a step reads at most, where it cannot be known which of them match. */
const maxRead = 500;
/** After these steps along the index of a field, sorting what matches may be faster. */
const stepsBeforeSorting = 4;

/**
 * A part of long work on the store: `null` when there is more to do. A step that throws may be
 * repeated.
 */
export type Steps<Result> = () => Result | null;

/**
 * Walks on, and gives documents that match to `take`, which returns how many more it can use.
 * @param choose makes the walk, in the first step
 */
const reading = (
  { database, key, filter }: WalkParts,
  choose: () => Walk,
  start: Place | null,
  take: (documents: readonly StoredDocument[]) => number,
): Steps<true> => {
  const isCompared = Object.keys(filter.rest).length > 0;
  let walk: Walk | undefined;
  let place = start;
  let size = firstSize;
  let left = take([]);
  return () => {
    walk ??= choose();
    const max = isCompared ? maxRead : Math.min(left, maxRead);
    const walked = walk(place, isCompared ? Math.min(size, maxRead) : size, max);
    const { ids, next } = walked.ids.length > max ? stretchOf(walked.ids.slice(0, max), max, null) : walked;
    left = take(documentsOf(database, key, ids).filter(({ body }) => matchesRest(body, filter.rest)));
    place = next;
    size = Math.min(largestSize, size * 4);
    return left <= 0 || place === null ? true : null;
  };
};

/** A page of documents that match. */
export const startFinding = (
  database: Pick<Database, 'statement'>,
  key: bigint,
  model: ReadModel,
  query: ReadModelQuery,
): Steps<readonly StoredDocument[]> => {
  const { order, after, limit, sort } = query;
  const parts: WalkParts = { database, key, filter: filterOf(model, query), order };
  const start: Place | null = after === undefined ? null : { id: after, key: sort?.afterKey ?? '' };

  const walking = (choose: () => Walk): Steps<readonly StoredDocument[]> => {
    const found: StoredDocument[] = [];
    const step = reading(parts, choose, start, (documents) => {
      found.push(...documents.slice(0, limit - found.length));
      return limit - found.length;
    });
    return () => (step() === null ? null : found);
  };
  if (sort === undefined) return walking(() => walkById(parts));

  const sorting = (): Steps<readonly StoredDocument[]> => {
    const places: Place[] = [];
    const step = reading(
      parts,
      () => walkById(parts),
      null,
      (documents) => {
        for (const { id, body } of documents) places.push({ id, key: sortKeyIn(body, sort.field) });
        return Infinity;
      },
    );
    return () => (step() === null ? null : documentsOf(database, key, firstOf(places, start, order, limit)));
  };
  const isFewerThan = (max: number): boolean => parts.filter.ids !== undefined || rarestCount(parts, max) < max;
  let steps: Steps<readonly StoredDocument[]> | undefined;
  let taken = 0;
  return () => {
    if (steps === undefined) steps = isFewerThan(countedRows) ? sorting() : walking(() => walkSorted(parts, sort.field));
    // What is listed first may stand far from where the index begins.
    else if (taken === stepsBeforeSorting && isFewerThan(maxSorted)) steps = sorting();
    taken += 1;
    return steps();
  };
};

const firstOf = (places: readonly Place[], start: Place | null, order: Order, limit: number): readonly string[] => {
  const sign = order === 'ascending' ? 1 : -1;
  const compare = (one: Place, other: Place): number =>
    sign * (compareTexts(one.key, other.key) || compareTexts(one.id, other.id));
  return idsOf(
    places
      .filter((one) => start === null || compare(one, start) > 0)
      .sort(compare)
      .slice(0, limit),
  );
};

/** The ids of documents that match, newest first, by indexes alone where these can tell. */
export const startListingIds = (
  database: Pick<Database, 'statement'>,
  key: bigint,
  model: ReadModel,
  { after, limit = Infinity, ...selection }: IdsQuery,
): Steps<readonly string[]> => {
  const parts: WalkParts = { database, key, filter: filterOf(model, selection), order: 'descending' };
  const { rest, conditions } = parts.filter;
  const start: Place | null = after === undefined ? null : { id: after, key: '' };
  const found: string[] = [];
  // Only documents that are there have rows in the index.
  if (Object.keys(rest).length > 0 || conditions.length === 0) {
    const step = reading(
      parts,
      () => walkById(parts),
      start,
      (documents) => {
        found.push(...documents.map(({ id }) => id).slice(0, limit - found.length));
        return limit - found.length;
      },
    );
    return () => (step() === null ? null : found);
  }
  let walk: Walk | undefined;
  let place = start;
  return () => {
    walk ??= walkById(parts);
    const max = Math.min(largestSize, limit - found.length);
    const { ids, next } = walk(place, max, max);
    found.push(...ids);
    place = next;
    return next === null || found.length >= limit ? found.slice(0, limit) : null;
  };
};

/** How many documents match. */
export const startCounting = (
  database: Pick<Database, 'statement'>,
  key: bigint,
  model: ReadModel,
  selection: Selection,
): Steps<number> => {
  const { statement } = database;
  const filter = filterOf(model, selection);
  const [only, second] = filter.conditions;
  const isPlain = Object.keys(filter.rest).length === 0 && filter.ids === undefined && filter.without.length === 0;
  const isWhole = only === undefined && filter.everywhere !== undefined && Object.keys(filter.range).length === 0;
  const isOne = only !== undefined && isSingle(only) && second === undefined;
  if (!isPlain || !(isWhole || isOne)) {
    const step = startListingIds(database, key, model, selection);
    return () => step()?.length ?? null;
  }
  const field = isOne ? only.field : (filter.everywhere ?? '');
  let place: Place | null = null;
  let count = 0;
  return () => {
    const rows: Sql = isOne
      ? ((between) => ({ text: `value = ? AND ${between.text}`, parameters: [only.values[0], ...between.parameters] }))(
          idsFrom(filter, 'ascending', place),
        )
      : { text: '(value, id) > (?, ?)', parameters: [place?.key ?? '', place?.id ?? ''] };
    const from = `FROM entry WHERE model = ? AND field = ? AND ${rows.text}`;
    const last = statement(`SELECT value AS key, id ${from} ORDER BY value, id LIMIT 1 OFFSET ?`).get(
      key,
      field,
      ...rows.parameters,
      countedAtOnce - 1,
    ) as Place | undefined;
    if (last !== undefined) {
      [place, count] = [last, count + countedAtOnce];
      return null;
    }
    const left = statement(`SELECT count(*) AS matches ${from}`).get(key, field, ...rows.parameters) as { matches: bigint };
    return count + Number(left.matches);
  };
};

/** Rows of an index that are counted in a step. */
const countedAtOnce = 50_000;

/**
 * Compares UTF-8 bytes, as the stores do. JavaScript compares UTF-16 units, which gives another
 * order beyond U+FFFF.
 */
const compareTexts = (one: string, other: string): number =>
  one === other
    ? 0
    : /[\ud800-\uffff]/.test(one + other)
      ? Buffer.compare(Buffer.from(one), Buffer.from(other))
      : one < other
        ? -1
        : 1;
