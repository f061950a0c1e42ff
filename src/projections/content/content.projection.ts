import type { ContentCollection, ContentEvent } from '../../events/content/content.events.js';
import { contentStream, type ContentKey } from '../../events/content/content.stream.js';
import { keyTextOf } from '../../events/defineStream.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { canonicalJson } from '../../platform/canonicalJson.js';
import { defineProjection, type Projection } from '../projection.js';

/** A content or marketing document as it was saved last. */
export type ContentDocument = {
  readonly websiteId: string;
  readonly collection: ContentCollection;
  readonly id: string;
  readonly hash: string;
  /** The body in its canonical form: as text, since a store may not take every name of a field. */
  readonly json: string;
  readonly updatedAt: string;
  readonly updatedBy: Actor & { readonly [field: string]: string };
  /** Of what was published last. */
  readonly publishedHash?: string;
  readonly publishedAt?: string;
  /** Its website and collection, by which it is listed. */
  readonly shelf: string;
};

export const contentDocumentId = (key: ContentKey): string => keyTextOf(contentStream, key);

export const contentShelf = ({ websiteId, collection }: Omit<ContentKey, 'documentId'>): string => `${websiteId}/${collection}`;

type Saved = Extract<ContentEvent, { type: 'ContentSaved' | 'ContentRestored' }>;

const saved = (document: ContentDocument | null, { data, metadata }: Recorded<Saved>): ContentDocument => {
  const { websiteId, collection, documentId, hash, body } = data;
  return {
    ...document,
    websiteId,
    collection,
    id: documentId,
    hash,
    json: canonicalJson(body),
    updatedAt: metadata.at,
    updatedBy: { ...metadata.actor },
    shelf: contentShelf(data),
  };
};

export const contentProjection: Projection<ContentDocument, ContentEvent> = defineProjection({
  name: 'content',
  version: 1,
  stream: contentStream,
  on: {
    ContentSaved: saved,
    ContentRestored: saved,
    ContentPublished: (document, { data: { hash }, metadata }) =>
      document === null ? null : { ...document, publishedHash: hash, publishedAt: metadata.at },
  },
  indexes: [{ field: 'shelf' }],
});
