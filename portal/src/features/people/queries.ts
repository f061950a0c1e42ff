import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { byCursor } from '../../api/pages.js';
import { peopleKeys } from './keys.js';

/** The linked people by pages; each has the owner and the open invitations too. */
export const peopleQuery = (websiteId: string) =>
  infiniteQueryOptions({
    ...byCursor,
    queryKey: peopleKeys.list(websiteId),
    queryFn: async ({ pageParam: cursor, signal }) => {
      const list = doorstep.websites.clients.list(websiteId, { limit: 50, ...(cursor !== undefined && { cursor }) }, { signal });
      const { data, response } = await list.withResponse();
      const next = /[?&]cursor=([^&>]+)[^>]*>;\s*rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
      return { ...data, next: next === undefined ? undefined : decodeURIComponent(next) };
    },
  });

/** What the person of an address may do at a website, and by which rule. */
export const accessQuery = (websiteId: string, email: string) =>
  queryOptions({
    queryKey: peopleKeys.access(websiteId, email),
    queryFn: ({ signal }) => doorstep.websites.access.explain(websiteId, { email }, { signal }),
  });
