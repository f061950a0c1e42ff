import type { Website } from '@doorstep/sdk';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { byCursor, pageOf } from '../../api/pages.js';
import { viewedAs } from '../../session/viewAs.js';
import type { Me } from '../me/queries.js';
import { attentions, homeKeys, type Attention } from './keys.js';

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

/** Whether somebody sees what needs the agency; others see their own websites. */
export const seesAgency = ({ role }: Me): boolean => role === 'admin' && viewedAs === null;

/** The website whose Status page is what a client came for: the one that they have, while no other is offered. */
export const onlyWebsiteOf = ({ websites, invitations }: Me): Me['websites'][number] | undefined =>
  websites.length === 1 && invitations.length === 0 ? websites[0] : undefined;

/** What the first page asks for, which depends on who sees it. */
export const homeQueries = (me: Me): readonly object[] => {
  if (seesAgency(me)) return [...attentions.map(attentionQuery), newestQuery];
  return me.websites.length > 0 ? [ownWebsitesQuery] : [];
};
