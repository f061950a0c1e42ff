import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { byCursor, pageOf } from '../../api/pages.js';
import { mediaKeys } from './keys.js';

/** Pictures and videos, newest first, by pages; the first one says how many there are. */
export const mediaQuery = (websiteId: string) =>
  infiniteQueryOptions({
    ...byCursor,
    queryKey: mediaKeys.list(websiteId),
    queryFn: ({ pageParam: cursor, signal }) =>
      pageOf(
        doorstep.websites.media.list(
          websiteId,
          { limit: 200, ...(cursor === undefined ? { count: true } : { cursor }) },
          { signal },
        ),
      ),
  });

/** One of them; `null`: there is none. */
export const oneMediaQuery = (websiteId: string, mediaId: string) =>
  queryOptions({
    queryKey: mediaKeys.one(websiteId, mediaId),
    queryFn: async ({ signal }) => {
      const [found] = await doorstep.websites.media.list(websiteId, { ids: mediaId }, { signal });
      return found ?? null;
    },
  });

/** Addresses are good for five minutes. */
const addressMs = 240_000;

/** Where a picture is to be had for a while. */
export const mediaAddressQuery = (websiteId: string, mediaId: string) =>
  queryOptions({
    queryKey: mediaKeys.address(websiteId, mediaId),
    staleTime: addressMs,
    gcTime: addressMs,
    queryFn: ({ signal }) => doorstep.websites.media.url(websiteId, mediaId, { disposition: 'inline' }, { signal }),
  });
