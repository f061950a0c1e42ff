import { websiteKeys } from '../website/keys.js';

/** Content stands on the site, marketing does not. */
export type Collection = 'content' | 'marketing';

const collection = (websiteId: string, of: Collection) => [...websiteKeys.website(websiteId), of];

export const contentKeys = {
  collection,
  list: (websiteId: string, of: Collection) => [...collection(websiteId, of), 'list'],
  document: (websiteId: string, of: Collection, documentId: string) => [...collection(websiteId, of), 'document', documentId],
  versions: (websiteId: string, of: Collection, documentId: string) => [...collection(websiteId, of), 'versions', documentId],
  version: (websiteId: string, of: Collection, documentId: string, hash: string) => [
    ...collection(websiteId, of),
    'versions',
    documentId,
    hash,
  ],
} as const;
