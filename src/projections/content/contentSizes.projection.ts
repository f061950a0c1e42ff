import type { ContentEvent } from '../../events/content/content.events.js';
import type { ListProjection } from '../projection.js';
import { contentShelf } from './content.projection.js';

/** How large the documents of one collection of a website are, so that they are added up without their bodies. */
export type ContentSizes = {
  readonly documents: readonly {
    readonly id: string;
    /** Of the body in its canonical form. */
    readonly bytes: number;
  }[];
};

type Saved = Extract<ContentEvent, { type: 'ContentSaved' | 'ContentRestored' }>;

/** By website and collection (`contentShelf`). */
export const contentSizesProjection: ListProjection<ContentSizes, Saved> = {
  name: 'contentSizes',
  version: 1,
  handles: ['ContentSaved', 'ContentRestored'],
  ignores: ['ContentPublished'],
  documentId: ({ data }) => contentShelf(data),
  evolve: (sizes, { data: { documentId, body } }) => ({
    documents: [
      ...(sizes?.documents ?? []).filter(({ id }) => id !== documentId),
      // The canonical form has the same characters in another order.
      { id: documentId, bytes: Buffer.byteLength(JSON.stringify(body)) },
    ],
  }),
  indexes: [],
};
