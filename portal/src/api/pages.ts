import type { List } from '@doorstep/sdk';
import { useQueries, type UseQueryOptions, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';

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

/** A list of which more is read on demand. */
export interface Pages<P> {
  /** Of the first page: whether there is anything to show yet. */
  readonly first: UseQueryResult<P>;
  readonly loaded: readonly P[];
  readonly last: UseQueryResult<P>;
  readonly hasMore: boolean;
  readonly more: () => void;
}

/** Reads a list a page at a time. The first one is a query of its own, so that it can be asked for while the code comes. */
export const usePages = <P extends { readonly next: string | undefined }>(
  pageQuery: (cursor: string | undefined) => UseQueryOptions<P, Error, P>,
): Pages<P> => {
  const [others, setOthers] = useState<readonly string[]>([]);
  const [first, ...rest] = useQueries({ queries: [undefined, ...others].map(pageQuery) });
  if (first === undefined) throw new Error('A list has a first page');
  const last = rest.at(-1) ?? first;
  const next = last.data?.next;
  return {
    first,
    last,
    loaded: [first, ...rest].flatMap(({ data }) => (data === undefined ? [] : [data])),
    hasMore: next !== undefined || (last !== first && last.data === undefined),
    more: () => {
      if (next !== undefined) setOthers([...others, next]);
    },
  };
};
