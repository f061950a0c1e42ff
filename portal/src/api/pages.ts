import type { List } from '@doorstep/sdk';

/** A page of a list, as it can be cached. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** The cursor of the page after it. */
  readonly next: string | undefined;
  /** How many there are in all, where that was asked for. */
  readonly total?: number | undefined;
}

/** What the SDK keeps beside the items of an array, the cache would lose. */
export const pageOf = async <T>(list: List<T>): Promise<ListPage<T>> => {
  const page = await list;
  return { items: [...page], next: page.nextCursor, total: page.total };
};

/** The items of all pages, where the page needs every one or there are never many. */
export const allOf = async <T>(list: AsyncIterable<T>): Promise<readonly T[]> => {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
};

interface ByCursor {
  readonly initialPageParam: string | undefined;
  readonly getNextPageParam: (last: { readonly next: string | undefined }) => string | undefined;
}

/**
 * Of an infinite query: each page is asked for with the cursor of the page before it, and when the list is
 * read again, with the cursor that this page has then. Two pages therefore have no gap between them.
 */
export const byCursor: ByCursor = { initialPageParam: undefined, getNextPageParam: ({ next }) => next };
