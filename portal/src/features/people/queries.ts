import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { peopleKeys } from './keys.js';

/** The owner, the open invitations, and a page of the linked people. */
export const peopleQuery = (websiteId: string, cursor?: string) =>
  queryOptions({
    queryKey: peopleKeys.page(websiteId, cursor),
    queryFn: async ({ signal }) => {
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
