import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { websiteKeys } from './keys.js';

/** The website, with what the caller is to it. */
export const websiteQuery = (websiteId: string) =>
  queryOptions({
    queryKey: websiteKeys.website(websiteId),
    queryFn: ({ signal }) => doorstep.websites.get(websiteId, { signal }),
  });
