import type { JsonObject } from '../../../events/envelope.js';
import { sortKeyOf } from '../../../platform/foldText.js';
import { checkSort, endOfBeginning, matchesRest, sortKeyIn, wantedValues, type Rest } from '../documents.js';
import type { IdsQuery, ReadModel, ReadModelQuery, Selection, StoredDocument } from '../readModelStore.js';
import type { Database } from './database.js';
import {
  compareTexts,
  entryValue,
  isSingle,
  sortEntryField,
  type Condition,
  type IdFilter,
  type Place,
  type RangeCondition,
} from './indexSql.js';
import {
  countFrom,
  countUpTo,
  stretchOf,
  walkAny,
  walkDocuments,
  walkFew,
  walkIds,
  walkSingles,
  walkSorted,
  type Walk,
  type WalkParts,
} from './indexWalks.js';

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

/** A selection, as statements need it. */
interface Filter extends IdFilter {
  readonly conditions: readonly Condition[];
  readonly beginning: RangeCondition | undefined;
  readonly below: RangeCondition | undefined;
  readonly ids: readonly string[] | undefined;
  /** What documents are compared with that an index has found. */
  readonly rest: Rest;
  /** A field that every document has exactly one row for, if there is one. */
  readonly everywhere: string | undefined;
}

/** As `WalkParts`, with what a walk is chosen by. */
interface FindParts extends WalkParts {
  readonly filter: Filter;
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

/** Up to here rows are counted to know what is rare; fewer are sorted without walking an index. */
const countedRows = 500;
/** So many documents are sorted at most, where walking the index of the field finds too little. */
const maxSorted = 20_000;

/** How many rows the rarest condition has, counted up to `max`. */
const rarestCount = (parts: FindParts, max: number): number => {
  const { conditions, beginning, below } = parts.filter;
  const all = [...conditions, beginning, below].filter((condition) => condition !== undefined);
  return Math.min(max, ...all.map((condition) => countUpTo(parts, condition, max)));
};

/** So many rows of an index are read, at least, in the time in which one document is. */
const rowsPerDocument = 8;

/**
 * Whether so few documents fulfil a condition that reading its index is faster than looking at each of
 * the ids that are asked for. How a value begins is compared in the documents, where it is not walked.
 */
const isRarerThanIds = (parts: FindParts, ids: readonly string[]): boolean => {
  if (ids.length < firstSize) return false;
  const max = Math.min(maxSorted, ids.length * (parts.filter.beginning === undefined ? 1 : rowsPerDocument));
  return rarestCount(parts, max) < max;
};

/** Walks by id, whichever index reads least. What it does not look at, `filter.rest` compares. */
const walkById = (parts: FindParts): Walk => {
  const { conditions, ids, beginning, below } = parts.filter;
  if (ids !== undefined) {
    if (!isRarerThanIds(parts, ids)) return walkIds(parts, ids, conditions);
    return among(ids, walkById({ ...parts, filter: { ...parts.filter, ids: undefined } }));
  }
  if (below !== undefined && countUpTo(parts, below, maxSorted) < maxSorted) return walkFew(parts, below, conditions);
  const singles = conditions.filter(isSingle);
  if (singles.length === conditions.length && beginning === undefined)
    return singles.length === 0 ? walkDocuments(parts) : walkSingles(parts, singles, []);

  const counted = conditions.map((condition) => ({ condition, rows: countUpTo(parts, condition, countedRows) }));
  // Of what is common alike, the merged values are walked, because a look at all of them costs most.
  const [rarest] = counted.sort(
    (one, other) => one.rows - other.rows || other.condition.values.length - one.condition.values.length,
  );
  if (beginning !== undefined && countUpTo(parts, beginning, countedRows) <= (rarest?.rows ?? countedRows))
    return walkAny(parts, beginning, conditions);
  if (rarest === undefined) return walkDocuments(parts);
  const others = conditions.filter((condition) => condition !== rarest.condition);
  return isSingle(rarest.condition)
    ? walkSingles(
        parts,
        singles,
        conditions.filter((condition) => !isSingle(condition)),
      )
    : walkAny(parts, rarest.condition, others);
};

/** What the walk finds among the ids: how many of the next ones are, is not known before. */
const among = (ids: readonly string[], walk: Walk): Walk => {
  const wantedIds = new Set(ids);
  return (after, size) => {
    const { ids: found, next } = walk(after, size, size);
    return { ids: found.filter((id) => wantedIds.has(id)), next };
  };
};

/** Every walk that some number of rows makes the best one, for checking how statements are planned. */
export const walksOf = (
  database: WalkParts['database'],
  key: bigint,
  model: ReadModel,
  query: ReadModelQuery,
): readonly Walk[] => {
  const filter = filterOf(model, query);
  const parts: FindParts = { database, key, filter, order: query.order };
  const { conditions, beginning, below } = filter;
  const singles = conditions.filter(isSingle);
  return [
    ...(query.sort === undefined ? [] : [walkSorted(parts, query.sort.field, conditions)]),
    ...(singles.length === 0 ? [walkDocuments(parts)] : [walkSingles(parts, singles, conditions)]),
    ...(beginning === undefined ? [] : [walkAny(parts, beginning, conditions)]),
    ...(below === undefined ? [] : [walkFew(parts, below, conditions)]),
    ...conditions.map((condition) => walkAny(parts, condition, conditions)),
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
 * Walks on, and collects what `itemOf` makes of each document that matches, up to `limit`.
 * @param choose makes the walk, in the first step
 */
const collecting = <Item>(
  { database, key, filter }: FindParts,
  choose: () => Walk,
  start: Place | null,
  limit: number,
  itemOf: (document: StoredDocument) => Item,
): Steps<readonly Item[]> => {
  const isCompared = Object.keys(filter.rest).length > 0;
  const found: Item[] = [];
  let walk: Walk | undefined;
  let place = start;
  let size = firstSize;
  return () => {
    walk ??= choose();
    const left = limit - found.length;
    const max = isCompared ? maxRead : Math.min(left, maxRead);
    // What ends the list may be found among more than are read.
    const walked = walk(place, isCompared || left > maxRead ? Math.min(size, maxRead) : size, max);
    const { ids, next } = walked.ids.length > max ? stretchOf(walked.ids.slice(0, max), max, null) : walked;
    const matching = documentsOf(database, key, ids).filter(({ body }) => matchesRest(body, filter.rest));
    found.push(...matching.slice(0, left).map(itemOf));
    place = next;
    size = Math.min(largestSize, size * 4);
    return found.length >= limit || place === null ? found : null;
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
  const parts: FindParts = { database, key, filter: filterOf(model, query), order };
  const start: Place | null = after === undefined ? null : { id: after, key: sort?.afterKey ?? '' };

  const walking = (choose: () => Walk): Steps<readonly StoredDocument[]> =>
    collecting(parts, choose, start, limit, (document) => document);
  if (sort === undefined) return walking(() => walkById(parts));

  const sorting = (): Steps<readonly StoredDocument[]> => {
    const placeOf = ({ id, body }: StoredDocument): Place => ({ id, key: sortKeyIn(body, sort.field) });
    const step = collecting(parts, () => walkById(parts), null, Infinity, placeOf);
    return () => {
      const places = step();
      return places === null ? null : documentsOf(database, key, firstOf(places, start, order, limit));
    };
  };
  const { ids, conditions } = parts.filter;
  const isFewerThan = (max: number): boolean => (ids?.length ?? max) < max || rarestCount(parts, max) < max;
  const walkField = (): Walk => {
    const walk = walkSorted(parts, sort.field, conditions);
    return ids === undefined ? walk : among(ids, walk);
  };
  /** The more ids, the more rows are read before their documents are. */
  const stepsToWalk = Math.max(stepsBeforeSorting, ((ids?.length ?? 0) * rowsPerDocument) / largestSize);
  let steps: Steps<readonly StoredDocument[]> | undefined;
  let taken = 0;
  return () => {
    if (steps === undefined) steps = isFewerThan(countedRows) ? sorting() : walking(walkField);
    // What is listed first may stand far from where the index begins.
    else if (taken === Math.ceil(stepsToWalk) && isFewerThan(maxSorted)) steps = sorting();
    taken += 1;
    return steps();
  };
};

const firstOf = (places: readonly Place[], start: Place | null, order: WalkParts['order'], limit: number): readonly string[] => {
  const sign = order === 'ascending' ? 1 : -1;
  const compare = (one: Place, other: Place): number =>
    sign * (compareTexts(one.key, other.key) || compareTexts(one.id, other.id));
  return places
    .filter((one) => start === null || compare(one, start) > 0)
    .sort(compare)
    .slice(0, limit)
    .map(({ id }) => id);
};

/** The ids of documents that match, newest first, by indexes alone where these can tell. */
export const startListingIds = (
  database: Pick<Database, 'statement'>,
  key: bigint,
  model: ReadModel,
  { after, limit = Infinity, ...selection }: IdsQuery,
): Steps<readonly string[]> => {
  const parts: FindParts = { database, key, filter: filterOf(model, selection), order: 'descending' };
  const { rest, conditions } = parts.filter;
  const start: Place | null = after === undefined ? null : { id: after, key: '' };
  const choose = (): Walk => walkById(parts);
  // Only documents that are there have rows in the index.
  if (Object.keys(rest).length > 0 || conditions.length === 0) return collecting(parts, choose, start, limit, ({ id }) => id);

  const found: string[] = [];
  let walk: Walk | undefined;
  let place = start;
  return () => {
    walk ??= choose();
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
  const filter = filterOf(model, selection);
  const [only, second] = filter.conditions;
  const isPlain = Object.keys(filter.rest).length === 0 && filter.ids === undefined && filter.without.length === 0;
  const isWhole = only === undefined && filter.everywhere !== undefined && Object.keys(filter.range).length === 0;
  const isOne = only !== undefined && isSingle(only) && second === undefined;
  if (!isPlain || !(isWhole || isOne)) {
    const step = startListingIds(database, key, model, selection);
    return () => step()?.length ?? null;
  }
  const parts: FindParts = { database, key, filter, order: 'ascending' };
  const [field, value] = isOne ? [only.field, only.values[0]] : [filter.everywhere ?? '', undefined];
  let place: Place | null = null;
  let count = 0;
  return () => {
    const counted = countFrom(parts, field, value, place);
    count += counted.count;
    place = counted.next;
    return place === null ? count : null;
  };
};
