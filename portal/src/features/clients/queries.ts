import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { byCursor, pageOf } from '../../api/pages.js';
import { clientKeys } from './keys.js';

/** The clients whose name or address holds `q`, by pages; the first one says how many there are. */
export const clientsQuery = (q = '') =>
  infiniteQueryOptions({
    ...byCursor,
    queryKey: clientKeys.list(q),
    queryFn: ({ pageParam: cursor, signal }) =>
      pageOf(
        doorstep.clients.list(
          { limit: 25, ...(q !== '' && { q }), ...(cursor === undefined ? { count: true } : { cursor }) },
          { signal },
        ),
      ),
  });

export const clientQuery = (clientId: string) =>
  queryOptions({
    queryKey: clientKeys.client(clientId),
    queryFn: ({ signal }) => doorstep.clients.get(clientId, { signal }),
  });

/** Websites that the client owns or is linked to, by pages. */
export const websitesOfClientQuery = (clientId: string, limit = 200) =>
  infiniteQueryOptions({
    ...byCursor,
    queryKey: clientKeys.websites(clientId, limit),
    queryFn: ({ pageParam: cursor, signal }) =>
      pageOf(doorstep.websites.list({ clientId, limit, ...(cursor !== undefined && { cursor }) }, { signal })),
  });
