import { websiteKeys } from '../website/keys.js';

export const documentKeys = {
  list: (websiteId: string) => [...websiteKeys.website(websiteId), 'documents'],
  /** Not below the website: a change of it must not load anew what is being read. */
  address: (websiteId: string, documentId: string) => ['documentAddress', websiteId, documentId],
} as const;
