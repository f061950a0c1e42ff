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
