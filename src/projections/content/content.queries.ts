import type { ContentKey } from '../../events/content/content.stream.js';
import type { PageRequest } from '../page.js';
import type { Reader } from '../reader.js';
import { contentDocumentId, contentProjection, contentShelf, type ContentDocument } from './content.projection.js';

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

/** Every saved document of one collection of a website as of now, by id. */
export async function* allContent(
  reader: Reader,
  collection: Omit<ContentKey, 'documentId'>,
): AsyncGenerator<ContentDocument, void> {
  const pageSize = 20;
  for (let after: string | undefined; ;) {
    const page = await listContent(reader, collection, { limit: pageSize, ...(after !== undefined && { after }) });
    yield* page;
    after = page.at(-1)?.id;
    if (page.length < pageSize) return;
  }
}
