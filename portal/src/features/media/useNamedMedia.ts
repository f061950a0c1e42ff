import type { Media } from '@doorstep/sdk';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { mediaQuery, oneMediaQuery } from './queries.js';

/** What a document names: among the newest, or an older one. `null`: it was removed; `undefined`: nobody knows yet. */
export const useNamedMedia = (websiteId: string, mediaId: string): Media | null | undefined => {
  const { data: newest, hasNextPage } = useInfiniteQuery(mediaQuery(websiteId));
  const listed = newest?.pages.flatMap(({ items }) => items).find(({ id }) => id === mediaId);
  const mayBeOlder = mediaId !== '' && listed === undefined && hasNextPage;
  const { data: older } = useQuery({ ...oneMediaQuery(websiteId, mediaId), enabled: mayBeOlder });
  if (newest === undefined || listed !== undefined) return listed;
  return mayBeOlder ? older : null;
};
