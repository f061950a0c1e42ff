import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { mediaKeys } from './keys.js';

/** As many as one request gives. */
const maxShown = 200;

/** Pictures and videos, newest first. */
export const mediaQuery = (websiteId: string) =>
  queryOptions({
    queryKey: mediaKeys.list(websiteId),
    queryFn: ({ signal }) => doorstep.websites.media.list(websiteId, { limit: maxShown }, { signal }),
    // Sharing structure with the data before copies the items alone: `hasMore` would be lost.
    structuralSharing: false,
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
