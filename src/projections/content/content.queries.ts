import { ContentTooLarge, maxPublishedBytes } from '../../events/content/content.files.js';
import type { ContentKey } from '../../events/content/content.stream.js';
import type { PageRequest } from '../page.js';
import type { Reader } from '../reader.js';
import { contentDocumentId, contentProjection, contentShelf, type ContentDocument } from './content.projection.js';
import { contentSizesProjection } from './contentSizes.projection.js';

/** The saved documents of one collection of a website, by id. */
export const listContent = async (
  reader: Reader,
  collection: Omit<ContentKey, 'documentId'>,
  { limit, after }: Pick<PageRequest, 'limit' | 'after'>,
): Promise<readonly ContentDocument[]> => {
  const found = await reader.list(contentProjection, {
    where: { shelf: contentShelf(collection) },
    order: 'ascending',
    limit,
    ...(after !== undefined && { after: contentDocumentId({ ...collection, documentId: after }) }),
  });
  return found.map(({ body }) => body);
};

export const countContent = (reader: Reader, collection: Omit<ContentKey, 'documentId'>): Promise<number> =>
  reader.count(contentProjection, { where: { shelf: contentShelf(collection) } });

/**
 * How many bytes a document may have where its collection may have `maxBytes`: never fewer than it has,
 * so that one of a collection that has more already can be made smaller.
 */
export const bytesLeftFor = async (reader: Reader, key: ContentKey, maxBytes: number): Promise<number> => {
  const query = { ids: [contentShelf(key)], order: 'ascending', limit: 1 } as const;
  const [sizes] = await reader.list(contentSizesProjection, query);
  const documents = sizes?.body.documents ?? [];
  const own = documents.find(({ id }) => id === key.documentId)?.bytes ?? 0;
  const all = documents.reduce((sum, { bytes }) => sum + bytes, 0);
  return Math.max(own, maxBytes - (all - own));
};

/**
 * The content documents of a website that were saved since they were published last, by id.
 * @throws ContentTooLarge
 */
export const unpublishedContent = async (
  reader: Reader,
  websiteId: string,
): Promise<readonly Pick<ContentDocument, 'id' | 'hash' | 'json'>[]> => {
  const found: Pick<ContentDocument, 'id' | 'hash' | 'json'>[] = [];
  let bytes = 0;
  for await (const { id, hash, json, publishedHash } of allContent(reader, { websiteId, collection: 'content' })) {
    if (hash === publishedHash) continue;
    // Earlier versions of this service let a collection have more than can be published at once.
    bytes += Buffer.byteLength(json);
    if (bytes > maxPublishedBytes) throw new ContentTooLarge();
    found.push({ id, hash, json });
  }
  return found;
};

/** Whether there is any. */
export const hasUnpublishedContent = async (reader: Reader, websiteId: string): Promise<boolean> => {
  for await (const { hash, publishedHash } of allContent(reader, { websiteId, collection: 'content' })) {
    if (hash !== publishedHash) return true;
  }
  return false;
};

/** Every saved document of one collection of a website as of now, by id. */
async function* allContent(reader: Reader, collection: Omit<ContentKey, 'documentId'>): AsyncGenerator<ContentDocument, void> {
  const pageSize = 20;
  for (let after: string | undefined; ;) {
    const page = await listContent(reader, collection, { limit: pageSize, ...(after !== undefined && { after }) });
    yield* page;
    after = page.at(-1)?.id;
    if (page.length < pageSize) return;
  }
}
