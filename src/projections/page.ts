import type { ReadModelQuery, StoredDocument } from './store/readModelStore.js';
import { placeInSort } from './store/documents.js';

/** By what items are compared; those of one field are all texts, or all numbers. */
export type SortKey = string | number;

/** A part of a list. */
export interface PageRequest {
  readonly limit: number;
  /** Items after the one with this id (exclusive), in the order of the list. */
  readonly after?: string;
  /** Absent: newest first. Items with equal keys are ordered by id. */
  readonly sort?: {
    readonly by: string;
    readonly order: 'ascending' | 'descending';
    /** The key that the item `after` had when it was listed. It may have changed, or be gone. */
    readonly afterKey?: SortKey;
  };
}

/** The part of a list that is at hand whole. @param keyOf needed to sort it */
export const partOf = <Item extends { readonly id: string }>(
  items: readonly Item[],
  { limit, after, sort }: PageRequest,
  keyOf: (item: Item, field: string) => SortKey = () => '',
): readonly Item[] => {
  const sign = sort?.order === 'ascending' ? 1 : -1;
  const compare = (one: Keyed, other: Keyed): number => sign * (compareKeys(one.key, other.key) || compareKeys(one.id, other.id));
  const keyed = items.map((item) => ({ item, id: item.id, key: sort === undefined ? '' : keyOf(item, sort.by) }));
  const rest = after === undefined ? keyed : keyed.filter((one) => compare(one, { id: after, key: sort?.afterKey ?? '' }) > 0);
  return rest
    .sort(compare)
    .slice(0, limit)
    .map(({ item }) => item);
};

/** Where an item stands in a sorted list. */
export interface SortPlace {
  readonly id: string;
  readonly key: string;
}

const comparePlaces = (one: SortPlace, other: SortPlace): number =>
  compareKeys(one.key, other.key) || compareKeys(one.id, other.id);

/** Places that are sorted without stopping everything else. */
const sortedAtOnce = 5_000;

/** Sorts the places, ascending, in parts: `giveWay` comes between them. */
export const sortInParts = async (places: readonly SortPlace[], giveWay: () => Promise<void>): Promise<readonly SortPlace[]> => {
  let runs: (readonly SortPlace[])[] = [];
  for (let start = 0; start < places.length; start += sortedAtOnce) {
    runs.push(places.slice(start, start + sortedAtOnce).sort(comparePlaces));
    await giveWay();
  }
  while (runs.length > 1) {
    const merged: (readonly SortPlace[])[] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(merge(runs[index] ?? [], runs[index + 1] ?? []));
      await giveWay();
    }
    runs = merged;
  }
  return runs[0] ?? [];
};

const merge = (first: readonly SortPlace[], second: readonly SortPlace[]): readonly SortPlace[] => {
  const merged: SortPlace[] = [];
  let next = 0;
  for (const place of first) {
    for (let other = second[next]; other !== undefined && comparePlaces(other, place) < 0; other = second[next]) {
      merged.push(other);
      next += 1;
    }
    merged.push(place);
  }
  return next === second.length ? merged : merged.concat(second.slice(next));
};

/** As `partOf`, of places that are sorted already, ascending. */
export const sortedPartOf = (places: readonly SortPlace[], { limit, after, sort }: PageRequest): readonly SortPlace[] => {
  const isAscending = sort?.order === 'ascending';
  const place = after === undefined ? undefined : { id: after, key: String(sort?.afterKey ?? '') };
  let [from, to] = [0, places.length];
  while (place !== undefined && from < to) {
    const middle = (from + to) >> 1;
    const other = places[middle];
    // An ascending part begins beyond the place, and a descending one ends before it.
    const isBefore = other !== undefined && (isAscending ? comparePlaces(other, place) <= 0 : comparePlaces(other, place) < 0);
    if (isBefore) from = middle + 1;
    else to = middle;
  }
  if (isAscending) return places.slice(from, from + limit);
  const end = place === undefined ? places.length : from;
  return places.slice(Math.max(0, end - limit), end).reverse();
};

interface Keyed {
  readonly id: string;
  readonly key: SortKey;
}

const compareKeys = (one: SortKey, other: SortKey): number => (one < other ? -1 : one > other ? 1 : 0);

/** The part of a list that a read model is asked for. */
export const toQuery = ({ limit, after, sort }: PageRequest): Pick<ReadModelQuery, 'order' | 'after' | 'limit' | 'sort'> => ({
  order: sort?.order ?? 'descending',
  limit,
  ...(after !== undefined && { after }),
  ...(sort !== undefined && {
    sort: { field: sort.by, ...(sort.afterKey !== undefined && { afterKey: String(sort.afterKey) }) },
  }),
});

/** The part after the document. */
export const pageAfter = (page: PageRequest, last: Pick<StoredDocument, 'id' | 'body'>): PageRequest => ({
  ...page,
  after: last.id,
  ...(page.sort !== undefined && { sort: { ...page.sort, ...placeInSort({ field: page.sort.by }, last) } }),
});
