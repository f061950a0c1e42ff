import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { allOf } from '../../api/pages.js';
import { documentKeys } from './keys.js';

/** All documents of a website, newest first. */
export const documentsQuery = (websiteId: string) =>
  queryOptions({
    queryKey: documentKeys.list(websiteId),
    queryFn: ({ signal }) => allOf(doorstep.websites.documents.list(websiteId, { limit: 200 }, { signal })),
  });
