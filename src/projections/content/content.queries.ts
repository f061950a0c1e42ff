import type { ContentKey } from '../../events/content/content.stream.js';
import type { PageRequest } from '../page.js';
import type { Reader } from '../reader.js';
import { contentDocumentId, contentProjection, contentShelf, type ContentDocument } from './content.projection.js';
import { contentSizesProjection } from './contentSizes.projection.js';

type Page = Pick<PageRequest, 'limit' | 'after'>;

const listOf = (reader: Reader, collection: Omit<ContentKey, 'documentId'>, { limit, after }: Page) =>
  reader.list(contentProjection, {
    where: { shelf: contentShelf(collection) },
    order: 'ascending',
    limit,
    ...(after !== undefined && { after: contentDocumentId({ ...collection, documentId: after }) }),
  });

/** The saved documents of one collection of a website, by id. */
export const listContent = async (
  reader: Reader,
  collection: Omit<ContentKey, 'documentId'>,
  page: Page,
): Promise<readonly ContentDocument[]> => (await listOf(reader, collection, page)).map(({ body }) => body);

/** The ids in the read model (`contentDocumentId`) of all that are saved of one collection of a website. */
export const listContentIds = async (reader: Reader, collection: Omit<ContentKey, 'documentId'>): Promise<ReadonlySet<string>> =>
  new Set(await reader.listIds(contentProjection, { where: { shelf: contentShelf(collection) } }));

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

/** Every saved content document of a website as of now, by id, and as of which revision of its stream. */
export async function* savedContent(
  reader: Reader,
  websiteId: string,
): AsyncGenerator<ContentDocument & { readonly revision: bigint }, void> {
  const [collection, pageSize] = [{ websiteId, collection: 'content' }, 20] as const;
  for (let after: string | undefined; ;) {
    const page = await listOf(reader, collection, { limit: pageSize, ...(after !== undefined && { after }) });
    for (const { body, revision } of page) yield { ...body, revision };
    after = page.at(-1)?.body.id;
    if (page.length < pageSize) return;
  }
}
