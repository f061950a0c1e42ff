import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { seoKeys } from './keys.js';

/** The latest and the past scans. */
export const seoQuery = (websiteId: string) =>
  queryOptions({
    queryKey: seoKeys.report(websiteId),
    queryFn: ({ signal }) => doorstep.websites.seo.get(websiteId, { signal }),
  });
