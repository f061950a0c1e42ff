import type { Website } from '@doorstep/sdk';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { byCursor, pageOf } from '../../api/pages.js';
import { homeKeys, type Attention } from './keys.js';

/** Websites, and how many there are beyond them. */
export interface Some {
  readonly websites: readonly Website[];
  readonly total: number;
}

/** What needs somebody: the first 20, which is more than a day's work. */
export const attentionQuery = (attention: Attention) =>
  queryOptions({
    queryKey: homeKeys.attention(attention),
    queryFn: async ({ signal }): Promise<Some> => {
      const page = await doorstep.websites.list({ attention, limit: 20, count: true }, { signal });
      return { websites: [...page], total: page.total ?? page.length };
    },
  });

/** The newest websites of the agency. */
export const newestQuery = queryOptions({
  queryKey: homeKeys.newest,
  queryFn: async ({ signal }): Promise<Some> => {
    const page = await doorstep.websites.list({ limit: 50, count: true }, { signal });
    return { websites: [...page], total: page.total ?? page.length };
  },
});

/** What a client has, each with how its delivery stands, by pages. */
export const ownWebsitesQuery = infiniteQueryOptions({
  ...byCursor,
  queryKey: homeKeys.own,
  queryFn: ({ pageParam: cursor, signal }) =>
    pageOf(doorstep.me.websites({ limit: 200, ...(cursor !== undefined && { cursor }) }, { signal })),
});
