import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { byCursor, pageOf } from '../../api/pages.js';
import { clientKeys } from '../clients/keys.js';
import { websiteKeys } from '../website/keys.js';
import { queryOf, type Filter } from './filter.js';

/** The websites that a filter leaves, by pages; the first one says how many there are. */
export const websitesQuery = (filter: Filter) => {
  const query = queryOf(filter);
  return infiniteQueryOptions({
    ...byCursor,
    queryKey: websiteKeys.list(query),
    queryFn: ({ pageParam: cursor, signal }) =>
      pageOf(doorstep.websites.list({ ...query, ...(cursor === undefined ? { count: true } : { cursor }) }, { signal })),
    placeholderData: keepPreviousData,
  });
};

/** One website, with where its delivery stands: an answer also when that is not set up. */
export const summaryQuery = (websiteId: string) => {
  const query = { ids: websiteId };
  return queryOptions({
    queryKey: websiteKeys.list(query),
    queryFn: async ({ signal }) => [...(await doorstep.websites.list(query, { signal }))][0] ?? null,
  });
};

/** Who some owners are. */
export const ownersQuery = (clientIds: readonly string[]) =>
  queryOptions({
    queryKey: clientKeys.owners(clientIds),
    queryFn: async ({ signal }) => {
      const clients = await doorstep.clients.list({ ids: clientIds.join(','), limit: 200 }, { signal });
      return Object.fromEntries(clients.map(({ id, name, email }) => [id, name ?? email]));
    },
    enabled: clientIds.length > 0,
    placeholderData: keepPreviousData,
  });
