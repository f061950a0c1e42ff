import type { Document } from '@doorstep/sdk';
import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { documentKeys } from './keys.js';

/** All documents of a website, newest first. */
export const documentsQuery = (websiteId: string) =>
  queryOptions({
    queryKey: documentKeys.list(websiteId),
    queryFn: async ({ signal }) => {
      const documents: Document[] = [];
      for await (const found of doorstep.websites.documents.list(websiteId, { limit: 200 }, { signal })) documents.push(found);
      return documents;
    },
  });
