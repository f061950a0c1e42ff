import { DoorstepError } from '@doorstep/sdk';
import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { allOf } from '../../api/pages.js';
import { contentKeys, type Collection } from './keys.js';

/** The methods of a collection. */
export const collectionOf = (of: Collection) => doorstep.websites[of];

/** The documents, by id. */
export const contentListQuery = (websiteId: string, of: Collection) =>
  queryOptions({
    queryKey: contentKeys.list(websiteId, of),
    // A page ends early when its documents are large.
    queryFn: ({ signal }) => allOf(collectionOf(of).list(websiteId, { limit: 200 }, { signal })),
  });

/** A document; null when nobody has made it yet. */
export const contentDocumentQuery = (websiteId: string, of: Collection, documentId: string) =>
  queryOptions({
    queryKey: contentKeys.document(websiteId, of, documentId),
    queryFn: async ({ signal }) => {
      try {
        return await collectionOf(of).get(websiteId, documentId, { signal });
      } catch (error) {
        if (error instanceof DoorstepError && error.code === 'content_not_found') return null;
        throw error;
      }
    },
  });

/** Who saved a document, and when, newest first; none while nobody has. */
export const versionsQuery = (websiteId: string, of: Collection, documentId: string) =>
  queryOptions({
    queryKey: contentKeys.versions(websiteId, of, documentId),
    queryFn: async ({ signal }) => {
      try {
        return await collectionOf(of).versions(websiteId, documentId, { limit: 100 }, { signal });
      } catch (error) {
        if (error instanceof DoorstepError && error.code === 'content_not_found') return [];
        throw error;
      }
    },
  });

/** A version with its body; it never changes. */
export const versionQuery = (websiteId: string, of: Collection, documentId: string, hash: string) =>
  queryOptions({
    queryKey: contentKeys.version(websiteId, of, documentId, hash),
    staleTime: Infinity,
    queryFn: ({ signal }) => collectionOf(of).version(websiteId, documentId, hash, { signal }),
  });
