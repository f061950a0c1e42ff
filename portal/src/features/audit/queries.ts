import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { byCursor, pageOf } from '../../api/pages.js';
import type { AuditFilter } from './filter.js';
import { auditKeys } from './keys.js';

/** The audit by pages; the first one says how many changes there are. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    ...byCursor,
    queryKey: auditKeys.list(filter),
    queryFn: ({ pageParam: cursor, signal }) =>
      pageOf(doorstep.audit.list({ ...filter, limit: 50, ...(cursor === undefined ? { count: true } : { cursor }) }, { signal })),
  });

/** Names of the people that changes are about, by their ids. */
export const clientNamesQuery = (ids: readonly string[]) =>
  queryOptions({
    queryKey: auditKeys.names('clients', ids),
    queryFn: async ({ signal }) => {
      const clients = await doorstep.clients.list({ ids: ids.join(','), limit: 200 }, { signal });
      return Object.fromEntries(clients.map(({ id, name, email }) => [id, name ?? email]));
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });

/** Names of the websites that changes are about, by their ids. */
export const websiteNamesQuery = (ids: readonly string[]) =>
  queryOptions({
    queryKey: auditKeys.names('websites', ids),
    queryFn: async ({ signal }) => {
      const websites = await doorstep.websites.list({ ids: ids.join(','), limit: 200 }, { signal });
      return Object.fromEntries(websites.map(({ id, name }) => [id, name]));
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });

/** The websites to choose from: the first 200 by name, of those whose name or slug holds `q`. */
export const websiteChoiceQuery = (q = '') =>
  queryOptions({
    queryKey: auditKeys.choice(q),
    queryFn: async ({ signal }) => {
      const page = await doorstep.websites.list({ sort: 'name', limit: 200, ...(q !== '' && { q }) }, { signal });
      return { websites: page.map(({ id, name }) => ({ id, name })), hasMore: page.nextCursor !== undefined };
    },
    placeholderData: keepPreviousData,
  });
